// SPDX-License-Identifier: MIT
//
// Bits through the whole coding chain of V.34 and white noise, with confidence intervals; and uncoded QAM beside it.
#pragma once

#include <cmath>
#include <cstdint>
#include <deque>
#include <utility>
#include <vector>

#include "dsp/v34/coding/encoder.h"
#include "dsp/v34/coding/viterbi.h"
#include "tests/unit/dsp/v34/confidence.h"
#include "tests/unit/dsp/v34/random.h"

namespace offhook::v34 {

struct ChainResult {
  double errors;
  double bits;
  Interval rate;
};

// Bits through encoder, white noise at `snr_db` in the symbol rate's bandwidth, Viterbi decoder and decoder.
inline ChainResult run_chain(const CodingParameters& p, double snr_db, int frames, uint32_t seed) {
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
  // Bit errors occur in whole frames, so the interval is for frames; an undetected bad frame counts as half wrong.
  const double frames_decided = frames - static_cast<double>(sent.size());
  const double bits_per_frame = bits / frames_decided;
  const double share = bad_frames > 0 ? errors / bad_frames / bits_per_frame : 0.5;
  const Interval frame_rate = clopper_pearson(bad_frames, frames_decided);
  const Interval rate{frame_rate.low * share, frame_rate.high * share};
  return {errors, bits, rate};
}

// Square QAM without code: every symbol error costs at least one bit.
inline double uncoded_bit_error_rate(double bits_per_symbol, double snr_db) {
  const double m = std::pow(2, bits_per_symbol);
  const double q = 0.5 * std::erfc(std::sqrt(3 * std::pow(10, snr_db / 10) / (m - 1) / 2));
  return (1 - (1 - 2 * q) * (1 - 2 * q)) / bits_per_symbol;
}

}  // namespace offhook::v34
