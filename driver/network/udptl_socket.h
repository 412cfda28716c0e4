// SPDX-License-Identifier: MIT
//
// Packets of T.38 over UDP: UDPTL with copies of earlier packets (driver/base/udptl.h). Not for the service routine:
// T.38 has no samples, and its packets may be some milliseconds late.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "driver/base/udptl.h"
#include "driver/live/live_card.h"
#include "driver/network/internet_address.h"

namespace offhook {

/// The far end of a T.38 stream.
struct UdptlFarEnd {
  InternetAddress remote;
  std::size_t most_octets = 0;  ///< of a datagram
  bool takes_copies = true;     ///< of earlier packets
};

class UdptlSocket {
 public:
  static constexpr std::size_t kCopies = 3;

  /// @param local  port 0: any  @throws std::runtime_error with the address
  explicit UdptlSocket(const InternetAddress& local);
  ~UdptlSocket();
  UdptlSocket(const UdptlSocket&) = delete;
  UdptlSocket& operator=(const UdptlSocket&) = delete;

  std::uint16_t port() const { return port_; }
  /// A stream begins. Only datagrams of this far end are read.
  void begin(const UdptlFarEnd& far);
  /// Sends a packet in `times` equal datagrams. A datagram that the network does not take is lost.
  void send(std::span<const std::uint8_t> packet, int times);
  /// All packets that have arrived: each once, in order. Also repeats the newest datagram if it is due (UdptlRepeat).
  void receive(const std::function<void(std::uint16_t number, std::span<const std::uint8_t> packet)>& take);
  std::vector<CardFigure> figures() const;

 private:
  struct Counters {
    std::int64_t sent = 0, received = 0, recovered = 0, lost = 0, foreign = 0, unused = 0;
  };
  void send_datagram(std::span<const std::uint8_t> datagram);

  int socket_ = -1;
  std::uint16_t port_ = 0;
  InternetAddress remote_;
  std::optional<UdptlWriter> writer_;
  UdptlRepeat repeat_;
  UdptlReader reader_;
  Counters counters_;
};

}  // namespace offhook
