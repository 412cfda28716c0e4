// SPDX-License-Identifier: MIT
//
// Coding gain of the V.34 trellis codes, measured as the field does: 2D symbol errors of the coded lattice against
// those of uncoded QAM that carries the same bits with the same power.
//
// The code spends half a bit a 2D symbol, so uncoded QAM may have fewer points by a factor sqrt(2) and, at equal power,
// points farther apart by 2^(1/4). On an unbounded grid of spacing d its symbol error rate is exactly 1-(1-2Q(d/2s))^2.
#pragma once

#include <cmath>
#include <deque>

#include "dsp/v34/coding/viterbi.h"
#include "tests/unit/dsp/v34/confidence.h"
#include "tests/unit/dsp/v34/random.h"

namespace offhook::v34 {

/// Random pairs of points that obey the code.
class LatticeSource {
 public:
  LatticeSource(TrellisCode code, uint32_t seed) : encoder_(code), random_(seed, static_cast<uint32_t>(code)) {}
  void next(bool bit_inversion, Point pair[2]) {
    for (int k = 0; k < 2; ++k) pair[k] = {odd(), odd()};
    const int parity = (subset_label(pair[0]) ^ subset_label(pair[1])) & 1;
    if (parity != (encoder_.output() ^ bit_inversion)) pair[1] = rotate_cw(pair[1], 1);
    encoder_.put(pair[0], pair[1]);
  }

 private:
  int16_t odd() { return static_cast<int16_t>(2 * static_cast<int>(random_.below(32)) - 31); }
  TrellisEncoder encoder_;
  Random random_;
};

/// Symbol error rate of uncoded QAM of the same power and rate, for noise `sigma` per dimension on a coded grid of 2.
inline double uncoded_error_rate(double sigma) {
  const double half_spacing = std::pow(2.0, 0.25);
  const double q = 0.5 * std::erfc(half_spacing / sigma / std::sqrt(2.0));
  return 1 - (1 - 2 * q) * (1 - 2 * q);
}

/// The noise at which uncoded QAM has this error rate.
inline double uncoded_sigma(double rate) {
  double low = 0.01;
  double high = 10;
  for (int k = 0; k < 100; ++k) {
    const double middle = (low + high) / 2;
    (uncoded_error_rate(middle) < rate ? low : high) = middle;
  }
  return low;
}

// Asymptotic gain: the least squared distance of the code (16, 16 and 20 on a grid of 2; parallel transitions limit the
// first two) over that of uncoded QAM of the same rate and power, 4 * sqrt(2). At finite error rates the many
// neighbours reduce it, by about 0.2 dB for every doubling of their number.
inline double asymptotic_gain_db(TrellisCode code) {
  return 10 * std::log10((code == TrellisCode::k64 ? 20 : 16) / (4 * std::sqrt(2.0)));
}

// Error events per 4D symbol of squared distance 16 (parallel transitions) and 20, counted independently by enumerating
// the trellis over random sent sequences.
inline constexpr double kEventsAt16[] = {24, 8, 0};
inline constexpr double kEventsAt20[] = {512, 288, 143};

// The gain at error rates of about 1e-6: every doubling of the nearest neighbours per 2D symbol above the 4 of uncoded
// QAM costs 0.2 dB. For the 16-state code Forney prints the same: 12 neighbours, 4.52 dB less 0.32. Source: Forney,
// Coset codes part I, IEEE Trans. Inf. Theory 34 (1988), section IV and the table of Wei's codes
inline double effective_gain_db(TrellisCode code) {
  const int c = static_cast<int>(code);
  const double neighbours = (kEventsAt16[c] > 0 ? kEventsAt16[c] : kEventsAt20[c]) / 2;
  return asymptotic_gain_db(code) - 0.2 * std::log2(neighbours / 4);
}

// First terms of the union bound.
inline double expected_events(TrellisCode code, double sigma) {
  const auto q = [sigma](double squared) { return 0.5 * std::erfc(std::sqrt(squared) / (2 * sigma) / std::sqrt(2.0)); };
  return kEventsAt16[static_cast<int>(code)] * q(16) + kEventsAt20[static_cast<int>(code)] * q(20);
}

struct GainPoint {
  double sigma;
  double errors;
  double symbols;
  Interval events;      ///< error events (bursts) per 4D symbol, 99 % Clopper-Pearson
  Interval rate;        ///< coded 2D symbol error rate, 99 % Clopper-Pearson
  double uncoded_rate;  ///< at the same noise
  Interval gain_db;     ///< noise that the code tolerates at this error rate, relative to uncoded QAM
};

/// The bounds treat symbol errors as independent; but they occur in short bursts, so errors are counted as bursts of up
/// to `kBurst` 4D symbols for the interval and as symbols for the rate.
inline GainPoint measure_gain(TrellisCode code, double sigma, int pairs, uint32_t seed) {
  LatticeSource source(code, seed);
  Random noise(seed + 1000, static_cast<uint32_t>(code));
  ViterbiDecoder decoder(code);
  decoder.reset(code, true);
  std::deque<Point> sent;
  constexpr int kBurst = 32;
  double symbol_errors = 0;
  double bursts = 0;
  int quiet = kBurst;
  int decided = 0;
  for (int m = 0; m < pairs; ++m) {
    Point y[2];
    source.next(false, y);
    sent.insert(sent.end(), {y[0], y[1]});
    float r[4];
    for (int k = 0; k < 2; ++k) {
      r[2 * k] = static_cast<float>(y[k].re + sigma * noise.gaussian());
      r[2 * k + 1] = static_cast<float>(y[k].im + sigma * noise.gaussian());
    }
    Point out[2];
    if (!decoder.decode(r, false, out)) continue;
    const int wrong = !(out[0] == sent[0]) + !(out[1] == sent[1]);
    sent.erase(sent.begin(), sent.begin() + 2);
    ++decided;
    symbol_errors += wrong;
    if (wrong > 0 && quiet >= kBurst) ++bursts;
    quiet = wrong > 0 ? 0 : quiet + 1;
  }
  GainPoint g{};
  g.sigma = sigma;
  g.errors = symbol_errors;
  g.symbols = 2.0 * decided;
  const Interval burst_rate = clopper_pearson(bursts, decided);
  const double per_burst = bursts > 0 ? symbol_errors / bursts / 2 : 1;
  g.events = burst_rate;
  g.rate = {burst_rate.low * per_burst, burst_rate.high * per_burst};
  g.uncoded_rate = uncoded_error_rate(sigma);
  const auto gain = [&](double rate) { return 20 * std::log10(sigma / uncoded_sigma(rate)); };
  g.gain_db = {gain(g.rate.high), g.rate.low > 0 ? gain(g.rate.low) : INFINITY};
  return g;
}

}  // namespace offhook::v34
