// SPDX-License-Identifier: MIT
#include "hostsim/channel/channel.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <stdexcept>
#include <string>

#include "dsp/blocks/level.h"
#include "dsp/blocks/sincos.h"
#include "hostsim/channel/line_config.h"

namespace offhook::hostsim {
namespace {

constexpr double kSampleRate = kLineRateHz;

// ITU-T V.56bis (08/95) table A.10, attenuation distortion in dB relative to 1000 Hz, from 200 Hz in steps of 100 Hz.
// The rows are AD-1, 5, 6, 7, 8 and 9. (The numbers were read from a public transcription of the tables.)
constexpr double kAd[][38] = {
    {6,  1.3, 0,  0,  0,  0,  0,  0,  0,  0,   0,   0,   0,   0,   0,   0, 0,   0,    0,
     .1, .2,  .3, .4, .5, .6, .7, .7, .9, 1.1, 1.2, 1.3, 1.6, 1.8, 2.4, 3, 5.7, 13.5, 31.2},
    {3.2, 1.4, .4, -.1, -.1, .1,  0, 0,   0,   0,   0,   .1,  .2,  .2,  .3,  .3,  .3,  .4,   .5,
     .6,  .7,  .9, 1.1, 1.3, 1.6, 2, 2.3, 2.8, 3.2, 3.5, 4.1, 4.8, 5.3, 5.7, 6.6, 8.9, 15.7, 31.1},
    {3, 1.2, .3,  0,   0,   0,   0, 0,   0,   .1,  .1,  .2,  .3, .3,  .5,   .5,   .5,   .7,   .8,
     1, 1.1, 1.2, 1.5, 1.8, 2.4, 3, 3.5, 4.2, 4.9, 5.6, 6.7, 8,  9.1, 10.3, 12.1, 15.8, 24.4, 42.2},
    {2.9, 1.1, .3,  .1,  .1, 0,   -.1, -.1, 0, 0,   .1,  .3, .4,  .4, .5,   .6,   .6,   .7,   .9,
     1,   1.1, 1.4, 1.6, 2,  2.7, 3.5, 4.3, 5, 5.8, 6.7, 8,  9.6, 11, 12.2, 13.9, 17.3, 25.7, 43.3},
    {11.6, 6.9, 4,  2,  1.2, .8,  .5,  .2, 0,   -.1, -.1, -.1, -.1, -.2, -.1, -.1, 0,    .1,   .2,
     .5,   .6,  .8, .9, 1.1, 1.4, 1.7, 2,  2.4, 3,   3.4, 3.9, 4.6, 5.4, 6.3, 7.8, 10.3, 16.2, 29.9},
    {23.3, 13.9, 7.9, 4.1, 2.4, 1.7, 1.1, .4, 0,   -.2, -.2, -.2, -.3, -.4,  -.3,  -.1,  0,    .2,   .5,
     .9,   1.1,  1.5, 1.8, 2.3, 2.8, 3.4, 4,  4.9, 5.9, 6.8, 7.7, 9.2, 10.7, 12.6, 15.5, 20.5, 32.4, 59.9}};

// Table A.11, envelope delay distortion in ms relative to 1800 Hz, in steps of 100 Hz from the given frequency on.
struct Edd {
  double first_hz;
  int points;
  double ms[33];
};
constexpr Edd kEdd[] = {{200, 33, {3.98, 2.7, 1.69, 1.15, .8,  .6,  .5, .4,  .3,  .2, .2,  .1, .05, 0,   0,    0,   0,
                                   0,    0,   .02,  .02,  .02, .02, .1, .12, .15, .2, .27, .4, .56, .83, 1.07, 1.39}},
                        {300, 30, {3.76, 2.2, 1.36, .91, .64, .46, .34, .24, .16, .11, .07, .05, .03,  .01,  0,
                                   0,    .02, .04,  .08, .12, .16, .2,  .27, .36, .47, .6,  .77, 1.01, 1.32, 1.78}},
                        {300, 31, {8,  6.9, 5.5, 4.4, 3.4, 2.8, 2,  1.5, 1,  .7,  .4,  .3, .2,  .1,  .1, 0,
                                   .1, .1,  .1,  .2,  .2,  .3,  .4, .5,  .8, 1.1, 1.5, 2,  2.6, 3.2, 4}}};

std::vector<ChannelPoint> every_100_hz(double first_hz, const double* values, int n) {
  std::vector<ChannelPoint> points;
  points.reserve(static_cast<std::size_t>(n));
  for (int i = 0; i < n; ++i) points.push_back({first_hz + 100 * i, values[i]});
  return points;
}

double interpolate(const std::vector<ChannelPoint>& points, double hz) {
  if (hz <= points.front().hz) return points.front().value;
  for (std::size_t i = 1; i < points.size(); ++i) {
    const ChannelPoint &a = points[i - 1], &b = points[i];
    if (hz <= b.hz) return a.value + (b.value - a.value) * (hz - a.hz) / (b.hz - a.hz);
  }
  return points.back().value;
}

std::vector<ChannelPoint> flat_to(double upper_edge_hz) {
  return {{200, 6}, {300, 0}, {upper_edge_hz, 0}, {upper_edge_hz + 200, 3}, {upper_edge_hz + 500, 30}};
}

}  // namespace

ChannelCharacteristic channel_characteristic(std::string_view name) {
  const auto found =
      static_cast<int>(std::find(kChannelNames.begin(), kChannelNames.end(), name) - kChannelNames.begin());
  if (found < static_cast<int>(kChannelNames.size())) {
    const Edd& edd = kEdd[found == 0 ? 0 : (found - 1) % 3];
    return {found == 0 ? flat_to(kUpperEdgeHz) : every_100_hz(200, kAd[(found - 1) / 3], 38),
            every_100_hz(edd.first_hz, edd.ms, edd.points)};
  }
  throw std::invalid_argument(
      "line channel \"" + std::string(name) +
      "\": expected \"flat\" or \"v56bis-adA-eddE\" with A one of 1, 5, 6, 7, 8, 9 and E 1 to 3");
}

namespace {

/// The characteristic, or from `hz` on the edge if that attenuates more.
ChannelCharacteristic with_edge(ChannelCharacteristic characteristic, double hz,
                                const std::vector<ChannelPoint>& edge) {
  std::vector<ChannelPoint> points;
  constexpr int kStepHz = 20;  // the steepest part of the edge falls by 1.8 dB from one point to the next
  for (int at = 200; at <= 4000; at += kStepHz) {
    const double there = interpolate(characteristic.attenuation_db, at);
    points.push_back({static_cast<double>(at), at < hz ? there : std::max(there, interpolate(edge, at))});
  }
  characteristic.attenuation_db = std::move(points);
  return characteristic;
}

}  // namespace

ChannelCharacteristic with_upper_edge(ChannelCharacteristic characteristic, double hz) {
  if (hz >= kUpperEdgeHz) return characteristic;
  return with_edge(std::move(characteristic), hz, flat_to(hz));
}

ChannelCharacteristic with_steep_edge(ChannelCharacteristic characteristic, double hz) {
  if (hz <= 0) return characteristic;
  return with_edge(std::move(characteristic), hz, {{hz, 0}, {hz + 100, 6}, {hz + 200, 60}});
}

ChannelFilter design_channel(const ChannelCharacteristic& characteristic) {
  // The analytic filter's spectrum is 2 H(f) for f > 0 and zero below. Its real part is the filter, and its imaginary
  // part the filter's Hilbert transform. The phase is the integral of the delay.
  constexpr int kGrid = 4096;
  constexpr double kStep = kSampleRate / kGrid;
  std::array<std::complex<double>, kChannelTaps> taps{};
  double turns = 0;  // integral of the delay, in turns
  double delay_s = interpolate(characteristic.delay_ms, 0) / 1000;
  for (int k = 1; k < kGrid / 2; ++k) {
    const double hz = k * kStep;
    const double next = interpolate(characteristic.delay_ms, hz) / 1000;
    turns += (delay_s + next) / 2 * kStep;
    delay_s = next;
    double magnitude = 2.0 / kGrid * db_to_gain(-interpolate(characteristic.attenuation_db, hz));
    // Beyond the tables, it falls smoothly to zero towards 0 and 4000 Hz.
    if (hz < 200) magnitude *= 0.5 - 0.5 * sincos_turns(hz / 400).cos;
    if (hz > 3900) magnitude *= 0.5 + 0.5 * sincos_turns((hz - 3900) / 200).cos;
    const double per_sample = static_cast<double>(k) / kGrid;
    const SinCos start = sincos_turns(-turns - per_sample * kChannelDelay);
    const SinCos turn = sincos_turns(per_sample);
    std::complex<double> value(magnitude * start.cos, magnitude * start.sin);
    for (auto& tap : taps) {
      tap += value;
      value = {value.real() * turn.cos - value.imag() * turn.sin, value.real() * turn.sin + value.imag() * turn.cos};
    }
  }
  std::complex<double> at_1000{};
  for (std::size_t n = 0; n < kChannelTaps; ++n) {
    const SinCos w = sincos_turns(-static_cast<double>(n) / 8);
    at_1000 += taps[n].real() * std::complex<double>(w.cos, w.sin);
  }
  const double scale = 1 / std::sqrt(at_1000.real() * at_1000.real() + at_1000.imag() * at_1000.imag());
  ChannelFilter filter;
  for (std::size_t n = 0; n < kChannelTaps; ++n) {
    filter.in_phase[n] = static_cast<float>(taps[n].real() * scale);
    filter.quadrature[n] = static_cast<float>(taps[n].imag() * scale);
  }
  return filter;
}

}  // namespace offhook::hostsim
