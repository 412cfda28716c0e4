// SPDX-License-Identifier: MIT
#include "dsp/v34/half_duplex/control_receiver.h"

#include "dsp/blocks/level.h"
#include "dsp/v34/half_duplex/control_transmitter.h"

namespace offhook::v34 {
namespace {

constexpr int kBins = 16;
constexpr int kUpper = 4, kLower = 12;  // bins of the lines at 300 Hz from the carrier
constexpr int kHalfTap = 8;             // the main tap or the one after it, from the newest

struct Roots {
  Complex at[kBins];  // exp(2 pi i k / 16)
};
constexpr Roots make_roots() {
  Roots r{};
  for (int k = 0; k < kBins; ++k) {
    const SinCos w = sincos_turns(static_cast<double>(k) / kBins);
    r.at[k] = {static_cast<float>(w.cos), static_cast<float>(w.sin)};
  }
  return r;
}
constexpr Roots kRoots = make_roots();

// Eight symbols of PPh, whose spectrum has a period of eight bins.
constexpr Roots make_pph_spectrum() {
  Roots r{};
  for (int k = 0; k < kBins; ++k) {
    for (int m = 0; m < kPphPeriod; ++m) r.at[k] += pph_symbol(m) * conj(kRoots.at[2 * m * k % kBins]);
  }
  return r;
}
constexpr Roots kPphSpectrum = make_pph_spectrum();

// 6.6.2: a signal above -43 dBm counts; one decibel is left for the filter.
constexpr float kLeastPower = [] {
  const double rms = dbm0_to_rms(-44);
  return static_cast<float>(rms * rms);
}();
constexpr float kPowerMemory = 1.f / 16;

// Shares of the lines in the total power of the channel. On a flat line, PPh has a quarter at the three lines. Sh has a
// third in the outer two, AC all.
constexpr float kMostOfPph = 0.6f, kLeastOfLines = 0.85f, kLeastOuter = 0.1f, kLeastMiddle = 0.25f;
constexpr float kLeastCoherence = 0.85f;
constexpr float kMostTurns = 15.f * kPphPeriod / kControlSymbolHz;  // turn of the carrier in a period; at most 7 Hz
constexpr int kShFor = 4;                                           // symbols
constexpr int kMostSh = 40;                                         // symbols until S-bar-h, if the signal is Sh
constexpr int kAcFor = 60;                                          // symbols: 100 ms; 12.8.2
constexpr float kAgainst = -0.4f;
constexpr int kFourths = 4;

constexpr float kFirstLms = 0.1f, kLeastLms = 0.01f;
constexpr float kCarrierGain = 0.12f, kTimingGain = 0.01f;
constexpr float kMostDeviation = 3e-4f;

}  // namespace

ControlReceiver::ControlReceiver(oh_pump_role far, const Kernels& kernels)
    : kernels_(&kernels), sampler_(far == OH_PUMP_CALL ? v22::Channel::kLow : v22::Channel::kHigh, kernels) {}

void ControlReceiver::rest() {
  seek();
  stage_ = Stage::kIdle;
}

void ControlReceiver::seek() {
  stage_ = Stage::kSeek;
  points_ = TrainingPoints::k4;
  sh_for_ = 0;
  awaits_s_bar_ = false;
  for (float& c : coherence_) c = 0;
}

bool ControlReceiver::process(float sample) {
  Complex u;
  if (!sampler_.put(sample, &u)) return false;
  half_symbol(u);
  if (odd_) return false;
  if (awaits_s_bar_ && --until_given_up_ == 0) seek();
  if (stage_ == Stage::kInSh && --settle_ <= 0) stage_ = Stage::kPhase;
  return stage_ >= Stage::kPhase && equalise();
}

void ControlReceiver::half_symbol(Complex u) {
  at_ = at_ + 1 == kRing ? 0 : at_ + 1;
  re_[at_] = re_[at_ + kRing] = u.re;
  im_[at_] = im_[at_ + kRing] = u.im;
  // The filter doubles the power of a signal of its own shape, apart from the roll-off.
  power_ += kPowerMemory * (norm(u) / static_cast<float>(v22::kReceivedPower) - power_);
  odd_ = !odd_;
  watch_sign(u);
  if (odd_) look();
}

// Spectrum of 16 T/2 samples, of which the last one is `newest_ago` samples old.
void ControlReceiver::transform(int newest_ago, float turns_per_sample, Spectrum* s) const {
  *s = {};
  for (int i = 0; i < kBins; ++i) {
    const int age = newest_ago + kBins - 1 - i;
    const Complex u = ago(age) * unit_phasor(phase_of(turns_per_sample * static_cast<float>(age)));
    for (int k = 0; k < kBins; ++k) s->bin[k] += u * conj(kRoots.at[i * k % kBins]);
  }
  for (const Complex& x : s->bin) s->power += norm(x);
}

// Measures the newest period, and finds the signal that it resembles. Called once per symbol, half a symbol early.
void ControlReceiver::look() {
  newest_ = (newest_ + 1) % kPeriodSymbols;
  const Spectrum before = spectrum_[newest_];
  const float coherence_before = coherence_[newest_], turns_before = turns_[newest_];
  Spectrum& s = spectrum_[newest_];
  transform(0, 0, &s);
  Complex like;
  for (int k = 0; k < kBins; ++k) like += s.bin[k] * conj(before.bin[k]);
  const float both = square_root(s.power * before.power);
  coherence_[newest_] = both > 0 ? magnitude(like) / both : 0;
  turns_[newest_] = angle_turns(like);

  const float middle = norm(s.bin[0]), outer = norm(s.bin[kUpper]) + norm(s.bin[kLower]);
  const bool loud = power_ > kLeastPower;
  const bool lines = loud && middle + outer > kLeastOfLines * s.power && outer > kLeastOuter * s.power;
  sh_for_ = lines && middle > kLeastMiddle * s.power ? sh_for_ + 1 : 0;
  ac_for_ = lines && middle < kLeastOuter * s.power ? ac_for_ + 1 : 0;
  if (ac_for_ == kAcFor) event_ = Event::kAc;
  if (stage_ != Stage::kSeek || !loud) return;
  if (coherence_before > kLeastCoherence && is_pph(coherence_[newest_], turns_[newest_], s)) {
    train(0.5f * (turns_[newest_] + turns_before));
  } else if (trained_ && sh_for_ == kShFor) {
    meet_sh(s);
  }
}

bool ControlReceiver::is_pph(float coherence, float turns, const Spectrum& s) const {
  if (turns > kMostTurns || turns < -kMostTurns) return false;
  const float lines = norm(s.bin[0]) + norm(s.bin[kUpper]) + norm(s.bin[kLower]);
  return coherence > kLeastCoherence && lines < kMostOfPph * s.power;
}

// @param turns  of the carrier in one period
void ControlReceiver::train(float turns) {
  Spectrum s[2];
  const float per_sample = turns / kBins;
  transform(0, per_sample, &s[0]);
  transform(kBins, per_sample, &s[1]);
  Complex channel[kBins], inverse[kBins], response[kBins]{};
  float noise = 0, power = 0;
  for (int k = 0; k < kBins; ++k) {
    const Complex sum = 0.5f * (s[0].bin[k] + s[1].bin[k]);
    const float energy = norm(kPphSpectrum.at[k]);
    channel[k] = (1 / energy) * (sum * conj(kPphSpectrum.at[k]));
    noise += norm(s[0].bin[k] - s[1].bin[k]) / (2 * energy * kBins);
    power += norm(channel[k]) / kBins;
  }
  for (int k = 0; k < kBins; ++k) {
    const float folded = 0.5f * (norm(channel[k]) + norm(channel[(k + kBins / 2) % kBins]));
    inverse[k] = 1 / (kBins * (folded + noise + 1e-4f * power)) * conj(channel[k]);
  }
  int main = 0;
  for (int m = 0; m < kBins; ++m) {
    for (int k = 0; k < kBins; ++k) response[m] += inverse[k] * kRoots.at[k * m % kBins];
    if (norm(response[m]) > norm(response[main])) main = m;
  }
  const int shift = (kHalfTap - main + kBins) & ~1;  // in whole symbols
  for (int m = 0; m < kTaps; ++m) {
    const Complex w = response[(m + 2 * kBins - shift) % kBins] *
                      unit_phasor(phase_of(per_sample * static_cast<float>(m - kHalfTap)));
    tap_re_[kTaps - 1 - m] = w.re;
    tap_im_[kTaps - 1 - m] = w.im;
  }
  const Complex lines = channel[kUpper] * conj(channel[kLower]);
  reference_angle_ = angle_turns(lines);
  input_power_ = s[0].power / (kBins * kBins);
  frequency_ = 2 * per_sample;
  phase_ = phase_of(-per_sample * kHalfTap);  // for the symbol in the middle of the taps, at the newest sample
  phase_ += phase_of(per_sample);             // the next symbol is taken one sample later,
  phase_ += phase_of(-frequency_);            // and equalise() first turns by one symbol
  trained_ = true;
  stage_ = Stage::kRun;
  event_ = Event::kPph;
  symbols_ = 0;
  hold_ = 0;
  previous_error_ = {};
}

// The window begins at a symbol's position, as in train().
void ControlReceiver::meet_sh(const Spectrum& s) {
  const float late = reference_angle_ - angle_turns(s.bin[kUpper] * conj(s.bin[kLower]));
  // The lines are 600 Hz apart, so a turn is one symbol.
  const float turns = late - static_cast<float>(static_cast<int>(late + (late < 0 ? -0.5f : 0.5f)));
  sampler_.delay(turns * static_cast<float>(v22::kSymbolSamples));
  stage_ = Stage::kInSh;
  settle_ = kPeriodSymbols + 1;
  fourth_ = {};
  fourths_ = 0;
  awaits_s_bar_ = true;
  until_given_up_ = kMostSh;
}

// Two symbols of Sh, or two of S-bar-h, are alike. At the transition they are opposite.
void ControlReceiver::watch_sign(Complex u) {
  constexpr float kMemory = 0.5f;
  sign_ += kMemory * ((u * conj(ago(4))).re - sign_);
  sign_power_ += kMemory * (norm(u) - sign_power_);
  if (!awaits_s_bar_ || sign_ > kAgainst * sign_power_) return;
  awaits_s_bar_ = false;
  event_ = Event::kShBar;
}

// @return whether the symbol is passed on
bool ControlReceiver::equalise() {
  const int first = at_ + 1 + kRing - kTaps;
  const Complex z = kernels_->complex_dot(tap_re_, tap_im_, re_ + first, im_ + first, kTaps);
  phase_ += phase_of(frequency_);
  rotation_ = unit_phasor(phase_);
  const Complex unit = z * conj(rotation_);
  if (stage_ == Stage::kPhase) {
    const Complex square = unit * unit;
    fourth_ += square * square;
    if (++fourths_ < kFourths) return false;
    // The points' fourth power is negative.
    phase_ += phase_of(0.25f * angle_turns(Complex{-fourth_.re, -fourth_.im}));
    stage_ = Stage::kRun;
    symbols_ = 0;
    hold_ = 2 * kPeriodSymbols;
    previous_error_ = {};
    return false;
  }
  const float energy = points_energy(points_);
  previous_[1] = previous_[0];
  previous_[0] = symbol_;
  symbol_ = square_root(energy) * unit;
  decision_ = nearest_point(points_, symbol_);
  adapt();
  return true;
}

void ControlReceiver::adapt() {
  const float energy = points_energy(points_);
  const Complex reference = to_complex(decision_);
  const Complex error = reference - symbol_;
  if (symbols_ < UINT32_MAX) ++symbols_;
  if (!(norm(error) < 4 * energy)) return;
  const float lead = (symbol_ * conj(reference)).im / energy * kTurnsPerRadian;
  const float angle = lead > 0.05f ? 0.05f : lead < -0.05f ? -0.05f : lead;
  phase_ += phase_of(angle * kCarrierGain);
  if (awaits_s_bar_) return;
  if (hold_ > 0) {
    --hold_;
    return;
  }
  frequency_ += angle * (kCarrierGain * kCarrierGain / 8);
  const float step = kFirstLms / (1 + 0.05f * static_cast<float>(symbols_ < 1000 ? symbols_ : 1000));
  const float lms = (step > kLeastLms ? step : kLeastLms) / (input_power_ * kTaps + 1e-9f);
  const int first = at_ + 1 + kRing - kTaps;
  kernels_->complex_adapt(tap_re_, tap_im_, re_ + first, im_ + first, (lms / square_root(energy)) * (error * rotation_),
                          kTaps);
  follow_timing(error);
}

// A symbol that is late by t has grown by t (next - previous).
void ControlReceiver::follow_timing(Complex error) {
  const float energy = points_energy(points_);
  const Complex slope = symbol_ - previous_[1];
  const float raw = -(previous_error_ * conj(slope)).re / (2 * energy);
  const float late = raw > 0.1f ? 0.1f : raw < -0.1f ? -0.1f : raw;
  previous_error_ = error;
  sampler_.delay(-late * kTimingGain * static_cast<float>(v22::kSymbolSamples));
  deviation_ -= static_cast<double>(late * kTimingGain * kTimingGain / 8);
  constexpr auto kMost = static_cast<double>(kMostDeviation);
  deviation_ = deviation_ > kMost ? kMost : deviation_ < -kMost ? -kMost : deviation_;
  sampler_.set_deviation(deviation_);
}

}  // namespace offhook::v34
