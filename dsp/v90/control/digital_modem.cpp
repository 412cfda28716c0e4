// SPDX-License-Identifier: MIT
#include "dsp/v90/control/digital_modem.h"

#include "dsp/blocks/level.h"
#include "dsp/blocks/renew.h"
#include "dsp/v34/control/handover.h"
#include "dsp/v34/control/pump.h"

namespace offhook::v90 {
namespace {

constexpr uint32_t kRateHz = 8000;
constexpr uint64_t kGiveUp = 90 * kRateHz;  // without data mode
constexpr double kMargin = 1.084;           // as V.34's: 0.35 dB

Law law_of(const oh_pump_config& c) {
  return c.format.rx.encoding == OH_ALAW ? Law::kA : Law::kMu;
}

v8::Config v8_config(const oh_pump_config& c) {
  v8::Config v = v8::data_call(c, v8::kPcm | v8::kV34);
  v.menu.has_pcm = v.menu.has_access = true;
  v.menu.pcm = 2;     // digital
  v.menu.access = 4;  // on a digital network
  return v;
}

// Bits 33:37 of INFO0d: the highest limit that is not above the configured level.
uint8_t max_power(const oh_pump_config& c) {
  const int v = static_cast<int>(-2 * c.tx_level_dbm0 - 1 + 0.999f);
  return static_cast<uint8_t>(v < 0 ? 0 : v > 31 ? 31 : v);
}

v34::Phase2Config phase2_config(const oh_pump_config& c) {
  v34::Phase2Config p;
  p.role = OH_PUMP_CALL;
  p.pcm = v34::PcmSide::kDigital;
  p.digital.max_power = max_power(c);
  p.digital.a_law = law_of(c) == Law::kA;
  p.digital.upstream_3429 = true;
  const float nominal = -6 - c.tx_level_dbm0;
  p.digital.nominal_power = static_cast<uint8_t>(nominal < 0 ? 0 : nominal > 15 ? 15 : nominal);
  p.tx_level_dbm0 = c.tx_level_dbm0;
  p.io_delay_samples = static_cast<uint16_t>(c.io_delay_samples);
  return p;
}

// V.34 knows nothing of octets or of a second sample rate.
oh_pump_config v34_config(const oh_pump_config& c, oh_pump_role role) {
  oh_pump_config v = c;
  v.format = kLinear8000;
  v.role = role;
  return v;
}

}  // namespace

size_t DigitalModem::v34_size(const oh_pump_config& c) {
  const oh_pump_config v = v34_config(c, c.role);
  return oh_v34_type()->size(&v);
}

DigitalModem::DigitalModem(const oh_pump_config& c, void* v34)
    : config_(c), v34_(v34), law_(law_of(c)), v8_(v8_config(c)), phase2_(phase2_config(c)) {}

uint8_t DigitalModem::step(uint8_t rx, bool is_lost) {
  const auto x = static_cast<float>(linear_of(law_, pcm_of(law_, rx)));
  power_ += (x * x - power_) * (1.f / 256);
  uint8_t tx = octet_of(law_, {0, true});
  const auto linear = [this](float y) { return nearest_octet(law_, clip(y)); };
  switch (stage_) {
    case Stage::kV8:
      tx = linear(v8_.process(x));
      if (v8_.state() == v8::State::kRunning) break;
      if (v8_.state() == v8::State::kDone && v8_.result().modulation == v8::kPcm && (v8_.result().far.pcm & 1) != 0) {
        begin();
      } else if (v8_.state() == v8::State::kDone && (v8_.result().joint.modulations & v8::kV34) != 0) {
        begin_v34(config_.role, false);
      } else {
        nothing_in_common_ = true;
        stage_ = Stage::kFailed;
      }
      break;
    case Stage::kPhase2:
      tx = linear(phase2_.process(x));
      if (phase2_.state() == v34::Phase2State::kDone) begin_training();
      break;
    case Stage::kTraining:
      tx = train(x, is_lost);
      break;
    case Stage::kV34: {
      const int16_t in = clip(x);
      int16_t out = 0;
      if (is_lost) {
        oh_v34_type()->fill_in(v34_, 1);
      } else {
        oh_v34_type()->process(v34_, &in, &out, 1);
      }
      return nearest_octet(law_, out);
    }
    case Stage::kReleased:
    case Stage::kFailed:
      break;
  }
  if (stage_ == Stage::kReleased) return tx;
  without_data_ = stage_ == Stage::kTraining && procedure_.live() ? 0 : without_data_ + 1;
  if (without_data_ > kGiveUp) stage_ = Stage::kFailed;
  return tx;
}

void DigitalModem::begin_training() {
  const v34::Phase2Outcome& o = phase2_.outcome();
  if (!o.pcm) return begin_v34(OH_PUMP_CALL, true);
  DigitalConfig d;
  d.law = law_;
  d.u_info = o.info1a_v90.u_info;
  d.max_power = max_power(config_);
  d.symbol_rate = o.rx_symbol_rate;
  d.round_trip_samples = o.round_trip_samples;
  d.far_md_length = o.far_md_length;
  d.elapsed = o.samples_since_info1a;
  d.max_bit_rate = config_.max_bit_rate;
  d.points_1664 = o.own_info0.supports_1664_points && o.far_info0.supports_1664_points;
  d.margin = kMargin;
  renew(procedure_, d, config_.port);
  renew(reader_, OH_PUMP_CALL, v34::DataPort{config_.port, {}});
  order_version_ = 0;
  quality_ = {};
  receiver_.init(v34::band(o.rx_symbol_rate, o.rx_carrier), {v34::pp_symbol, v34::kPpSymbols});
  echo_.init(static_cast<int>(o.round_trip_samples + config_.io_delay_samples));
  retrain_tone_.reset();
  stage_ = Stage::kTraining;
}

uint8_t DigitalModem::train(float rx, bool is_lost) {
  if (echo_.training() != procedure_.far_end_silent()) echo_.set_training(!echo_.training());
  const float x = is_lost ? 0 : echo_.process(rx);
  receive(x, is_lost);
  const uint8_t silent = octet_of(law_, {0, true});
  if (!is_lost && retrain_tone_.put(x)) {
    retrain();
    return silent;
  }
  procedure_.tick();
  const Pcm code = procedure_.next();
  echo_.put(is_lost ? 0 : static_cast<float>(linear_of(law_, code)));
  if (procedure_.outcome() == Outcome::kRetrain) retrain();
  if (procedure_.outcome() == Outcome::kReleased) leave_training(Stage::kReleased);
  return octet_of(law_, code);
}

// As the V.34 pump: the receiver is told what the procedure wants of it, which is told what was heard.
void DigitalModem::receive(float rx, bool is_lost) {
  const v34::ReceiverOrder& order = procedure_.order();
  if (order.version != order_version_) {
    order_version_ = order.version;
    receiver_.set_format(order.format);
    reader_.init(order);
  }
  if (receiver_.task() != order.task) receiver_.set_task(order.task);
  const bool symbol = is_lost ? receiver_.process_lost() : receiver_.process(rx);
  v34::Heard heard;
  heard.event = receiver_.take_event();
  if (!symbol && heard.event == qam::Receiver::Event::kNone) return;
  const uint8_t* bits = nullptr;
  if (heard.event == qam::Receiver::Event::kSBar) {
    heard.s_bar_age = receiver_.s_bar_age();
    heard.symbols_skipped = receiver_.symbols_skipped();
  } else if (symbol && order.listen != v34::ReceiverOrder::Listen::kNothing) {
    const Complex y = receiver_.symbol();
    const Complex sent = reader_.decide(y);
    if (!receiver_.erased()) receiver_.adapt(sent);
    reader_.put(y, order.deliver && heard.event == qam::Receiver::Event::kNone, &heard);
    heard.quality = measure_noise();
    if (heard.data == nullptr && heard.training.symbols > 0) bits = reader_.training().symbol_bits();
  }
  procedure_.put(heard, bits);
}

const v34::LineQuality* DigitalModem::measure_noise() {
  constexpr int kEvery = 128, kEnough = 1024;
  const qam::NoisePredictor& noise = receiver_.noise();
  if (noise.count() % kEvery != 0 || noise.count() < kEnough) return nullptr;
  quality_.snr = v34::precoded_snr(noise, &quality_.precoder);
  return &quality_;
}

void DigitalModem::leave_training(Stage next) {
  if (stage_ == Stage::kTraining) {
    bits_sent_ += procedure_.bits_sent();
    bits_received_ += reader_.data().bits_received();
  }
  stage_ = next;
}

// V.34 was chosen, in Phase 2, or by V.8. It stays until the call ends.
void DigitalModem::begin_v34(oh_pump_role role, bool phase2_is_over) {
  const oh_pump_config v = v34_config(config_, role);
  oh_v34_type()->init(v34_, &v);
  if (phase2_is_over) {
    v34::begin_training(v34_, phase2_.outcome());
  } else {
    oh_v34_begin(v34_);
  }
  stage_ = Stage::kV34;
}

void DigitalModem::renegotiate() {
  if (stage_ == Stage::kV34) oh_v34_renegotiate(v34_);
  if (in_data()) procedure_.renegotiate();
}

void DigitalModem::retrain() {
  if (stage_ == Stage::kV34) oh_v34_retrain(v34_);
  if (stage_ != Stage::kTraining) return;
  ++retrains_;
  leave_training(Stage::kPhase2);
  phase2_.retrain();
}

void DigitalModem::hang_up() {
  if (stage_ == Stage::kV34) {
    oh_v34_type()->hang_up(v34_);
  } else if (in_data() && procedure_.live()) {
    procedure_.cleardown();
  } else {
    leave_training(Stage::kReleased);
  }
}

void DigitalModem::status(oh_pump_status* s) const {
  *s = {};
  if (stage_ == Stage::kV34) {
    s->struct_size = sizeof *s;
    oh_v34_type()->status(v34_, s);
    s->bits_sent += bits_sent_;
    s->bits_received += bits_received_;
    s->samples = samples_;
    s->filled_in = filled_in_;
    s->retrains += retrains_ + phase2_.retrains();
    return;
  }
  s->state = OH_PUMP_CONNECTING;
  if (stage_ == Stage::kFailed) s->state = OH_PUMP_FAILED;
  if (stage_ == Stage::kReleased) s->state = OH_PUMP_IDLE;
  if (stage_ == Stage::kTraining || (stage_ == Stage::kPhase2 && retrains_ > 0)) s->state = OH_PUMP_TRAINING;
  s->bits_sent = bits_sent_;
  s->bits_received = bits_received_;
  if (stage_ == Stage::kTraining) {
    s->bits_sent += procedure_.bits_sent();
    s->bits_received += reader_.data().bits_received();
    if (procedure_.live()) {
      s->state = OH_PUMP_DATA;
      s->tx_bit_rate = static_cast<uint32_t>(procedure_.cp().rate_thirds()) / 3;
      s->rx_bit_rate = static_cast<uint32_t>(procedure_.rx_bit_rate());
    }
  }
  s->rx_level_dbm0 = static_cast<float>(mean_square_to_dbm0(static_cast<double>(power_)));
  s->samples = samples_;
  s->filled_in = filled_in_;
  s->retrains = retrains_ + phase2_.retrains();
  if (nothing_in_common_) s->failure = OH_PUMP_NOTHING_IN_COMMON;
}

void DigitalModem::instruments(oh_v90_instruments* i) const {
  *i = {};
  if (stage_ != Stage::kTraining) return;
  const v34::Phase2Outcome& o = phase2_.outcome();
  i->round_trip_samples = o.round_trip_samples;
  i->u_info = o.info1a_v90.u_info;
  i->clock_ppm = receiver_.clock_ppm();
  i->snr_db = static_cast<float>(power_db(static_cast<double>(receiver_.snr())));
  i->echo_return_loss_db = static_cast<float>(power_db(static_cast<double>(echo_.return_loss())));
  i->renegotiations = procedure_.renegotiations();
  if (!procedure_.live()) return;
  i->downstream_thirds = static_cast<uint32_t>(procedure_.cp().rate_thirds());
  i->upstream_bit_rate = static_cast<uint32_t>(procedure_.rx_bit_rate());
}

}  // namespace offhook::v90
