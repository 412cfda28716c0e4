// SPDX-License-Identifier: MIT
#include "dsp/automode/automode.h"

#include <new>

#include "dsp/automode/procedure.h"
#include "dsp/pump/pump_type.h"
#include "dsp/v32/pump.h"
#include "dsp/v34/session/pump.h"

namespace offhook::automode {
namespace {

constexpr int kInvalid = -22;  // -EINVAL, without an OS header

// A member's initial configuration: the card's samples if it accepts them.
oh_pump_config config_of(const oh_pump_config& c, const oh_pump_type& type) {
  oh_pump_config own = c;
  if (takes(type, c.format)) return own;
  own.format = kLinear8000;
  own.io_delay_samples += Conversion(c.format).delay();
  return own;
}

constexpr size_t aligned(size_t bytes) {
  return (bytes + 63) / 64 * 64;
}

// The modulations that take part, and the bytes that each requires.
int members_of(const oh_pump_config* c, const Table& table, Member* members, size_t* bytes) {
  int n = 0;
  uint32_t shown = 0;  // in the menu: V.22 is covered by V.22bis
  for (int k = table.n - 1; k >= 0 && n < kMaxMembers; --k) {
    const Modulation& row = table.rows[k];
    if ((row.v8.modulations & shown) != 0) continue;
    if (c->modulations != 0 && (c->modulations & row.id) == 0) continue;
    const uint32_t most =
        c->max_bit_rate != 0 && c->max_bit_rate < row.max_bit_rate ? c->max_bit_rate : row.max_bit_rate;
    if (most < c->min_bit_rate) continue;
    members[n] = {&row, row.type(), nullptr, !takes(*row.type(), c->format)};
    const oh_pump_config own = config_of(*c, *members[n].type);
    bytes[n] = aligned(members[n].type->size(&own));
    if (bytes[n] == 0) continue;
    shown |= row.v8.modulations;
    ++n;
  }
  return n;
}

const Automode& automode(const void* self) {
  return *static_cast<const Automode*>(self);
}
Automode& automode(void* self) {
  return *static_cast<Automode*>(self);
}

Table freestanding_table() {
  static constexpr Modulation kRows[] = {kV32bis, kV34};
  return {kRows, 2};
}

}  // namespace

size_t size(const oh_pump_config* config, const Table& table) {
  if (config == nullptr || config->struct_size != sizeof *config) return 0;
  bool known = false;
  for (const oh_pump_format& format : kFormats) known |= same_format(format, config->format);
  if (!known) return 0;
  Member members[kMaxMembers];
  size_t bytes[kMaxMembers];
  size_t sum = aligned(sizeof(Automode));
  const int n = members_of(config, table, members, bytes);
  for (int k = 0; k < n; ++k) sum += bytes[k];
  return n > 0 ? sum : 0;
}

int init(void* self, const oh_pump_config* config, const Table& table) {
  if (self == nullptr || size(config, table) == 0) return kInvalid;
  Member members[kMaxMembers];
  size_t bytes[kMaxMembers];
  const int n = members_of(config, table, members, bytes);
  auto* at = static_cast<unsigned char*>(self) + aligned(sizeof(Automode));
  for (int k = 0; k < n; ++k) {
    members[k].self = at;
    const oh_pump_config own = config_of(*config, *members[k].type);
    if (const int result = members[k].type->init(at, &own); result != 0) return result;
    at += bytes[k];
  }
  new (self) Automode(*config, table, members, n);
  return 0;
}

void process(void* self, const void* rx, void* tx, size_t n) {
  automode(self).process(rx, tx, n);
}

void report_gap(void* self, size_t n) {
  automode(self).report_gap(n);
}

void status(const void* self, oh_pump_status* s) {
  oh_pump_status all;
  automode(self).status(&all);
  give_status(all, s);
}

void release(void* self) {
  automode(self).release();
}

void hang_up(void* self) {
  automode(self).hang_up();
}

int hold(void* self, oh_hold_order order) {
  return automode(self).hold(order);
}

int allow_hold(void* self, uint32_t timeout) {
  return automode(self).allow_hold(timeout);
}

void note_frames(void* self, uint32_t good, uint32_t bad) {
  automode(self).note_frames(good, bad);
}

constinit const Loops kLoops = {.order = [](void* self, oh_loop_order order) { return automode(self).loop(order); },
                                .state = [](const void* self) { return automode(self).loop_state(); }};

constinit const V92Choices kV92Choices = {
    .allow_pcm_upstream = [](void* self) { return automode(self).allow_pcm_upstream(); },
    .prepare_quick_connect = [](void* self, const oh_v90_profile* profile,
                                uint32_t phases) { return automode(self).prepare_quick_connect(*profile, phases); },
    .profile = [](const void* self, oh_v90_profile* profile) { return automode(self).profile(profile); },
    .was_quick = [](const void* self) { return automode(self).was_quick() ? 1 : 0; }};

}  // namespace offhook::automode

const oh_pump_type* oh_automode_type() {
  return offhook::automode::type<offhook::automode::freestanding_table>();
}
