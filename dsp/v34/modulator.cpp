// SPDX-License-Identifier: MIT
#include "dsp/v34/modulator.h"

#include "dsp/blocks/level.h"
#include "dsp/blocks/sincos.h"

namespace offhook::v34 {

double root_raised_cosine(double t, double b) {
  constexpr double kPi = 3.14159265358979323846;
  const double size = t < 0 ? -t : t;
  if (size < 1e-9) return 1 - b + 4 * b / kPi;
  const double edge = 4 * b * size - 1;
  if (edge > -1e-6 && edge < 1e-6) {
    const SinCos q = sincos_turns(1 / (8 * b));
    return b / 1.41421356237309505 * ((1 + 2 / kPi) * q.sin + (1 - 2 / kPi) * q.cos);
  }
  const double s = sincos_turns(size * (1 - b) / 2).sin, c = sincos_turns(size * (1 + b) / 2).cos;
  return (s + 4 * b * size * c) / (kPi * size * (1 - 16 * b * b * size * size));
}

Modulator::Modulator(SymbolRate symbol_rate, Carrier carrier, int pre_emphasis, double level_dbm0) {
  const Ratio ac = traits(symbol_rate).of_2400;
  const Ratio de = traits(symbol_rate).carrier[static_cast<int>(carrier)];
  phases_ = 10 * ac.den;
  step_ = 3 * ac.num;
  phase_ = phases_;
  carrier_size_ = 10 * ac.den * de.den;
  carrier_step_ = 3 * ac.num * de.num % carrier_size_;
  double energy = 0;
  double pulse[kMaxPhases][kSpan];
  for (int p = 0; p < phases_; ++p) {
    for (int k = 0; k < kSpan; ++k) {  // tap k meets the k-th oldest symbol
      const double t = kSpan - 1 - k + static_cast<double>(p) / phases_ - kDelaySymbols;
      const SinCos w = sincos_turns(t / kSpan);
      const double window = 0.42 + 0.5 * w.cos + 0.08 * (2 * w.cos * w.cos - 1);
      pulse[p][k] = root_raised_cosine(t, kRollOff) * window;
      energy += pulse[p][k] * pulse[p][k] / phases_;
    }
  }
  // A real signal has half the power of its analytic one.
  const double scale =
      dbm0_to_rms(level_dbm0) * 1.41421356237309505 / static_cast<double>(square_root(static_cast<float>(energy)));
  for (int p = 0; p < phases_; ++p) {
    for (int k = 0; k < kSpan; ++k) pulse_[p][k] = static_cast<float>(pulse[p][k] * scale);
  }
  for (int k = 0; k < carrier_size_; ++k) {
    const SinCos w = sincos_turns(static_cast<double>(k) / carrier_size_);
    carrier_table_[k] = {static_cast<float>(w.cos), static_cast<float>(w.sin)};
  }
  design_pre_emphasis(pre_emphasis, symbol_rate, carrier, 8000, taps_);
}

void Modulator::push(Complex symbol) {
  symbols_[at_] = symbols_[at_ + kSpan] = symbol;
  at_ = at_ + 1 == kSpan ? 0 : at_ + 1;
}

float Modulator::sample() {
  const float* pulse = pulse_[phase_];
  const Complex* s = symbols_ + at_;
  Complex sum{};
  for (int k = 0; k < kSpan; ++k) sum += pulse[k] * s[k];
  phase_ += step_;
  const Complex w = carrier_table_[carrier_];
  carrier_ += carrier_step_;
  if (carrier_ >= carrier_size_) carrier_ -= carrier_size_;

  line_[line_at_] = line_[line_at_ + kPreEmphasisTaps] = sum.re * w.re - sum.im * w.im;
  line_at_ = line_at_ + 1 == kPreEmphasisTaps ? 0 : line_at_ + 1;
  float out = 0;
  for (int k = 0; k < kPreEmphasisTaps; ++k) out += taps_[k] * line_[line_at_ + k];
  return out;
}

}  // namespace offhook::v34
