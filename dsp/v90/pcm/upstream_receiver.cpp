// SPDX-License-Identifier: MIT
#include "dsp/v90/pcm/upstream_receiver.h"

#include "dsp/blocks/complex.h"
#include "dsp/blocks/preemption_point.h"
#include "dsp/blocks/renew.h"
#include "dsp/v90/coding/upstream.h"
#include "dsp/v90/pcm/upstream_signals.h"

namespace offhook::v90 {
namespace {

// LMS of the equaliser; the last step with a clock that drifts, and with the network's.
constexpr float kFirstStep = 0.5f, kLastStep = 0.03f, kLockedStep = 0.005f;
constexpr int kFastSymbols = 400;
constexpr int kKnown = 1900;  // symbols of TRN1u that every analogue modem sends

// LMS of the channel: the steps of the first symbols, and then their decrease.
constexpr int kChannelFast = 1800;
constexpr float kChannelStep = 1.f / 256;
constexpr int kNoiseAfter = 1800;  // symbols
constexpr float kOtherNoise = 32;  // of a line besides its codec's, Table 1's units squared
// Samples of a Uchord from which its mean square noise is known, and the noise's distribution.
constexpr int kForVariance = 40, kForShape = 200;
constexpr float kUncertain = 0.02f;  // error of decisions of more than two points from which nothing is learnt

float absolute_weight(Law law, float level) {
  const float step = quantiser_step(law, uchord_of(law, level));
  return 1 / (step * step / 12 + kOtherNoise);
}

}  // namespace

int uchord_of(Law law, float level) {
  struct Firsts {
    float level[2][kUchords - 1];  // of each Uchord but the lowest
  };
  static constexpr Firsts kFirsts = [] {
    Firsts f{};
    for (int c = 1; c < kUchords; ++c) {
      f.level[0][c - 1] = static_cast<float>(linear_of(Law::kMu, c * kUchord));
      f.level[1][c - 1] = static_cast<float>(linear_of(Law::kA, c * kUchord));
    }
    return f;
  }();
  const float size = level < 0 ? -level : level;
  int uchord = 0;
  for (const float first : kFirsts.level[law == Law::kMu ? 0 : 1]) uchord += static_cast<int>(size >= first);
  return uchord;
}

void NoiseFit::put(int uchord, float step, float error_square) {
  const auto square = static_cast<double>(error_square), s = static_cast<double>(step);
  Moments& m = of_[uchord];
  ++m.count;
  m.second += square;
  m.fourth += square * square;
  ++count_;
  ratios_ += square / (s * s / 12);
}

void NoiseFit::add(const NoiseFit& other) {
  for (int c = 0; c < kUchords; ++c) {
    of_[c].count += other.of_[c].count;
    of_[c].second += other.of_[c].second;
    of_[c].fourth += other.of_[c].fourth;
  }
  count_ += other.count_;
  ratios_ += other.ratios_;
}

double NoiseFit::variance(int uchord) const {
  double factor = 1;
  for (int c = uchord; c >= 0; --c, factor *= 4) {
    if (of_[c].count >= kForVariance) return factor * of_[c].second / of_[c].count;
  }
  for (int c = uchord + 1; c < kUchords; ++c) {
    if (of_[c].count >= kForVariance) return of_[c].second / of_[c].count;
  }
  return 1;
}

// A sum of equally distributed and Gaussian noise has the kurtosis 3 - 1.2 share^2.
double NoiseFit::Moments::equal_share() const {
  if (second <= 0) return 0;
  const double square = (3 - fourth * count / (second * second)) / 1.2;
  return square <= 0 ? 0 : square >= 1 ? 1 : static_cast<double>(square_root(static_cast<float>(square)));
}

// With too few samples, the share of two quantisers' errors is taken.
double NoiseFit::equal_share(int uchord) const {
  constexpr double kOfTwo = 0.7;
  return of_[uchord].count >= kForShape ? of_[uchord].equal_share() : kOfTwo;
}

double NoiseFit::effective() const {
  double inverses = 0;
  for (int c = 0; c < kUchords; ++c) inverses += of_[c].count / variance(c);
  return inverses > 0 ? count_ / inverses : 1;
}

void UpstreamReceiver::init(Law law, const Kernels& kernels) {
  renew(*this);
  law_ = law;
  kernels_ = &kernels;
}

void UpstreamReceiver::put(float sample, float received) {
  ++now_;
  const float offset = offset_[uchord_of(law_, received)];
  const int64_t at = now_ & (kRing - 1);
  ring_[at] = received < 0 ? sample + offset : sample - offset;
  if (at < kMirrored) ring_[at + kRing] = ring_[at];
  with_echo_[now_ & (kRing - 1)] = received;
  six_.put(sample);
  if (active_ && !placed_ && now_ >= expected_ + kSearch + kCorrelated + kFirstAhead) place();
}

int64_t UpstreamReceiver::after_reversal() const {
  return now_ - SixDetector::kReversalAge + kRuBarSymbols;
}

void UpstreamReceiver::train(bool locked) {
  active_ = true;
  placed_ = false;
  locked_ = learns_ = locked;
  expected_ = after_reversal();
  position_ = 0;
  points_ = 2;
  learnt_ = estimated_ = 0;
  known_.reset();
  for (float& c : forward_) c = 0;
  for (float& c : feedback_) c = 0;
  for (float& d : decided_) d = 0;
  for (float& c : channel_) c = 0;
  for (float& h : history_) h = 0;
  taps_ = kFirstTaps;
  ahead_ = kFirstAhead;
  mean_weight_ = 0;
  for (float& offset : offset_) offset = 0;
  for (int& count : offsets_) count = 0;
  measure_again();
  error_power_ = 1;
}

void UpstreamReceiver::install(const float* forward, const float* feedback, int delay) {
  for (int k = 0; k < kForward; ++k) forward_[k] = forward[k];
  // The newest decision comes last.
  for (int k = 0; k < kFeedback; ++k) feedback_[kFeedback - 1 - k] = feedback[k];
  taps_ = kForward;
  ahead_ = delay;
}

void UpstreamReceiver::measure_again() {
  for (int i = 0; i < kIntervals; ++i) {
    if (measured_ >= kEnough) before_[i] = noise_[i];
    renew(noise_[i]);
  }
  measured_ = 0;
  echo_power_ = 0;
}

// The symbols before are those of Ru-bar, and of Ru before it.
int64_t UpstreamReceiver::resume() {
  const int64_t about = after_reversal() - first_;
  active_ = true;
  position_ = (about + kUpstreamIntervals / 2) / kUpstreamIntervals * kUpstreamIntervals;
  measure_again();
  for (int age = kChannel; age > 0; --age) {
    const bool first_half = (6 * kChannel - age) % 6 < 3;
    const float sent = first_half == (age > kRuBarSymbols) ? 1.f : -1.f;
    history_at_ = history_at_ + 1 == kChannel ? 0 : history_at_ + 1;
    history_[history_at_] = history_[history_at_ + kChannel] = sent;
    decided_at_ = decided_at_ + 1 == kFeedback ? 0 : decided_at_ + 1;
    decided_[decided_at_] = decided_[decided_at_ + kFeedback] = sent;
  }
  return position_;
}

// The place and the polarity of TRN1u by its signs.
void UpstreamReceiver::place() {
  Scrambler scrambler(kGpa);
  float signs[kCorrelated];
  for (float& s : signs) s = scrambler.scramble(1) != 0 ? -1.f : 1.f;
  int best = 0;
  float most = 0;
  for (int lag = -kSearch; lag <= kSearch; ++lag) {
    oh_preemption_point();
    float sum = 0;
    for (int k = 0; k < kCorrelated; ++k) sum += signs[k] * sample(expected_ + lag + k);
    const float size = sum < 0 ? -sum : sum;
    if (size > most) most = size, best = lag;
  }
  first_ = expected_ + best;
  placed_ = true;
}

float UpstreamReceiver::equalised(int64_t position) const {
  float sum = kernels_->dot(feedback_, decided_ + decided_at_ + 1, kFeedback);
  const int64_t newest = first_ + position + ahead_;
  for (int k = 0; k < taps_; ++k) sum += forward_[k] * sample(newest - k);
  return sum;
}

bool UpstreamReceiver::next(Symbol* symbol) {
  if (!trained() || first_ + position_ + ahead_ > now_) return false;
  const float z = equalised(position_);
  const bool known = position_ < kKnown && points_ == 2;
  bool negative = z < 0;
  int magnitude = 0;
  if (known) {
    negative = known_.scramble(1) != 0;
  } else {
    const float size = negative ? -z : z;
    while (magnitude + 1 < points_ / 2 &&
           size > (upstream_point(points_, magnitude) + upstream_point(points_, magnitude + 1)) / 2)
      ++magnitude;
  }
  const float point = upstream_point(points_, magnitude);
  const float sent = negative ? -point : point;
  const float error = sent - z;
  adapt(error);
  error_power_ += (error * error - error_power_) * (1.f / 256);
  decided_at_ = decided_at_ + 1 == kFeedback ? 0 : decided_at_ + 1;
  decided_[decided_at_] = decided_[decided_at_ + kFeedback] = sent;
  *symbol = {position_, negative, static_cast<uint8_t>(magnitude), error, 0, 0, 0};
  if (learns_) learn_channel(sent, symbol);
  ++position_;
  return true;
}

void UpstreamReceiver::adapt(float error) {
  ++learnt_;
  float step = kFirstStep * kFastSymbols / static_cast<float>(kFastSymbols + learnt_);
  const float least = locked_ ? kLockedStep : kLastStep;
  if (step < least) step = least;
  const int64_t newest = first_ + position_ + ahead_;
  float energy = 0;
  for (int k = 0; k < taps_; ++k) energy += sample(newest - k) * sample(newest - k);
  const auto taps = static_cast<float>(taps_);
  if (energy <= taps) return;
  // The feedback's symbols count as strong as the samples.
  const float unit = energy / taps;
  const float share = step * error / (2 * energy);
  for (int k = 0; k < taps_; ++k) forward_[k] += share * sample(newest - k);
  kernels_->accumulate(feedback_, decided_ + decided_at_ + 1, share * unit, kFeedback);
}

float UpstreamReceiver::weight_of(float level) const {
  if (mean_weight_ <= 0) return 1;
  const float weight = absolute_weight(law_, level) / mean_weight_;
  return weight < kMostWeight ? weight : kMostWeight;
}

void UpstreamReceiver::learn_channel(float sent, Symbol* symbol) {
  history_at_ = history_at_ + 1 == kChannel ? 0 : history_at_ + 1;
  history_[history_at_] = history_[history_at_ + kChannel] = sent;
  if (++estimated_ < kChannel || (points_ > 2 && error_power_ > kUncertain)) return;
  const float* x = history_ + history_at_ + 1;
  const int64_t at = first_ + position_ - kChannelBefore;
  const float error = sample(at) - kernels_->dot(channel_, x, kChannel);
  const float level = received(at);
  const int late = estimated_ - kChannelFast;
  float step = kChannelStep;
  if (late > 0) {
    step *= weight_of(level) / (1 + 0.5f * kChannelStep * static_cast<float>(late));
    if (step > kChannelStep) step = kChannelStep;
  } else {
    mean_weight_ += (absolute_weight(law_, level) - mean_weight_) / static_cast<float>(estimated_ - kChannel + 1);
  }
  kernels_->accumulate(channel_, x, step * error, kChannel);
  if (estimated_ < kNoiseAfter) return;
  symbol->at = at;
  symbol->residual = error;
  symbol->weight = weight_of(level);
  measure(at, error);
  note_offset(at, error);
}

void UpstreamReceiver::note_offset(int64_t at, float error) {
  constexpr int kFirst = 32, kMost = 2048;  // samples
  const float level = received(at);
  const int uchord = uchord_of(law_, level);
  int& count = offsets_[uchord];
  if (count < kMost) ++count;
  offset_[uchord] += (level < 0 ? -error : error) / static_cast<float>(kFirst + count);
}

void UpstreamReceiver::measure(int64_t at, float error) {
  const float level = received(at);
  const int uchord = uchord_of(law_, level);
  const auto interval = static_cast<int>((at - first_ + kIntervals * kChannel) % kIntervals);
  noise_[interval].put(uchord, quantiser_step(law_, uchord), error * error);
  ++measured_;
  const float echo = level - sample(at);
  echo_power_ += (echo * echo - echo_power_) / static_cast<float>(measured_);
}

}  // namespace offhook::v90
