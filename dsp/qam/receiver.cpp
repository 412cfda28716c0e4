// SPDX-License-Identifier: MIT
#include "dsp/qam/receiver.h"

#include "dsp/blocks/level.h"
#include "dsp/blocks/renew.h"
#include "dsp/qam/nonlinear.h"
#include "dsp/qam/receiver_lowpass.h"

namespace offhook::qam {
namespace {

constexpr int kTaps = Receiver::kTaps;
constexpr uint32_t kSettled = 1024;  // symbols after training or S until the error is only noise
constexpr uint32_t kFitFrom = 256;   // symbols after training until the fast part of LMS is over
constexpr float kPowerMemory = 1.0f / 512;

// Loop gains, per symbol.
constexpr float kFirstStep = 0.2f;   // LMS, relative to the input power: 512 symbols after training
constexpr float kLeastStep = 0.02f;  // from about 3300 symbols on; costs 1 % of the noise
constexpr float kCarrierGain = 0.08f;
constexpr float kCarrierGainSettled = 0.03f;  // about 20 Hz; costs 1.5 % of the noise, twice that at the outer points
constexpr float kTimingGain = 0.01f;
constexpr float kTimingGainSettled = 0.003f;

// Symbol n of S, of unit power, up to an angle that is common to all.
constexpr Complex s_direction(int n) {
  constexpr float kRootHalf = static_cast<float>(kSqrt2 / 2);
  return {(n & 1) == 0 ? kRootHalf : -kRootHalf, kRootHalf};
}

}  // namespace

void Receiver::init(const Band& band, const CyclicTraining& training, const Kernels& kernels) {
  renew(*this);
  training_ = training;
  kernels_ = &kernels;
  symbol_hz_ = band.symbol_hz();
  symbol_samples_ = static_cast<float>(8000 / symbol_hz_);
  interpolator_.init(band.carrier_hz(), 4000 / symbol_hz_, receiver_lowpass(band), kernels);
  set_format(SymbolFormat{});
}

void Receiver::set_task(Task task) {
  if (task == task_) return;
  task_ = task;
  switch (task) {
    case Task::kHold:
      stage_ = Stage::kIdle;
      emitting_ = false;
      break;
    case Task::kTrain:
    case Task::kResume:
      stage_ = Stage::kSeek;
      emitting_ = false;
      detector_.reset();
      break;
    case Task::kFollow:
      if (stage_ == Stage::kCapture) break;
      if (stage_ == Stage::kIdle) stage_ = Stage::kSeek;
      emitting_ = trained_;
      break;
  }
}

void Receiver::set_format(const SymbolFormat& format) {
  scale_ = square_root(format.energy);
  per_scale_ = 1 / scale_;
  format_ = format;
  whitening_ = false;
  hits_.reset();
  slip_search_.reset();
  notes_.reset();
  for (const Complex& h : format.whitening) whitening_ |= h != Complex{};
  if (!whitening_) return;
  for (Complex& x : x_) x = {};  // the precoder's memory is empty at the start of B1
  for (int i = 0; i < kRing; ++i) {
    const Complex f = whitened(i);
    filtered_re_[i] = filtered_re_[i + kRing] = f.re;
    filtered_im_[i] = filtered_im_[i + kRing] = f.im;
  }
}

// T/2 sample i of the ring through the whitening filter.
Complex Receiver::whitened(int i) const {
  Complex f{re_[i], im_[i]};
  for (int k = 0; k < 3; ++k) {
    const int before = i + kRing - 2 * (k + 1);
    f += format_.whitening[k] * Complex{re_[before], im_[before]};
  }
  return f;
}

float Receiver::carrier_offset_hz() const {
  return static_cast<float>(offset_hz_ + static_cast<double>(frequency_) * symbol_hz_);
}

// Until the last sample of a gap has left the interpolator and the equaliser.
int Receiver::gap_samples() const {
  return Interpolator::kTaps + static_cast<int>(kTaps * 4000 / symbol_hz_) + 1;
}

bool Receiver::put(float sample, bool lost) {
  if (lost) slip_search_.reset();
  slip_search_.put(sample);
  if (surplus_ > 0) {
    --surplus_;
    lost_ = gap_samples();
    return false;
  }
  if (lost) {
    lost_ = gap_samples();
  } else {
    if (lost_ > 0) --lost_;
    power_ += kPowerMemory * (sample * sample - power_);
  }
  Complex u;
  return interpolator_.put(sample, &u) && half_symbol(u);
}

void Receiver::add_to(HotLines* hot) const {
  constexpr size_t kAhead = 48;  // symbols
  hot->add_up_to(this, recent_);
  hot->add(recent_ + recent_at_, kAhead * sizeof(Complex));
  if (whitening_) hot->add_up_to(filtered_re_, &fit_);
}

bool Receiver::half_symbol(Complex u) {
  at_ = at_ + 1 == kRing ? 0 : at_ + 1;
  re_[at_] = re_[at_ + kRing] = u.re;
  im_[at_] = im_[at_ + kRing] = u.im;
  if (whitening_) {
    const Complex f = whitened(at_);
    filtered_re_[at_] = filtered_re_[at_ + kRing] = f.re;
    filtered_im_[at_] = filtered_im_[at_ + kRing] = f.im;
  }
  if (stage_ == Stage::kCapture) {
    capture(u);
  } else if (stage_ != Stage::kIdle) {
    watch(u);
  }
  if (!trained_) return false;
  input_power_ += (1.0f / 1024) * (norm(u) - input_power_);
  odd_ = !odd_;
  if (odd_) return false;
  equalise();
  if (skip_ > 0) {
    --skip_;
    return false;
  }
  const bool given = emitting_;
  if (stage_ == Stage::kInSBar && --until_resolved_ == 0) resume();
  return given;
}

void Receiver::equalise() {
  const int first = at_ + 1 + kRing - kTaps;  // of the newest kTaps samples
  const Complex z = kernels_->complex_dot(tap_re_, tap_im_, re_ + first, im_ + first, kTaps);
  phase_ += phase_of(frequency_);
  rotation_ = unit_phasor(phase_);
  const Complex unit = z * conj(rotation_);
  recent_at_ = recent_at_ + 1 == kRecent ? 0 : recent_at_ + 1;
  recent_[recent_at_] = unit;

  Complex x = scale_ * unit;
  if (format_.warp > 0) x = NonlinearEncoder::decode(x, format_.warp);
  previous_[1] = previous_[0];
  previous_[0] = symbol_;
  symbol_ = x;
  if (whitening_) {
    for (int k = 0; k < 3; ++k) symbol_ += format_.whitening[k] * x_[k];
    x_[2] = x_[1];
    x_[1] = x_[0];
    x_[0] = x;
  }
  ++symbols_;
}

void Receiver::adapt(Complex reference) {
  const Complex error = reference - symbol_;
  const float memory = symbols_ < 256 ? 1.0f / static_cast<float>(symbols_ + 1) : 1.0f / 256;
  const float energy = scale_ * scale_;
  const bool plain = !whitening_ && format_.warp == 0;
  if (lost_ > 0 || stage_ == Stage::kInS || stage_ == Stage::kInSBar || !(norm(error) < 16 * energy)) return;
  if (format_.grid != Grid::kUnknown && follow_hits(norm(error))) return;
  reference_power_ += memory * (norm(reference) - reference_power_);
  error_power_ += memory * (norm(error) - error_power_);
  const Complex unit_error = per_scale_ * error;
  if (symbols_ == settles_from_ + kSettled) noise_.reset();
  if (plain && training_.symbol != nullptr) noise_.put(unit_error);

  // Equaliser. The whitening filter is between the taps and the error, so its input is filtered in the same way.
  if (step_ > kLeastStep) step_ *= 0.9993f;
  const int first = at_ + 1 + kRing - kTaps;
  const float* re = whitening_ ? filtered_re_ : re_;
  const float* im = whitening_ ? filtered_im_ : im_;
  const float step = step_ / (input_power_ * kTaps + 1e-9f);
  kernels_->complex_adapt(tap_re_, tap_im_, re + first, im + first, step * (unit_error * rotation_), kTaps);
  if (plain) fit(re + first, im + first, per_scale_ * (reference * rotation_));

  // Carrier: angle by which the symbol leads the reference.
  const float size = reference_power_ > 0.1f * energy ? reference_power_ : energy;
  const Complex lead = symbol_ * conj(reference);
  float angle = lead.im / size * kTurnsPerRadian;  // turns
  if (angle > 0.05f) angle = 0.05f;
  if (angle < -0.05f) angle = -0.05f;
  const bool settled = symbols_ >= settles_from_ + kSettled;
  const float carrier_gain = settled ? kCarrierGainSettled : kCarrierGain;
  phase_ += phase_of(angle * carrier_gain);
  frequency_ += angle * (carrier_gain * carrier_gain / 8);

  // Timing: a symbol that is late by t has grown by t (next - previous).
  const Complex slope = symbol_ - previous_[1];
  const Complex against = previous_error_ * conj(slope);
  float late = -against.re / (2 * size);  // number of symbols; the error is target minus output
  if (late > 0.1f) late = 0.1f;
  if (late < -0.1f) late = -0.1f;
  previous_error_ = error;
  if (settled) follow_wander(late);
  const float gain = settled ? timing_boost_ * kTimingGainSettled : kTimingGain;
  interpolator_.delay(-late * gain * symbol_samples_);
  deviation_ -= static_cast<double>(late * gain * gain / 8);
  if (deviation_ > 5e-4) deviation_ = 5e-4;
  if (deviation_ < -5e-4) deviation_ = -5e-4;
  interpolator_.set_deviation(deviation_);
}

// The loop lags behind a wandering clock: the mean of its detector is then not zero. A faster loop adds noise, so it
// becomes slower again when the mean was zero for seconds.
void Receiver::follow_wander(float late) {
  constexpr int kWindow = 256;
  constexpr float kSure = 5, kLeast = 0.003f;  // sigmas of the mean; symbols
  constexpr float kMost = 4;
  constexpr int kSteady = 64;  // windows: 5 s
  late_sum_ += late;
  late_squares_ += late * late;
  if (++late_count_ < kWindow) return;
  const float mean = late_sum_ * (1.f / kWindow);
  const float variance = late_squares_ * (1.f / kWindow) - mean * mean;
  const bool behind = mean * mean > kSure * kSure / kWindow * variance && mean * mean > kLeast * kLeast;
  steady_windows_ = behind ? 0 : steady_windows_ + 1;
  if (behind && timing_boost_ < kMost) timing_boost_ *= 2;
  if (steady_windows_ == kSteady) {
    steady_windows_ = 0;
    if (timing_boost_ > 1) timing_boost_ *= 0.5f;
  }
  late_sum_ = late_squares_ = 0;
  late_count_ = 0;
}

// @return whether adaptation must stop
bool Receiver::follow_hits(float squared_error) {
  const bool waited = hits_.waiting();
  if (hits_.put(squared_error)) turn_back();
  if (finds_slips_) watch_for_slip(waited);
  return hits_.waiting();
}

void Receiver::watch_for_slip(bool waited) {
  if (hits_.usual()) notes_.put(loops());
  if (hits_.waiting() && !waited && notes_.known()) {
    const Loops before = notes_.before();
    slip_search_.begin(interpolator_, 0.5f * symbol_samples_, before, before.phase_at(symbols_));
  }
  if (slip_search_.due()) try_slip();
}

void Receiver::try_slip() {
  slip_search_.next(*kernels_, tap_re_, tap_im_);
  const float misfit = hits_.misfit(format_.grid, slip_search_.symbols(), scale_, format_.warp, format_.whitening);
  if (!slip_search_.judge(misfit)) return;
  const SlipSearch::Slip& slip = slip_search_.found();
  slip_search_.reset();
  hits_.end_wait();
  go_on_from(notes_.before());
  ++slips_found_;
  (slip.samples > 0 ? missing_ : surplus_) = slip.samples > 0 ? slip.samples : -slip.samples;
  interpolator_.skip_part(slip.part);
}

// A hit affected all symbols, because the last kRecent were received without adaptation.
void Receiver::turn_back() {
  static_assert(kRecent == HitRecovery::kSymbols);
  Complex recent[kRecent];
  for (int n = 0; n < kRecent; ++n) recent[n] = recent_[(recent_at_ + 1 + n) % kRecent];
  const HitRecovery::Found hit = hits_.search(format_.grid, recent, scale_, format_.warp, format_.whitening);
  if (!hit.found) return slip_search_.start();
  slip_search_.reset();
  if (hit.turns != 0) notes_.reset();
  phase_ += phase_of(hit.turns);
  for (int k = 0; k < kTaps; ++k) {
    tap_re_[k] /= hit.gain;
    tap_im_[k] /= hit.gain;
  }
  previous_error_ = {};
}

void Receiver::go_on_from(const Loops& then) {
  frequency_ = then.frequency;
  phase_ = then.phase_at(symbols_);
  deviation_ = then.deviation;
  interpolator_.set_deviation(deviation_);
  previous_error_ = {};
}

void Receiver::keep(Learnt* learnt) const {
  learnt->loops = loops();
  learnt->hits = hits_;
  for (int k = 0; k < kTaps; ++k) {
    learnt->tap_re[k] = tap_re_[k];
    learnt->tap_im[k] = tap_im_[k];
  }
}

void Receiver::go_back_to(const Learnt& then) {
  go_on_from(then.loops);
  hits_ = then.hits;
  hits_.end_wait();
  for (int k = 0; k < kTaps; ++k) {
    tap_re_[k] = then.tap_re[k];
    tap_im_[k] = then.tap_im[k];
  }
}

// Replaces the taps that LMS found by those of least squares.
void Receiver::fit(const float* re, const float* im, Complex wanted) {
  if (symbols_ == kFitFrom) fit_.init(tap_re_, tap_im_);
  if (fit_.idle()) return;
  if (symbols_ != fitted_ + 1 && fit_.collecting()) fit_.init(tap_re_, tap_im_);  // symbols were missed
  fitted_ = symbols_;
  fit_.put(*kernels_, re, im, wanted, tap_re_, tap_im_);
}

// S and S-bar.
void Receiver::watch(Complex u) {
  detector_.put(u);
  if (stage_ == Stage::kSeek && detector_.in_s()) {
    stage_ = Stage::kInS;
    event_ = Event::kS;
  } else if (stage_ == Stage::kInS && detector_.s_bar()) {
    if (task_ == Task::kTrain || !trained_) {
      begin_training();
    } else {
      stage_ = Stage::kInSBar;
      until_resolved_ = after_main_ / 2;
    }
  } else if (stage_ == Stage::kInS && !detector_.in_s()) {
    stage_ = Stage::kSeek;
  }
}

void Receiver::begin_training() {
  event_ = Event::kSBar;
  s_bar_age_ = static_cast<int>(detector_.age() / 2);
  symbols_skipped_ = kSBarSymbols + training_.symbols;
  trained_ = false;
  offset_hz_ += static_cast<double>(detector_.turns_per_symbol()) * symbol_hz_;
  interpolator_.set_offset_hz(offset_hz_);
  if (training_.symbol == nullptr) {
    begin_at_zero();
    return;
  }
  until_capture_ = 2 * (kSBarSymbols + kCaptureAt) - static_cast<int>(detector_.age() + 0.5f);
  captured_ = 0;
  training_power_ = 0;
  for (auto& period : spectrum_) {
    for (Complex& bin : period) bin = {};
  }
  stage_ = Stage::kCapture;
}

// The signal after S-bar is known to the caller, and the taps are computed from it.
void Receiver::begin_at_zero() {
  for (int k = 0; k < kTaps; ++k) tap_re_[k] = tap_im_[k] = 0;
  input_power_ = 0;
  for (int k = 0; k < kRing; ++k) input_power_ += (1.0f / kRing) * (re_[k] * re_[k] + im_[k] * im_[k]);
  after_main_ = kAfterMain;
  const int wait = 2 * kSBarSymbols - static_cast<int>(detector_.age() + 0.5f) + after_main_;  // T/2 samples
  skip_ = wait / 2;
  odd_ = (wait & 1) == 0;
  phase_ = {};
  frequency_ = 0;
  adapt_from_now();
}

// S-bar has passed half of the equaliser.
void Receiver::resume() {
  event_ = Event::kSBar;
  // The symbols after the taps: S with an unknown turn and parity, followed by its negative.
  stage_ = Stage::kSeek;
  emitting_ = true;
  detector_.reset();
  noise_.reset();
  settles_from_ = symbols_;
  const auto ago = [this](int n) { return recent_[(recent_at_ + kRecent - n) % kRecent]; };
  constexpr int kLate = 40;  // age of the newest symbols that certainly belong to S
  constexpr int kFrom = 88;  // and end here
  Complex like[2]{};
  for (int n = kLate; n < kFrom; ++n) {
    for (int parity = 0; parity < 2; ++parity) like[parity] += ago(n) * conj(s_direction(n + parity));
  }
  const int parity = norm(like[1]) > norm(like[0]);  // the symbol n ago is s_symbol(n + parity)
  const float size = magnitude(like[parity]);
  if (!(size > 0)) return;
  const Complex turn = (1 / size) * like[parity];
  // S-bar begins with a symbol that is the first of S with its sign changed: n + parity even. Among such positions, the
  // one that best separates symbols like S from symbols like its negative.
  float best = -1e30f;
  float sum = 0;
  int age = 0;
  for (int n = 0; n < kLate; ++n) {
    const Complex one = ago(n) * conj(turn * s_direction(n + parity));
    sum -= one.re;  // from n symbols ago on, as S-bar
    if (((n + parity) & 1) == 0 && sum > best) {
      best = sum;
      age = n + 1;
    }
  }
  s_bar_age_ = symbols_skipped_ = age;
  phase_ += step_of(angle_turns(turn));
  follow_frequency_of_s(parity, (kLate + kFrom) / 2);
}

// The carrier has moved by more than noise explains. Such a step of the line's frequency loses the receiver.
// @param middle  age of the phase, symbols
void Receiver::follow_frequency_of_s(int parity, int middle) {
  constexpr int kHalf = 24;  // symbols on each side
  Complex half[2]{};
  float power = 0;
  for (int n = middle - kHalf; n < middle + kHalf; ++n) {
    const Complex u = recent_[(recent_at_ + kRecent - n) % kRecent];
    half[n >= middle] += u * conj(s_direction(n + parity));
    power += norm(u);
  }
  const float size = 0.5f / kHalf * (magnitude(half[0]) + magnitude(half[1]));
  if (!(size > 0)) return;
  const float turns = angle_turns(half[0] * conj(half[1])) / kHalf;
  const float noise = 0.5f / kHalf * power - size * size;
  // A tone with the noise's power, such as a harmonic of hum next to a line of S, turns each mean by its amplitude at
  // most. This is also five standard deviations of the means' angles in white noise: 5 < 2 sqrt(kHalf).
  const float most = 2 * square_root(noise > 0 ? noise : 0) / size * kTurnsPerRadian / kHalf;
  if (turns * turns < most * most || turns * turns < 1e-8f) return;
  frequency_ += turns;
  phase_ += phase_of(turns * static_cast<float>(middle));
}

void Receiver::adapt_from_now() {
  trained_ = true;
  emitting_ = true;
  symbols_ = settles_from_ = 0;
  fit_.reset();
  step_ = kFirstStep;
  reference_power_ = error_power_ = 0;
  noise_.reset();
  previous_error_ = {};
  late_sum_ = late_squares_ = 0;
  late_count_ = 0;
  stage_ = Stage::kSeek;
  detector_.reset();
}

}  // namespace offhook::qam
