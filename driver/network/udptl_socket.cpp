// SPDX-License-Identifier: MIT
#include "driver/network/udptl_socket.h"

#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <stdexcept>
#include <system_error>

namespace offhook {

UdptlSocket::UdptlSocket(const InternetAddress& local) {
  socket_ = socket(local.storage.ss_family, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (socket_ < 0 || bind(socket_, local.get(), local.length) != 0) {
    const std::string why = std::generic_category().message(errno);
    if (socket_ >= 0) close(socket_);
    throw std::runtime_error("T.38 at " + local.text() + ": " + why);
  }
  port_ = address_of_socket(socket_).port();
}

UdptlSocket::~UdptlSocket() {
  close(socket_);
}

void UdptlSocket::begin(const UdptlFarEnd& far) {
  remote_ = far.remote;
  writer_.emplace(far.takes_copies ? kCopies : 0, far.most_octets);
  reader_ = {};
  repeat_ = {};
}

void UdptlSocket::send(std::span<const std::uint8_t> packet, int times) {
  if (!writer_) return;
  std::vector<std::uint8_t> datagram = writer_->next(packet);
  for (int k = 0; k < times; ++k) send_datagram(datagram);
  repeat_.note(std::move(datagram), monotonic_ms());
}

void UdptlSocket::send_datagram(std::span<const std::uint8_t> datagram) {
  sendto(socket_, datagram.data(), datagram.size(), 0, remote_.get(), remote_.length);
  ++counters_.sent;
}

void UdptlSocket::receive(const std::function<void(std::uint16_t, std::span<const std::uint8_t>)>& take) {
  if (const auto again = repeat_.due(monotonic_ms()); !again.empty()) send_datagram(again);
  std::array<std::uint8_t, kMostUdptlOctets> octets;
  for (;;) {
    InternetAddress from;
    from.length = sizeof from.storage;
    const ssize_t n =
        recvfrom(socket_, octets.data(), octets.size(), 0, reinterpret_cast<sockaddr*>(&from.storage), &from.length);
    if (n < 0 && errno != ECONNREFUSED) return;  // the packet answers a datagram of this end
    if (n < 0) continue;
    if (!writer_ || from.text() != remote_.text()) {
      ++counters_.foreign;
      continue;
    }
    const auto news = reader_.take({octets.data(), static_cast<std::size_t>(n)});
    if (!news) {
      ++counters_.unused;
      continue;
    }
    ++counters_.received;
    counters_.lost += static_cast<std::int64_t>(news->lost);
    counters_.recovered += static_cast<std::int64_t>(news->packets.size()) - 1;
    for (std::size_t k = 0; k < news->packets.size(); ++k)
      take(static_cast<std::uint16_t>(news->first + k), news->packets[k]);
  }
}

std::vector<CardFigure> UdptlSocket::figures() const {
  const Counters& c = counters_;
  return {{"t38_packets_sent", c.sent}, {"t38_packets_received", c.received}, {"t38_packets_recovered", c.recovered},
          {"t38_packets_lost", c.lost}, {"t38_packets_foreign", c.foreign},   {"t38_packets_unused", c.unused}};
}

}  // namespace offhook
