// SPDX-License-Identifier: MIT
//
// SIP over TCP in captured packets (RFC 3261 18.3). Each direction of a connection is put in order by its sequence
// numbers: octets that came before are ignored, and segments that came too early wait. A segment that does not come
// within kWaitS was lost by the capture, not by the connection, and the octets behind it are used without it. Messages
// end where Content-Length says; empty lines between them keep the connection alive.
//
// Connections without SIP are not kept: a connection is kept from its SYN to its first line, or from a segment that
// begins with the first line of a message.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <span>
#include <string>
#include <utility>

#include "src/decode/line/sip.h"

namespace offhook::decode {

class SipTcpReader {
 public:
  explicit SipTcpReader(SipReader& sip) : sip_(sip) {}

  /// @param from, to  the ports are those of the segment  @param segment  with TCP's head; may be cut off
  /// @return octets that were kept; 0: a connection without SIP
  std::size_t segment(double t, IpPlace from, IpPlace to, std::span<const std::uint8_t> segment);
  /// The capture has ended: reads what waits behind lost segments.
  void finish();

  static constexpr std::size_t kMostConnections = 10000, kMostWaiting = 65536;
  static constexpr double kWaitS = 3;  ///< behind it, a second retransmission would have come (RFC 6298)

 private:
  using Key = std::pair<IpPlace, IpPlace>;
  struct Direction {
    std::list<Key>::iterator order;
    std::uint32_t number = 0;                        // sequence number behind `text`
    std::uint64_t position = 0;                      // the same without wrap
    bool in_step = true;                             // `text` begins with a message, or with empty lines before one
    bool is_sip = false;                             // a message was read
    std::string text{};                              // in order, not read yet
    std::map<std::uint64_t, std::string> waiting{};  // by position
    std::size_t waiting_octets = 0;
    double waits_since = 0, t = 0;  // t: of the last segment
  };
  using Directions = std::map<Key, Direction>;

  Directions::iterator direction_of(const Key& key, std::uint32_t number, bool begins, std::string_view octets);
  void forget(Directions::iterator which);
  static void put(Direction& d, std::uint32_t number, std::string_view octets);
  static void take_waiting(Direction& d);
  static bool find_step(Direction& d);
  void skip_loss(Direction& d);
  bool read(Direction& d);

  SipReader& sip_;
  Directions directions_;
  std::list<Key> order_;  // the oldest first
};

}  // namespace offhook::decode
