// SPDX-License-Identifier: MIT
//
// The digital modem's direction of a recorded V.90 call: PCM, from the analogue line to octets.
//
// TRN1d is known symbol by symbol: an equaliser is fitted to it, and from there on every symbol has its place in the
// data frames. The points are defined in the CP sequences, which the analogue modem sends and which have been read
// before. In Phase 4 the other direction is on the line as well, and its echo is cancelled (pcm_input.h).
//
// In a recording of 8000 samples/s, symbols are first taken at the samples: the recorder's clock may be the network's,
// as that of a recorder on a digital trunk or of a codec that follows it is. If that fails, the samples are converted
// to 16 000 Hz. A recording of 16 000 samples/s or more is read on any clock at once.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "dsp/v90/coding/cp.h"
#include "dsp/v90/coding/sequences.h"
#include "dsp/v90/coding/upstream.h"
#include "dsp/v90/coding/upstream_sequences.h"
#include "src/decode/line/data.h"
#include "src/decode/v34/pcm_input.h"

namespace offhook::decode {

/// To the nearest bit/s, 0 for a cleardown.
inline int downstream_bit_rate(const v90::Cp& cp) {
  return (2 * cp.rate_thirds() + 3) / 6;
}

/// The known properties of a downstream before it is read.
struct DownstreamAsked {
  v90::Law law = v90::Law::kMu;  ///< of INFO0d
  std::uint8_t u_info = 0;       ///< of INFO1a
  double from_s = 0, to_s = 0;   ///< start of the search for TRN1d, and end of the call or begin of a retrain
  struct CpAt {
    v90::Cp cp;
    double t = 0;  ///< s, when its first one began
  };
  std::vector<CpAt> cps;          ///< in order of time
  std::optional<v90::Dil> dil;    ///< requested by Ja
  std::vector<double> s_s;        ///< begins of the analogue modem's S, in order: the last before CPt ends the DIL
  std::vector<double> tones_s{};  ///< begins of its tone of Phase 2, in order: in data, a retrain begins
  double r_from_s = 0;            ///< the DIL is over, and R comes; 0: since the first of the CPs
  bool v92 = false;               ///< with PCM upstream: Jp, SUVd and CPd
};

/// Equal MP sequences one after the other. Times in seconds.
struct DownstreamMp {
  v90::Mp mp;
  std::vector<std::uint8_t> bits;  ///< of this MP; reserved ones are zero
  double t_first = 0, t_last_end = 0;
  int count = 0;
};

struct DownstreamHeard {
  int channel = -1;        ///< -1: it was not recorded
  double t_trn1d = 0;      ///< s; 0: it was not found
  double training_db = 0;  ///< residual of TRN1d after the equaliser, dB
  /// The network's clock against the recorder's at the end of reading; nothing: they were taken as the same.
  std::optional<double> clock_ppm;
  std::optional<v90::Jd> jd;
  std::optional<v90::Jp> jp;  ///< of V.92
  struct CpdAt {
    v90::Cpd cpd;
    double t = 0;  ///< s, its end
  };
  std::vector<CpdAt> cpds;  ///< likewise, in order of time; equal ones once
  double t_jd_end = 0;      ///< s, the last of Jd'; 0: it was not seen
  int learnt = 0;           ///< levels that the DIL has shown, of the six intervals together
  std::vector<DownstreamMp> mp;
  std::vector<DataHeard> data;
  double t_lost = 0;    ///< s, end of reading
  std::string stopped;  ///< why it stopped before the end; empty: it did not
};

/// With samples at 16 000 Hz on any clock, or if TRN1d is not found so, on the network's. With samples at 8000 Hz only,
/// on the network's, or if that gives no data, on any clock.
DownstreamHeard read_downstream(const PcmLine& line, const DownstreamAsked& asked);

}  // namespace offhook::decode
