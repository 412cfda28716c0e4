// SPDX-License-Identifier: MIT
#include "src/decode/line/sip_tcp.h"

#include <algorithm>
#include <optional>
#include <string_view>

namespace offhook::decode {
namespace {

constexpr std::size_t kLeastHead = 20, kCost = 96;  // of a segment that waits, octets beyond its own
constexpr std::uint8_t kFin = 0x01, kSyn = 0x02, kRst = 0x04;

unsigned big_endian16(std::span<const std::uint8_t> b, std::size_t at) {
  return static_cast<unsigned>(b[at] << 8 | b[at + 1]);
}

void skip_empty_lines(std::string& text) {
  text.erase(0, std::min(text.find_first_not_of("\r\n"), text.size()));
}

}  // namespace

std::size_t SipTcpReader::segment(double t, IpPlace from, IpPlace to, std::span<const std::uint8_t> segment) {
  if (segment.size() < kLeastHead) return 0;
  const std::size_t head = 4 * static_cast<std::size_t>(segment[12] >> 4);
  if (head < kLeastHead || segment.size() < head) return 0;
  from.port = static_cast<int>(big_endian16(segment, 0));
  to.port = static_cast<int>(big_endian16(segment, 2));
  const std::uint32_t number = big_endian16(segment, 4) << 16 | big_endian16(segment, 6);
  const std::uint8_t flags = segment[13];
  const std::string_view octets(reinterpret_cast<const char*>(segment.data()) + head, segment.size() - head);
  const bool begins = (flags & kSyn) != 0;  // it has a number of its own
  const auto which = direction_of({std::move(from), std::move(to)}, number, begins, octets);
  if (which == directions_.end()) return 0;
  Direction& d = which->second;
  d.t = t;
  put(d, number + (begins ? 1 : 0), octets);
  bool keep = read(d);
  if (keep && !d.waiting.empty() && (t - d.waits_since > kWaitS || d.waiting_octets > kMostWaiting)) {
    skip_loss(d);
    keep = read(d);
  }
  if (!keep || ((flags & (kFin | kRst)) != 0 && d.waiting.empty())) forget(which);
  return octets.empty() ? 0 : octets.size() + kCost;
}

void SipTcpReader::finish() {
  for (auto& [key, d] : directions_) {
    while (!d.waiting.empty() && read(d)) skip_loss(d);
    read(d);
  }
  directions_.clear();
  order_.clear();
}

// @return end(): it is not kept
SipTcpReader::Directions::iterator SipTcpReader::direction_of(const Key& key, std::uint32_t number, bool begins,
                                                              std::string_view octets) {
  const auto known = directions_.find(key);
  if (known != directions_.end() && !begins) return known;
  // A SYN that is sent again has the sequence number of the first SYN.
  if (known != directions_.end() && known->second.position == 0 && known->second.number == number + 1) return known;
  if (!begins && !is_sip_start_line(octets.substr(0, octets.find('\n')))) return directions_.end();
  if (known != directions_.end()) forget(known);
  if (directions_.size() == kMostConnections) forget(directions_.find(order_.front()));
  const auto made = directions_.emplace(key, Direction{.order = order_.insert(order_.end(), key)}).first;
  made->second.number = number + (begins ? 1 : 0);
  return made;
}

void SipTcpReader::forget(Directions::iterator which) {
  order_.erase(which->second.order);
  directions_.erase(which);
}

void SipTcpReader::put(Direction& d, std::uint32_t number, std::string_view octets) {
  const auto ahead = static_cast<std::int32_t>(number - d.number);
  if (ahead < 0) octets.remove_prefix(std::min(octets.size(), static_cast<std::size_t>(-std::int64_t{ahead})));
  if (octets.empty()) return;
  if (ahead <= 0) {
    d.text += octets;
    d.position += octets.size();
    d.number += static_cast<std::uint32_t>(octets.size());
    return take_waiting(d);
  }
  if (d.waiting.empty()) d.waits_since = d.t;
  std::string& there = d.waiting[d.position + static_cast<std::uint32_t>(ahead)];
  if (there.size() >= octets.size()) return;
  d.waiting_octets += octets.size() - there.size() + (there.empty() ? kCost : 0);
  there = octets;
}

// Moves what follows in order from the waiting segments to the text.
void SipTcpReader::take_waiting(Direction& d) {
  while (!d.waiting.empty() && d.waiting.begin()->first <= d.position) {
    const auto first = d.waiting.begin();
    const std::size_t known = static_cast<std::size_t>(d.position - first->first), size = first->second.size();
    if (known < size) {
      d.text.append(first->second, known);
      d.position += size - known;
      d.number += static_cast<std::uint32_t>(size - known);
    }
    d.waiting_octets -= size + kCost;
    d.waiting.erase(first);
    d.waits_since = d.t;
  }
}

// Goes to the first segment that waits. The message that was cut is lost.
void SipTcpReader::skip_loss(Direction& d) {
  d.text.clear();
  d.in_step = false;
  d.number += static_cast<std::uint32_t>(d.waiting.begin()->first - d.position);
  d.position = d.waiting.begin()->first;
  take_waiting(d);
}

// Removes the text up to the first line of a message. @return false: there is none yet
bool SipTcpReader::find_step(Direction& d) {
  std::size_t at = 0;
  for (std::size_t end = d.text.find('\n'); end != std::string::npos; end = d.text.find('\n', at)) {
    d.in_step = is_sip_start_line(std::string_view(d.text).substr(at, end - at));
    if (d.in_step) break;
    at = end + 1;
  }
  d.text.erase(0, at);
  if (!d.in_step && d.text.size() > SipReader::kMostText) d.text.clear();
  return d.in_step;
}

// Gives the whole messages to the reader. @return false: it is a connection without SIP
bool SipTcpReader::read(Direction& d) {
  for (;;) {
    if (!d.in_step && !find_step(d)) return true;
    skip_empty_lines(d.text);
    if (d.text.empty()) return true;
    const std::size_t line = d.text.find('\n');
    const bool too_long = d.text.size() > SipReader::kMostText;
    if (line == std::string::npos && !too_long) return true;
    if (line == std::string::npos || !is_sip_start_line(std::string_view(d.text).substr(0, line))) {
      if (!d.is_sip) return false;
      d.in_step = false;
      continue;
    }
    const std::optional<std::size_t> size = sip_message_size(d.text);
    if (!size && !too_long) return true;
    if (size) sip_.message(d.t, {reinterpret_cast<const std::uint8_t*>(d.text.data()), *size});
    d.is_sip |= size.has_value();
    d.in_step = size.has_value();
    d.text.erase(0, size.value_or(line + 1));
  }
}

}  // namespace offhook::decode
