// SPDX-License-Identifier: MIT
#include "dsp/v90/control/pump.h"

#include "dsp/v90/control/analogue_modem.h"
#include "dsp/v90/control/digital_modem.h"

namespace offhook::v90 {
namespace {

constexpr oh_pump_format kAnalogueFormats[] = {{{16000, OH_LINEAR16}, {8000, OH_LINEAR16}}};
constexpr oh_pump_format kDigitalFormats[] = {{{8000, OH_MULAW}, {8000, OH_MULAW}}, {{8000, OH_ALAW}, {8000, OH_ALAW}}};

bool same(const oh_sample_format& a, const oh_sample_format& b) {
  return a.rate_hz == b.rate_hz && a.encoding == b.encoding;
}

// What the pumps of both sides have in common.
template <class Modem>
struct Side {
  static constexpr size_t kOwnSize = (sizeof(Modem) + 63) / 64 * 64;
  static Modem& of(void* self) { return *static_cast<Modem*>(self); }

  template <int n>
  static size_t size(const oh_pump_config* c, const oh_pump_format (&formats)[n]) {
    if (c == nullptr || c->struct_size != sizeof *c) return 0;
    bool known = false;
    for (const oh_pump_format& f : formats) known |= same(f.rx, c->format.rx) && same(f.tx, c->format.tx);
    constexpr uint32_t kLeastBitRate = 28000;
    const bool possible = known && (c->role == OH_PUMP_CALL || c->role == OH_PUMP_ANSWER) &&
                          (c->max_bit_rate == 0 || c->max_bit_rate >= kLeastBitRate) && c->tx_level_dbm0 >= -16.0f &&
                          c->tx_level_dbm0 <= -3.0f && c->io_delay_samples < 320 && oh_port_is_whole(&c->port);
    const size_t v34 = possible ? Modem::v34_size(*c) : 0;
    return v34 > 0 ? kOwnSize + v34 : 0;
  }
  template <int n>
  static int init(void* self, const oh_pump_config* c, const oh_pump_format (&formats)[n]) {
    constexpr int kInvalid = -22;  // -EINVAL without an OS header
    if (self == nullptr || size(c, formats) == 0) return kInvalid;
    new (self) Modem(*c, static_cast<unsigned char*>(self) + kOwnSize);
    return 0;
  }
  static void fill_in(void* self, size_t n) {
    for (size_t i = 0; i < n; ++i) of(self).lost();
  }
  static void status(const void* self, oh_pump_status* s) {
    oh_pump_status all;
    static_cast<const Modem*>(self)->status(&all);
    give_status(all, s);
  }
};

using Analogue = Side<AnalogueModem>;
using Digital = Side<DigitalModem>;

// Measured: 1260 periods where Phase 3 begins, 2210 where V.34 takes over.
constexpr uint32_t kLongestStep = 4000;

}  // namespace
}  // namespace offhook::v90

using offhook::v90::Analogue;
using offhook::v90::Digital;

const oh_pump_type* oh_v90_analogue_type() {
  using namespace offhook::v90;
  static constexpr oh_pump_type kType = {
      .format_count = 1,
      .name = "v90",
      .formats = kAnalogueFormats,
      .roles = offhook::kBothRoles,
      .fpu = offhook::kEveryOperation,
      .longest_step = kLongestStep,
      .size = [](const oh_pump_config* c) { return Analogue::size(c, kAnalogueFormats); },
      .init = [](void* self, const oh_pump_config* c) { return Analogue::init(self, c, kAnalogueFormats); },
      .process =
          [](void* self, const void* rx, void* tx, size_t n) {
            const auto* in = static_cast<const int16_t*>(rx);
            auto* out = static_cast<int16_t*>(tx);
            for (size_t i = 0; i < n; ++i) out[i] = Analogue::of(self).process(in + AnalogueModem::kReceived * i);
          },
      .fill_in = Analogue::fill_in,
      .status = Analogue::status,
      .hang_up = [](void* self) { Analogue::of(self).hang_up(); },
      .release = [](void*) {},
      .advance = oh_pump_advance_each};
  return &kType;
}

const oh_pump_type* oh_v90_digital_type() {
  using namespace offhook::v90;
  static constexpr oh_pump_type kType = {
      .format_count = 2,
      .name = "v90-digital",
      .formats = kDigitalFormats,
      .roles = offhook::kBothRoles,
      .fpu = offhook::kEveryOperation,
      .longest_step = kLongestStep,
      .size = [](const oh_pump_config* c) { return Digital::size(c, kDigitalFormats); },
      .init = [](void* self, const oh_pump_config* c) { return Digital::init(self, c, kDigitalFormats); },
      .process =
          [](void* self, const void* rx, void* tx, size_t n) {
            const auto* in = static_cast<const uint8_t*>(rx);
            auto* out = static_cast<uint8_t*>(tx);
            for (size_t i = 0; i < n; ++i) out[i] = Digital::of(self).process(in[i]);
          },
      .fill_in = Digital::fill_in,
      .status = Digital::status,
      .hang_up = [](void* self) { Digital::of(self).hang_up(); },
      .release = [](void*) {},
      .advance = oh_pump_advance_each};
  return &kType;
}

void oh_v90_analogue_instruments(const void* self, oh_v90_instruments* i) {
  static_cast<const offhook::v90::AnalogueModem*>(self)->instruments(i);
}
void oh_v90_digital_instruments(const void* self, oh_v90_instruments* i) {
  static_cast<const offhook::v90::DigitalModem*>(self)->instruments(i);
}
void oh_v90_analogue_begin(void* self) {
  Analogue::of(self).begin();
}
void oh_v90_digital_begin(void* self) {
  Digital::of(self).begin();
}
void oh_v90_analogue_renegotiate(void* self) {
  Analogue::of(self).renegotiate();
}
void oh_v90_digital_renegotiate(void* self) {
  Digital::of(self).renegotiate();
}
void oh_v90_analogue_retrain(void* self) {
  if (Analogue::of(self).in_data()) Analogue::of(self).retrain();
}
void oh_v90_digital_retrain(void* self) {
  if (Digital::of(self).in_data()) Digital::of(self).retrain();
}
