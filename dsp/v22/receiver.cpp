// SPDX-License-Identifier: MIT
#include "dsp/v22/receiver.h"

#include "dsp/blocks/level.h"

namespace offhook::v22 {
namespace {

// 3.3: a signal above -43 dBm0 is a carrier, a signal below -48 dBm0 is not. In data mode, a fall of 10 dB also ends
// it.
constexpr float threshold(double dbm0) {
  const double rms = dbm0_to_rms(dbm0);
  return static_cast<float>(rms * rms * kReceivedPower);
}
constexpr float kOn = threshold(-44.5), kOff = threshold(-47);
constexpr float kGone = 0.1f, kBack = 0.2f;
constexpr int kLongGone = 2400;
constexpr float kJump = 4;  // in power: indicates a different signal

constexpr float kFast = 1.f / 16, kSlow = 1.f / 1024;
constexpr float kTone = 0.75f;  // correlation of neighbouring symbols, relative to the power
constexpr int kModulated = 52;  // T/2 samples used for timing
constexpr float kBeatMemory = 1.f / 40;
constexpr int kLag = 4;      // symbols used to measure the carrier's turn
constexpr int kCentre = 16;  // index of the tap, from the newest; at a symbol

// Loop gains, per symbol.
constexpr float kFirstLms = 0.25f, kLeastLms = 0.015f, kLmsDecay = 0.994f;
constexpr float kCarrierGain = 0.12f, kCarrierGainSettled = 0.05f;
constexpr float kTimingGain = 0.02f, kTimingGainSettled = 0.005f;
constexpr uint32_t kSettled = 300;  // symbols
constexpr float kErrorMemory = 1.f / 64;

}  // namespace

Receiver::Receiver(Channel channel, const Kernels& kernels) : kernels_(&kernels), sampler_(channel, kernels) {}

void Receiver::acquire() {
  stage_ = Stage::kSeek;
  sixteen_ = sure_ = false;
  modulated_ = heard_ = 0;
  beat_ = cross_beat_ = 0;
  deviation_ = 0;
  sampler_.set_deviation(0);
  error_ = 0;
}

bool Receiver::put(float sample, bool lost) {
  if (lost) {
    lost_ = ReceiveFilter::kTaps + kTaps * 20 / 3 + 1;
  } else if (lost_ > 0) {
    --lost_;
  }
  Complex u;
  return sampler_.put(sample, &u) && half_symbol(u);
}

bool Receiver::half_symbol(Complex u) {
  at_ = at_ + 1 == kRing ? 0 : at_ + 1;
  re_[at_] = re_[at_ + kRing] = u.re;
  im_[at_] = im_[at_ + kRing] = u.im;
  follow_level(u);
  const S1Detector::Event e = s1_.put(u, ago(2), ago(4), power_);
  if (e != S1Detector::Event::kNone) s1_event_ = e;
  odd_ = !odd_;
  switch (stage_) {
    case Stage::kSeek:
      seek(u);
      return false;
    case Stage::kCarrier:
      if (!odd_) find_carrier(u);
      return false;
    case Stage::kRun:
      break;
  }
  if (odd_) return false;
  equalise();
  adapt();
  return true;
}

void Receiver::follow_level(Complex u) {
  const float now = norm(u);
  fast_ += kFast * (now - fast_);
  ++heard_;
  if (!carrier_) {
    power_ = fast_;
    carrier_ = fast_ > kOn;
    quiet_ = heard_ = 0;
    return;
  }
  const float off = kGone * power_ > kOff ? kGone * power_ : kOff;
  const float back = kBack * power_ > kOn ? kBack * power_ : kOn;
  quiet_ = fast_ < (quiet_ > 0 ? back : off) ? quiet_ + 1 : 0;
  if (quiet_ > 0) {
    if (quiet_ > kGoneFor && !sure_) carrier_ = false;
    if (quiet_ > kLongGone) power_ -= kSlow * power_, quiet_ = kLongGone;  // it may return weaker
    return;
  }
  if (!sure_ && fast_ > kJump * power_) {
    acquire();
    power_ = fast_;
  }
  power_ += (stage_ == Stage::kSeek ? kFast : kSlow) * (now - power_);
}

// Neighbouring samples beat at the symbol rate.
void Receiver::seek(Complex u) {
  const Complex before = ago(1);
  const float even = odd_ ? -1 : 1;
  beat_ += even * norm(u) - kBeatMemory * beat_;
  cross_beat_ += -even * (u * conj(before)).re - kBeatMemory * cross_beat_;
  after_one_ += kFast * (u * conj(ago(2)) - after_one_);
  const bool tone = norm(after_one_) > kTone * kTone * fast_ * fast_;
  modulated_ = carrier_ && quiet_ == 0 && !tone ? modulated_ + 1 : 0;
  if (modulated_ == 0) heard_ = 0;
  if (modulated_ < kModulated) return;
  // With time zero at this sample, |u|^2 is largest at `turns` of a symbol.
  const float sign = even;
  const float turns = angle_turns({sign * beat_, sign * cross_beat_});
  // Moves the next sample to a symbol, or to the middle between two.
  float next = 2 * turns - 1;  // T/2 after its place
  while (next < 0) next += 1;
  sampler_.delay(next * (20.f / 3));
  const int halves = static_cast<int>(2 * turns - 1 - next + (2 * turns - 1 - next < 0 ? -0.5f : 0.5f));
  odd_ = (halves & 1) == 0;  // toggled before it is read
  first_n_ = 0;
  stage_ = Stage::kCarrier;
}

void Receiver::find_carrier(Complex u) {
  first_[first_n_++] = u;
  if (first_n_ < kFirstSymbols) return;
  const auto fourth = [](Complex z) {
    const Complex square = z * z;
    return square * square;
  };
  float energy = 1e-6f;
  for (const Complex& y : first_) energy += norm(y) * (1.f / kFirstSymbols);
  const float gain = square_root(kMeanEnergy / energy);
  Complex turn;
  for (int k = kLag; k < kFirstSymbols; ++k) turn += fourth(gain * gain * (first_[k] * conj(first_[k - kLag])));
  frequency_ = angle_turns(turn) * (1.f / (4 * kLag));
  Complex sum;
  for (int k = 0; k < kFirstSymbols; ++k) {
    sum += fourth(gain * first_[k]) * unit_phasor(phase_of(4 * frequency_ * static_cast<float>(kFirstSymbols - 1 - k)));
  }
  // 3 + i to the fourth power is 28 + 96 i.
  phase_ = phase_of(angle_turns(sum * Complex{28, -96}) * 0.25f);
  // The symbol in the middle of the taps is older than the newest one.
  phase_ += phase_of(-frequency_ * (kCentre * 0.5f));
  for (int k = 0; k < kTaps; ++k) tap_re_[k] = tap_im_[k] = 0;
  tap_re_[kTaps - 1 - kCentre] = gain;
  start();
}

void Receiver::start() {
  stage_ = Stage::kRun;
  symbols_ = 0;
  lms_ = kFirstLms;
  error_ = 1;
  level_ = 1;
  previous_error_ = {};
  power_ = fast_ > power_ ? fast_ : power_;
}

void Receiver::equalise() {
  const int first = at_ + 1 + kRing - kTaps;  // of the newest kTaps samples
  const Complex z = kernels_->complex_dot(tap_re_, tap_im_, re_ + first, im_ + first, kTaps);
  phase_ += phase_of(frequency_);
  rotation_ = unit_phasor(phase_);
  previous_[1] = previous_[0];
  previous_[0] = symbol_;
  symbol_ = z * conj(rotation_);
  decision_ = sixteen_ ? nearest_of_sixteen(symbol_) : nearest_of_four(symbol_);
  ++symbols_;
}

void Receiver::adapt() {
  const Complex reference = point(decision_.quadrant, decision_.inner);
  const Complex error = reference - symbol_;
  if (lost_ > 0 || quiet_ > 0 || s1_.in_s1() || fast_ > kJump * power_) {
    previous_error_ = {};
    return;
  }
  if (!(norm(error) < 1000)) {  // unrelated to the points: lost, unless it is a click
    error_ += kErrorMemory * (4 - error_);
    previous_error_ = {};
    return;
  }
  error_ += kErrorMemory * (norm(error) - error_);
  if (lms_ > kLeastLms) lms_ *= kLmsDecay;
  const int first = at_ + 1 + kRing - kTaps;
  const float step = lms_ / (power_ * kTaps + 1e-9f);
  kernels_->complex_adapt(tap_re_, tap_im_, re_ + first, im_ + first, step * (error * rotation_), kTaps);

  const bool settled = symbols_ >= kSettled;
  const float lead = (symbol_ * conj(reference)).im / kMeanEnergy * kTurnsPerRadian;
  float angle = lead > 0.05f ? 0.05f : lead < -0.05f ? -0.05f : lead;
  const float gain = settled ? kCarrierGainSettled : kCarrierGain;
  phase_ += phase_of(angle * gain);
  frequency_ += angle * (gain * gain / 8);
  if (settled) follow_gain(reference);
  follow_timing(error, settled ? kTimingGainSettled : kTimingGain);
}

// A step of the line's gain. The decisions remain right, but LMS would take seconds.
void Receiver::follow_gain(Complex reference) {
  constexpr float kMemory = 1.f / 32, kStep = 0.12f;
  const float now = symbol_.re * reference.re + symbol_.im * reference.im;
  level_ += kMemory / kMeanEnergy * (now - level_ * norm(reference));
  if (level_ > 1 - kStep && level_ < 1 + kStep) return;
  for (int k = 0; k < kTaps; ++k) {
    tap_re_[k] /= level_;
    tap_im_[k] /= level_;
  }
  level_ = 1;
  previous_error_ = {};
}

// A symbol that is late by t has grown by t (next - previous).
void Receiver::follow_timing(Complex error, float gain) {
  const Complex slope = symbol_ - previous_[1];
  const float raw = -(previous_error_ * conj(slope)).re / (2 * kMeanEnergy);  // the error is target minus output
  const float late = raw > 0.1f ? 0.1f : raw < -0.1f ? -0.1f : raw;
  previous_error_ = error;
  sampler_.delay(-late * gain * static_cast<float>(kSymbolSamples));
  deviation_ -= static_cast<double>(late * gain * gain / 8);
  if (deviation_ > 5e-4) deviation_ = 5e-4;
  if (deviation_ < -5e-4) deviation_ = -5e-4;
  sampler_.set_deviation(deviation_);
}

}  // namespace offhook::v22
