// SPDX-License-Identifier: MIT
#include "dsp/blocks/s_detector.h"

#include "dsp/blocks/instruction_set.h"
#include "dsp/blocks/nco.h"

namespace offhook {
namespace {

constexpr float kLeastMeanSquare = 2;  // int16 units: about 80 dB below full scale
constexpr float kShareOfLines = 0.65f;
constexpr float kShareOfEdges = 0.004f;  // a line at the carrier alone is a tone
constexpr float kShareOfCarrier = 0.05f;
constexpr int kHitsToFind = 6;
constexpr int kStrangeToLose = 8;

}  // namespace

// Correlates only at the carrier, because an edge of the band may arrive tens of symbols later, after all of S-bar.
float SDetector::likeness(const Group& g) const {
  const float power = norm(mean_[0]);
  return power > 0 ? (g.line[0].re * mean_[0].re + g.line[0].im * mean_[0].im) / power : 0;
}

// All values of a group are added in parallel, from index 0 on; the sum up to the newest already exists.
SDetector::Group SDetector::mean_of_window() const {
  Sum all = before_;
  for (int k = newest_; k < kWindow; ++k) all.add(group_[k]);
  Group mean;
  auto* v = reinterpret_cast<Unaligned<Quad>*>(&mean);
  v[0].v = all.low * (1.0f / kWindow);
  v[1].v = all.high * (1.0f / kWindow);
  return mean;
}

void SDetector::Sum::add(const Group& group) {
  static_assert(sizeof(Group) == 2 * sizeof(Quad));
  const auto* v = reinterpret_cast<const Unaligned<Quad>*>(&group);
  low += v[0].v;
  high += v[1].v;
}

void SDetector::put_group() {
  samples_ = 0;
  before_.add(group_[newest_]);
  if (++newest_ == kWindow) {
    newest_ = 0;
    before_ = {};
  }
  Group& g = group_[newest_];
  const Complex even = sample_[0] + sample_[2];
  const Complex odd = sample_[1] + sample_[3];
  const Complex a = sample_[0] - sample_[2];
  const Complex b = sample_[1] - sample_[3];
  g.line[0] = 0.25f * (even + odd);
  g.line[1] = 0.25f * Complex{a.re + b.im, a.im - b.re};  // carrier + S/2
  g.line[2] = 0.25f * Complex{a.re - b.im, a.im + b.re};  // carrier - S/2
  g.power = 0.25f * (norm(sample_[0]) + norm(sample_[1]) + norm(sample_[2]) + norm(sample_[3]));

  const float like = in_s_ ? likeness(g) : 0;
  if (!in_s_ || like > 0.8f) {
    const auto [mean, power, unused] = mean_of_window();
    const float carrier = norm(mean[0]);
    const float edges = norm(mean[1]) + norm(mean[2]);
    const bool hit = power > kLeastMeanSquare && carrier + edges > kShareOfLines * power &&
                     edges > kShareOfEdges * carrier && carrier > kShareOfCarrier * power;
    if (hit) {
      const Group& before = group_[(newest_ + kWindow - kLag) % kWindow];
      for (int k = 0; k < 3; ++k) turn_ += g.line[k] * conj(before.line[k]);
      turns_ = angle_turns(turn_) / (2 * kLag);
    }
    hits_ = hit ? hits_ + 1 : 0;
    if (!in_s_ && !hit) turn_ = {};
    if (hits_ >= kHitsToFind) {
      in_s_ = true;
      const Complex turned = unit_phasor(phase_of(turns_ * (kWindow - 1)));  // the mean is 15/2 groups old
      for (int k = 0; k < 3; ++k) mean_[k] = mean[k] * turned;
    }
    age_ = 0;
    against_ = 0;
    if (in_s_) strange_ = hit ? 0 : strange_ + 1;
  } else {
    age_ += 2 * (1 - (like < -1 ? -1 : like > 1 ? 1 : like));
    against_ = like < -0.5f ? against_ + 1 : 0;
    ++strange_;
    if (against_ >= 3) {
      s_bar_ = true;
    }
  }
  if (s_bar_ || strange_ >= kStrangeToLose) {
    in_s_ = false;
    hits_ = 0;
    strange_ = 0;
    turn_ = {};
  }
}

}  // namespace offhook
