// SPDX-License-Identifier: MIT
//
// Packets of RTP and RTCP as bytes. Source: RFC 3550 (RTP, RTCP), RFC 3551 4.5.14 and Table 4 (G.711).
// A parser takes any bytes; nothing that it returns refers beyond them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace offhook {

/// Static payload types of G.711.
inline constexpr std::uint8_t kPcmuType = 0, kPcmaType = 8;
inline constexpr std::size_t kRtpHeaderOctets = 12;

struct RtpPacket {
  bool marker = false;
  std::uint8_t payload_type = 0;
  std::uint16_t sequence = 0;
  std::uint32_t timestamp = 0, ssrc = 0;
  std::span<const std::uint8_t> payload;
};

/// @return nothing if it is not an RTP packet of version 2. Real-time: yes, O(1)
std::optional<RtpPacket> parse_rtp(std::span<const std::uint8_t> octets);
/// The header. @param[out] octets [kRtpHeaderOctets]. Real-time: yes
void write_rtp_header(const RtpPacket& packet, std::uint8_t* octets);

/// One end's report on the packets that it receives from the other.
struct ReceptionReport {
  std::uint32_t ssrc = 0;            ///< whose packets
  std::uint8_t fraction_lost = 0;    ///< since the last report, of 256
  std::int32_t lost = 0;             ///< since the beginning
  std::uint32_t highest = 0;         ///< extended sequence number
  std::uint32_t jitter_samples = 0;  ///< RFC 3550 6.4.1
  std::uint32_t last_report = 0;     ///< middle 32 bits of the NTP time of the newest sender report; 0: none yet
  std::uint32_t since_report = 0;    ///< 1/65536 s
};

struct RtcpReport {
  std::uint32_t ssrc = 0;  ///< of the sender
  std::uint64_t ntp = 0;   ///< 0: a receiver report, which has no time
  std::uint32_t timestamp = 0, packets = 0, octets = 0;
  std::optional<ReceptionReport> reception{};  ///< the first block
  bool goodbye = false;
};

/// A compound packet: its first sender or receiver report, and whether it has a BYE.
/// @return nothing if it is not RTCP. Real-time: yes, O(octets)
std::optional<RtcpReport> parse_rtcp(std::span<const std::uint8_t> octets);

/// A sender report with one reception report at most, and a CNAME. @param[out] octets  of kRtcpOctets at least
/// @return octets used. Real-time: yes
inline constexpr std::size_t kRtcpOctets = 80;
std::size_t write_rtcp(const RtcpReport& report, std::uint8_t* octets);

}  // namespace offhook
