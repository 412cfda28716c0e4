// SPDX-License-Identifier: MIT
#include "dsp/v90/session/pump.h"

#include "dsp/v90/session/analogue_modem.h"
#include "dsp/v90/session/digital_modem.h"
#include "dsp/v90/session/v92.h"

namespace offhook::v90 {
namespace {

constexpr int kInvalid = -22;    // -EINVAL without an OS header
constexpr uint8_t kMostMd = 60;  // oh_v90_options::md_length

constexpr oh_pump_format kFormats[] = {kLinear16000To8000, kMuLaw8000, kALaw8000};

/// The part before the modem in the pump's memory, and the memory of its V.34 behind it.
struct Head {
  bool is_digital;
};

constexpr size_t aligned(size_t bytes) {
  return (bytes + 63) / 64 * 64;
}
constexpr size_t kHead = aligned(sizeof(Head));

template <class Modem>
Modem& at(void* self) {
  return *reinterpret_cast<Modem*>(static_cast<unsigned char*>(self) + kHead);
}
template <class Modem>
const Modem& at(const void* self) {
  return *reinterpret_cast<const Modem*>(static_cast<const unsigned char*>(self) + kHead);
}

/// work(modem) for the one of both that the pump is. Void is void or const void.
template <class Void, class Work>
void with(Void* self, Work work) {
  if (static_cast<const Head*>(self)->is_digital) {
    work(at<DigitalModem>(self));
  } else {
    work(at<AnalogueModem>(self));
  }
}

/// kFormats' index, or -1.
int format_of(const oh_pump_config& c) {
  for (int k = 0; k < 3; ++k) {
    if (same_format(c.format, kFormats[k])) return k;
  }
  return -1;
}

size_t size(const oh_pump_config* c) {
  if (c == nullptr || c->struct_size != sizeof *c) return 0;
  constexpr uint32_t kLeastBitRate = 28000;
  const int format = format_of(*c);
  const bool possible = format >= 0 && (c->role == OH_PUMP_CALL || c->role == OH_PUMP_ANSWER) &&
                        (c->max_bit_rate == 0 || c->max_bit_rate >= kLeastBitRate) && c->tx_level_dbm0 >= -16.0f &&
                        c->tx_level_dbm0 <= -3.0f && c->io_delay_samples <= kMostIoDelay && oh_port_is_whole(&c->port);
  if (!possible) return 0;
  const size_t v34 = format == 0 ? AnalogueModem::v34_size(*c) : DigitalModem::v34_size(*c);
  const size_t own = format == 0 ? sizeof(AnalogueModem) : sizeof(DigitalModem);
  return v34 > 0 ? kHead + aligned(own) + v34 : 0;
}

template <class Modem>
void make(void* self, const oh_pump_config& c, bool v92) {
  unsigned char* const own = static_cast<unsigned char*>(self) + kHead;
  new (own) Modem(c, own + aligned(sizeof(Modem)), v92);
}

template <bool kV92>
int init(void* self, const oh_pump_config* c) {
  if (self == nullptr || size(c) == 0) return kInvalid;
  const bool is_digital = format_of(*c) != 0;
  new (self) Head{is_digital};
  if (is_digital) {
    make<DigitalModem>(self, *c, kV92);
  } else {
    make<AnalogueModem>(self, *c, kV92);
  }
  return 0;
}

void process(void* self, const void* rx, void* tx, size_t n) {
  if (static_cast<const Head*>(self)->is_digital) {
    const auto* in = static_cast<const uint8_t*>(rx);
    auto* out = static_cast<uint8_t*>(tx);
    for (size_t i = 0; i < n; ++i) out[i] = at<DigitalModem>(self).process(in[i]);
  } else {
    const auto* in = static_cast<const int16_t*>(rx);
    auto* out = static_cast<int16_t*>(tx);
    for (size_t i = 0; i < n; ++i) out[i] = at<AnalogueModem>(self).process(in + AnalogueModem::kReceived * i);
  }
}

void report_gap(void* self, size_t n) {
  with(self, [n](auto& modem) {
    for (size_t i = 0; i < n; ++i) modem.lost();
  });
}

void status(const void* self, oh_pump_status* s) {
  oh_pump_status all;
  with(self, [&all](const auto& modem) { modem.status(&all); });
  give_status(all, s);
}

int hold(void* self, oh_hold_order order) {
  bool done = false;
  with(self, [&done, order](auto& modem) { done = modem.hold(order); });
  return done ? 0 : kInvalid;
}

int allow_hold(void* self, uint32_t timeout) {
  if (timeout > kHoldWithoutLimit) return kInvalid;
  with(self, [timeout](auto& modem) { modem.allow_hold(static_cast<uint8_t>(timeout)); });
  return 0;
}

void note_frames(void* self, uint32_t good, uint32_t bad) {
  with(self, [good, bad](auto& modem) { modem.note_frames(good, bad); });
}

// Measured: 1520 periods in Phase 3 of the analogue modem, 2460 in the design of V.92's upstream, 2210 if V.34 takes
// over.
constexpr uint32_t kLongestStep = 4000;

template <bool kV92>
constexpr oh_pump_type type(const char* name) {
  return {.format_count = 3,
          .name = name,
          .formats = kFormats,
          .roles = kBothRoles,
          .fpu = kEveryOperation,
          .longest_step = kLongestStep,
          .size = size,
          .init = init<kV92>,
          .process = process,
          .report_gap = report_gap,
          .status = status,
          .hang_up = [](void* self) { with(self, [](auto& m) { m.hang_up(); }); },
          .release = [](void*) {},
          .advance = oh_pump_advance_each,
          .hold = hold,
          .allow_hold = allow_hold,
          .note_frames = note_frames};
}

}  // namespace

int allow_pcm_upstream(void* self) {
  bool done = false;
  with(self, [&done](auto& modem) { done = modem.allow_pcm_upstream(); });
  return done ? 0 : kInvalid;
}
int prepare_quick_connect(void* self, const oh_v90_profile* profile, uint32_t phases) {
  bool done = false;
  with(self, [&done, profile, phases](auto& modem) { done = modem.quick_connect(*profile, phases); });
  return done ? 0 : kInvalid;
}
v8::QuickConnect quick_connect_octets(const void* self) {
  v8::QuickConnect octets;
  with(self, [&octets](const auto& modem) { octets = modem.quick_connect_octets(); });
  return octets;
}
void begin_quick_connect(void* self, const v8::Result& v8) {
  with(self, [&v8](auto& modem) { modem.begin_quick(v8); });
}

}  // namespace offhook::v90

