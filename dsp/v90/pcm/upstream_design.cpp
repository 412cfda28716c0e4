// SPDX-License-Identifier: MIT
#include "dsp/v90/pcm/upstream_design.h"

#include "dsp/blocks/complex.h"
#include "dsp/blocks/level.h"
#include "dsp/blocks/preemption_point.h"
#include "dsp/blocks/renew.h"

namespace offhook::v90 {
namespace {

constexpr int kSteps = 80;
constexpr int kRowsACall = 48;
constexpr int kPrecursors = 8;  // of the prefilter, behind its main tap
constexpr int kHalvings = 6;
constexpr int kWarmUp = 64, kTrialSymbols = 320, kSymbolsACall = 8;
constexpr float kFarthest = 64;
constexpr float kMostLevel = 30000;

// Classes of a symbol, for 2^k combinations of a data frame: of every fourth symbol half as many.
int classes_for(int k) {
  // (m^3 m / 2)^3 >= 2^k
  int m = 2;
  while (12 * log_2(m) - 3 < k + 1e-6) m += 2;
  return m;
}

double bits_of(const uint8_t* moduli) {
  double sum = 0;
  for (int i = 0; i < kUpstreamIntervals; ++i) sum += log_2(moduli[i]);
  return sum;
}

}  // namespace

void UpstreamDesign::begin(const UpstreamLine& line, UpstreamRates rates, v34::TrellisCode trellis,
                           float least_distance, const Kernels& kernels) {
  renew(*this);
  kernels_ = &kernels;
  line_ = line;
  rates_ = rates;
  least_distance_ = least_distance;
  cpd_.trellis = trellis;
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
  ridge_ = line.noise / (unit_ * unit_);
  rest_[main_] = 1;
  stage_ = Stage::kTranspose;
}

// One step needs the response of the direction p, and the correlation of what is left with the channel.
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

// The filters as CPd has them, and the response that they really give.
void UpstreamDesign::set_filters() {
  const auto response = [this](int k) {
    float sum = 0;
    for (int i = 0; i < kForward; ++i) sum += f_[i] * channel_[kForward - 1 + k - i];
    return sum * unit_;
  };
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
  filter_power_ = 0;
  for (int k = 0; k < kForward; ++k) {
    const float tap = f_[k] / gain * 32768;
    cpd_.z2.tap[k] = static_cast<int16_t>(tap < 0 ? tap - 0.5f : tap + 0.5f);
    f_[k] = static_cast<float>(cpd_.z2.tap[k]) / 32768 * gain;
    filter_power_ += f_[k] * f_[k];
  }
  cpd_.p1.length = kBack;
  intersymbol_ = 0;
  for (int k = 0; k < kResponse; ++k) {
    float left = response(k) - (k == main_ ? 1.f : 0.f);
    if (free_at(k)) {
      float tap = -left * 16384;
      tap = tap > 32767 ? 32767 : tap < -32768 ? -32768 : tap;
      int16_t& p = cpd_.p1.tap[k - main_ - 1];
      p = static_cast<int16_t>(tap < 0 ? tap - 0.5f : tap + 0.5f);
      left += static_cast<float>(p) / 16384;
    }
    intersymbol_ += left * left;
  }
  delay_ = main_ - UpstreamReceiver::kChannelBefore;
  cpd_.has_moduli = cpd_.has_filters = cpd_.has_constellations = true;
  low_ = 0;
  high_ = kMostUpstreamDrn;
  while (high_ > 0 && (rates_ >> (high_ - 1) & 1) == 0) --high_;
  stage_ = Stage::kRate;
  drn_ = 0;
}

// Standard deviation of the noise at a level of the codec's input.
float UpstreamDesign::sigma(float level) const {
  const float echo = square_root(line_.echo_power);
  float mean = 0;
  constexpr float kEchoes[] = {-1.35f, -0.4f, 0.4f, 1.35f};
  for (const float e : kEchoes) {
    const float step = quantiser_step(line_.law, level + e * echo);
    mean += step * step / (12 * 4);
  }
  return square_root(line_.step_share * mean + line_.constant + intersymbol_ / filter_power_);
}

void UpstreamDesign::make_points(float distance) {
  int n = 0;
  float a = distance * sigma(0) / 2;
  uint16_t last = 0;
  while (n < kMostPositivePoints && a < kMostLevel) {
    auto value = static_cast<uint16_t>(a + 0.5f);
    if (value <= last) value = static_cast<uint16_t>(last + 1);
    cpd_.point[0][n++] = last = value;
    const float half = a + distance * sigma(a) / 2;
    a += distance * sigma(half);
  }
  cpd_.points[0] = static_cast<uint8_t>(n);
}

// As few classes as carry K bits.
void UpstreamDesign::set_moduli() {
  const int k = cpd_.bits(), m = classes_for(k);
  for (int i = 0; i < kUpstreamIntervals; ++i) cpd_.modulus[i] = static_cast<uint8_t>(i % 4 == 3 ? m / 2 : m);
  for (int i = 0; i < kUpstreamIntervals; ++i) {
    if (i % 4 == 3) continue;
    --cpd_.modulus[i];
    if (bits_of(cpd_.modulus) < k + 1e-9) ++cpd_.modulus[i];
  }
}

void UpstreamDesign::begin_trial(int drn, float distance) {
  cpd_.drn = static_cast<uint8_t>(drn);
  trial_ = distance;
  set_moduli();
  make_points(distance);
  tried_ = 0;
  power_ = 0;
  if (is_usable(cpd_)) renew(precoder_, cpd_, *kernels_);
}

// Halves the interval of rates, and for each rate that of the distance at which the power is 1.
void UpstreamDesign::try_more() {
  if (drn_ == 0) {
    if (low_ == high_) {
      cpd_.drn = static_cast<uint8_t>(low_);
      if (low_ > 0) begin_trial(low_, distance_);
      stage_ = Stage::kIdle;
      return;
    }
    drn_ = (low_ + high_ + 1) / 2;
    halvings_ = 0;
    near_ = least_distance_;
    far_ = kFarthest;
    begin_trial(drn_, near_);
  }
  // Too many classes for 128 points: the distance is too great, or the rate too high.
  if (!is_usable(cpd_)) return end_trial(2);
  for (int n = 0; n < kSymbolsACall; ++n, ++tried_) {
    random_ = random_ * 1664525 + 1013904223;
    const int digit = static_cast<int>((random_ >> 8) % cpd_.modulus[precoder_.interval()]);
    const float w = precoder_.put(digit);
    if (tried_ >= kWarmUp) power_ += w * w;
  }
  if (tried_ >= kWarmUp + kTrialSymbols) end_trial(power_ / kTrialSymbols);
}

void UpstreamDesign::end_trial(float power) {
  const bool fits = power <= 1;
  if (halvings_ == 0 && !fits) {  // not even at the least distance
    high_ = drn_ - 1;
    drn_ = 0;
    return;
  }
  (fits ? near_ : far_) = trial_;
  if (++halvings_ > kHalvings) {
    low_ = drn_;
    distance_ = near_;
    drn_ = 0;
    return;
  }
  begin_trial(drn_, square_root(near_ * far_));
}

}  // namespace offhook::v90
