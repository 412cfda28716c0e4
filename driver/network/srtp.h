// SPDX-License-Identifier: MIT
//
// Encryption and authentication of RTP and RTCP packets with given keys, by libsrtp2 (docs/adr/0008-srtp.md). Source:
// RFC 3711. The keys come from a session description (driver/sip/sdp.h).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace offhook {

/// AES-128 in counter mode, HMAC-SHA1. The tags of RTP packets differ. Source: RFC 4568 6.2
enum class SrtpSuite : std::uint8_t { kTagOf80Bits, kTagOf32Bits };

inline constexpr std::size_t kSrtpKeyOctets = 30;  ///< master key of 16 octets, salt of 14

/// The packets of one direction.
struct SrtpKey {
  SrtpSuite suite = SrtpSuite::kTagOf80Bits;
  std::array<std::uint8_t, kSrtpKeyOctets> octets{};
  bool operator==(const SrtpKey&) const = default;
};
struct SrtpKeys {
  SrtpKey send, receive;
  bool operator==(const SrtpKeys&) const = default;
};

/// Octets that protection adds to a packet, at most.
inline constexpr std::size_t kSrtpTrailerOctets = 148;

/// Whether this build has libsrtp2.
bool has_srtp();
/// A new key from the kernel's random numbers. @throws std::runtime_error: there are none
SrtpKey new_srtp_key(SrtpSuite suite);

/// The packets of one pair of streams. The functions change a packet in place. They allocate only when the first packet
/// of a source arrives.
class SrtpStreams {
 public:
  enum class Result : std::uint8_t { kGood, kReplayed, kNotAuthentic };

  /// @param ssrc  of the sent packets  @throws std::runtime_error: this build has no SRTP
  SrtpStreams(const SrtpKeys& keys, std::uint32_t ssrc);
  ~SrtpStreams();
  SrtpStreams(const SrtpStreams&) = delete;
  SrtpStreams& operator=(const SrtpStreams&) = delete;

  /// @param packet  has room for kSrtpTrailerOctets more  @return the new length; 0: not to be sent
  std::size_t protect(std::uint8_t* packet, std::size_t octets);
  std::size_t protect_report(std::uint8_t* packet, std::size_t octets);
  /// @param[in,out] octets  the length. The packet may be any octets
  Result unprotect(std::uint8_t* packet, std::size_t* octets);
  Result unprotect_report(std::uint8_t* packet, std::size_t* octets);

 private:
  struct Sessions;
  std::unique_ptr<Sessions> sessions_;
};

}  // namespace offhook
