// SPDX-License-Identifier: MIT
#include "hostsim/call/ppp_tcp.h"

#include <algorithm>

namespace offhook::hostsim {
namespace {

// RFC 1662.
constexpr std::uint8_t kFlag = 0x7E, kEscape = 0x7D, kFlip = 0x20;
constexpr std::uint16_t kGoodFcs = 0xF0B8;
constexpr std::uint8_t kHeader[] = {0xFF, 0x03, 0x00, 0x21};  // address, control, IP

std::uint16_t fcs(std::uint16_t sum, std::uint8_t octet) {
  sum = static_cast<std::uint16_t>(sum ^ octet);
  for (int k = 0; k < 8; ++k) sum = static_cast<std::uint16_t>((sum >> 1) ^ ((sum & 1) != 0 ? 0x8408 : 0));
  return sum;
}

void put16(std::vector<std::uint8_t>& to, std::size_t at, std::size_t value) {
  to[at] = static_cast<std::uint8_t>(value >> 8);
  to[at + 1] = static_cast<std::uint8_t>(value);
}
void put32(std::vector<std::uint8_t>& to, std::size_t at, std::uint32_t value) {
  put16(to, at, value >> 16);
  put16(to, at + 2, value & 0xffff);
}
std::uint32_t get32(std::span<const std::uint8_t> from, std::size_t at) {
  return std::uint32_t{from[at]} << 24 | std::uint32_t{from[at + 1]} << 16 | std::uint32_t{from[at + 2]} << 8 |
         from[at + 3];
}

// Sum of RFC 1071 over whole words; the last octet is padded.
std::uint32_t sum_of(std::span<const std::uint8_t> octets, std::uint32_t sum) {
  for (std::size_t k = 0; k < octets.size(); k += 2)
    sum += std::uint32_t{octets[k]} << 8 | (k + 1 < octets.size() ? octets[k + 1] : 0u);
  return sum;
}
std::uint16_t checksum(std::uint32_t sum) {
  while (sum >> 16 != 0) sum = (sum & 0xffff) + (sum >> 16);
  return static_cast<std::uint16_t>(~sum);
}

constexpr std::size_t kIp = 20;
constexpr std::uint8_t kSyn = 0x02, kAck = 0x10;
constexpr std::uint8_t kTcp = 6;

// Addresses and ports have no meaning here; they are 10.0.0.1 and .2, 20 and 1025.
std::vector<std::uint8_t> packet_of(const TcpSegment& s) {
  std::vector<std::uint8_t> p(TcpSegment::kHeaders);
  p.insert(p.end(), s.data.begin(), s.data.end());
  p[0] = 0x45;
  put16(p, 2, p.size());
  p[8] = 128;  // time to live
  p[9] = kTcp;
  put32(p, 12, 0x0A000001);
  put32(p, 16, 0x0A000002);
  put16(p, 10, checksum(sum_of(std::span(p).first(kIp), 0)));
  put16(p, kIp, 20);
  put16(p, kIp + 2, 1025);
  put32(p, kIp + 4, s.sequence);
  put32(p, kIp + 8, s.acknowledged);
  p[kIp + 12] = 5 << 4;
  p[kIp + 13] = static_cast<std::uint8_t>((s.syn ? kSyn : 0) | (s.is_ack ? kAck : 0));
  put16(p, kIp + 14, s.window);
  const std::uint32_t pseudo = sum_of(std::span(p).subspan(12, 8), kTcp + static_cast<std::uint32_t>(p.size() - kIp));
  put16(p, kIp + 16, checksum(sum_of(std::span(p).subspan(kIp), pseudo)));
  return p;
}

std::optional<TcpSegment> segment_of(std::span<const std::uint8_t> p) {
  if (p.size() < TcpSegment::kHeaders || p[0] != 0x45 || p[9] != kTcp) return std::nullopt;
  TcpSegment s;
  s.sequence = get32(p, kIp + 4);
  s.acknowledged = get32(p, kIp + 8);
  s.syn = (p[kIp + 13] & kSyn) != 0;
  s.is_ack = (p[kIp + 13] & kAck) != 0;
  s.window = static_cast<std::uint16_t>(p[kIp + 14] << 8 | p[kIp + 15]);
  s.data.assign(p.begin() + TcpSegment::kHeaders, p.end());
  return s;
}

}  // namespace

void PppEnd::put_escaped(std::uint8_t octet) {
  if (octet == kFlag || octet == kEscape) {
    out_.push_back(kEscape);
    octet ^= kFlip;
  }
  out_.push_back(octet);
}

void PppEnd::send(const TcpSegment& segment) {
  const std::size_t before = out_.size();
  if (!flag_sent_) out_.push_back(kFlag);
  flag_sent_ = true;
  std::uint16_t sum = 0xFFFF;
  const auto put = [&](std::uint8_t octet) {
    sum = fcs(sum, octet);
    put_escaped(octet);
  };
  for (const std::uint8_t octet : kHeader) put(octet);
  for (const std::uint8_t octet : packet_of(segment)) put(octet);
  const auto check = static_cast<std::uint16_t>(~sum);
  put_escaped(static_cast<std::uint8_t>(check));
  put_escaped(static_cast<std::uint8_t>(check >> 8));
  out_.push_back(kFlag);
  octets_ += out_.size() - before;
}

void PppEnd::consume(std::size_t n) {
  taken_ += n;
  if (taken_ < out_.size()) return;
  out_.clear();
  taken_ = 0;
}

std::optional<TcpSegment> PppEnd::put(std::uint8_t octet) {
  constexpr std::size_t kMost = 1600;
  if (octet == kFlag) {
    std::uint16_t sum = 0xFFFF;
    for (const std::uint8_t x : frame_) sum = fcs(sum, x);
    std::optional<TcpSegment> segment;
    constexpr std::size_t kAround = sizeof kHeader + 2;
    if (sum == kGoodFcs && frame_.size() > kAround &&
        std::equal(std::begin(kHeader), std::end(kHeader), frame_.begin()))
      segment = segment_of(std::span(frame_).subspan(sizeof kHeader, frame_.size() - kAround));
    frame_.clear();
    escaped_ = false;
    return segment;
  }
  if (octet == kEscape) {
    escaped_ = true;
  } else if (frame_.size() < kMost) {
    frame_.push_back(escaped_ ? octet ^ kFlip : octet);
    escaped_ = false;
  }
  return std::nullopt;
}

// Both ends count from 0: the SYN is the first octet of each stream, and the file begins at 1.

void TcpServer::receive(std::span<const std::uint8_t> octets) {
  for (const std::uint8_t octet : octets) {
    const std::optional<TcpSegment> s = ppp_.put(octet);
    if (!s) continue;
    if (s->syn) {
      ppp_.send(
          {.syn = true, .is_ack = true, .sequence = 0, .acknowledged = 1, .window = TcpClient::kWindow, .data = {}});
      continue;
    }
    if (!s->is_ack || s->acknowledged == 0) continue;
    flow_.acknowledge(s->acknowledged - 1, s->window, 0);
    send_more();
  }
}

void TcpServer::send_more() {
  while (const std::optional<TcpSender::Segment> next = flow_.next(0)) {
    TcpSegment s{.is_ack = true,
                 .sequence = static_cast<std::uint32_t>(1 + next->from),
                 .acknowledged = 1,
                 .window = TcpClient::kWindow,
                 .data = {}};
    const auto data = file_.subspan(next->from, next->size);
    s.data.assign(data.begin(), data.end());
    ppp_.send(s);
  }
}

void TcpClient::open() {
  ppp_.send({.syn = true, .sequence = 0, .acknowledged = 0, .window = kWindow, .data = {}});
}

void TcpClient::acknowledge() {
  const auto upto = static_cast<std::uint32_t>(1 + flow_.received());
  ppp_.send({.is_ack = true, .sequence = 1, .acknowledged = upto, .window = kWindow, .data = {}});
}

void TcpClient::receive(std::span<const std::uint8_t> octets, Ns now, std::vector<std::uint8_t>* delivered) {
  for (const std::uint8_t octet : octets) {
    const std::optional<TcpSegment> s = ppp_.put(octet);
    if (!s) continue;
    if (s->syn) {
      answered_ = true;
      acknowledge();
      continue;
    }
    if (s->data.empty() || s->sequence == 0 || !answered_) continue;
    const std::size_t from = s->sequence - 1;
    if (from == flow_.received()) delivered->insert(delivered->end(), s->data.begin(), s->data.end());
    if (flow_.put(from, s->data.size(), now)) acknowledge();
  }
}

void TcpClient::advance(Ns now) {
  if (flow_.advance(now)) acknowledge();
}

}  // namespace offhook::hostsim
