// SPDX-License-Identifier: MIT
//
// The effect of a telephone network on the octets of a modem. Each end in turn sends a signal that both know:
//
//    silence | octets drawn at random | L2 of V.34's line probing | silence
//
// The received octets are aligned with those sent, 50 ms at a time. If they follow, the most frequent received octet
// for each sent one and each of six intervals is the network's map: none of it (the path is transparent), a pad,
// another law, robbed bits. A path without a map has converters, a codec or an echo canceller in it; L2 then shows
// its remaining quality.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "driver/base/record.h"
#include "offhook/stream.h"

namespace offhook::measure {

inline constexpr std::size_t kTrunkIntervals = 6;  ///< of the pattern of robbed bits, and of V.90's data frame

/// The test signal of one end.
class TrunkSignal {
 public:
  static constexpr std::size_t kLeastPeriods = 40000, kSilence = 8000, kProbing = 12000;

  /// @param law  of the octets  @param periods  at 8000 Hz  @throws std::invalid_argument if too short or not G.711
  TrunkSignal(oh_encoding law, std::size_t periods, std::uint64_t seed);

  oh_encoding law() const { return law_; }
  const std::vector<std::uint8_t>& octets() const { return octets_; }
  /// Range of the random octets; L2 follows.
  std::size_t codes_begin() const { return kSilence; }
  std::size_t codes_end() const { return octets_.size() - kSilence - kProbing; }

 private:
  oh_encoding law_;
  std::vector<std::uint8_t> octets_;
};

/// The octets that one end received, one for each period since the other end began.
struct TrunkReceived {
  oh_encoding law = OH_MULAW;
  std::vector<std::uint8_t> octets;
  std::vector<bool> lost;  ///< octets that never arrived
};

/// The path moved.
struct TrunkJump {
  double at_s = 0;           ///< after the beginning of the received samples
  std::int64_t samples = 0;  ///< positive: the delay increased
};

/// The projection of V.34 for one symbol rate from the probing signal, as in its Phase 2.
struct TrunkRate {
  double symbol_rate = 0;  ///< symbols/s
  int bit_rate = 0;        ///< bit/s; 0: this symbol rate cannot be used
};

/// A received tone of the probing signal.
struct TrunkTone {
  int frequency_hz = 0;
  double snr_db = 0;
};

struct TrunkEcho {
  double delay_ms = 0, loss_db = 0;
};

enum class TrunkPath : std::uint8_t { kSilent, kTransparent, kMapped, kAltered };

/// One direction.
struct TrunkDirection {
  TrunkPath path = TrunkPath::kSilent;
  std::int64_t lag_samples = 0;    ///< at the beginning; includes the difference of the ends' clocks
  std::uint64_t lost_samples = 0;  ///< of the random octets
  std::vector<TrunkJump> jumps;
  double same = 0;                    ///< share of the octets that match the map of their interval
  double loss_db = 0;                 ///< of the level; negative: a gain
  std::vector<int> robbed_intervals;  ///< of the six intervals, those without their last bit
  double snr_db = 0;                  ///< median of the probing tones
  std::vector<TrunkTone> tones;
  std::vector<TrunkRate> rates;
  std::optional<TrunkEcho> echo;  ///< at the sender, from the loudest reflection; none if all are below the threshold

  std::string path_name() const;
  /// Each octet arrives as one fixed octet, possibly different in each interval.
  bool has_map() const { return path == TrunkPath::kTransparent || path == TrunkPath::kMapped; }
  /// The highest of the projected rates, bit/s.
  int best_rate() const;
};

/// @param echo  the sender's own received signal during the test
TrunkDirection analyse_trunk(const TrunkSignal& sent, const TrunkReceived& received, const TrunkReceived& echo);

/// Both directions of a path between the ends A and B.
struct TrunkResult {
  double seconds = 0;
  TrunkDirection a_to_b, b_to_a;
  /// From A to B and back, in ms, without the time between the starts of A and B.
  double round_trip_ms() const;
  /// For people: the expected results of a modem, and recommended changes in the network, one sentence each.
  std::vector<std::string> findings() const;
  /// Whether a digital modem of V.90 can be at this end, because its octets arrive by a map.
  bool v90_from_a() const { return a_to_b.has_map(); }
  bool v90_from_b() const { return b_to_a.has_map(); }
};

extern const record::Table kTrunkResult;

}  // namespace offhook::measure
