// SPDX-License-Identifier: MIT
#include "dsp/v22/shaping.h"

#include "dsp/blocks/root_raised_cosine.h"
#include "dsp/blocks/sincos.h"
#include "dsp/blocks/window.h"

namespace offhook::v22 {
namespace {

constexpr double kRollOff = 0.75;
// With either length, the residual in the other channel is at least 50 dB lower.
constexpr double kTransmitBeta = 5;
constexpr double kReceiveBeta = 5;

constexpr double carrier_turns_a_symbol(Channel c) {
  return c == Channel::kLow ? 2 : 4;
}

constexpr TransmitPulse make_pulse(Channel channel) {
  TransmitPulse p{};
  constexpr int kHalf = TransmitPulse::kSpan / 2;
  double shape[TransmitPulse::kPhases * kHalf + 1]{};  // from the peak onwards
  double energy = 0;                                   // samples of the shape, kPhases per symbol
  for (int k = 0; k <= TransmitPulse::kPhases * kHalf; ++k) {
    const double t = static_cast<double>(k) / TransmitPulse::kPhases;
    shape[k] = root_raised_cosine(kRollOff, t) * kaiser(t / kHalf, kTransmitBeta);
    energy += (k == 0 ? 1 : 2) * shape[k] * shape[k] / TransmitPulse::kPhases;
  }
  double root = 1;
  for (int k = 0; k < 40; ++k) root = (root + energy / root) / 2;
  const double gain = kSqrt2 / root;  // the real part has half of the power
  for (int phase = 0; phase < TransmitPulse::kPhases; ++phase) {
    for (int k = 0; k < TransmitPulse::kSpan; ++k) {
      const int at = (kHalf - 1 - k) * TransmitPulse::kPhases + phase;  // after the pulse's peak
      const double h = gain * shape[at < 0 ? -at : at];
      const SinCos w = sincos_turns(carrier_turns_a_symbol(channel) * at / TransmitPulse::kPhases + 64);
      p.tap[phase][k] = static_cast<float>(h * w.cos);
      p.tap[phase][TransmitPulse::kSpan + k] = static_cast<float>(-h * w.sin);
    }
  }
  return p;
}

constexpr ReceiveFilter make_filter(Channel channel) {
  ReceiveFilter f{};
  constexpr int kGrid = 2 * ReceiveFilter::kPhases;  // of a sample
  constexpr int kHalf = kGrid * ReceiveFilter::kTaps / 2;
  double shape[kHalf + 1]{};
  for (int k = 0; k <= kHalf; ++k) {
    const double t = static_cast<double>(k) / kGrid;
    shape[k] = root_raised_cosine(kRollOff, t / kSymbolSamples) * kaiser(static_cast<double>(k) / kHalf, kReceiveBeta);
  }
  const double turns = carrier_turns_a_symbol(channel) / kSymbolSamples;  // a sample
  for (int phase = 0; phase < ReceiveFilter::kPhases; ++phase) {
    double sum = 0;
    for (int pass = 0; pass < 2; ++pass) {
      for (int k = 0; k < ReceiveFilter::kTaps; ++k) {
        // Tap k is for the sample kTaps-1-k before the newest.
        const int at = (k - ReceiveFilter::kTaps / 2) * kGrid + 2 * phase + 1;
        const double h = shape[at < 0 ? -at : at];
        if (pass == 0) {
          sum += h / 2;
          continue;
        }
        const SinCos w = sincos_turns(turns * at / kGrid + 64);
        f.re[phase][k] = static_cast<float>(h / sum * w.cos);
        f.im[phase][k] = static_cast<float>(-h / sum * w.sin);
      }
    }
  }
  return f;
}

constexpr TransmitPulse kPulses[] = {make_pulse(Channel::kLow), make_pulse(Channel::kHigh)};
constexpr ReceiveFilter kFilters[] = {make_filter(Channel::kLow), make_filter(Channel::kHigh)};

}  // namespace

const TransmitPulse& transmit_pulse(Channel channel) {
  return kPulses[static_cast<int>(channel)];
}

const ReceiveFilter& receive_filter(Channel channel) {
  return kFilters[static_cast<int>(channel)];
}

}  // namespace offhook::v22
