// SPDX-License-Identifier: MIT
//
// HDLC frames at 300 bit/s in a band of V.21, as V.8bis and the fax machines of T.30 send them. Demodulated by spandsp.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace offhook::decode {

struct V21Frame {
  double t = 0;                       ///< s: its opening flag
  double t_end = 0;                   ///< s: its closing flag
  std::vector<std::uint8_t> octets;   ///< without the check sequence
  std::array<std::uint8_t, 2> fcs{};  ///< in the order received
  bool fcs_good = true;               ///< else two flags were before it and one behind it
};

struct V21Frames {
  std::vector<V21Frame> frames;  ///< in order of time
  std::uint32_t flags = 0;       ///< in a row, at most
  /// From the first of four flags in a row to the end of the last good frame behind them, s.
  std::vector<std::pair<double, double>> bursts;
};

/// @param voice  of high_passed()  @param high  the band of the answering or responding station
V21Frames v21_frames(std::span<const float> voice, bool high);

}  // namespace offhook::decode
