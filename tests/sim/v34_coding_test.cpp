// SPDX-License-Identifier: MIT
//
// Error rates of the V.34 codes against uncoded QAM, with 99 % Clopper-Pearson intervals: the long version of
// V34Viterbi.GainOverUncodedAtHighErrorRate, and bit errors of the whole chain from bits to bits.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <deque>
#include <vector>

#include "dsp/v34/encoder.h"
#include "tests/unit/dsp/v34/coding_gain.h"

namespace offhook::v34 {
namespace {

constexpr TrellisCode kCodes[] = {TrellisCode::k16, TrellisCode::k32, TrellisCode::k64};

// Asymptotic gain: the least squared distance of the code (16, 16 and 20 on a grid of 2; parallel transitions limit the
// first two) over that of uncoded QAM of the same rate and power, 4 * sqrt(2). At finite error rates the many
// neighbours take their toll; about 0.2 dB for every doubling of their number.
double asymptotic_gain_db(TrellisCode code) {
  return 10 * std::log10((code == TrellisCode::k64 ? 20 : 16) / (4 * std::sqrt(2.0)));
}

// First terms of the union bound: error events a 4D symbol of squared distance 16 (parallel transitions) and 20. Their
// numbers were counted apart from this code, by enumerating the trellis over random sent sequences.
double expected_events(TrellisCode code, double sigma) {
  const double at16[] = {24, 8, 0};
  const double at20[] = {512, 288, 143};
  const auto q = [sigma](double squared) { return 0.5 * std::erfc(std::sqrt(squared) / (2 * sigma) / std::sqrt(2.0)); };
  return at16[static_cast<int>(code)] * q(16) + at20[static_cast<int>(code)] * q(20);
}

TEST(V34Coding, GainGrowsTowardsTheAsymptoticGainAsErrorsGetRare) {
  struct Case {
    double sigma;
    int pairs;
  };
  const Case cases[] = {{0.46, 300000}, {0.43, 1000000}, {0.40, 4000000}};
  const double required_db[] = {3.0, 3.3, 3.4};
  std::printf("states  noise  2D symbol error rate      uncoded   gain dB        asymptotic\n");
  for (const TrellisCode code : kCodes) {
    GainPoint last{};
    for (const Case& c : cases) {
      const GainPoint g = measure_gain(code, c.sigma, c.pairs, 40);
      std::printf("%6d  %.2f   %.2e .. %.2e  %.2e  %.2f .. %.2f  %.2f\n", trellis_states(code), c.sigma, g.rate.low,
                  g.rate.high, g.uncoded_rate, g.gain_db.low, g.gain_db.high, asymptotic_gain_db(code));
      EXPECT_GT(g.errors, 20);
      EXPECT_LT(g.gain_db.low, asymptotic_gain_db(code)) << "better than the code can be";
      EXPECT_GT(g.gain_db.high, last.gain_db.low);
      last = g;
    }
    EXPECT_GT(last.gain_db.low, required_db[static_cast<int>(code)]) << trellis_states(code);
    const double expected = expected_events(code, last.sigma);
    std::printf("%6d  error events a 4D symbol %.2e .. %.2e, first terms of the union bound %.2e\n",
                trellis_states(code), last.events.low, last.events.high, expected);
    EXPECT_GT(last.events.high, 0.5 * expected);  // no decoder can be better
    EXPECT_LT(last.events.low, 3 * expected);     // a good one is not much worse: farther neighbours add something
  }
}

struct ChainResult {
  double errors;
  double bits;
  Interval rate;
};

// Bits through encoder, white noise at `snr_db` in the symbol rate's bandwidth, Viterbi decoder and decoder.
ChainResult run_chain(const CodingParameters& p, double snr_db, int frames, uint32_t seed) {
  Encoder encoder(p);
  Decoder decoder(p);
  ViterbiDecoder viterbi;
  viterbi.reset(p.trellis, true);
  Random data(seed, 0);
  Random noise(seed, 1);
  const double sigma = std::sqrt(mean_energy(p.framing, false) / std::pow(10, snr_db / 10) / 2);
  std::deque<std::vector<uint8_t>> sent;
  Point decided[8];
  int have = 0;
  double errors = 0;
  double bits = 0;
  double bad_frames = 0;
  for (int i = 0; i < frames; ++i) {
    const FramePosition at = encoder.position();
    std::vector<uint8_t> primary(static_cast<size_t>(encoder.primary_bits()));
    for (uint8_t& b : primary) b = static_cast<uint8_t>(data.bit());
    Encoder::Symbol symbols[8];
    encoder.frame(primary.data(), 0, symbols);
    sent.push_back(std::move(primary));
    for (int j = 0; j < 4; ++j) {
      float r[4];
      for (int k = 0; k < 2; ++k) {
        r[2 * k] = static_cast<float>(symbols[2 * j + k].y.re + sigma * noise.gaussian());
        r[2 * k + 1] = static_cast<float>(symbols[2 * j + k].y.im + sigma * noise.gaussian());
      }
      if (!viterbi.decode(r, at.bit_inversion(j), decided + have)) continue;
      have += 2;
      if (have < 8) continue;
      have = 0;
      uint8_t received[kMaxMappingFrameBits];
      uint8_t aux;
      decoder.frame(decided, received, &aux);
      int wrong = 0;
      for (size_t k = 0; k < sent.front().size(); ++k) wrong += received[k] != sent.front()[k];
      errors += wrong;
      bits += static_cast<double>(sent.front().size());
      bad_frames += wrong > 0;
      sent.pop_front();
    }
  }
  // Bit errors come by the frame, so the interval is that of frames; a bad frame nobody saw is taken as half wrong.
  const double frames_decided = frames - static_cast<double>(sent.size());
  const double bits_per_frame = bits / frames_decided;
  const double share = bad_frames > 0 ? errors / bad_frames / bits_per_frame : 0.5;
  const Interval frame_rate = clopper_pearson(bad_frames, frames_decided);
  const Interval rate{frame_rate.low * share, frame_rate.high * share};
  return {errors, bits, rate};
}

// Square QAM without code: every symbol error costs at least one bit.
double uncoded_bit_error_rate(double bits_per_symbol, double snr_db) {
  const double m = std::pow(2, bits_per_symbol);
  const double q = 0.5 * std::erfc(std::sqrt(3 * std::pow(10, snr_db / 10) / (m - 1) / 2));
  return (1 - (1 - 2 * q) * (1 - 2 * q)) / bits_per_symbol;
}

TEST(V34Coding, WholeChainNeedsAtLeastTwoDecibelsLessThanUncodedQam) {
  struct Case {
    SymbolRate symbol_rate;
    uint32_t bit_rate;
    TrellisCode code;
  };
  const Case cases[] = {{SymbolRate::k2400, 14400, TrellisCode::k16},
                        {SymbolRate::k3000, 21600, TrellisCode::k32},
                        {SymbolRate::k3200, 28800, TrellisCode::k64},
                        {SymbolRate::k3429, 33600, TrellisCode::k64}};
  for (const Case& c : cases) {
    const CodingParameters p{make_framing(c.symbol_rate, c.bit_rate, false, true), Scrambling::kCall, c.code, {}};
    const double bits_per_symbol = c.bit_rate / symbol_rate_hz(c.symbol_rate);
    double uncoded_db = 0;  // where uncoded QAM has a bit error rate of 1e-4
    while (uncoded_bit_error_rate(bits_per_symbol, uncoded_db) > 1e-4) uncoded_db += 0.01;
    const double capacity_db = 10 * std::log10(std::pow(2, bits_per_symbol) - 1);
    std::printf("%.0f symbols/s %u bit/s %d states: capacity %.1f dB, uncoded QAM 1e-4 at %.1f dB\n",
                symbol_rate_hz(c.symbol_rate), c.bit_rate, trellis_states(c.code), capacity_db, uncoded_db);
    for (const double less : {4.5, 3.5, 2.0}) {
      const ChainResult r = run_chain(p, uncoded_db - less, 40000, 41);
      std::printf("  %.1f dB  bit error rate %.2e  (%.2e .. %.2e)\n", uncoded_db - less, r.errors / r.bits, r.rate.low,
                  r.rate.high);
      if (less == 2.0) {
        EXPECT_LT(r.rate.high, 1e-4);
      }
    }
  }
}

}  // namespace
}  // namespace offhook::v34
