// SPDX-License-Identifier: MIT
//
// The receiver's training: its taps, clock and carrier from five periods of a cyclic sequence.
#include "dsp/blocks/preemption_point.h"
#include "dsp/blocks/sincos.h"
#include "dsp/qam/receiver.h"

namespace offhook::qam {
namespace {

constexpr int kTaps = Receiver::kTaps;
constexpr int kAfterMain = Receiver::kAfterMain;
constexpr int kLeastAfterMain = 40;
constexpr int kMostAfterMain = 80;
constexpr int kWindowEnds = 6;  // taps at each end that should be small

struct Roots {
  Complex at[kTaps];  // exp(2 pi i k / 96)
};
constexpr Roots make_roots() {
  Roots r{};
  for (int k = 0; k < kTaps; ++k) {
    const SinCos w = sincos_turns(static_cast<double>(k) / kTaps);
    r.at[k] = {static_cast<float>(w.cos), static_cast<float>(w.sin)};
  }
  return r;
}
constexpr Roots kRoots = make_roots();

// Bin k of 96 as a frequency: -48 to 47 times S/48.
constexpr int signed_bin(int k) {
  return k < kTaps / 2 ? k : k - kTaps;
}

// Sample i of the sequence with these bins, unscaled. @pre 0 <= i < kTaps
Complex inverse_transform(const Complex* bins, int i) {
  Complex sum{};
  for (int k = 0, w = 0; k < kTaps; ++k) {
    sum += bins[k] * kRoots.at[w];
    w += i;
    if (w >= kTaps) w -= kTaps;
  }
  return sum;
}

// Position of the maximum of the channel's impulse response, T/2 samples.
int main_cursor(const Complex* channel) {
  int main = 0;
  float most = -1;
  for (int i = 0; i < kTaps; ++i) {
    oh_preemption_point();
    const Complex h = inverse_transform(channel, i);
    if (norm(h) > most) {
      most = norm(h);
      main = i;
    }
  }
  return signed_bin(main);
}

// The equaliser of least mean squared error for symbols of unit power, as impulse response: [d] is for the sample d
// after the main cursor; negative d counts from the end.
void best_response(const Complex* channel, float noise, int main, Complex* response) {
  Complex inverse[kTaps];
  for (int k = 0; k < kTaps; ++k) {
    const float folded = 0.5f * (norm(channel[k]) + norm(channel[(k + kTaps / 2) % kTaps]));
    inverse[k] = 1 / (kTaps * (folded + noise) + 1e-20f) * conj(channel[k]);
  }
  for (int d = 0; d < kTaps; ++d) {
    const int i = (3 * kTaps - main - d) % kTaps;
    oh_preemption_point();
    response[d] = inverse_transform(inverse, i);
  }
}

// The response is as long as the window, so the window must begin where the response is weakest.
int place_window(const Complex* response) {
  int place = kAfterMain;
  float least = -1;
  for (int after = kLeastAfterMain; after <= kMostAfterMain; ++after) {
    float ends = 0;
    for (int d = -kWindowEnds; d < kWindowEnds; ++d) ends += norm(response[(after + 1 + d + kTaps) % kTaps]);
    if (after == kAfterMain) ends *= 0.5f;  // the usual position, unless there is contrary evidence
    if (least < 0 || ends < least) {
      least = ends;
      place = after;
    }
  }
  return place;
}

}  // namespace

// Adds each sample of five training periods to all bins of its period's spectrum immediately, so that the work is
// spread evenly.
void Receiver::capture(Complex u) {
  if (until_capture_-- > 0) return;
  const int period = captured_ / kTaps;
  const int i = captured_ % kTaps;
  Complex* bins = spectrum_[period];
  for (int k = 0, w = 0; k < kTaps; ++k) {
    bins[k] += u * conj(kRoots.at[w]);
    w += i;
    if (w >= kTaps) w -= kTaps;
  }
  training_power_ += norm(u);
  if (++captured_ == kPeriods * kTaps) {
    train();
    captured_ = 0;
  }
}

Phase Receiver::Drift::over(float periods, int bin) const {
  return phase_of(static_cast<double>(periods * (turns - static_cast<float>(signed_bin(bin)) * delay / kTaps)));
}

// First a rough value from neighbouring periods, then one from periods that are three apart.
Receiver::Drift Receiver::measure_drift() const {
  Drift drift;
  for (int apart = 1; apart <= 3; apart += 2) {
    Complex common{};
    float slope = 0;
    float weight = 0;
    oh_preemption_point();
    Complex product[kTaps]{};
    for (int k = 0; k < kTaps; ++k) {
      for (int p = 0; p + apart < kPeriods; ++p) product[k] += spectrum_[p + apart][k] * conj(spectrum_[p][k]);
      product[k] = product[k] * unit_phasor(drift.over(static_cast<float>(-apart), k));
      common += product[k];
    }
    const float turns = angle_turns(common);
    const Complex back = unit_phasor(phase_of(-turns));
    for (int k = 0; k < kTaps; ++k) {
      const auto f = static_cast<float>(signed_bin(k));
      slope += f * (product[k] * back).im;
      weight += f * f * magnitude(product[k]);
    }
    drift.turns += turns / static_cast<float>(apart);
    if (weight > 0) drift.delay -= slope / weight * (kTaps / static_cast<float>(2 * kPi)) / static_cast<float>(apart);
  }
  return drift;
}

// The mean of the periods, shifted to the middle one. @return their difference: the variance of a T/2 sample
float Receiver::average_periods(const Drift& drift, Complex* mean) {
  float noise = 0;
  for (int k = 0; k < kTaps; ++k) {
    oh_preemption_point();
    mean[k] = {};
    for (int p = 0; p < kPeriods; ++p) {
      const int to_middle = kPeriods / 2 - p;
      spectrum_[p][k] = spectrum_[p][k] * unit_phasor(drift.over(static_cast<float>(to_middle), k));
      mean[k] += (1.0f / kPeriods) * spectrum_[p][k];
    }
    for (int p = 0; p < kPeriods; ++p) noise += norm(spectrum_[p][k] - mean[k]);
  }
  return noise / (kTaps * (kPeriods - 1) * kTaps);
}

// From the received spectrum. @return mean power
float Receiver::estimate_channel(const Complex* received, Complex* channel) const {
  Complex symbols[kPeriod], sent[kPeriod]{};
  for (int m = 0; m < kPeriod; ++m) symbols[m] = training_.symbol(kCaptureAt + m);
  for (int k = 0; k < kPeriod; ++k) {
    oh_preemption_point();
    for (int m = 0; m < kPeriod; ++m) sent[k] += symbols[m] * conj(kRoots.at[2 * m * k % kTaps]);
  }
  float power = 0;
  for (int k = 0; k < kTaps; ++k) {
    channel[k] = (1.0f / kPeriod) * (received[k] * conj(sent[k % kPeriod]));
    power += norm(channel[k]) / kTaps;
  }
  return power;
}

void Receiver::train() {
  const Drift drift = measure_drift();
  Complex mean[kTaps];
  const float noise = average_periods(drift, mean);
  Complex channel[kTaps];
  const float channel_power = estimate_channel(mean, channel);
  const int main = main_cursor(channel);
  Complex response[kTaps];
  best_response(channel, noise + 1e-5f * channel_power, main, response);
  after_main_ = place_window(response);
  for (int j = 0; j < kTaps; ++j) {
    const Complex c = response[(j - (kTaps - 1 - after_main_) + kTaps) % kTaps];
    tap_re_[j] = c.re;
    tap_im_[j] = c.im;
  }

  // The current sample is the last of the capture, with which half_symbol() continues. Symbol n of the training has its
  // main cursor at capture sample 2 (n - kCaptureAt) + main and is equalised when after_main_ more have arrived.
  constexpr int kNow = kPeriods * kTaps - 1;
  const int wait = 2 * (training_.symbols - kCaptureAt) + main + after_main_ - kNow;  // until the first after it
  skip_ = wait / 2;
  odd_ = (wait & 1) == 0;
  frequency_ = drift.turns / kPeriod;
  const float next = static_cast<float>(kNow + (wait & 1) - after_main_);  // main cursor of equalise()'s next symbol
  phase_ = phase_of(static_cast<double>(frequency_ * ((next - kNow / 2.0f) / 2 - 1)));
  deviation_ += static_cast<double>(drift.delay) / kTaps;
  interpolator_.set_deviation(deviation_);
  interpolator_.delay(drift.delay * (kPeriods / 2.0f) * static_cast<float>(4000 / symbol_hz_));

  input_power_ = training_power_ / (kPeriods * kTaps);
  adapt_from_now();
}

}  // namespace offhook::qam
