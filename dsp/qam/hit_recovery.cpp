// SPDX-License-Identifier: MIT
#include "dsp/qam/hit_recovery.h"

#include "dsp/blocks/level.h"
#include "dsp/blocks/nco.h"
#include "dsp/blocks/preemption_point.h"
#include "dsp/qam/nonlinear.h"

namespace offhook::qam {
namespace {

constexpr int kSymbols = HitRecovery::kSymbols;
constexpr int kMemory = 3;                // of the whitening filter
constexpr int kTurns = 10;                // to either side
constexpr float kTurnStep = 1.25f / 360;  // half of the tolerance of the outer points of 1664
constexpr int kGains = 2;                 // to either side
constexpr float kGainStep = 0.03f;
constexpr float kLevelKnown = 0.1f;  // the level of 128 symbols is known to 5 % (one sigma)
constexpr int kRefinements = 3;
// Mean squared distance for symbols that are unrelated to the
// grid. After the best turn and gain, 0.85 of it remains.
constexpr float kChanceOdd = 2 / 3.f, kChanceOddSum = 1 / 3.f;

float floor_of(float v) {
  const int k = static_cast<int>(v);
  return static_cast<float>(k - (static_cast<float>(k) > v));
}

// The symbols as they would be with another gain.
struct Scaled {
  Complex y[kSymbols];
  Scaled(const Complex* recent, float scale, float warp, const Complex* whitening) {
    Complex before[kMemory]{};
    for (int n = 0; n < kSymbols; ++n) {
      Complex x = scale * recent[n];
      if (warp > 0) x = NonlinearEncoder::decode(x, warp);
      y[n] = x;
      for (int k = 0; k < kMemory; ++k) y[n] += whitening[k] * before[k];
      before[2] = before[1], before[1] = before[0], before[0] = x;
    }
  }
  // Mean squared distance to the grid after turning back. @param[out] lead  turn and gain of the symbols relative to
  // their nearest points, as the sum of products with the conjugate
  float error(Grid grid, float turns, Complex* lead) const {
    const Complex back = unit_phasor(phase_of(-turns));
    float sum = 0, power = 0;
    Complex product{};
    for (int n = kMemory; n < kSymbols; ++n) {
      const Complex v = y[n] * back;
      const Complex p = nearest_on(grid, v);
      sum += norm(v - p);
      power += norm(p);
      product += v * conj(p);
    }
    *lead = 1 / (power + 1e-9f) * product;
    return sum / (kSymbols - kMemory);
  }
};

}  // namespace

Complex nearest_on(Grid grid, Complex y) {
  if (grid == Grid::kOdd) return {2 * floor_of(0.5f * y.re) + 1, 2 * floor_of(0.5f * y.im) + 1};
  const Complex p{floor_of(y.re + 0.5f), floor_of(y.im + 0.5f)};
  const int sum = static_cast<int>(p.re) + static_cast<int>(p.im);
  if ((sum & 1) != 0) return p;
  const float re = y.re - p.re, im = y.im - p.im;
  const float re_size = re < 0 ? -re : re, im_size = im < 0 ? -im : im;
  if (re_size > im_size) return {p.re + (re < 0 ? -1.f : 1.f), p.im};
  return {p.re, p.im + (im < 0 ? -1.f : 1.f)};
}

bool HitRecovery::end_window() {
  const float mean = sum_ / kSymbols;
  sum_ = 0;
  count_ = 0;
  if (waiting_) return true;
  if (learnt_ < kLearnt) {
    usual_ += (mean - usual_) / static_cast<float>(++learnt_);
  } else if (mean > kJump * usual_) {
    waiting_ = true;
    tries_ = 0;
  } else {
    usual_ += (mean - usual_) * (1.f / 16);
  }
  return false;
}

bool HitRecovery::is_usual(Grid grid, float error) const {
  const float chance = grid == Grid::kOdd ? kChanceOdd : kChanceOddSum;
  return error < kFarFromChance * chance || (error < kLikeUsual * usual_ && error < kNoChance * chance);
}

float HitRecovery::misfit(Grid grid, const Complex* recent, float scale, float warp, const Complex* whitening) const {
  Complex none;
  const float chance = grid == Grid::kOdd ? kChanceOdd : kChanceOddSum;
  const float error = Scaled(recent, scale, warp, whitening).error(grid, 0, &none);
  const float far = kFarFromChance * chance, middle = usual_ * chance;
  return error * error / (far * far > middle ? far * far : middle);
}

HitRecovery::Found HitRecovery::search(Grid grid, const Complex* recent, float scale, float warp,
                                       const Complex* whitening) {
  // A short gap spoils symbols but does not change the loops. The estimate of a turn would only add its noise.
  Complex none;
  if (Scaled(recent, scale, warp, whitening).error(grid, 0, &none) < kLikeUsual * usual_) {
    waiting_ = false;
    return {.found = true};
  }
  float power = 0;
  for (int n = 0; n < kSymbols; ++n) power += norm(recent[n]) * (1.f / kSymbols);
  const float level = square_root(power);
  const float middle = level > 1 + kLevelKnown || level < 1 - kLevelKnown ? level : 1;
  Found best;
  float least = 1e9f;
  for (int g = -kGains; g <= kGains && power > 0; ++g) {
    const float gain = middle * (1 + static_cast<float>(g) * kGainStep);
    const Scaled scaled(recent, scale / gain, warp, whitening);
    oh_preemption_point();
    for (int t = -kTurns; t <= kTurns; ++t) {
      const float turns = static_cast<float>(t) * kTurnStep;
      Complex lead;
      const float error = scaled.error(grid, turns, &lead);
      if (error >= least) continue;
      least = error;
      best.turns = turns;
      best.gain = gain;
    }
  }
  for (int k = 0; k < kRefinements && power > 0; ++k) {
    const Scaled scaled(recent, scale / best.gain, warp, whitening);
    Complex lead;
    least = scaled.error(grid, best.turns, &lead);
    best.turns += angle_turns(lead);
    best.gain *= magnitude(lead);
  }
  // Loops that tracked wrong decisions for a while leave more than the usual error, which is small on a quiet line.
  best.found = is_usual(grid, least);
  if (best.found || ++tries_ == kTries) {
    waiting_ = false;
    if (!best.found) learnt_ = 0;  // the line has changed
  }
  return best;
}

}  // namespace offhook::qam
