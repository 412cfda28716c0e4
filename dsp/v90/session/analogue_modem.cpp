// SPDX-License-Identifier: MIT
#include "dsp/v90/session/analogue_modem.h"

#include "dsp/blocks/renew.h"
#include "dsp/v34/coding/pre_emphasis.h"

namespace offhook::v90 {
namespace {

uint8_t u_info_for(const v34::Info0d& far) {
  return choose_u_info(far.a_law ? Law::kA : Law::kMu, far.max_power);
}

v34::Phase2Config phase2_config(const oh_pump_config& c, bool v92) {
  v34::Phase2Config p;
  p.v92 = p.pcm_upstream = v92;
  p.role = AnalogueModem::kPhase2Role;
  p.pcm = v34::PcmSide::kAnalogue;
  p.u_info = u_info_for;
  p.tx_level_dbm0 = c.tx_level_dbm0;
  p.io_delay_samples = static_cast<uint16_t>(c.io_delay_samples + Decimator::kDelay);
  return p;
}

}  // namespace

AnalogueModem::AnalogueModem(const oh_pump_config& c, void* v34, bool v92)
    : Modem(c, v34, v8_config(c, v8::kPcmAnalogue, 0), phase2_config(c, v92), v34::kToneBHz) {
  decimator_.init();
  // Tables: 1 ms that no block of a training has to spend.
  receiver_.init();
  shaper_.init();
}

int16_t AnalogueModem::step(const int16_t* rx, bool is_lost) {
  for (int k = 0; k < kReceived; ++k)
    power_ += (static_cast<float>(rx[k]) * static_cast<float>(rx[k]) - power_) * (1.f / 512);
  if (stage_ == Stage::kReleased) return 0;
  float tx = 0;
  switch (stage_) {
    case Stage::kV8:
      tx = v8_.process(decimator_.put(rx[0], rx[1]));
      follow_v8();
      break;
    case Stage::kQuick:
      tx = quick_step(decimator_.put(rx[0], rx[1]));
      break;
    case Stage::kPhase2:
      tx = phase2_step(decimator_.put(rx[0], rx[1]));
      if (phase2_.done()) begin_training();
      break;
    case Stage::kHold:
      tx = hold_step(decimator_.put(rx[0], rx[1]));
      break;
    case Stage::kTraining:
      tx = train(rx, is_lost);
      break;
    case Stage::kV34:
      return v34_step(decimator_.put(rx[0], rx[1]), is_lost);
    default:
      break;
  }
  watch();
  return clip(tx);
}

void AnalogueModem::begin_training() {
  const v34::Phase2Outcome& o = phase2_.outcome();
  if (!o.pcm) return begin_v34(kPhase2Role, true);
  AnalogueConfig a;
  a.law = o.info0d.a_law ? Law::kA : Law::kMu;
  a.u_info = o.info1a_v90.u_info;
  a.max_power = o.info0d.max_power;
  a.symbol_rate = o.tx_symbol_rate;
  a.round_trip_samples = o.round_trip_samples + config_.io_delay_samples;  // of all that it waits for
  a.echo_delay_samples = config_.io_delay_samples;
  a.own_md_length = o.own_md_length;
  a.max_bit_rate = config_.max_bit_rate;
  a.shaping_bits = options_.shaping_bits;
  a.without_dil = options_.without_dil != 0;
  refits_ = 0;
  constexpr int kV92Steps = 2 * NearEcho::kSteps;
  static_assert(kMostIoDelay <= NearEcho::kMostDelay);
  echo_.init(static_cast<int>(config_.io_delay_samples), best_kernels(), o.pcm_upstream ? kV92Steps : NearEcho::kSteps);
  retrain_tone_.reset();
  stage_ = Stage::kTraining;
  pcm_upstream_ = o.pcm_upstream;
  if (pcm_upstream_) {
    renew(v92_, a, config_.port);
    symbol_level_ =
        static_cast<float>(dbm0_to_rms(static_cast<double>(config_.tx_level_dbm0) - o.tx_power_reduction_db));
    locked_ = false;
    return;
  }
  renew(procedure_, a, config_.port);
  const Band tx = v34::band(o.tx_symbol_rate, o.tx_carrier);
  modulator_.init(tx, dbm0_to_rms(static_cast<double>(config_.tx_level_dbm0) - o.tx_power_reduction_db),
                  {v34::pre_emphasis_db, o.tx_pre_emphasis});
}

// V.90 is tried again if the route is known to be digital or the owner requests it; but only once, because each attempt
// costs some ten seconds without data.
void AnalogueModem::end_v34(bool had_data) {
  const bool again = had_data && (route_is_digital_ || asked_);
  phase2_.choose_pcm(again);
  if (again) failures_ = most_failures() - 1;
}

float AnalogueModem::train(const int16_t* rx, bool is_lost) {
  const bool silent = with([](const auto& p) { return p.far_end_silent(); });
  if (echo_.training() != silent) echo_.set_training(silent);
  float x[kReceived] = {};
  if (!is_lost) echo_.process(rx, x);
  for (const float sample : x) with([&](auto& p) { receive(p, sample, is_lost); });
  const float decimated = decimator_.put(x[0], x[1]);
  if (!is_lost && retrain_tone_.put(decimated)) {
    answer_tone();
    return 0;
  }
  with([](auto& p) { p.tick(); });
  const float tx = pcm_upstream_ ? send_v92() : send();
  echo_.put(is_lost ? 0 : tx);
  follow_outcome();
  return tx;
}

float AnalogueModem::send() {
  if (modulator_.wants_symbol()) modulator_.put(procedure_.next_symbol());
  return modulator_.next();
}

// Before the receiver has the network's clock, the symbols have the own one. Then they follow it, slowly, because its
// phase moves with every error of a symbol.
float AnalogueModem::send_v92() {
  constexpr double kFollow = 1. / 4096;
  double step = 1;
  if (v92_.locked()) {
    const double network = receiver_.network_symbols();
    if (!locked_) sent_symbols_ = network;
    step = receiver_.symbols_a_sample();
    if (!locked_) step = 0;
    locked_ = true;
    step += kFollow * (network - sent_symbols_ - step);
    sent_symbols_ += step;
    if (step == 0) step = 1;
  }
  shaper_.advance(step);
  while (shaper_.wants_symbol()) {
    shaper_.put(v92_.next_symbol());
    if (const double late = v92_.take_delay(); late != 0) shaper_.delay(late);
  }
  return symbol_level_ * shaper_.sample();
}

void AnalogueModem::follow_outcome() {
  if (is_live()) failures_ = upstream_failures_ = 0;
  route_is_digital_ |= with([](const auto& p) { return p.distance(); }) > 0;
  const Outcome outcome = with([](const auto& p) { return p.outcome(); });
  if (outcome == Outcome::kRetrain && pcm_upstream_) {
    if (++upstream_failures_ >= kMostFailures) phase2_.set_pcm_upstream(false);
  } else if (outcome == Outcome::kRetrain || outcome == Outcome::kNotDigital) {
    ++failures_;
    const bool may_carry_pcm = route_is_digital_ || outcome == Outcome::kRetrain;
    phase2_.choose_pcm(may_carry_pcm && failures_ < most_failures());
  }
  if (outcome == Outcome::kRetrain || outcome == Outcome::kNotDigital) train_again();
  if (outcome == Outcome::kReleased) leave_training(Stage::kReleased);
}

template <class Any>
void AnalogueModem::receive(Any& procedure, float rx, bool is_lost) {
  if (receiver_.task() != procedure.task()) receiver_.set_task(procedure.task(), procedure.level());
  const bool symbol = is_lost ? receiver_.process_lost() : receiver_.process(rx);
  const PcmReceiver::Event event = receiver_.take_event();
  if (event != PcmReceiver::Event::kNone) procedure.put(event);
  if (!symbol) return;
  const DownstreamReader::Result r =
      procedure.put(receiver_.symbol(), receiver_.interval(), receiver_.error_power(), receiver_.refitting());
  watch_echo(receiver_.symbol() - r.reference);
  receiver_.adapt(r.reference, r.trust);
  if (r.move != 0) receiver_.move(r.move);
  if (refits_ == procedure.refits()) return;
  refits_ = procedure.refits();
  receiver_.refit();
}

void AnalogueModem::watch_echo(float error) {
  if (!with([](const auto& p) { return p.suspects_echo(); })) {
    watching_ = false;
    return;
  }
  if (!watching_) echo_.begin_watch();
  watching_ = true;
  echo_.watch(error);
  constexpr int kEvery = 1024;
  if (echo_.watched() % kEvery == 0) with([this](auto& p) { p.set_echo_share(echo_.explained()); });
}

void AnalogueModem::instruments(oh_v90_instruments* i) const {
  *i = {};
  if (stage_ != Stage::kTraining) return;
  const v34::Phase2Outcome& o = phase2_.outcome();
  i->round_trip_samples = o.round_trip_samples;
  i->u_info = o.info1a_v90.u_info;
  i->upstream_symbol_rate_hz = pcm_upstream_ ? 8000 : static_cast<float>(v34::symbol_rate_hz(o.tx_symbol_rate));
  i->clock_ppm = receiver_.clock_ppm();
  i->noise_rms = with([](const auto& p) { return p.noise_rms(); });
  i->echo_return_loss_db = static_cast<float>(power_db(static_cast<double>(echo_.return_loss())));
  i->renegotiations = with([](const auto& p) { return p.renegotiations(); });
  if (!is_live()) return;
  i->downstream_thirds = with([](const auto& p) { return static_cast<uint32_t>(p.rx_rate_thirds()); });
  i->upstream_bit_rate = tx_bit_rate();
  i->least_distance = with([](const auto& p) { return p.distance(); });
  const Cp& cp = pcm_upstream_ ? v92_.cp() : procedure_.cp();
  for (int k = 0; k < kFrameIntervals; ++k) {
    i->points[k] = static_cast<uint8_t>(cp.constellation[cp.interval[k]].points());
  }
}

}  // namespace offhook::v90
