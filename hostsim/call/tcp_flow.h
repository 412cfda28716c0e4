// SPDX-License-Identifier: MIT
//
// TCP without packets: the segments that a sender may send or repeat, and the times at which a receiver acknowledges.
// Octets of the file are counted from 0. It serves real packets (ppp_tcp.h) and a link that models frames only
// (link_model.h).
//
// V.42 below loses nothing and keeps the order. A repeated segment is therefore unnecessary: its acknowledgement came
// later than the timer expected. If acknowledgements are slow, these repetitions slow the transfer down.
#pragma once

#include <cstddef>
#include <optional>

#include "hostsim/engine/engine.h"

namespace offhook::hostsim {

/// Not real-time.
class TcpSender {
 public:
  static constexpr std::size_t kSegment = 1460;  ///< RFC 1661's default MRU of 1500, less 40 of headers
  static constexpr int kAttempts = 5;            ///< TcpMaxDataRetransmissions of Windows NT and 2000
  // Source: RFC 2988, 2.1, 2.4 and 2.5
  static constexpr Ns kFirstTimeout = 3'000'000'000, kLeastTimeout = 1'000'000'000, kMostTimeout = 60'000'000'000;

  struct Segment {
    std::size_t from, size;
  };

  /// @param segment  octets of the file in each packet except the last
  explicit TcpSender(std::size_t file, std::size_t segment = kSegment)
      : file_(file), segment_(segment), window_(2 * segment) {}  // RFC 2581, 3.1
  /// The receiver has all octets below `upto`, and accepts `far_window` more.
  void acknowledge(std::size_t upto, std::size_t far_window, Ns now);
  /// The segment to send now; empty if there is none or a window is full.
  std::optional<Segment> next(Ns now);
  /// Time at which unacknowledged segments are sent again, beginning with one segment.
  void advance(Ns now);
  bool failed() const { return attempts_ > kAttempts; }
  std::size_t acknowledged() const { return acknowledged_; }

 private:
  void measure(Ns round_trip);

  std::size_t file_, segment_;
  std::size_t sent_ = 0, acknowledged_ = 0;
  std::size_t window_, far_window_ = 0;      // the first one is the congestion window
  std::size_t slow_start_below_ = SIZE_MAX;  // RFC 2581's ssthresh
  bool answered_ = false;                    // the connection is open
  int attempts_ = 0;
  Ns timeout_ = kFirstTimeout, expires_ = kNever;
  // One segment at a time is timed, but never a repeated one (Karn).
  std::size_t timed_end_ = 0;
  Ns timed_from_ = kNever, smoothed_ = 0, variation_ = 0;
};

/// Not real-time.
class TcpReceiver {
 public:
  static constexpr std::size_t kWindow = 8760;  ///< six segments: Windows NT's default for an MTU of 1500
  static constexpr Ns kDelayed = 200'000'000;   ///< Windows NT's value; RFC 1122, 4.2.3.2 permits at most 500 ms

  /// A segment has arrived. @return whether it is acknowledged
  /// immediately: every second one, and repeated ones
  bool put(std::size_t from, std::size_t size, Ns now);
  /// Time has passed. @return whether the pending segment is acknowledged now
  bool advance(Ns now);
  /// Octets received in order.
  std::size_t received() const { return received_; }

 private:
  std::size_t received_ = 0;
  int unacknowledged_ = 0;  // segments
  Ns acknowledge_by_ = kNever;
};

}  // namespace offhook::hostsim
