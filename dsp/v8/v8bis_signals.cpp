// SPDX-License-Identifier: MIT
#include "dsp/v8/v8bis_signals.h"

#include "dsp/blocks/level.h"
#include "dsp/blocks/sincos.h"

namespace offhook::v8bis {
namespace {

constexpr int kBlock = Segment1Detector::kBlockMs * 8;
constexpr float kLeastPeak = 20;         // -55 dBm0: CRe of -25.5 dBm0 after 30 dB of loss
constexpr float kLeastShare = 0.7f;      // of both tones in all the power: 4 dB over noise
constexpr float kLeastPairShare = 0.1f;  // of the weaker tone in both: a line that is tilted by 10 dB

}  // namespace

SignalGenerator::SignalGenerator(Signal signal, double level_dbm0) : segment2_hz_(static_cast<int>(signal)) {
  const bool quiet = signal == Signal::kMre || signal == Signal::kCre;
  peak_ = static_cast<float>(dbm0_to_peak(level_dbm0 + (quiet ? kAnsweringDb : 0)));
}

float SignalGenerator::next() {
  if (done()) return 0;
  // Tables of 5 Hz have neither 2002 Hz nor its tolerance of 250 ppm (7.1.3).
  const auto tone = [this](int hz) { return static_cast<float>(sincos_turns(hz * (now_ % 8000) / 8000.).cos); };
  constexpr float kHalfPower = 0.70710678f;
  const float x = now_ < kSegment1 ? kHalfPower * (tone(kLowHz) + tone(kHighHz)) : tone(segment2_hz_);
  ++now_;
  return peak_ * x;
}

void Segment1Detector::put(float x) {
  low_sum_ += x * low_.next();
  high_sum_ += x * high_.next();
  power_ += x * x;
  if (++in_block_ == kBlock) end_block();
}

void Segment1Detector::end_block() {
  // A tone of amplitude a has the sum a N / 2, and the energy a^2 N / 2.
  constexpr float kToEnergy = 2.f / kBlock;
  const float low = kToEnergy * norm(low_sum_), high = kToEnergy * norm(high_sum_);
  const float weaker = low < high ? low : high;
  const bool present = 2 * power_ > kBlock * kLeastPeak * kLeastPeak && low + high > kLeastShare * power_ &&
                       weaker > kLeastPairShare * (low + high);
  steady_ms_ = present ? steady_ms_ + kBlockMs : 0;
  low_sum_ = high_sum_ = {};
  power_ = 0;
  in_block_ = 0;
}

}  // namespace offhook::v8bis
