// SPDX-License-Identifier: MIT
//
// The digital modem's direction of a recorded V.90 call: PCM, from the analogue line to octets.
//
// TRN1d is known symbol by symbol: it is found by correlation, an equaliser of one tap per symbol is fitted to it by
// least squares, and from there on every symbol has its place in the data frames. The points are defined in the CP
// sequences, which the analogue modem sends and which have been read before. In Phase 4 the other direction is on the
// line as well; its echo is fitted repeatedly with the equaliser.
//
// Symbols are taken at the samples: the recorder's clock has to be the network's, as that of a recorder on a digital
// trunk or of a codec that follows it is.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "dsp/v90/coding/cp.h"
#include "dsp/v90/coding/sequences.h"
#include "src/decode/line/data.h"

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
  std::vector<CpAt> cps;        ///< in order of time
  std::optional<v90::Dil> dil;  ///< requested by Ja
  std::vector<double> s_s;      ///< begins of the analogue modem's S, in order: the last before CPt ends the DIL
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
  std::optional<v90::Jd> jd;
  double t_jd_end = 0;  ///< s, the last of Jd'; 0: it was not seen
  int learnt = 0;       ///< levels that the DIL has shown, of the six intervals together
  std::vector<DownstreamMp> mp;
  std::vector<DataHeard> data;
  double t_lost = 0;    ///< s, end of reading
  std::string stopped;  ///< why it stopped before the end; empty: it did not
};

/// @param own  the channel at 8000 Hz  @param other  the other one, equally long, or empty
DownstreamHeard read_downstream(std::span<const float> own, std::span<const float> other, const DownstreamAsked& asked);

}  // namespace offhook::decode
