// SPDX-License-Identifier: MIT
//
// UDPTL, the datagrams of T.38, as octets. A datagram has a number, a packet, and copies of the packets before it,
// which make up for lost datagrams. The text of T.38 was not available: the coding is that of spandsp 0.0.6's test of
// UDPTL. A parser takes any bytes; nothing that it returns refers beyond them.
//
//   number (2 octets) | packet | 0, count | copies of the packets before, the latest first
//                              | 0x80 ... parity packets (not used here to make up for lost ones)
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <vector>

namespace offhook {

/// The longest datagram that this program sends or reads: it fits in a packet of Ethernet and of most tunnels.
inline constexpr std::size_t kMostUdptlOctets = 1400;

struct UdptlDatagram {
  std::uint16_t number = 0;
  std::span<const std::uint8_t> packet{};
  std::vector<std::span<const std::uint8_t>> before{};  ///< the latest first
  bool whole = false;                                   ///< read to its last octet
};

/// @return nothing if it has no number and packet
std::optional<UdptlDatagram> parse_udptl(std::span<const std::uint8_t> datagram);

/// Writes the datagrams of one direction.
class UdptlWriter {
 public:
  /// @param copies  of earlier packets in each datagram, at most  @param most_octets  of a datagram. There are fewer
  /// copies if they do not fit; the packet itself is always sent
  UdptlWriter(std::size_t copies, std::size_t most_octets) : copies_(copies), most_octets_(most_octets) {}
  /// The next datagram. @param packet  of kMostPacket octets at most
  std::vector<std::uint8_t> next(std::span<const std::uint8_t> packet);
  static constexpr std::size_t kMostPacket = 0x3FFF;

 private:
  std::size_t copies_, most_octets_;
  std::uint16_t number_ = 0;
  std::deque<std::vector<std::uint8_t>> before_;  // the latest first
};

/// The newest datagram of a direction that becomes silent has no successor with copies. It is therefore sent again.
class UdptlRepeat {
 public:
  static constexpr std::int64_t kAfterMs = 100;  ///< longer than the time between the packets of a signal
  static constexpr int kTimes = 2;
  /// This datagram is sent now.
  void note(std::vector<std::uint8_t> datagram, std::int64_t now_ms);
  /// @return the datagram that must be sent again now; empty: none
  std::span<const std::uint8_t> due(std::int64_t now_ms);

 private:
  std::vector<std::uint8_t> newest_;
  std::int64_t at_ms_ = 0;
  int left_ = 0;
};

/// Reads the datagrams of one direction: each packet once, in the order of their numbers.
class UdptlReader {
 public:
  struct News {
    std::size_t lost = 0;                                  ///< packets before `packets` that no datagram has brought
    std::vector<std::span<const std::uint8_t>> packets{};  ///< all but the last are copies
    std::uint16_t first = 0;                               ///< number of the first
  };
  /// @return nothing if it is not a UDPTL datagram, or its packet is late or known
  std::optional<News> take(std::span<const std::uint8_t> datagram);

 private:
  std::optional<std::uint16_t> last_;
};

}  // namespace offhook
