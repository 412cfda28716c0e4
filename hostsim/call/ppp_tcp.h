// SPDX-License-Identifier: MIT
//
// A file by TCP over PPP, as programs above a modem's serial port carry it. The connection is opened; then the server
// sends as much as its congestion window and the client's window allow. The client acknowledges every second segment,
// or after 200 ms (tcp_flow.h). V.42 below loses nothing, so this model has no timer for unacknowledged segments.
//
//    client  SYN ---------------------> server
//            <--------------------- SYN, ACK
//            ACK --------------------->
//            <------------------------- data, window by window
//            ACK of every second -----> (slow start: the window grows by a segment with each)
//
// Frames follow RFC 1662, without header compression. A frame has 7 octets more than its packet (one flag between two
// frames), and one more for each octet 0x7D or 0x7E.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "hostsim/call/tcp_flow.h"
#include "hostsim/engine/engine.h"

namespace offhook::hostsim {

/// A segment of TCP in its IP packet.
struct TcpSegment {
  static constexpr std::size_t kHeaders = 40;  ///< octets of IP and TCP. Source: RFC 791, 793
  bool syn = false;
  bool is_ack = false;
  std::uint32_t sequence = 0, acknowledged = 0;
  std::uint16_t window = 0;
  std::vector<std::uint8_t> data;
};

/// One end of the PPP link: sends segments as frames. Not real-time.
class PppEnd {
 public:
  void send(const TcpSegment& segment);
  /// Octets that wait for the line; consume() removes them.
  std::span<const std::uint8_t> output() const { return std::span(out_).subspan(taken_); }
  void consume(std::size_t n);
  /// The next octet from the line. @return the segment that it completes, if any; damaged frames are skipped
  std::optional<TcpSegment> put(std::uint8_t octet);
  std::uint64_t octets_sent() const { return octets_; }

 private:
  void put_escaped(std::uint8_t octet);

  std::vector<std::uint8_t> out_, frame_;
  std::size_t taken_ = 0;
  std::uint64_t octets_ = 0;
  bool escaped_ = false, flag_sent_ = false;
};

class TcpServer {
 public:
  /// @param file  outlives the server
  explicit TcpServer(std::span<const std::uint8_t> file) : file_(file), flow_(file.size()) {}
  PppEnd& ppp() { return ppp_; }
  void receive(std::span<const std::uint8_t> octets);

 private:
  void send_more();

  std::span<const std::uint8_t> file_;
  PppEnd ppp_;
  TcpSender flow_;
};

class TcpClient {
 public:
  static constexpr auto kWindow = static_cast<std::uint16_t>(TcpReceiver::kWindow);

  PppEnd& ppp() { return ppp_; }
  void open();
  /// @param[out] delivered  the file's bytes received in order, appended
  void receive(std::span<const std::uint8_t> octets, Ns now, std::vector<std::uint8_t>* delivered);
  /// Time has passed.
  void advance(Ns now);

 private:
  void acknowledge();

  PppEnd ppp_;
  bool answered_ = false;  // the server's SYN was received
  TcpReceiver flow_;
};

}  // namespace offhook::hostsim
