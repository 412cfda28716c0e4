// SPDX-License-Identifier: MIT
#include "dsp/v34/session/receive_rate.h"

namespace offhook::v34 {
namespace {

bool has(uint16_t mask, int rate) {
  return (mask >> (rate - 1) & 1) != 0;
}

// SNR from which the next higher common rate is possible; 0: none.
double required_above(const RateLimits& l, int rate, uint16_t mask, int most) {
  const int highest = highest_rate(l) < most ? highest_rate(l) : most;
  for (int r = rate + 1; r <= highest; ++r) {
    if (!has(mask, r)) continue;
    const Framing f = make_framing(l.symbol_rate, static_cast<uint32_t>(r) * 2400, l.aux, l.expanded);
    return required_snr(l.trellis, f, l.precoding);
  }
  return 0;
}

}  // namespace

// Up to 1.5 dB is within the accuracy of one B1 of 96 symbols or more. A B1 without the known points (6 dB) was
// received at the wrong position.
double ReceiveRate::loss_of(double data_snr) const {
  constexpr double kLeast = 1.41, kLeastSnr = 4;
  if (!(data_snr > kLeastSnr) || !(training_snr_ > kLeast * data_snr)) return 1;
  return training_snr_ / data_snr;
}

ReceiveRate::Memory ReceiveRate::memory() const {
  return {monitor_.memory(), loss_};
}

void ReceiveRate::remember(const Memory& memory) {
  monitor_.remember(memory.monitor);
  loss_ = memory.loss;
}

void ReceiveRate::start(const DataParameters& p, const RateLimits& limits, uint16_t mask, uint8_t most,
                        double training_snr, float b1_variance) {
  rate_ = static_cast<uint8_t>(p.bit_rate / 2400);
  lowest_ = 1;
  while (lowest_ < rate_ && !has(mask, lowest_)) ++lowest_;
  energy_ = p.mean_energy();
  data_variance_ = 0;  // that of the earlier data has other units
  training_snr_ = training_snr;
  if (training_snr > 0 && b1_variance > 0) {
    loss_ = loss_of(static_cast<double>(energy_) / (2 * static_cast<double>(b1_variance)));
  }
  monitor_.start(p, required_above(limits, rate_, mask, most), lowest_);
}

LineMonitor::Advice ReceiveRate::put(const DataReceiver& r, bool uncertain) {
  const LineMonitor::Advice advice = monitor_.put(r, uncertain);
  if (monitor_.settled()) data_variance_ = monitor_.variance();
  return advice;
}

uint8_t ReceiveRate::limit_after(LineMonitor::Advice advice) const {
  if (advice == LineMonitor::Advice::kResynchronise) return rate_;
  if (advice == LineMonitor::Advice::kYield) {
    const int low = rate_ * 3 / 4;
    return static_cast<uint8_t>(low > lowest_ ? low : lowest_);
  }
  if (advice == LineMonitor::Advice::kLower) return rate_ > lowest_ ? static_cast<uint8_t>(rate_ - 1) : rate_;
  return kNoLimit;
}

uint8_t ReceiveRate::choose(const RateLimits& limits, double training_snr, double margin, bool renegotiation,
                            uint8_t limit) const {
  double snr = training_snr / loss_;
  // After seconds of data, the noise is known better than from a short training, in which the receiver still converges.
  // `limit` handles a line that has become worse.
  if (renegotiation && data_variance_ > 0) {
    const double in_data = static_cast<double>(energy_) / (2 * static_cast<double>(data_variance_));
    if (in_data > snr) snr = in_data;
  }
  uint8_t rate = choose_rate(limits, snr / margin);
  if (rate > limit) rate = limit;
  return rate < monitor_.most() ? rate : monitor_.most();
}

}  // namespace offhook::v34
