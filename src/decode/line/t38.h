// SPDX-License-Identifier: MIT
//
// T.38 in captured packets: UDPTL, and the frames of T.30 at 300 bit/s that its internet facsimile packets carry, not
// those of pages. The text of T.38 was not available: the coding is that of spandsp 0.0.6 (t38_core.c) and its test of
// UDPTL. Redundant packets of UDPTL are used where the packet itself was lost.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "src/decode/line/recording.h"

namespace offhook::decode {

/// One direction of a call of T.38.
class T38Reader {
 public:
  /// @param version  T38FaxVersion: version 0 packs the types of fields in another way
  explicit T38Reader(int version) : version_(version) {}

  /// @param udptl  any octets
  void packet(double t, std::span<const std::uint8_t> udptl);
  /// In order of time, with the octets in the bit order of T.30.
  std::vector<T38Frame> take() { return std::move(frames_); }

  static constexpr std::size_t kMostFrames = 10000;

 private:
  void ifp(double t, std::span<const std::uint8_t> bytes);
  void field(double t, int type, std::span<const std::uint8_t> data);

  int version_;
  std::optional<std::uint16_t> last_;  // sequence number
  double begun_ = 0;                   // s, of the frame that is being received
  std::vector<std::uint8_t> octets_;   // of that frame
  bool incomplete_ = false;            // a packet was lost within it
  std::vector<T38Frame> frames_;
};

}  // namespace offhook::decode
