// SPDX-License-Identifier: MIT
#include "dsp/blocks/hum_filter.h"
#include "dsp/blocks/level.h"
#include "dsp/pump/pump_type.h"
#include "dsp/v34/half_duplex/session.h"
#include "dsp/v8/v8.h"
#include "offhook/v34_half_duplex.h"

namespace offhook::v34 {
namespace {

constexpr uint64_t kGiveUp = 90 * 8000;  // samples without user data
constexpr uint64_t kGone = 10 * 8000;    // samples of Phase 2 in which nothing is received from the far end

enum class Stage : uint8_t { kV8, kPhase2, kSession, kReleased, kFailed };

// The calling source transmits the fax, the calling recipient receives it. Table 3/V.8
v8::Config v8_config(const oh_pump_config& c, bool source) {
  v8::Config v;
  v.role = c.role;
  const bool caller_transmits = source == (c.role == OH_PUMP_CALL);
  v.menu.call_function = caller_transmits ? v8::CallFunction::kTransmitFax : v8::CallFunction::kReceiveFax;
  v.menu.modulations = v8::kV34HalfDuplex;
  v.tx_level_dbm0 = c.tx_level_dbm0;
  return v;
}

Phase2Config phase2_config(const oh_pump_config& c, bool source) {
  Phase2Config p;
  p.role = c.role;
  p.half = source ? HalfDuplex::kSource : HalfDuplex::kRecipient;
  p.max_bit_rate = c.max_bit_rate;
  p.tx_level_dbm0 = c.tx_level_dbm0;
  p.io_delay_samples = static_cast<uint16_t>(c.io_delay_samples);
  return p;
}

HalfDuplexConfig session_config(const oh_pump_config& c, bool source) {
  HalfDuplexConfig h;
  h.role = c.role;
  h.source = source;
  h.tx_level_dbm0 = static_cast<double>(c.tx_level_dbm0);
  h.io_delay_samples = c.io_delay_samples;
  h.max_bit_rate = c.max_bit_rate;
  h.margin = kSnrMargin;
  return h;
}

constexpr oh_bit_port kOnes = {[](void*) { return 1; }, [](void*, int) {}, nullptr, nullptr, nullptr};

class Modem {
 public:
  static constexpr uint32_t kLeastBitRate = 2400;
  static constexpr uint32_t kLongestStep = 1000;

  Modem(const oh_pump_config& c, bool source)
      : config_(c),
        v8_(v8_config(c, source)),
        phase2_(phase2_config(c, source)),
        session_(session_config(c, source), c.port, kOnes) {}

  int16_t process(int16_t rx) { return step(rx, false); }
  void lost() {
    ++filled_in_;
    step(0, true);
  }
  void begin() {
    stage_ = Stage::kPhase2;
    phase2_.start();
  }
  HalfDuplexSession* session() { return stage_ == Stage::kSession ? &session_ : nullptr; }
  HalfDuplexSession& settings() { return session_; }
  void status(oh_pump_status* s) const;
  void status(oh_v34_half_duplex_status* s) const;
  void hang_up() { stage_ = Stage::kReleased; }

 private:
  int16_t step(int16_t rx, bool is_lost);
  float run(float rx, bool is_lost);
  void follow_outcome();

