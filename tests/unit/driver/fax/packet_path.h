// SPDX-License-Identifier: MIT
//
// What the tests of T.38 have in common: a folder for the pages, and one direction of a network that delays datagrams
// of UDPTL and loses some. Time is simulated.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "driver/base/udptl.h"

namespace offhook::fax {

class PacketPath {
 public:
  using Loses = std::function<bool(std::size_t datagram)>;
  PacketPath(std::size_t copies, std::uint32_t delay_ms, Loses loses)
      : delay_ms_(delay_ms), loses_(std::move(loses)), writer_(copies, kMostUdptlOctets) {}

  void send(std::uint64_t now_ms, std::span<const std::uint8_t> packet, int times) {
    std::vector<std::uint8_t> datagram = writer_.next(packet);
    for (int k = 0; k < times; ++k) send_datagram(now_ms, datagram);
    repeat_.note(std::move(datagram), static_cast<std::int64_t>(now_ms));
  }
  /// Gives the packets that have arrived to `to.receive()`.
  template <class Machine>
  void deliver(std::uint64_t now_ms, Machine& to) {
    if (const auto again = repeat_.due(static_cast<std::int64_t>(now_ms)); !again.empty()) send_datagram(now_ms, again);
    for (; !queue_.empty() && queue_.front().at_ms <= now_ms; queue_.pop_front()) {
      const auto news = reader_.take(queue_.front().octets);
      if (!news) continue;
      lost += news->lost;
      recovered += news->packets.size() - 1;
      for (std::size_t k = 0; k < news->packets.size(); ++k)
        ignored += !to.receive(static_cast<std::uint16_t>(news->first + k), news->packets[k]);
    }
  }
  std::size_t lost = 0, recovered = 0, ignored = 0;  ///< packets

 private:
  struct Datagram {
    std::uint64_t at_ms;
    std::vector<std::uint8_t> octets;
  };
  void send_datagram(std::uint64_t now_ms, std::span<const std::uint8_t> datagram) {
    if (!loses_(sent_++)) queue_.push_back({now_ms + delay_ms_, {datagram.begin(), datagram.end()}});
  }
  std::uint32_t delay_ms_;
  Loses loses_;
  UdptlWriter writer_;
  UdptlReader reader_;
  UdptlRepeat repeat_;
  std::deque<Datagram> queue_;
  std::size_t sent_ = 0;
};

}  // namespace offhook::fax
