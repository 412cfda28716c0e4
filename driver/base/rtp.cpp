// SPDX-License-Identifier: MIT
#include "driver/base/rtp.h"

#include <cstring>

namespace offhook {

namespace {

constexpr std::uint8_t kVersion = 2;
constexpr std::uint8_t kSenderReport = 200, kReceiverReport = 201, kDescription = 202, kGoodbye = 203;
constexpr std::size_t kSenderOctets = 28, kReceiverOctets = 8, kBlockOctets = 24;
constexpr char kCname[] = "offhook";  // contains no name of a user or a host (RFC 7022)

std::uint32_t number(const std::uint8_t* p, int octets) {
  std::uint32_t n = 0;
  for (int k = 0; k < octets; ++k) n = n << 8 | p[k];
  return n;
}

std::uint8_t* put(std::uint8_t* p, std::uint32_t n, int octets) {
  for (int k = octets; k-- > 0;) *p++ = static_cast<std::uint8_t>(n >> 8 * k);
  return p;
}

ReceptionReport parse_block(const std::uint8_t* p) {
  ReceptionReport r;
  r.ssrc = number(p, 4);
  r.fraction_lost = p[4];
  r.lost = static_cast<std::int32_t>(number(p + 5, 3) << 8) >> 8;
  r.highest = number(p + 8, 4);
  r.jitter_samples = number(p + 12, 4);
  r.last_report = number(p + 16, 4);
  r.since_report = number(p + 20, 4);
  return r;
}

}  // namespace

std::optional<RtpPacket> parse_rtp(std::span<const std::uint8_t> octets) {
  if (octets.size() < kRtpHeaderOctets || octets[0] >> 6 != kVersion) return std::nullopt;
  const bool padded = (octets[0] & 0x20) != 0, extended = (octets[0] & 0x10) != 0;
  std::size_t begin = kRtpHeaderOctets + 4 * std::size_t{octets[0] & 15u}, end = octets.size();
  if (extended) {
    if (begin + 4 > end) return std::nullopt;
    begin += 4 + 4 * std::size_t{number(&octets[begin + 2], 2)};
  }
  if (begin > end) return std::nullopt;
  if (padded) {
    const std::size_t padding = octets[end - 1];
    if (padding == 0 || padding > end - begin) return std::nullopt;
    end -= padding;
  }
  RtpPacket packet;
  packet.marker = (octets[1] & 0x80) != 0;
  packet.payload_type = octets[1] & 0x7f;
  packet.sequence = static_cast<std::uint16_t>(number(&octets[2], 2));
  packet.timestamp = number(&octets[4], 4);
  packet.ssrc = number(&octets[8], 4);
  packet.payload = octets.subspan(begin, end - begin);
  return packet;
}

void write_rtp_header(const RtpPacket& packet, std::uint8_t* octets) {
  octets[0] = kVersion << 6;
  octets[1] = static_cast<std::uint8_t>((packet.marker ? 0x80 : 0) | packet.payload_type);
  put(put(put(octets + 2, packet.sequence, 2), packet.timestamp, 4), packet.ssrc, 4);
}

std::optional<RtcpReport> parse_rtcp(std::span<const std::uint8_t> octets) {
  RtcpReport report;
  bool has_report = false;
  while (octets.size() >= 4) {
    if (octets[0] >> 6 != kVersion) return std::nullopt;
    const std::size_t length = 4 * (std::size_t{number(&octets[2], 2)} + 1);
    if (length > octets.size()) return std::nullopt;
    const std::uint8_t type = octets[1], blocks = octets[0] & 31;
    const std::size_t own = type == kSenderReport ? kSenderOctets : kReceiverOctets;
    if ((type == kSenderReport || type == kReceiverReport) && !has_report) {
      if (length < own) return std::nullopt;
      has_report = true;
      report.ssrc = number(&octets[4], 4);
      if (type == kSenderReport) {
        report.ntp = std::uint64_t{number(&octets[8], 4)} << 32 | number(&octets[12], 4);
        report.timestamp = number(&octets[16], 4);
        report.packets = number(&octets[20], 4);
        report.octets = number(&octets[24], 4);
      }
      if (blocks > 0 && length >= own + kBlockOctets) report.reception = parse_block(&octets[own]);
    }
    report.goodbye |= type == kGoodbye;
    octets = octets.subspan(length);
  }
  if (!octets.empty() || !(has_report || report.goodbye)) return std::nullopt;
  return report;
}

std::size_t write_rtcp(const RtcpReport& report, std::uint8_t* octets) {
  const bool blocks = report.reception.has_value();
  const std::size_t own = kSenderOctets + (blocks ? kBlockOctets : 0);
  std::uint8_t* p = octets;
  *p++ = static_cast<std::uint8_t>(kVersion << 6 | (blocks ? 1 : 0));
  *p++ = kSenderReport;
  p = put(p, static_cast<std::uint32_t>(own / 4 - 1), 2);
  p = put(p, report.ssrc, 4);
  p = put(p, static_cast<std::uint32_t>(report.ntp >> 32), 4);
  p = put(p, static_cast<std::uint32_t>(report.ntp), 4);
  p = put(put(put(p, report.timestamp, 4), report.packets, 4), report.octets, 4);
  if (blocks) {
    const ReceptionReport& r = *report.reception;
    p = put(p, r.ssrc, 4);
    *p++ = r.fraction_lost;
    p = put(p, static_cast<std::uint32_t>(r.lost), 3);
    p = put(put(put(put(p, r.highest, 4), r.jitter_samples, 4), r.last_report, 4), r.since_report, 4);
  }
  constexpr std::size_t kTextOctets = sizeof kCname - 1;
  constexpr std::size_t kItems = (4 + 2 + kTextOctets + 1 + 3) / 4 * 4;  // SSRC, item, end, up to a word
  *p++ = kVersion << 6 | 1;
  *p++ = kDescription;
  p = put(p, kItems / 4, 2);
  std::memset(p, 0, kItems);
  put(p, report.ssrc, 4);
  p[4] = 1;  // CNAME
  p[5] = kTextOctets;
  std::memcpy(p + 6, kCname, kTextOctets);
  p += kItems;
  if (report.goodbye) {
    *p++ = kVersion << 6 | 1;
    *p++ = kGoodbye;
    p = put(put(p, 1, 2), report.ssrc, 4);
  }
  return static_cast<std::size_t>(p - octets);
}

}  // namespace offhook