const oh_pump_type* oh_v90_type() {
  static constexpr oh_pump_type kType = offhook::v90::type<false>("v90");
  return &kType;
}

const oh_pump_type* oh_v92_type() {
  static constexpr oh_pump_type kType = offhook::v90::type<true>("v92");
  return &kType;
}

void oh_v90_get_instruments(const void* self, struct oh_v90_instruments* i) {
  offhook::v90::with(self, [i](const auto& modem) { modem.instruments(i); });
}
int oh_v90_set_options(void* self, const struct oh_v90_options* o) {
  using namespace offhook::v90;
  constexpr unsigned k3000And3200 = 0b011000;
  const unsigned rates = o->upstream_symbol_rates == 0 ? offhook::v34::kUpstreamRates : o->upstream_symbol_rates;
  const bool is_digital = static_cast<const Head*>(self)->is_digital;
  const bool possible = (rates & ~unsigned{offhook::v34::kUpstreamRates}) == 0 && o->md_length <= kMostMd &&
                        o->without_dil <= 1 && o->shaping_bits <= 3 &&
                        (o->hold_timeout == 0 || hold_seconds(o->hold_timeout) != 0) &&
                        (!is_digital || (rates & k3000And3200) == k3000And3200);
  if (!possible) return kInvalid;
  oh_v90_options options = *o;
  options.upstream_symbol_rates = static_cast<uint8_t>(rates);
  with(self, [&options](auto& modem) { modem.set_options(options); });
  return 0;
}
void oh_v90_begin(void* self) {
  offhook::v90::with(self, [](auto& modem) { modem.begin(); });
}
int oh_v90_get_profile(const void* self, struct oh_v90_profile* profile) {
  bool known = false;
  offhook::v90::with(self, [&known, profile](const auto& modem) { known = modem.profile(profile); });
  return known ? 0 : offhook::v90::kInvalid;
}
int oh_v90_quick_connect(void* self, const struct oh_v90_profile* profile) {
  return offhook::v90::prepare_quick_connect(self, profile, offhook::v90::kShortPhases);
}
int oh_v90_was_quick(const void* self) {
  bool was = false;
  offhook::v90::with(self, [&was](const auto& modem) { was = modem.was_quick(); });
  return was ? 1 : 0;
}
void oh_v90_renegotiate(void* self) {
  offhook::v90::with(self, [](auto& modem) { modem.renegotiate(); });
}
void oh_v90_retrain(void* self) {
  offhook::v90::with(self, [](auto& modem) { modem.retrain(); });
}
void oh_v90_renegotiate_with_silence(void* self) {
  using namespace offhook::v90;
  if (!static_cast<const Head*>(self)->is_digital) at<AnalogueModem>(self).renegotiate_with_silence();
}
int oh_v90_hold(void* self, enum oh_hold_order order) {
  return offhook::v90::hold(self, order);
}
enum oh_hold_state oh_v90_hold_state(const void* self, uint8_t* timeout) {
  oh_hold_state state = OH_HOLD_NONE;
  offhook::v90::with(self, [&state, timeout](const auto& modem) { state = modem.hold_state(timeout); });
  return state;
}
