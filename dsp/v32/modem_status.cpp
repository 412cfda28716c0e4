// SPDX-License-Identifier: MIT
//
// Observation of a connection: the pump's status, and instruments for an observer.
#include "dsp/blocks/level.h"
#include "dsp/v32/modem.h"

namespace offhook::v32 {
namespace {

constexpr uint64_t kTapsEvery = 10 * 8000;

}  // namespace

// The event that the modem awaits while there is no data mode.
oh_start_up Modem::start_up() const {
  switch (info(step_).hears) {
    case Hears::kV8:
      return v8::start_up(v8_);
    case Hears::kAnswerTone:
      return answer_tone_.detector().steady_ms() > 0 ? OH_START_UP_ANSWER_TONE : OH_START_UP_NONE;
    case Hears::kTones:
      return OH_START_UP_PROBING;
    case Hears::kTraining:
      return heard_ == Heard::kNothing ? OH_START_UP_FAR_S : OH_START_UP_FAR_TRAINING;
    case Hears::kDataOrRetrain:
      return step_ == Step::kE ? OH_START_UP_RATES : OH_START_UP_NONE;
    default:
      return OH_START_UP_NONE;
  }
}

void Modem::show_progress() {
  const oh_start_up now = start_up();
  if (now == shown_start_up_ || observer_.instrument == nullptr) return;
  shown_start_up_ = now;
  if (now != OH_START_UP_NONE) observer_.instrument(observer_.user, OH_INSTRUMENT_START_UP, static_cast<float>(now));
}

void Modem::show_instruments() const {
  if (heard_ != Heard::kTrn || !receiver_.trained()) return;
  oh_v32bis_instruments i;
  instruments(&i);
  const auto show = [this](oh_instrument what, float value) { observer_.instrument(observer_.user, what, value); };
  if (receiver_.snr() > 0) show(OH_INSTRUMENT_SNR, i.snr_db);
  show(OH_INSTRUMENT_CLOCK, i.clock_ppm);
  show(OH_INSTRUMENT_CARRIER, i.frequency_offset_hz);
  if (i.echo_return_loss_db > 0) show(OH_INSTRUMENT_ECHO_RETURN_LOSS, i.echo_return_loss_db);
  if (live() && bits_.squared_error() > 0) {
    show(OH_INSTRUMENT_PATH_METRIC, static_cast<float>(power_db(static_cast<double>(bits_.squared_error()))));
  }
}

// When data mode begins, and every 10 s in it.
void Modem::show_taps() {
  if (live() && live_samples_ % kTapsEvery == 0) {
    observer_.taps(observer_.user, receiver_.tap_re(), receiver_.tap_im(), qam::Receiver::kTaps);
  }
  live_samples_ = live() ? live_samples_ + 1 : 0;
}

void Modem::instruments(oh_v32bis_instruments* i) const {
  *i = {};
  i->far_v32 = far_v32_;
  i->round_trip_samples = static_cast<uint32_t>(round_trip_);
  i->renegotiations = renegotiations_;
  i->cause = cause_;
  if (heard_ == Heard::kTrn && receiver_.trained()) {
    i->snr_db = static_cast<float>(power_db(static_cast<double>(receiver_.snr())));
    i->clock_ppm = receiver_.clock_ppm();
    i->frequency_offset_hz = receiver_.carrier_offset_hz();
  }
  if (echo_.residual_power() > 0) {
    i->echo_return_loss_db =
        static_cast<float>(power_db(static_cast<double>(echo_.echo_power() / echo_.residual_power())));
  }
}

void Modem::status(oh_pump_status* s) const {
  *s = {};
  const bool unanswered = retrains_ == 0 && (step_ == Step::kAa || step_ == Step::kAaTurns || step_ == Step::kAc ||
                                             step_ == Step::kAcAfterV8);
  s->state = live() ? OH_PUMP_DATA : unanswered ? OH_PUMP_CONNECTING : info(step_).state;
  s->modulation = OH_MODULATION_V32BIS;
  if (step_ == Step::kNothingInCommon) s->failure = OH_PUMP_NOTHING_IN_COMMON;
  if (live()) {
    s->tx_bit_rate = tx_.rate().bit_rate;
    s->rx_bit_rate = bits_.rate().bit_rate;
  }
  s->rx_level_dbm0 = static_cast<float>(mean_square_to_dbm0(static_cast<double>(power_)));
  s->samples = samples_;
  s->filled_in = filled_in_;
  s->retrains = retrains_;
  s->bits_sent = tx_.bits_sent();
  s->bits_received = bits_before_ + bits_.bits_received();
}

}  // namespace offhook::v32
