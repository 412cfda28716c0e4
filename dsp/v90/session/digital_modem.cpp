// SPDX-License-Identifier: MIT
#include "dsp/v90/session/digital_modem.h"

#include "dsp/blocks/renew.h"
#include "dsp/v90/session/downstream_training.h"

namespace offhook::v90 {
namespace {

Law law_of(const oh_pump_config& c) {
  return c.format.rx.encoding == OH_ALAW ? Law::kA : Law::kMu;
}

// Bits 33:37 of INFO0d: the highest limit that is not above the configured level.
uint8_t max_power(const oh_pump_config& c) {
  const int v = static_cast<int>(-2 * c.tx_level_dbm0 - 1 + 0.999f);
  return static_cast<uint8_t>(v < 0 ? 0 : v > 31 ? 31 : v);
}

// In 9.3.2.4's time Ja must arrive and Sd must return, and the analogue modem's canceller must hear the far echo of
// its own signal: two round trips.
uint32_t longest_trip() {
  constexpr uint8_t kAnyUInfo = 79;
  return (kSdAwaited - sd_after_ja(usual_dil(kAnyUInfo), v34::SymbolRate::k3200)) / 2;
}

v34::Phase2Config phase2_config(const oh_pump_config& c, bool v92) {
  v34::Phase2Config p;
  p.v92 = p.pcm_upstream = v92;
  p.role = DigitalModem::kPhase2Role;
  p.pcm = v34::PcmSide::kDigital;
  p.digital.max_power = max_power(c);
  p.digital.a_law = law_of(c) == Law::kA;
  p.digital.upstream_3429 = true;
  const float nominal = -6 - c.tx_level_dbm0;
  p.digital.nominal_power = static_cast<uint8_t>(nominal < 0 ? 0 : nominal > 15 ? 15 : nominal);
  p.tx_level_dbm0 = c.tx_level_dbm0;
  p.longest_pcm_trip = longest_trip();
  p.io_delay_samples = static_cast<uint16_t>(c.io_delay_samples);
  return p;
}

}  // namespace

DigitalModem::DigitalModem(const oh_pump_config& c, void* v34, bool v92)
    : Modem(c, v34, v8_config(c, v8::kPcmDigital, v8::kAccessDigital), phase2_config(c, v92), v34::kToneAHz),
      law_(law_of(c)),
      robbed_bits_(law_) {}

uint8_t DigitalModem::step(uint8_t rx, bool is_lost) {
  if (is_lost) robbed_bits_.skip();
  const float x = is_lost ? 0 : robbed_bits_.put(rx);
  power_ += (x * x - power_) * (1.f / 256);
  uint8_t tx = octet_of(law_, {0, true});
  const auto linear = [this](float y) { return nearest_octet(law_, clip(y)); };
  switch (stage_) {
    case Stage::kV8:
      tx = linear(v8_.process(x));
      follow_v8();
      break;
    case Stage::kQuick:
      tx = octet_of(law_, quick_step_digital(x));
      break;
    case Stage::kPhase2:
      tx = linear(phase2_step(x));
      if (phase2_.done()) begin_training();
      break;
    case Stage::kHold:
      tx = linear(hold_step(x));
      break;
    case Stage::kTraining:
      tx = pcm_upstream_ ? train_v92(x, is_lost) : train(x, is_lost);
      break;
    case Stage::kV34:
      return nearest_octet(law_, v34_step(x, is_lost));
    case Stage::kReleased:
    case Stage::kFailed:
      break;
  }
  if (stage_ == Stage::kReleased) return tx;
  const bool counted = failures_ > 0 || upstream_failures_ > 0;
  if (counted && stage_ == Stage::kTraining && is_live()) forget_failures();
  watch();
  return tx;
}

void DigitalModem::begin_training() {
  const v34::Phase2Outcome& o = phase2_.outcome();
  if (!o.pcm) return begin_v34(kPhase2Role, true);
  if (phase2_.refuses_pcm()) return repeat_refusal();
  DigitalConfig d;
  d.law = law_;
  d.u_info = o.info1a_v90.u_info;
  d.max_power = max_power(config_);
  d.symbol_rate = o.rx_symbol_rate;
  d.round_trip_samples = o.round_trip_samples;
  d.far_md_length = o.far_md_length;
  d.elapsed = o.samples_since_info1a;
  // The next code is the one of samples_ + 1.
  if (qts_at_ != 0) d.aligned = static_cast<int>((6 - (samples_ + 1 - qts_at_) % 6) % 6);
  d.max_bit_rate = config_.max_bit_rate;
  d.points_1664 = o.own_info0.supports_1664_points && o.far_info0.supports_1664_points;
  d.margin = v34::kSnrMargin;
  pcm_upstream_ = o.pcm_upstream;
  count_training();
  echo_.init(static_cast<int>(o.round_trip_samples + config_.io_delay_samples));
  retrain_tone_.reset();
  stage_ = Stage::kTraining;
  if (pcm_upstream_) return renew(v92_, d, config_.port);
  renew(procedure_, d, config_.port);
  renew(reader_, OH_PUMP_CALL, v34::DataPort{config_.port, {}});
  order_version_ = 0;
  quality_ = {};
  front_.set(o.high_pass);
  receiver_.init(v34::band(o.rx_symbol_rate, o.rx_carrier), {v34::pp_symbol, v34::kPpSymbols});
  renew(alignment_);
}

// The analogue modem may end its trainings for a reason of its own, such as its time-outs. This function decides the
// offer of the next INFO1d.
void DigitalModem::count_training() {
  if (pcm_upstream_) {
    if (++upstream_failures_ >= kMostFailures) phase2_.set_pcm_upstream(false);
  } else if (++failures_ >= most_failures()) {
    phase2_.refuse_pcm(true);
  }
}

// As the analogue modem, it tries V.90 again, but only once.
void DigitalModem::end_v34(bool had_data) {
  if (!had_data) return;
  failures_ = most_failures() - 1;
  phase2_.refuse_pcm(false);
}

void DigitalModem::forget_failures() {
  if (pcm_upstream_ && upstream_failures_ >= kMostFailures) phase2_.set_pcm_upstream(true);
  failures_ = upstream_failures_ = 0;
  route_is_digital_ = true;
  phase2_.refuse_pcm(false);
}

// The analogue modem has ignored INFO1d. Another retrain makes it reconsider, and comes before its canceller and
// equaliser fail in a training that is too long for it.
void DigitalModem::repeat_refusal() {
  phase2_.note_ignored_refusal();
  train_again();
}

uint8_t DigitalModem::train_v92(float rx, bool is_lost) {
  if (echo_.training() != v92_.far_end_silent()) echo_.set_training(!echo_.training());
  const float x = is_lost ? 0 : echo_.process(rx);
  if (!is_lost && retrain_tone_.put(x)) {
    answer_tone();
    return octet_of(law_, {0, true});
  }
  v92_.put(x, is_lost ? 0 : rx, &echo_);
  const Pcm code = v92_.next();
  echo_.put(is_lost ? 0 : static_cast<float>(linear_of(law_, code)));
  if (v92_.refuses_upstream()) phase2_.set_pcm_upstream(false);
  if (v92_.outcome() == Outcome::kRetrain) train_again();
  if (v92_.outcome() == Outcome::kReleased) leave_training(Stage::kReleased);
  return octet_of(law_, code);
}

uint8_t DigitalModem::train(float rx, bool is_lost) {
  if (echo_.training() != procedure_.far_end_silent()) echo_.set_training(!echo_.training());
  const float heard = front_.process(is_lost ? 0 : rx);
  const float x = is_lost ? 0 : echo_.process(heard);
  alignment_.tick(&echo_);
  if (!alignment_.take_surplus()) receive(x, is_lost);
  if (alignment_.take_missing()) receive(0, true);
  const uint8_t silent = octet_of(law_, {0, true});
  if (!is_lost && retrain_tone_.put(x)) {
    answer_tone();
    return silent;
  }
  procedure_.tick();
  const Pcm code = procedure_.next();
  echo_.put(is_lost ? 0 : static_cast<float>(linear_of(law_, code)));
  if (procedure_.outcome() == Outcome::kRetrain) train_again();
  if (procedure_.outcome() == Outcome::kReleased) leave_training(Stage::kReleased);
  return octet_of(law_, code);
}

// As the V.34 pump: passes the procedure's orders to the receiver, and the receiver's reports to the procedure.
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
  heard.power = receiver_.signal_power();
  const uint8_t* bits = nullptr;
  if (heard.event == qam::Receiver::Event::kSBar) {
    heard.s_bar_age = receiver_.s_bar_age();
    heard.symbols_skipped = receiver_.symbols_skipped();
  } else if (symbol && order.listen != v34::ReceiverOrder::Listen::kNothing) {
    const Complex y = receiver_.symbol();
    const Complex sent = reader_.decide(y);
    if (!receiver_.erased() && !alignment_.off_grid()) receiver_.adapt(sent);
    reader_.put(y, order.deliver && heard.event == qam::Receiver::Event::kNone, &heard);
    align(heard);
    heard.uncertain = receiver_.erased();
    heard.quality = measure_noise();
    if (heard.data == nullptr && heard.training.symbols > 0) bits = reader_.training().symbol_bits();
  }
  if (alignment_.working() && heard.event == qam::Receiver::Event::kNone) return;
  procedure_.put(heard, bits);
}

