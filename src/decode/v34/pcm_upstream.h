// SPDX-License-Identifier: MIT
//
// The training of V.92's PCM upstream in a recorded call (9.5, 9.6): Ru, TRN1u, Ja, Su, TRN1u, CPt, E1u, TRN2u, SUVu,
// CPu and E2u. CPt and CPu define the points downstream. pcm_upstream_data.h reads the data.
//
// The analogue modem sends one symbol per sample of the network's clock, which reading of the downstream has measured.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "dsp/v90/coding/sequences.h"
#include "dsp/v90/coding/upstream_sequences.h"
#include "src/decode/v34/training.h"

namespace offhook::decode {

/// Times in seconds; 0: not heard.
struct PcmUpstreamHeard {
  double t_ru_bar = 0;            ///< Ru turns into Ru-bar; TRN1u and Ja follow
  double t_ja_end = 0;            ///< end of the first Ja
  double t_trn1u = 0;             ///< the second one
  double t_e1u = 0;               ///< its end
  double training_db = 0;         ///< error of the symbols at E1u, relative to their power
  std::optional<v90::Dil> dil;    ///< requested by Ja
  std::vector<Segment> segments;  ///< start-up and renegotiations: CPt and CPu, and of E2u the end
  std::vector<long> e2u_ends;     ///< of each of them that has E2u: the sample behind it, by the network's clock
};

/// A part of the analogue modem's channel, by the network's clock.
struct NetworkSamples {
  double from_s, ppm;  ///< of the first sample; of the recorder's clock, against the network's
  std::vector<float> x;

  /// @param clock_ppm  of the network, against the recorder's
  NetworkSamples(std::span<const float> x, double from_s, double to_s, double clock_ppm);
  double time_of(double sample) const { return from_s + seconds(sample) * (1 + 1e-6 * ppm); }
  double sample_at(double t) const { return (t - from_s) / (1 + 1e-6 * ppm) * kRateHz; }
};

/// The symbols until Ja, which do not need the network's clock.
/// @param x  the analogue modem's channel at 8000 Hz  @param from_s, to_s  range to search
PcmUpstreamHeard read_ja(std::span<const float> x, double from_s, double to_s);

/// All of them. @param jp  the digital modem's; nothing: nothing behind E1u is read
PcmUpstreamHeard read_pcm_upstream(const NetworkSamples& samples, const std::optional<v90::Jp>& jp);

}  // namespace offhook::decode
