// SPDX-License-Identifier: MIT
//
// Error rates of the three trellis codes of V.34 in white noise, with 99 % Clopper-Pearson intervals: of points against
// uncoded QAM of the same power and rate, with the code's asymptotic gain and the union bound beside it; and of bits
// from end to end against capacity and uncoded QAM.
//
//   v34_ber_bench [N]     Markdown; N times as many symbols (1: a minute or two), for rarer errors
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "driver/base/terminal.h"
#include "tests/unit/dsp/v34/bit_chain.h"
#include "tests/unit/dsp/v34/coding_gain.h"

namespace offhook::v34 {
namespace {

constexpr TrellisCode kCodes[] = {TrellisCode::k16, TrellisCode::k32, TrellisCode::k64};

void gain_table(double effort) {
  std::printf("\n### Trellis codes: 2D symbol errors on the unbounded grid\n\n");
  std::printf("SNR is normalised: 0 dB is the capacity of the ideal channel at high rates.\n\n");
  std::printf(
      "| states | SNR norm, dB | symbol error rate (99 %%) | uncoded there | gain, dB | asymptotic gain, dB | "
      "error events / union bound |\n|---|---|---|---|---|---|---|\n");
  for (const TrellisCode code : kCodes) {
    for (double sigma = 0.50; sigma > 0.365; sigma -= 0.02) {
      constexpr double kWantedEvents = 200, kMostPairs = 4e6;
      const double pairs = std::min(kWantedEvents / expected_events(code, sigma), kMostPairs * effort);
      const GainPoint g = measure_gain(code, sigma, static_cast<int>(std::max(pairs, 20000.0)), 60);
      if (g.errors < 10) break;
      // Uncoded QAM of rate R and energy E has points sqrt(6 E / 2^R) apart; E / 2^R is the normalised SNR.
      const double snr_norm = std::sqrt(2.0) / 3 * 2 / (2 * sigma * sigma);
      std::printf("| %d | %.2f | %.1e (%.1e .. %.1e) | %.1e | %.2f .. %.2f | %.2f | %.2f .. %.2f |\n",
                  trellis_states(code), 10 * std::log10(snr_norm), g.errors / g.symbols, g.rate.low, g.rate.high,
                  g.uncoded_rate, g.gain_db.low, g.gain_db.high, asymptotic_gain_db(code),
                  g.events.low / expected_events(code, sigma), g.events.high / expected_events(code, sigma));
      std::fflush(stdout);
    }
  }
}

// The noise at which the union bound has this many events per 4D symbol.
double sigma_of(TrellisCode code, double events) {
  double low = 0.2, high = 0.6;
  for (int k = 0; k < 50; ++k) {
    const double middle = (low + high) / 2;
    (expected_events(code, middle) < events ? low : high) = middle;
  }
  return low;
}

void published_table(double effort) {
  std::printf("\n### Coding gains at low error rates, and the published ones\n\n");
  std::printf(
      "| states | symbol error rate (99 %%) | gain by symbol errors, dB (99 %%) | error events a symbol (99 %%) | gain "
      "by "
      "events, dB | published effective gain, dB | asymptotic gain, dB |\n|---|---|---|---|---|---|---|\n");
  for (const double events : {1e-4, 1e-5, 1e-6}) {
    for (const TrellisCode code : kCodes) {
      constexpr double kWantedEvents = 150, kMostPairs = 2e7;
      const double pairs = kWantedEvents / events;
      if (pairs > kMostPairs * effort) break;
      Progress progress(std::to_string(trellis_states(code)) + " states");
      progress.update(0, std::to_string(static_cast<int>(pairs / 1e6)) + " million pairs of symbols");
      const GainPoint g = measure_gain(code, sigma_of(code, events), static_cast<int>(pairs), 62);
      // The published gains count an error event once, however many symbols it affects.
      const auto gain = [&](double rate) { return 20 * std::log10(g.sigma / uncoded_sigma(rate)); };
      std::printf("| %d | %.1e (%.1e .. %.1e) | %.2f .. %.2f | %.1e .. %.1e | %.2f .. %.2f | %.2f | %.2f |\n",
                  trellis_states(code), g.errors / g.symbols, g.rate.low, g.rate.high, g.gain_db.low, g.gain_db.high,
                  g.events.low / 2, g.events.high / 2, gain(g.events.high / 2), gain(g.events.low / 2),
                  effective_gain_db(code), asymptotic_gain_db(code));
      std::fflush(stdout);
    }
  }
}

void bit_table(double effort) {
  constexpr SymbolRate kRate = SymbolRate::k3200;
  constexpr uint32_t kBitRate = 28800;
  const double bits = kBitRate / symbol_rate_hz(kRate);
  const double capacity_db = 10 * std::log10(std::pow(2, bits) - 1);
  std::printf("\n### Bits from end to end: %u bit/s at 3200 symbols/s, expanded shaping\n\n", kBitRate);
  std::printf(
      "| states | SNR, dB | over capacity, dB | bit error rate (99 %%) | uncoded square QAM there |\n"
      "|---|---|---|---|---|\n");
  for (const TrellisCode code : kCodes) {
    const CodingParameters p{make_framing(kRate, kBitRate, false, true), kGpc, code, {}};
    for (double over = 2.5; over < 4.3; over += 0.25) {
      const double snr = capacity_db + over;
      const ChainResult r = run_chain(p, snr, static_cast<int>(60000 * effort), 61);
      std::printf("| %d | %.2f | %.2f | %.1e (%.1e .. %.1e) | %.1e |\n", trellis_states(code), snr, over,
                  r.errors / r.bits, r.rate.low, r.rate.high, uncoded_bit_error_rate(bits, snr));
      std::fflush(stdout);
      if (r.errors < 1) break;
    }
  }
}

}  // namespace
}  // namespace offhook::v34

int main(int argc, char** argv) {
  const double effort = argc > 1 ? std::atof(argv[1]) : 1;
  if (!(effort > 0)) {
    std::fprintf(stderr, "v34_ber_bench: \"%s\": expected a positive number\n", argv[1]);
    return 1;
  }
  offhook::v34::gain_table(effort);
  offhook::v34::published_table(effort);
  offhook::v34::bit_table(effort);
}
