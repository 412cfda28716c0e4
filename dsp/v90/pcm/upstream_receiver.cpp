// SPDX-License-Identifier: MIT
#include "dsp/v90/pcm/upstream_receiver.h"

#include "dsp/blocks/preemption_point.h"
#include "dsp/blocks/renew.h"
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

}  // namespace

float quantiser_step(Law law, float level) {
  const float size = level < 0 ? -level : level;
  int chord = 0;
  while (chord < 7 && size >= static_cast<float>(linear_of(law, (chord + 1) * kUchord))) ++chord;
  if (law == Law::kMu) return static_cast<float>(8 << chord);
  return static_cast<float>(16 << (chord > 0 ? chord - 1 : 0));
}

void NoiseFit::put(float step_square, float error_square) {
  const auto s = static_cast<double>(step_square), e = static_cast<double>(error_square);
  ++count_;
  steps_ += s;
  errors_ += e;
  steps_2_ += s * s;
  products_ += s * e;
}

double NoiseFit::share() const {
  if (count_ < 100) return 1;
  const double n = count_, variance = steps_2_ / n - steps_ / n * (steps_ / n);
  const double common = products_ / n - steps_ / n * (errors_ / n);
  const double share = variance > 0 ? common / variance : 1;
  constexpr double kLeast = 0.5, kMost = 20;
  return share < kLeast ? kLeast : share > kMost ? kMost : share;
}

double NoiseFit::constant() const {
  if (count_ < 100) return 0;
  const double rest = (errors_ - share() * steps_) / count_;
  return rest > 0 ? rest : 0;
}

void UpstreamReceiver::init(Law law, const Kernels& kernels) {
  renew(*this);
  law_ = law;
  kernels_ = &kernels;
}

void UpstreamReceiver::put(float sample, float received) {
  ++now_;
  ring_[now_ & (kRing - 1)] = sample;
  received_[now_ & (kRing - 1)] = received;
  six_.put(sample);
  if (active_ && !placed_ && now_ >= expected_ + kSearch + kCorrelated + kAhead) place();
}

void UpstreamReceiver::train(int64_t first, bool locked) {
  active_ = true;
  placed_ = false;
  locked_ = learns_ = locked;
  expected_ = first;
  position_ = 0;
  points_ = 2;
  learnt_ = estimated_ = 0;
  known_.reset();
  for (float& c : forward_) c = 0;
  for (float& c : feedback_) c = 0;
  for (float& d : decided_) d = 0;
  for (float& c : channel_) c = 0;
  for (float& h : history_) h = 0;
  renew(noise_);
  error_power_ = 1;
  echo_power_ = 0;
}

// The symbols before are those of Ru-bar, and of Ru before it.
void UpstreamReceiver::resume(int64_t symbol) {
  active_ = true;
  position_ = symbol;
  for (int age = kFeedback; age > 0; --age) {
    const bool first_half = (6 * kFeedback - age) % 6 < 3;
    decided_at_ = decided_at_ + 1 == kFeedback ? 0 : decided_at_ + 1;
    decided_[decided_at_] = decided_[decided_at_ + kFeedback] = first_half == (age > kRuBarSymbols) ? 1.f : -1.f;
  }
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
  const int64_t newest = first_ + position + kAhead;
  for (int k = 0; k < kForward; ++k) sum += forward_[k] * sample(newest - k);
  return sum;
}

bool UpstreamReceiver::next(Symbol* symbol) {
  if (!trained() || first_ + position_ + kAhead > now_) return false;
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
  ++learnt_;
  float step = kFirstStep * kFastSymbols / static_cast<float>(kFastSymbols + learnt_);
  const float least = locked_ ? kLockedStep : kLastStep;
  if (step < least) step = least;
  const int64_t newest = first_ + position_ + kAhead;
  float energy = 0;
  for (int k = 0; k < kForward; ++k) energy += sample(newest - k) * sample(newest - k);
  if (energy > kForward) {
    // The feedback's symbols count as strong as the samples.
    const float unit = energy / kForward;
    const float share = step * error / (2 * energy);
    for (int k = 0; k < kForward; ++k) forward_[k] += share * sample(newest - k);
    kernels_->accumulate(feedback_, decided_ + decided_at_ + 1, share * unit, kFeedback);
  }
  error_power_ += (error * error - error_power_) * (1.f / 256);
  decided_at_ = decided_at_ + 1 == kFeedback ? 0 : decided_at_ + 1;
  decided_[decided_at_] = decided_[decided_at_ + kFeedback] = sent;
  if (learns_) learn_channel(position_, sent);
  *symbol = {position_, negative, static_cast<uint8_t>(magnitude), error};
  ++position_;
  return true;
}

void UpstreamReceiver::learn_channel(int64_t position, float symbol) {
  history_at_ = history_at_ + 1 == kChannel ? 0 : history_at_ + 1;
  history_[history_at_] = history_[history_at_ + kChannel] = symbol;
  if (++estimated_ < kChannel) return;
  const float* x = history_ + history_at_ + 1;
  const int64_t at = first_ + position - kChannelBefore;
  const float error = sample(at) - kernels_->dot(channel_, x, kChannel);
  const int late = estimated_ - kChannelFast;
  const float step = late <= 0 ? kChannelStep : 1 / (1 / kChannelStep + 0.5f * static_cast<float>(late));
  kernels_->accumulate(channel_, x, step * error, kChannel);
  if (estimated_ < kNoiseAfter) return;
  const float level = received_[at & (kRing - 1)];
  const float wide = quantiser_step(law_, level);
  noise_.put(wide * wide / 12, error * error);
  const float echo = level - sample(at);
  echo_power_ += (echo * echo - echo_power_) / static_cast<float>(noise_.count());
}

}  // namespace offhook::v90