void DigitalModem::align(const v34::Heard& heard) {
  const bool data = procedure_.live() && heard.data != nullptr && heard.event == qam::Receiver::Event::kNone;
  if (!data || procedure_.is_gone(heard.power)) {  // silence has no place
    alignment_.reset(&echo_);
  } else if (heard.data->pair_completed()) {
    alignment_.put(heard.data->grid_variance(), procedure_.data_variance(), &echo_, &receiver_);
  }
}

const v34::LineQuality* DigitalModem::measure_noise() {
  constexpr int kEvery = 128, kEnough = 1024;
  const qam::NoisePredictor& noise = receiver_.noise();
  if (noise.count() % kEvery != 0 || noise.count() < kEnough) return nullptr;
  quality_.snr = v34::precoded_snr(noise, &quality_.precoder);
  return &quality_;
}

void DigitalModem::instruments(oh_v90_instruments* i) const {
  *i = {};
  if (stage_ != Stage::kTraining) return;
  const v34::Phase2Outcome& o = phase2_.outcome();
  i->round_trip_samples = o.round_trip_samples;
  i->u_info = o.info1a_v90.u_info;
  i->dil_segments = with([](const auto& p) { return p.dil().segments; });
  i->echo_return_loss_db = static_cast<float>(power_db(static_cast<double>(echo_.return_loss())));
  i->renegotiations = with([](const auto& p) { return p.renegotiations(); });
  if (pcm_upstream_) {
    i->upstream_symbol_rate_hz = 8000;
  } else {
    i->upstream_symbol_rate_hz = static_cast<float>(v34::symbol_rate_hz(o.rx_symbol_rate));
    i->clock_ppm = receiver_.clock_ppm();
    i->snr_db = static_cast<float>(power_db(static_cast<double>(receiver_.snr())));
  }
  if (!is_live()) return;
  i->downstream_thirds = with([](const auto& p) { return static_cast<uint32_t>(p.cp().rate_thirds()); });
  i->upstream_bit_rate = rx_bit_rate();
}

}  // namespace offhook::v90
