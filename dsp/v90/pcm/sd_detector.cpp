// SPDX-License-Identifier: MIT
#include "dsp/v90/pcm/sd_detector.h"

namespace offhook::v90 {
namespace {

constexpr float kLeastShare = 0.55f;  // of the power; 0.86 if 4000 Hz is 14 dB down
constexpr float kLeastPower = 20;     // of a sample, int16 units squared: -45 dBm0 and less is no Sd
constexpr float kLikeness = 0.9f;     // cosine of the angle between groups

constexpr int kAgainst = 3;  // groups of Sd-bar that are waited for

}  // namespace

bool SdDetector::put(float u) {
  constexpr float kCos[kGroup] = {1,  0.8660254f,  0.5f,  0, -0.5f, -0.8660254f,
                                  -1, -0.8660254f, -0.5f, 0, 0.5f,  0.8660254f};
  line_ += u * Complex{kCos[samples_], -kCos[(samples_ + 9) % kGroup]};
  power_ += u * u;
  if (++samples_ < kGroup) return false;
  const Complex line = line_;
  const float power = power_;
  samples_ = 0;
  line_ = {};
  power_ = 0;
  return group(line, power);
}

bool SdDetector::group(Complex line, float power) {
  newest_ = (newest_ + 1) % kRing;
  ring_[newest_] = line;
  const float share = power > kGroup * kLeastPower ? 2 * norm(line) / (kGroup * power) : 0;
  const Complex before = at(1);
  const float cosine = norm(before) > 0 ? (line * conj(before)).re / square_root(norm(line) * norm(before)) : 0;
  if (!in_sd_) {
    steady_ = share > kLeastShare && cosine > kLikeness ? steady_ + 1 : 0;
    in_sd_ = steady_ >= kCertain;
    against_ = 0;
    if (in_sd_) mean_ = line;
    return false;
  }
  const float likeness = (line * conj(mean_)).re / norm(mean_);
  if (likeness > 0.8f) {
    mean_ += 0.1f * (line - mean_);
    against_ = 0;
    if (steady_ < kRing) ++steady_;
    return false;
  }
  if (likeness < -0.7f && ++against_ == kAgainst) {
    finish();
    return true;
  }
  // Between the two lies one group, seldom two, that holds the change.
  if (likeness >= -0.7f && against_ > 0) reset();
  return false;
}

void SdDetector::finish() {
  in_sd_ = false;
  const float reference = norm(mean_);
  // How much of the groups at the change was Sd: those from the last sure one to the first sure Sd-bar.
  float left = 0;
  int between = kAgainst;
  for (; between < kAgainst + 3; ++between) {
    const float likeness = (at(between) * conj(mean_)).re / reference;
    if (likeness > 0.95f) break;
    left += (1 - likeness) / 2;  // share that was Sd-bar
  }
  age_ = static_cast<int>(kGroup * (static_cast<float>(kAgainst) + left) + 0.5f);
  // Two means, as far apart as there was Sd.
  const int last = between + 1, first = between + (steady_ < kRing - 12 ? steady_ : kRing - 12) - 3;
  const int width = (first - last) / 3;
  clock_ = 0;
  if (width < 2) return;
  Complex early{}, late{};
  for (int k = 0; k < width; ++k) {
    late += at(last + k);
    early += at(first - k);
  }
  const float turns = angle_turns(late * conj(early));
  clock_ = static_cast<double>(turns) / (first - last - width + 1);  // a group is one turn of the line
}

}  // namespace offhook::v90
