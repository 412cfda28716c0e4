// SPDX-License-Identifier: MIT
#include "dsp/dmt/modem.h"

#include "dsp/blocks/level.h"

namespace offhook::dmt {
namespace {

bool is_full_rate(const oh_pump_config& c) {
  return c.format.rx.rate_hz == kFullDown.rate_hz() || c.format.tx.rate_hz == kFullDown.rate_hz();
}

}  // namespace

ProcedureConfig Modem::procedure_config(Side side, const oh_pump_config& c) {
  const bool full = is_full_rate(c);
  return {side, full ? kFullDown : kLiteDown, full ? kFullUp : kLiteUp, c.max_bit_rate, c.port};
}

Modem::Modem(Side side, const oh_pump_config& c)
    : rx_band_(side == Side::kCentral ? procedure_config(side, c).up : procedure_config(side, c).down),
      tx_band_(side == Side::kCentral ? procedure_config(side, c).down : procedure_config(side, c).up),
      rx_ratio_(side == Side::kCentral ? 1 : static_cast<int>(c.format.rx.rate_hz / c.format.tx.rate_hz)),
      tx_ratio_(side == Side::kCentral ? static_cast<int>(c.format.tx.rate_hz / c.format.rx.rate_hz) : 1),
      observer_(observer_of(c)),
      modulator_(tx_band_),
      receiver_(rx_band_),
      procedure_(procedure_config(side, c)) {}

int16_t Modem::next_sample() {
  if (at_ == length_) {
    bool prefix = false;
    at_ = 0;
    if (procedure_.next(points_, &prefix)) {
      modulator_.symbol(points_, prefix, samples_);
      length_ = prefix ? tx_band_.symbol() : tx_band_.points;
    } else {
      length_ = tx_band_.points;
      for (int k = 0; k < length_; ++k) samples_[k] = 0;
    }
  }
  return samples_[at_++];
}

void Modem::heard() {
  procedure_.hear(&receiver_);
  if (observer_.symbol == nullptr || !procedure_.in_data()) return;
  for (int k = rx_band_.first; k <= rx_band_.last; ++k) {
    if (procedure_.received_loading().bits[k] > 0)
      observer_.symbol(observer_.user, receiver_.points()[k].re, receiver_.points()[k].im);
  }
}

void Modem::process(const int16_t* rx, int16_t* tx, size_t n) {
  for (size_t left = n; left > 0;) {
    // Periods in which no received symbol ends, and no transmitted one begins.
    const int to_hear = receiver_.until_symbol() / rx_ratio_, to_send = (length_ - at_) / tx_ratio_;
    const int quiet = to_hear < to_send ? to_hear : to_send;
    if (quiet > 0) {
      const int span = static_cast<size_t>(quiet) < left ? quiet : static_cast<int>(left);
      receiver_.store(rx, span * rx_ratio_);
      for (int k = 0; k < span * tx_ratio_; ++k) tx[k] = samples_[at_ + k];
      rx += span * rx_ratio_;
      tx += span * tx_ratio_;
      at_ += span * tx_ratio_;
      left -= static_cast<size_t>(span);
      continue;
    }
    for (int k = 0; k < rx_ratio_; ++k) {
      if (receiver_.put(*rx++)) heard();
    }
    for (int k = 0; k < tx_ratio_; ++k) *tx++ = next_sample();
    --left;
  }
  periods_ += n;
}

void Modem::report_gap(size_t n) {
  for (size_t i = 0; i < n; ++i) {
    for (int k = 0; k < rx_ratio_; ++k) {
      if (receiver_.lost()) heard();
    }
    for (int k = 0; k < tx_ratio_; ++k) next_sample();
  }
  periods_ += n;
  filled_in_ += n;
}

void Modem::status(oh_pump_status* s) const {
  *s = {};
  using S = Procedure::State;
  switch (procedure_.state()) {
    case S::kIdle:
    case S::kRequest:
    case S::kTones:
    case S::kQuiet:
      s->state = procedure_.trainings() > 0 ? OH_PUMP_TRAINING : OH_PUMP_CONNECTING;
      break;
    case S::kFailed:
      s->state = OH_PUMP_FAILED;
      break;
    case S::kEnded:
      s->state = OH_PUMP_IDLE;
      break;
    default:
      s->state = procedure_.in_data() ? OH_PUMP_DATA : OH_PUMP_TRAINING;
      break;
  }
  if (s->state == OH_PUMP_DATA) {
    s->tx_bit_rate = procedure_.sent_loading().net_bit_rate();
    s->rx_bit_rate = procedure_.received_loading().net_bit_rate();
  }
  const auto rms = static_cast<double>(receiver_.rms());
  s->rx_level_dbm0 = static_cast<float>(mean_square_to_dbm0(rms * rms));
  s->samples = periods_;
  s->filled_in = filled_in_;
  s->retrains = (procedure_.trainings() > 0 ? procedure_.trainings() - 1 : 0) + procedure_.fast_retrains();
  s->bits_sent = procedure_.bits_sent();
  s->bits_received = procedure_.bits_received();
  s->modulation = OH_MODULATION_OWN;
}

void Modem::instruments(oh_dmt_instruments* i) const {
  *i = {};
  const DataReceiver& d = procedure_.data();
  i->gross_bit_rate = procedure_.in_data() ? procedure_.received_loading().gross_bit_rate() : 0;
  i->superframes = d.superframes();
  i->crc_errors = d.crc_errors();
  i->far_crc_errors = d.far_crc_errors();
  i->lost_syncs = d.bad_syncs();
  i->spoiled_symbols = d.spoiled_symbols();
  i->corrected_octets = d.corrected_octets();
  i->lost_words = d.lost_words();
  i->trainings = procedure_.trainings();
  i->fast_retrains = procedure_.fast_retrains();
  i->swapped_bits = d.swapped_bits();
  i->margin_db = d.least_margin() > 0 ? static_cast<float>(power_db(static_cast<double>(d.least_margin()))) : 0;
  i->clock_ppm = receiver_.clock_ppm();
  for (int k = 0; k < rx_band_.tones(); ++k) {
    i->bits[k] = procedure_.received_loading().bits[k];
    i->gain_db[k] = 0.5f * static_cast<float>(procedure_.received_loading().gain_half_db[k]);
    const float e = procedure_.medley_error()[k];
    i->snr_db[k] = e > 0 ? static_cast<float>(-power_db(static_cast<double>(e))) : 0;
  }
}

}  // namespace offhook::dmt