  Stage stage_ = Stage::kV8;
  uint64_t samples_ = 0, filled_in_ = 0, without_data_ = 0;
  uint32_t retrains_ = 0;
  bool nothing_in_common_ = false;
  bool trained_ = false;
  float power_ = 0;
  oh_pump_config config_;
  v8::V8 v8_;
  SigCDetector sig_c_;
  Phase2 phase2_;
  HumFilter front_{kHighPassFrom220};
  HalfDuplexSession session_;
};

int16_t Modem::step(int16_t rx, bool is_lost) {
  const float x = rx;
  ++samples_;
  power_ += (x * x - power_) * (1.f / 256);
  const float tx = run(x, is_lost);
  const bool live = stage_ == Stage::kSession && (session_.in_control() || session_.in_primary());
  without_data_ = live ? 0 : without_data_ + 1;
  const bool gone = stage_ == Stage::kPhase2 && phase2_.unheard() > kGone;
  if (stage_ != Stage::kReleased && (without_data_ > kGiveUp || gone)) stage_ = Stage::kFailed;
  return clip(tx);
}

float Modem::run(float x, bool is_lost) {
  float tx = 0;
  switch (stage_) {
    case Stage::kV8:
      if (v8_.step() == v8::V8::Step::kJm && sig_c_.put(x)) v8_.far_end_has_begun();
      tx = v8_.process(x);
      if (v8_.state() == v8::State::kRunning) break;
      if (v8_.state() == v8::State::kDone && v8_.result().modulation == v8::kV34HalfDuplex) {
        begin();
      } else {
        nothing_in_common_ = true;
        stage_ = Stage::kFailed;
      }
      break;
    case Stage::kPhase2:
      tx = phase2_.process(x);
      if (!phase2_.done()) break;
      front_.set(phase2_.outcome().high_pass);
      session_.begin(phase2_.outcome());
      trained_ = true;
      stage_ = Stage::kSession;
      break;
    case Stage::kSession:
      x = front_.process(is_lost ? 0 : x);
      tx = is_lost ? session_.process_lost() : session_.process(x);
      follow_outcome();
      break;
    case Stage::kReleased:
    case Stage::kFailed:
      break;
  }
  return tx;
}

void Modem::follow_outcome() {
  if (session_.outcome() == HalfDuplexOutcome::kNone) return;
  ++retrains_;
  stage_ = Stage::kPhase2;
  if (session_.outcome() == HalfDuplexOutcome::kRetrain) {
    phase2_.retrain();
  } else {
    phase2_.repeat_infoh();
  }
}

void Modem::status(oh_pump_status* s) const {
  *s = {};
  oh_v34_half_duplex_status h{};
  status(&h);
  const bool sends = phase2_.is_source();
  s->state = OH_PUMP_CONNECTING;
  if (stage_ == Stage::kFailed) s->state = OH_PUMP_FAILED;
  if (stage_ == Stage::kReleased) s->state = OH_PUMP_IDLE;
  if (stage_ == Stage::kSession || (stage_ == Stage::kPhase2 && trained_)) s->state = OH_PUMP_TRAINING;
  if (h.channel != OH_V34_CHANNEL_NONE) s->state = OH_PUMP_DATA;
  if (h.channel == OH_V34_CHANNEL_CONTROL) {
    s->tx_bit_rate = h.control_tx_bit_rate;
    s->rx_bit_rate = h.control_rx_bit_rate;
  } else if (h.channel == OH_V34_CHANNEL_PRIMARY) {
    (sends ? s->tx_bit_rate : s->rx_bit_rate) = h.primary_bit_rate;
  }
  s->bits_sent = h.control_bits_sent + (sends ? h.primary_bits : 0);
  s->bits_received = h.control_bits_received + (sends ? 0 : h.primary_bits);
  s->rx_level_dbm0 = static_cast<float>(mean_square_to_dbm0(static_cast<double>(power_)));
  s->samples = samples_;
  s->filled_in = filled_in_;
  s->retrains = retrains_ + h.control_retrains;
  s->modulation = OH_MODULATION_V34;
  if (nothing_in_common_) s->failure = OH_PUMP_NOTHING_IN_COMMON;
}

void Modem::status(oh_v34_half_duplex_status* s) const {
  *s = {};
  s->primary_retrains = retrains_;
  if (!trained_) return;
  const Phase2Outcome& o = phase2_.outcome();
  s->symbol_rate_hz = static_cast<float>(symbol_rate_hz(o.tx_symbol_rate));
  s->carrier_hz = static_cast<float>(carrier_hz(o.tx_symbol_rate, o.tx_carrier));
  s->control_retrains = session_.control_retrains();
  s->primary_bits = session_.primary_bits();
  s->control_bits_sent = session_.control_bits_sent();
  s->control_bits_received = session_.control_bits_received();
  if (session_.rates().primary == 0) return;
  s->primary_bit_rate = uint32_t{session_.rates().primary} * 2400;
  s->control_tx_bit_rate = session_.control_bit_rate(true);
  s->control_rx_bit_rate = session_.control_bit_rate(false);
  if (stage_ != Stage::kSession) return;
  if (session_.in_control()) s->channel = OH_V34_CHANNEL_CONTROL;
  if (session_.in_primary()) s->channel = OH_V34_CHANNEL_PRIMARY;
}

struct Source : Modem {
  explicit Source(const oh_pump_config& c) : Modem(c, true) {}
};
struct Recipient : Modem {
  explicit Recipient(const oh_pump_config& c) : Modem(c, false) {}
};

Modem& modem(void* self) {
  return *static_cast<Modem*>(self);
}

}  // namespace
}  // namespace offhook::v34

const oh_pump_type* oh_v34_source_type() {
  static constexpr oh_pump_type kType = offhook::ModemType<offhook::v34::Source>::named("v34-source");
  return &kType;
}

const oh_pump_type* oh_v34_recipient_type() {
  static constexpr oh_pump_type kType = offhook::ModemType<offhook::v34::Recipient>::named("v34-recipient");
  return &kType;
}

void oh_v34_half_duplex_set_control_port(void* self, const oh_bit_port* port) {
  offhook::v34::modem(self).settings().set_control_port(*port);
}

void oh_v34_half_duplex_begin(void* self) {
  offhook::v34::modem(self).begin();
}

int oh_v34_half_duplex_turn(void* self) {
  constexpr int kAgain = -11;  // -EAGAIN, without an OS header
  offhook::v34::HalfDuplexSession* s = offhook::v34::modem(self).session();
  return s != nullptr && s->turn() ? 0 : kAgain;
}

void oh_v34_half_duplex_change(void* self, uint32_t max_bit_rate, uint32_t control_bit_rate) {
  offhook::v34::modem(self).settings().change(max_bit_rate, control_bit_rate == 2400);
}

void oh_v34_half_duplex_retrain_control(void* self) {
  if (offhook::v34::HalfDuplexSession* s = offhook::v34::modem(self).session(); s != nullptr) s->retrain_control();
}

void oh_v34_half_duplex_retrain_primary(void* self) {
  if (offhook::v34::HalfDuplexSession* s = offhook::v34::modem(self).session(); s != nullptr) s->retrain_primary();
}

void oh_v34_half_duplex_get_status(const void* self, oh_v34_half_duplex_status* status) {
  oh_v34_half_duplex_status all;
  static_cast<const offhook::v34::Modem*>(self)->status(&all);
  const uint32_t room = status->struct_size;
  __builtin_memcpy(status, &all, room < sizeof all ? room : sizeof all);
  status->struct_size = room;
}
