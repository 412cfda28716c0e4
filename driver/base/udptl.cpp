// SPDX-License-Identifier: MIT
#include "driver/base/udptl.h"

#include <algorithm>
#include <utility>

#include "driver/base/octets.h"

namespace offhook {
namespace {

using Octets = std::span<const std::uint8_t>;

constexpr std::size_t kOneOctet = 0x7F, kHead = 2, kCounts = 2;

// An open type of PER: a length of one octet or of two, and its octets. T.38 has no fragments.
std::optional<Octets> cut_open(Octets& from) {
  const auto first = cut_octets(from, 1);
  if (!first) return std::nullopt;
  std::size_t n = (*first)[0];
  if (n > kOneOctet) {
    if ((n & 0x40) != 0) return std::nullopt;
    const auto second = cut_octets(from, 1);
    if (!second) return std::nullopt;
    n = (n & 0x3F) << 8 | (*second)[0];
  }
  return cut_octets(from, n);
}

std::size_t open_octets(std::size_t n) {
  return n + (n > kOneOctet ? 2 : 1);
}

void write_open(Octets octets, std::vector<std::uint8_t>& to) {
  const std::size_t n = octets.size();
  if (n > kOneOctet) to.push_back(static_cast<std::uint8_t>(0x80 | n >> 8));
  to.push_back(static_cast<std::uint8_t>(n));
  to.insert(to.end(), octets.begin(), octets.end());
}

}  // namespace

std::optional<UdptlDatagram> parse_udptl(Octets b) {
  const auto head = cut_octets(b, kHead);
  if (!head) return std::nullopt;
  const auto packet = cut_open(b);
  if (!packet) return std::nullopt;
  UdptlDatagram u{.number = static_cast<std::uint16_t>((*head)[0] << 8 | (*head)[1]), .packet = *packet};
  const auto kind = cut_octets(b, 1);
  if (!kind) return u;
  const bool parity = ((*kind)[0] & 0x80) != 0;
  if (parity) cut_octets(b, 2);  // the number of packets that each of them covers
  const auto count = cut_octets(b, 1);
  for (int k = 0; count && k < (*count)[0]; ++k) {
    const auto one = cut_open(b);
    if (!one) return u;
    if (!parity) u.before.push_back(*one);
  }
  u.whole = count.has_value() && b.empty();
  return u;
}

std::vector<std::uint8_t> UdptlWriter::next(Octets packet) {
  std::size_t octets = kHead + open_octets(packet.size()) + kCounts, count = 0;
  for (const auto& copy : before_) {
    octets += open_octets(copy.size());
    if (octets > most_octets_) break;
    ++count;
  }
  std::vector<std::uint8_t> made = {static_cast<std::uint8_t>(number_ >> 8), static_cast<std::uint8_t>(number_)};
  write_open(packet, made);
  made.push_back(0);
  made.push_back(static_cast<std::uint8_t>(count));
  for (std::size_t k = 0; k < count; ++k) write_open(before_[k], made);
  ++number_;
  before_.emplace_front(packet.begin(), packet.end());
  if (before_.size() > copies_) before_.pop_back();
  return made;
}

void UdptlRepeat::note(std::vector<std::uint8_t> datagram, std::int64_t now_ms) {
  newest_ = std::move(datagram);
  at_ms_ = now_ms + kAfterMs;
  left_ = kTimes;
}

Octets UdptlRepeat::due(std::int64_t now_ms) {
  if (left_ == 0 || now_ms < at_ms_) return {};
  --left_;
  at_ms_ = now_ms + kAfterMs;
  return newest_;
}

// A direction begins with number 0, so that copies make up for a lost beginning, too.
std::optional<UdptlReader::News> UdptlReader::take(Octets datagram) {
  const auto u = parse_udptl(datagram);
  if (!u) return std::nullopt;
  const bool begins = !last_ && u->number <= u->before.size();
  const int ahead = last_ ? static_cast<std::int16_t>(u->number - *last_) : begins ? u->number + 1 : 1;
  if (ahead <= 0) return std::nullopt;  // an earlier packet arrived as a copy in a later datagram
  last_ = u->number;
  const auto missing = static_cast<std::size_t>(ahead - 1), found = std::min(missing, u->before.size());
  News news{.lost = missing - found, .packets = {}, .first = static_cast<std::uint16_t>(u->number - found)};
  for (std::size_t k = found; k > 0; --k) news.packets.push_back(u->before[k - 1]);
  news.packets.push_back(u->packet);
  return news;
}

}  // namespace offhook
