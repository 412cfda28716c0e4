// SPDX-License-Identifier: MIT
#include "dsp/dmt/receiver.h"

#include "dsp/dmt/training_signals.h"

namespace offhook::dmt {
namespace {

constexpr int kFound = 6;              // consecutive symbols at one position
constexpr float kConcentrated = 0.5f;  // of the channel's energy within twice the prefix: noise has a seventh
constexpr float kSmoothing = 1.0f / 16;
constexpr float kFastLoop = 0.1f, kSlowLoop = 0.02f;
constexpr int kFastSymbols = 64;
constexpr float kPilotAway = 0.5f, kPilotDeviations = 4;  // relative to its size, and to its own noise
// Ridge of the shortening's fit (docs/dmt.md).
constexpr double kRidge = 1e-2;
// A fit takes one symbol in twelve a sample early or late. If the far clock differs, the window is anywhere within half
// a sample of its position, and the mean square of that is one twelfth.
constexpr int kShiftEvery = 12;

}  // namespace

Receiver::Receiver(const Band& band)
    : band_(band),
      kernels_(best_kernels()),
      fft_(band.points),
      shortening_(band, band.prefix + 1 - kEdge, kRidge),
      tone_equaliser_(band) {
  reverb(band_, reverb_);
  reset();
}

void Receiver::reset() {
  stage_ = Stage::kTones;
  count_ = 0;
  symbol_ = band_.points;
  start_ = now_;
  offset_ = drift_ = 0;
  following_ = shortened_ = false;
  for (Complex& m : mean_) m = {};
}

void Receiver::search() {
  stage_ = Stage::kSearch;
  count_ = 0;
  for (Complex& m : mean_) m = {};
}

void Receiver::store(const int16_t* samples, int n) {
  const auto at = static_cast<int>(now_ & (kBuffer - 1));
  const int before_end = n < kBuffer - at ? n : kBuffer - at;
  for (int k = 0; k < before_end; ++k) buffer_[at + k] = samples[k];
  for (int k = before_end; k < n; ++k) buffer_[k - before_end] = samples[k];
  now_ += n;
}

bool Receiver::take(float sample, bool good) {
  buffer_[now_ & (kBuffer - 1)] = sample;
  ++now_;
  if (!good) bad_until_ = now_;
  if (now_ < start_ + band_.points) return false;
  // The earlier samples that the filter uses count too.
  doubtful_ = false;
  spoiled_ = bad_until_ > start_ - (shortened_ ? Shortening::kTaps : 0);
  transform();
  start_ += symbol_;
  if (following_) keep_time();
  ++count_;
  switch (stage_) {
    case Stage::kTones:
      smooth();
      break;
    case Stage::kSearch:
      smooth();
      search_symbol();
      break;
    case Stage::kLock:
      if (count_ < kLockSymbols) break;
      stage_ = Stage::kMeasure;
      count_ = 0;
      for (int k = 0; k < band_.tones(); ++k) {
        mean_[k] = {};
        power_[k] = 0;
      }
      break;
    case Stage::kMeasure:
    case Stage::kShorten:
      measure_symbol();
      break;
    case Stage::kGains:
      gains_symbol();
      break;
    case Stage::kReady:
      equalise();
      break;
  }
  return true;
}

void Receiver::transform() {
  constexpr int kTaps = Shortening::kTaps;
  float past[2 * kMostTones + kTaps];
  // In two pieces, if the buffer ends in between.
  const int reach = shortened_ ? kTaps - 1 : 0, n = band_.points + reach;
  const auto from = static_cast<int>((start_ - reach) & (kBuffer - 1));
  const int before_end = n < kBuffer - from ? n : kBuffer - from;
  for (int t = 0; t < before_end; ++t) past[t] = buffer_[from + t];
  for (int t = before_end; t < n; ++t) past[t] = buffer_[t - before_end];
  const float* window = past + reach;
  rms_ = square_root(kernels_.dot(window, window, band_.points) / static_cast<float>(band_.points));
  fft_.forward(window, received_);
  if (shortened_) tone_equaliser_.filter(window, received_);
}

// Each tone, turned by the delay of the timing loop.
void Receiver::turn_back() {
  const float turns = offset_ / static_cast<float>(band_.points);
  const SinCos first = sincos_turns(static_cast<double>(turns) * band_.first);
  const SinCos step = sincos_turns(static_cast<double>(turns));
  Complex w{static_cast<float>(first.cos), static_cast<float>(first.sin)};
  const Complex by{static_cast<float>(step.cos), static_cast<float>(step.sin)};
  for (int k = band_.first; k <= band_.last; ++k) {
    turned_[k] = w;
    received_[k] = received_[k] * w;
    w = w * by;
  }
}

// A symbol with a changed pilot is as bad as a lost one: the far end was served late, or there was an impulse.
void Receiver::watch_pilot() {
  const float size = magnitude(received_[band_.pilot]);
  if (stage_ == Stage::kLock) {
    pilot_size_ += kFastLoop * (size - pilot_size_);
    const float away = size - pilot_size_;
    pilot_noise_ += kSlowLoop * (away * away - pilot_noise_);
    return;
  }
  const float away = size - pilot_size_;
  doubtful_ = away * away > kPilotAway * kPilotAway * pilot_size_ * pilot_size_ &&
              away * away > kPilotDeviations * kPilotDeviations * pilot_noise_;
  if (!trusted()) return;
  pilot_size_ += kSlowLoop * away;
  pilot_noise_ += kSlowLoop * (away * away - pilot_noise_);
}

void Receiver::keep_time() {
  watch_pilot();
  offset_ += drift_;
  turn_back();
  if (stage_ != Stage::kReady && trusted()) steer(received_, expected_, nullptr);
  if (offset_ > 0.5f || offset_ < -0.5f) {
    const int samples = offset_ > 0 ? 1 : -1;
    move_window(samples);
    offset_ -= static_cast<float>(samples);
  }
}

// The delay that fits the phases of all tones best, each weighted by its power over its noise (least squares for small
// angles). Without weights, the noise is assumed white, and `sent` has the size of each tone.
void Receiver::steer(const Complex* is, const Complex* sent, const float* weight) {
  const bool fast = stage_ == Stage::kLock && count_ < kFastSymbols;
  // While the far clock is unknown, the upper tones may be wrong by whole turns.
  const int last = fast ? band_.points / 4 : band_.last;
  float turned = 0, all = 0;
  for (int k = band_.first; k <= last; ++k) {
    const float w = static_cast<float>(k) * (weight != nullptr ? weight[k] : 1);
    turned += w * (is[k].im * sent[k].re - is[k].re * sent[k].im);
    all += w * static_cast<float>(k) * norm(sent[k]);
  }
  if (all <= 0) return;
  const float late = -turned / all * static_cast<float>(band_.points) / static_cast<float>(2 * kPi);
  const float step = fast ? kFastLoop : kSlowLoop;
  offset_ += step * late;
  drift_ += step * step / 4 * late;
}

void Receiver::follow(const Complex* sent) {
  if (trusted()) steer(points_, sent, timing_weight_);
}

void Receiver::weigh_timing(const float* error) {
  for (int k = band_.first; k <= band_.last; ++k) timing_weight_[k] = error[k] > 0 ? 1 / error[k] : 0;
}

// Signals that repeat from window to window rise above those that do not.
void Receiver::smooth() {
  if (spoiled_) return;
  for (int k = band_.first; k <= band_.last; ++k) mean_[k] += kSmoothing * (received_[k] - mean_[k]);
}

void Receiver::search_symbol() {
  if (spoiled_) return;
  Complex channel[kMostTones] = {};
  float h[2 * kMostTones];
  for (int k = band_.first; k <= band_.last; ++k) channel[k] = mean_[k] * conj(reverb_[k]);
  fft_.inverse(channel, h);
  const int n = band_.points, wide = 2 * band_.prefix + 1, narrow = band_.prefix + 1;
  float all = 0, in_wide = 0, in_narrow = 0, most_wide = 0, most_narrow = -1;
  for (int t = 0; t < n; ++t) {
    all += h[t] * h[t];
    if (t < wide) in_wide += h[t] * h[t];
    if (t < narrow) in_narrow += h[t] * h[t];
  }
  int place = 0;
  for (int t = 0; t < n; ++t) {
    if (in_wide > most_wide) most_wide = in_wide;
    if (in_narrow > most_narrow) {
      most_narrow = in_narrow;
      place = t;
    }
    const auto square = [&h, n](int at) { return h[at & (n - 1)] * h[at & (n - 1)]; };
    in_wide += square(t + wide) - square(t);
    in_narrow += square(t + narrow) - square(t);
  }
  if (place > n / 2) place -= n;
  move_window(place);
  for (int k = band_.first; k <= band_.last; ++k) {
    const SinCos w = sincos_turns(static_cast<double>(place * k) / n);
    mean_[k] = mean_[k] * Complex{static_cast<float>(w.cos), static_cast<float>(w.sin)};
  }
  // Silence, which is all zeros after the converter, has no position.
  if (all <= 0 || most_wide < kConcentrated * all || place > 2 || place < -2) count_ = 0;
  if (count_ < kFound) return;
  stage_ = Stage::kLock;
  count_ = 0;
  following_ = true;
  offset_ = drift_ = 0;
  for (int k = band_.first; k <= band_.last; ++k) expected_[k] = mean_[k];
  pilot_size_ = magnitude(mean_[band_.pilot]);
  pilot_noise_ = 0;
}

void Receiver::measure_symbol() {
  if (stage_ == Stage::kShorten) {
    if (!shortening_.work()) return;
    tone_equaliser_.set(shortening_.taps());
    shortened_ = true;
    // The target begins at the end of the prefix, except for its free part at both ends.
    const int samples = shortening_.delay() - kEdge / 2;
    move_window(samples);
    expect_reverb(samples);
    stage_ = Stage::kGains;
    count_ = 0;
    for (int k = 0; k < band_.tones(); ++k) mean_[k] = {};
    return;
  }
  if (!trusted()) {
    --count_;
    return;
  }
  for (int k = 0; k < band_.tones(); ++k) {
    const bool sent = k >= band_.first && k <= band_.last;
    if (sent) mean_[k] += received_[k] * conj(reverb_[k]);
    power_[k] += norm(received_[k]);
  }
  if (count_ < kMeasureSymbols) return;
  for (int k = 0; k < band_.tones(); ++k) {
    mean_[k] = (1.0f / kMeasureSymbols) * mean_[k];
    power_[k] *= 1.0f / kMeasureSymbols;
  }
  shortening_.begin(mean_, power_);
  stage_ = Stage::kShorten;
}

/// The periodic signal REVERB, after the filter, in a window `samples` later.
void Receiver::expect_reverb(int samples) {
  for (int k = band_.first; k <= band_.last; ++k) {
    const SinCos w = sincos_turns(static_cast<double>(samples * k) / band_.points);
    const Complex later{static_cast<float>(w.cos), static_cast<float>(w.sin)};
    expected_[k] = tone_equaliser_.gain(k) * mean_[k] * reverb_[k] * later;
  }
  const float size = magnitude(expected_[band_.pilot]);
  pilot_noise_ *= pilot_size_ > 0 ? size * size / (pilot_size_ * pilot_size_) : 0;
  pilot_size_ = size;
}

void Receiver::gains_symbol() {
  if (!trusted()) {
    --count_;
    return;
  }
  for (int k = band_.first; k <= band_.last; ++k) mean_[k] += received_[k] * conj(reverb_[k]);
  if (count_ < kGainSymbols) return;
  weight_sum_ = 0;
  for (int k = band_.first; k <= band_.last; ++k) {
    const Complex h = (1.0f / kGainSymbols) * mean_[k];
    weight_[k] = timing_weight_[k] = norm(h);
    equaliser_[k] = weight_[k] > 0 ? (1 / weight_[k]) * conj(h) : Complex{};
    if (k != band_.pilot) weight_sum_ += weight_[k];
  }
  stage_ = Stage::kReady;
  count_ = 0;
}

void Receiver::equalise() {
  for (int k = band_.first; k <= band_.last; ++k) points_[k] = received_[k] * equaliser_[k];
}

float Receiver::share(const int* tones, int n) const {
  float all = 0, of_tones = 0;
  for (int k = band_.first; k <= band_.last; ++k) all += norm(mean_[k]);
  for (int k = 0; k < n; ++k) of_tones += norm(mean_[tones[k]]);
  return all > 0 ? of_tones / all : 0;
}

float Receiver::likeness(const Complex* reference) const {
  float sum = 0;
  for (int k = band_.first; k <= band_.last; ++k) {
    if (k == band_.pilot) continue;
    const Complex z = points_[k] * conj(reference[k]);
    sum += weight_[k] * z.re;
  }
  return weight_sum_ > 0 ? sum / weight_sum_ : 0;
}

uint8_t Receiver::octet(const Complex* reverb) const {
  Complex sum[4]{};
  for (int k = band_.first; k <= band_.last; ++k) {
    if (k != band_.pilot) sum[k % 4] += weight_[k] * (points_[k] * conj(reverb[k]));
  }
  unsigned out = 0;
  for (int pair = 0; pair < 4; ++pair) {
    const float re = sum[pair].re, im = sum[pair].im;
    const float x = re < 0 ? -re : re, y = im < 0 ? -im : im;
    const unsigned bits = x >= y ? (re >= 0 ? 0u : 3u) : (im >= 0 ? 1u : 2u);
    out |= bits << 2 * pair;
  }
  return static_cast<uint8_t>(out);
}

void Receiver::learn(const Complex* sent, float step) {
  if (!trusted()) return;
  follow(sent);
  for (int k = band_.first; k <= band_.last; ++k) {
    const float power = norm(received_[k]);
    if (power <= 0 || (sent[k].re == 0 && sent[k].im == 0)) continue;
    const Complex error = sent[k] - points_[k];
    // Normalised by at least the mean received power, so that a small point has no more effect than a large one.
    const float size = power > weight_[k] ? power : weight_[k];
    equaliser_[k] += (step / size) * (error * conj(received_[k]));
  }
}

void Receiver::add_to_fit(const Complex* sent) {
  if (!trusted()) return;
  follow(sent);
  tone_equaliser_.add(points_, sent, turned_);
  // keep_time() reverses it a symbol later.
  if (tone_equaliser_.symbols() % kShiftEvery != 0) return;
  const int samples = tone_equaliser_.symbols() / kShiftEvery % 2 == 0 ? 1 : -1;
  move_window(samples);
  offset_ -= static_cast<float>(samples);
}

void Receiver::begin_prefix() {
  symbol_ = band_.symbol();
  start_ += band_.prefix;
}

}  // namespace offhook::dmt
