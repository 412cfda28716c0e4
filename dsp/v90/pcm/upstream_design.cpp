// SPDX-License-Identifier: MIT
#include "dsp/v90/pcm/upstream_design.h"

#include "dsp/blocks/complex.h"
#include "dsp/blocks/level.h"
#include "dsp/blocks/preemption_point.h"
#include "dsp/blocks/renew.h"

namespace offhook::v90 {
namespace {

constexpr int kSteps = 80;
constexpr int kRowsACall = 24;
constexpr int kPrecursors = 8;  // of the prefilter, behind its main tap
constexpr int kWarmUp = 64, kTrialSymbols = 1024, kSymbolsACall = 4;
constexpr int kPasses = 2;
// Beyond this, of the received signal's root mean square, points are no further apart, although the noise grows.
// Symbols there are rare, and a single wrong one is corrected. Points of ever growing spacing let the precoder's output
// grow with its input, in bursts that overload the analogue modem's converter.
constexpr float kGrowing = 4;
// A part of the permitted power, because a trial is too short for the rare bursts.
constexpr float kMostPower = 0.8f;
constexpr float kMostLevel = 30000;
// Intervals whose noise differs less have the same points; a robbed bit makes it four times as large.
constexpr double kAlike = 1.5;

}  // namespace

void UpstreamDesign::begin_filters(const UpstreamLine& line, const Kernels& kernels) {
  renew(*this);
  kernels_ = &kernels;
  filters_only_ = true;
  law_ = line.law;
  echo_ = square_root(line.echo_power);
  float norm = 0;
  for (int k = 0; k < kChannel; ++k) norm += line.channel[k] * line.channel[k];
  unit_ = norm > 1 ? square_root(norm) : 1;
  int peak = 0;
  for (int j = 0; j < kChannel; ++j) {
    const float tap = line.channel[kChannel - 1 - j] / unit_;
    channel_[kForward - 1 + j] = tap;
    late_first_[j] = tap;
    const float best = channel_[kForward - 1 + peak];
    if (tap * tap > best * best) peak = j;
  }
  main_ = peak + kForward - 1 - kPrecursors;
  delay_ = main_ - UpstreamReceiver::kChannelBefore;
  NoiseFit all;
  for (int i = 0; i < kIntervals; ++i) all.add(line.noise[i]);
  ridge_ = static_cast<float>(all.effective()) * line.noise_scale / (unit_ * unit_);
  rest_[main_] = 1;
  stage_ = Stage::kTranspose;
}

void UpstreamDesign::begin(const UpstreamLine& line, UpstreamRates rates, v34::TrellisCode trellis,
                           float least_distance, const Kernels& kernels) {
  begin_filters(line, kernels);
  filters_only_ = false;
  rates_ = rates;
  least_distance_ = least_distance;
  cpd_.trellis = trellis;
  group_intervals(line.noise, line.noise_scale);
}

// Interval i of a data frame is received in the samples that begin `delay_` later.
void UpstreamDesign::group_intervals(const NoiseFit* noise, float scale) {
  bool grouped[kIntervals]{};
  for (sets_ = 0;; ++sets_) {
    double least = -1;
    for (int i = 0; i < kIntervals; ++i) {
      const double ratio = noise[(i + delay_) % kIntervals].ratio();
      if (!grouped[i] && (least < 0 || ratio < least)) least = ratio;
    }
    if (least < 0) return;
    NoiseFit alike;
    for (int i = 0; i < kIntervals; ++i) {
      const NoiseFit& n = noise[(i + delay_) % kIntervals];
      if (grouped[i] || n.ratio() > kAlike * least) continue;
      grouped[i] = true;
      cpd_.interval[i] = static_cast<uint8_t>(sets_);
      alike.add(n);
    }
    UpstreamSpacing::Noise& of_set = noise_[sets_];
    of_set.law = law_;
    of_set.echo = echo_;
    for (int c = 0; c < kUchords; ++c) {
      of_set.variance[c] = static_cast<float>(alike.variance(c)) * scale;
      of_set.equal[c] = static_cast<float>(alike.equal_share(c)) * of_set.variance[c];
    }
  }
}

// One step needs the response of the direction p, and the correlation of the remainder with the channel.
bool UpstreamDesign::work() {
  oh_preemption_point();
  switch (stage_) {
    case Stage::kIdle:
      break;
    case Stage::kApply:
      apply();
      break;
    case Stage::kTranspose:
      transpose();
      break;
    case Stage::kFilters:
      set_filters();
      break;
    case Stage::kSpacing:
      find_spacing();
      break;
    case Stage::kRate:
      try_more();
      break;
  }
  return stage_ == Stage::kIdle;
}

void UpstreamDesign::apply() {
  float reversed[kForward];
  for (int k = 0; k < kForward; ++k) reversed[k] = p_[kForward - 1 - k];
  for (int n = 0; n < kRowsACall && row_ < kResponse; ++n, ++row_) {
    q_[row_] = free_at(row_) ? 0 : kernels_->dot(reversed, channel_ + row_, kForward);
    image_ += static_cast<double>(q_[row_]) * static_cast<double>(q_[row_]);
  }
  if (row_ < kResponse) return;
  float weight = 0;
  for (const float p : p_) weight += p * p;
  image_ += static_cast<double>(ridge_) * static_cast<double>(weight);
  const float a = image_ > 0 ? static_cast<float>(static_cast<double>(gradient_) / image_) : 0;
  for (int k = 0; k < kForward; ++k) f_[k] += a * p_[k];
  for (int k = 0; k < kResponse; ++k) rest_[k] -= a * q_[k];
  row_ = 0;
  stage_ = ++steps_ < kSteps ? Stage::kTranspose : Stage::kFilters;
}

void UpstreamDesign::transpose() {
  for (int n = 0; n < kRowsACall && row_ < kForward; ++n, ++row_)
    s_[row_] = kernels_->dot(late_first_, rest_ + row_, kChannel) - ridge_ * f_[row_];
  if (row_ < kForward) return;
  float gradient = 0;
  for (const float s : s_) gradient += s * s;
  const float ratio = first_ || gradient_ <= 0 ? 0 : gradient / gradient_;
  for (int k = 0; k < kForward; ++k) p_[k] = s_[k] + ratio * p_[k];
  gradient_ = gradient;
  first_ = false;
  image_ = 0;
  row_ = 0;
  stage_ = Stage::kApply;
}

float UpstreamDesign::response(int k) const {
  float sum = 0;
  for (int i = 0; i < kForward; ++i) sum += f_[i] * channel_[kForward - 1 + k - i];
  return sum * unit_;
}

// The filters as CPd has them.
void UpstreamDesign::set_filters() {
  const float main = response(main_);
  for (float& f : f_) f /= main;
  float most = 0;
  for (const float f : f_) most = f > most ? f : -f > most ? -f : most;
  // G such that the largest tap is just below 1.
  constexpr float kGainUnit = 4.f * 65536;
  const float wanted = most * kGainUnit * (32768.f / 32760.f) + 1;
  cpd_.gain = wanted < 65535 ? static_cast<uint16_t>(wanted) : uint16_t{65535};
  const float gain = static_cast<float>(cpd_.gain) / kGainUnit;
  cpd_.z2.length = kForward;
  float filter_power = 0;
  for (int k = 0; k < kForward; ++k) {
    const float tap = f_[k] / gain * 32768;
    cpd_.z2.tap[k] = static_cast<int16_t>(tap < 0 ? tap - 0.5f : tap + 0.5f);
    f_[k] = static_cast<float>(cpd_.z2.tap[k]) / 32768 * gain;
    filter_power += f_[k] * f_[k];
  }
  set_precoder();
  intersymbol_ /= filter_power;
  cpd_.has_moduli = cpd_.has_filters = cpd_.has_constellations = true;
  if (filters_only_) {
    stage_ = Stage::kIdle;
  } else {
    begin_spacing();
  }
}

void UpstreamDesign::begin_spacing() {
  stage_ = Stage::kSpacing;
  ++passes_;
  set_ = 0;
  for (int s = 0; s < sets_; ++s) {
    UpstreamSpacing::Noise noise = noise_[s];
    noise.intersymbol = intersymbol_;
    spacing_[s].begin(noise, least_distance_);
  }
  low_ = 0;
  high_ = kMostUpstreamDrn;
  while (high_ > 0 && (rates_ >> (high_ - 1) & 1) == 0) --high_;
  cpd_.drn = 0;
}

void UpstreamDesign::find_spacing() {
  if (!spacing_[set_].work()) return;
  make_points(set_);
  if (++set_ == sets_) stage_ = Stage::kRate;
}

// The precoder, and the part of the response that it does not undo.
void UpstreamDesign::set_precoder() {
  cpd_.p1.length = kBack;
  intersymbol_ = 0;
  for (int k = 0; k < kResponse; ++k) {
    float left = response(k) - (k == main_ ? 1.f : 0.f);
    if (free_at(k)) {
      float tap = -left / kPUnit;
      tap = tap > 32767 ? 32767 : tap < -32768 ? -32768 : tap;
      int16_t& p = cpd_.p1.tap[k - main_ - 1];
      p = static_cast<int16_t>(tap < 0 ? tap - 0.5f : tap + 0.5f);
      feedback_[k - main_ - 1] = static_cast<float>(p) * kPUnit;
      left += feedback_[k - main_ - 1];
    }
    left_[kWhole - 1 - k] = left;
    intersymbol_ += left * left;
  }
}

void UpstreamDesign::make_points(int set) {
  const float most = kGrowing * unit_;
  const auto distance = [&](float level) { return spacing_[set].at(level < most ? level : most); };
  int n = 0;
  float a = distance(0) / 2;
  uint16_t last = 0;
  while (n < kMostPositivePoints && a < kMostLevel) {
    auto value = static_cast<uint16_t>(a + 0.5f);
    if (value <= last) value = static_cast<uint16_t>(last + 1);
    cpd_.point[set][n++] = last = value;
    a += distance(a + distance(a) / 2);
  }
  cpd_.points[set] = static_cast<uint8_t>(n);
}

// Points of both signs up to this level, at least two.
int UpstreamDesign::classes_within(int set, float span) const {
  int n = 1;
  while (n < cpd_.points[set] && static_cast<float>(cpd_.point[set][n]) <= span) ++n;
  return 2 * n;
}

// The classes of all intervals are the points within a span.  @return bits of a data frame
double UpstreamDesign::set_classes(float span) {
  int classes[kConstellationSets];
  double bits[kConstellationSets], sum = 0;
  for (int s = 0; s < sets_; ++s) {
    classes[s] = classes_within(s, span);
    bits[s] = log_2(classes[s]);
  }
  for (int i = 0; i < kUpstreamIntervals; ++i) {
    const int set = cpd_.interval[i % kIntervals];
    cpd_.modulus[i] = static_cast<uint8_t>(i % 4 == 3 ? classes[set] / 2 : classes[set] > 255 ? 255 : classes[set]);
    sum += bits[set] - (i % 4 == 3 ? 1 : 0);
  }
  return sum;
}

// The least span that has K bits, and then as few classes as still carry them.
void UpstreamDesign::set_moduli() {
  const double wanted = cpd_.bits() + 1e-6;
  float low = 0, high = kMostLevel;
  for (int k = 0; k < 16; ++k) {
    const float middle = (low + high) / 2;
    (set_classes(middle) >= wanted ? high : low) = middle;
  }
  double bits = set_classes(high);
  for (int i = 0; i < kUpstreamIntervals; ++i) {
    const double less = bits + log_2(cpd_.modulus[i] - 1.) - log_2(cpd_.modulus[i]);
    if (cpd_.modulus[i] <= 2 || less < wanted) continue;
    --cpd_.modulus[i];
    bits = less;
  }
}

void UpstreamDesign::begin_trial(int drn) {
  cpd_.drn = static_cast<uint8_t>(drn);
  set_moduli();
  tried_ = 0;
  power_ = disturbance_ = off_ = 0;
  if (is_usable(cpd_)) renew(precoder_, cpd_, *kernels_);
}

// The highest rate that fits.
void UpstreamDesign::try_more() {
  if (cpd_.drn == 0) {
    if (high_ == 0) {
      stage_ = Stage::kIdle;
      return;
    }
    return begin_trial((low_ + high_ + 1) / 2);
  }
  // Too many classes for 128 points: the spacing is too wide, or the rate too high.
  if (!is_usable(cpd_)) return next_trial(false);
  for (int n = 0; n < kSymbolsACall; ++n, ++tried_) {
    random_ = random_ * 1664525 + 1013904223;
    const int digit = static_cast<int>((random_ >> 8) % cpd_.modulus[precoder_.interval()]);
    const int set = cpd_.interval[precoder_.interval() % kIntervals];
    const float w = precoder_.put(digit);
    at_ = at_ + 1 == kWhole ? 0 : at_ + 1;
    output_[at_] = output_[at_ + kWhole] = precoder_.output();
    if (tried_ < kWarmUp) continue;
    const float left = kernels_->dot(left_, output_ + at_ + 1, kWhole);
    const auto level = static_cast<float>(upstream_level(cpd_.point[set], precoder_.index()));
    const float size = level < 0 ? -level : level;
    const float spacing = spacing_[set].at(size);
    power_ += w * w;
    disturbance_ += left * left;
    off_ += spacing_[set].variance(size) / (spacing * spacing);
  }
  if (tried_ < kWarmUp + kTrialSymbols) return;
  next_trial(power_ <= kMostPower * kTrialSymbols);
}

void UpstreamDesign::next_trial(bool fits) {
  if (fits) {
    low_ = cpd_.drn;
    intersymbol_ = disturbance_ / kTrialSymbols;
    variance_ = off_ / kTrialSymbols;
  } else {
    high_ = cpd_.drn - 1;
  }
  cpd_.drn = 0;
  if (low_ < high_) return;
  if (low_ > 0 && passes_ < kPasses) return begin_spacing();
  if (low_ > 0) begin_trial(low_);
  stage_ = Stage::kIdle;
}

}  // namespace offhook::v90
