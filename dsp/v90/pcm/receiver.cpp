// SPDX-License-Identifier: MIT
#include "dsp/v90/pcm/receiver.h"

#include "dsp/blocks/complex.h"
#include "dsp/blocks/preemption_point.h"
#include "dsp/blocks/renew.h"
#include "dsp/blocks/scrambler.h"
#include "dsp/v90/pcm/downstream.h"

namespace offhook::v90 {
namespace {

constexpr int kFirstSteps = 32;
constexpr int kLaterSteps = 48;  // measured: the residual echoes are 64 dB down; after 16 it is 54

// LMS, normalised to the power of both streams. Its contribution to the error is half of that, relative.
constexpr float kStep = 0.02f;

// Timing: shares of an error that move phase and clock, while it settles and then.
constexpr float kFastPhase = 0.02f, kPhase = 0.003f;
constexpr uint32_t kSettles = 1200;  // symbols
constexpr uint32_t kMean = 1024;     // errors that are averaged
constexpr double kMostDeviation = 500e-6;
constexpr float kMostLate = 0.5f;   // maximum that one error may indicate, in symbols: more is no error of the clock
constexpr float kLeastInput = 1.f;  // power, int16 units squared: assumed if training has no signal

}  // namespace

void PcmReceiver::init(const Kernels& kernels) {
  kernels_ = &kernels;
  timebase_.init(kernels);
}

void PcmReceiver::set_task(Task task, float level) {
  task_ = task;
  if (task != Task::kSeek) return;
  stage_ = Stage::kSeek;
  event_ = Event::kNone;
  detector_.reset();
  fit_.reset();
  collecting_ = false;
  level_ = level;
  deviation_ = 0;
  timebase_.set_deviation(0);
  adapted_ = averaged_ = 0;
  error_power_ = slope_power_ = 0;
  position_ = -1;
}

bool PcmReceiver::put(float sample, bool lost) {
  if (lost) {
    lost_ = kForward + Timebase::kTaps;
  } else if (lost_ > 0) {
    --lost_;
  }
  timebase_.put(sample);
  bool symbol = false;
  for (float u; timebase_.next(&u);) symbol |= half_symbol(u);
  return symbol;
}

bool PcmReceiver::half_symbol(float u) {
  at_ = at_ + 1 == kRing ? 0 : at_ + 1;
  ring_[at_] = u;
  if (at_ < kForward) ring_[at_ + kRing] = u;
  ++half_;
  if (collecting_ && captures_ < kCaptured) captured_[captures_++] = u;
  switch (stage_) {
    case Stage::kIdle:
      return false;
    case Stage::kSeek:
      if (detector_.put(u)) begin_capture();
      return false;
    case Stage::kCapture:
      captured_[captures_++] = u;
      if (captures_ == kCaptured) place();
      return false;
    case Stage::kSolve:
      if (half_ % 2 == 0 && fit_.work(*kernels_, taps_)) begin_to_run();
      return false;
    case Stage::kRun:
      break;
  }
  if (half_ != first_ + 2 * (position_ + 1) + kAhead) return false;
  ++position_;
  if (!fit_.idle() && fit_.work(*kernels_, taps_)) averaged_ = 0;
  equalise();
  return true;
}

// Sd-bar is certain: some samples of TRN1d were received, and the others follow.
void PcmReceiver::begin_capture() {
  event_ = Event::kSdBar;
  deviation_ = -detector_.clock();
  timebase_.set_deviation(deviation_);
  expected_ = half_ - detector_.age() + 2 * kSdBarSymbols;
  // From the oldest sample of the first symbol's window on.
  const int64_t from = expected_ - kAhead - kSearch;
  captures_ = 0;
  int64_t k = from;
  for (; k <= half_; ++k) {
    captured_[captures_++] = ring_[(at_ + kRing - static_cast<int>(half_ - k)) % kRing];
  }
  stage_ = Stage::kCapture;
  expected_ = from;  // the sample in captured_[0]
}

// Finds the place and the polarity of TRN1d by its signs in the samples.
void PcmReceiver::place() {
  constexpr int kLong = 512;
  Scrambler scrambler(kGpc);
  for (float& s : known_) s = scrambler.scramble(1) != 0 ? 1.f : -1.f;
  int best = 0;
  float most = 0;
  for (int lag = 0; lag <= 2 * kSearch; ++lag) {
    oh_preemption_point();
    float sum = 0;
    for (int k = 0; k < kLong; ++k) sum += known_[k] * captured_[kAhead + lag + 2 * k];
    if (sum < 0) sum = -sum;
    if (sum > most) most = sum, best = lag;
  }
  first_ = expected_ + kAhead + best;
  input_power_ = 0;
  for (const float x : captured_) input_power_ += x * x;
  input_power_ /= kCaptured;
  if (!(input_power_ > kLeastInput)) input_power_ = kLeastInput;
  unit_ = square_root(input_power_) / level_;
  for (int k = 0; k < kRows; ++k) wanted_[k] = level_ * known_[k + kFeedback];
  for (float& s : known_) s *= unit_ * level_;
  fit_.begin(captured_ + best + 2 * kFeedback, 2, known_, wanted_, nullptr, kFirstSteps);
  stage_ = Stage::kSolve;
}

void PcmReceiver::begin_to_run() {
  stage_ = Stage::kRun;
  event_ = Event::kTrained;
  for (float& d : decided_) d = 0;
  position_ = (half_ - first_ - kAhead) / 2;
  adapted_ = averaged_ = 0;
}

void PcmReceiver::equalise() {
  const float* x = window(1);
  const float* d = decided_ + decided_at_ + 1;
  static_assert(kForward == kFeedback);
  symbol_ = kernels_->two_dots(taps_, x, taps_ + kForward, d, kForward);
  const auto [later, earlier] = kernels_->dot_pair(window(0), window(2), taps_, kForward, taps_[kForward - 1]);
  slope_ = later - earlier;
}

void PcmReceiver::adapt(float reference, Trust trust) {
  const float error = reference - symbol_;
  if (collecting_) collect(reference);
  if (trust != Trust::kNone && lost_ == 0 && task_ == Task::kFollow) {
    ++adapted_;
    if (trust == Trust::kAll && averaged_ < kMean) ++averaged_;
    const float k = 1.f / static_cast<float>(averaged_ > 0 ? averaged_ : 1);
    if (trust == Trust::kAll) error_power_ += k * (error * error - error_power_);
    slope_power_ += k * (slope_ * slope_ - slope_power_);
    // A sample that is late by t symbols has an error of -t * slope.
    if (adapted_ > 64 && slope_power_ > 0) {
      const float share = adapted_ < kSettles ? kFastPhase : kPhase;
      const float said = -error * slope_ / slope_power_;
      const float late =
          said < kMostLate ? said > -kMostLate ? said : -kMostLate : kMostLate;  // a number, even of none
      timebase_.delay(-2 * share * late);
      deviation_ -= static_cast<double>(share * share / 4 * late);
      if (deviation_ > kMostDeviation) deviation_ = kMostDeviation;
      if (deviation_ < -kMostDeviation) deviation_ = -kMostDeviation;
      timebase_.set_deviation(deviation_);
    }
    if (trust == Trust::kAll && fit_.idle()) {
      const float step = kStep * error / (input_power_ * (kForward + kFeedback));
      kernels_->accumulate(taps_, window(1), step, kForward);
      kernels_->accumulate(taps_ + kForward, decided_ + decided_at_ + 1, step, kFeedback);
    }
  }
  decided_at_ = decided_at_ + 1 == kFeedback ? 0 : decided_at_ + 1;
  decided_[decided_at_] = decided_[decided_at_ + kFeedback] = reference * unit_;
}

void PcmReceiver::refit() {
  if (stage_ != Stage::kRun || !fit_.idle()) return;
  collecting_ = true;
  collected_ = 0;
  // The window of the next symbol, of which only the newest samples are missing.
  captures_ = 0;
  const int have = kForward - 1;
  // The symbol after the newest is returned two samples from now, one sample after its window is complete.
  for (int k = have; k > 0; --k) captured_[captures_++] = ring_[(at_ + kRing - (k - 1)) % kRing];
  for (int k = 0; k < kFeedback; ++k) known_[k] = decided_[decided_at_ + 1 + k];
}

// The reference of a symbol is known: adapt() is called once per symbol, directly after its samples.
void PcmReceiver::collect(float reference) {
  if (collected_ < kRows) {
    wanted_[collected_] = reference;
    known_[kFeedback + collected_] = reference * unit_;
  }
  if (++collected_ < kRows) return;
  collecting_ = false;
  fit_.begin(captured_, 2, known_, wanted_, taps_, kLaterSteps);
}

}  // namespace offhook::v90
