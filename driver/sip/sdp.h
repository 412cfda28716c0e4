// SPDX-License-Identifier: MIT
//
// Session descriptions of one G.711 stream. Source: RFC 8866 (SDP), RFC 3264 (offer and answer), RFC 3551
// (G.711), RFC 4568 (keys of SRTP in descriptions).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "driver/network/rtp_card.h"

namespace offhook::sip {

/// A crypto line of RFC 4568: the key of the packets that its writer sends.
struct CryptoLine {
  unsigned tag = 0;  ///< the answer repeats the tag of the line that it accepts
  SrtpKey key;
};

/// The audio stream that the far end describes.
struct MediaDescription {
  RtpMedia media;                  ///< the first law of G.711 that it names, and its ptime
  std::vector<oh_encoding> laws;   ///< all that it names, in its order
  bool on_hold = false;            ///< it does not send, or does not receive
  bool encrypted = false;          ///< RTP/SAVP
  std::vector<CryptoLine> crypto;  ///< of an encrypted stream: what SrtpStreams can use, in its order; one at least
};

/// A description from an untrusted source: takes any bytes.
/// @throws std::runtime_error with the reason why a modem cannot use it, for people and for a Warning header
MediaDescription parse_sdp(std::string_view text);

/// The value of a crypto attribute, from an untrusted source.
/// @return nothing: a suite, a key method or a parameter that SrtpStreams does not have
std::optional<CryptoLine> parse_crypto(std::string_view value);

/// Our description.
struct OwnDescription {
  InternetAddress local;
  std::vector<oh_encoding> laws;  ///< offered, or the one that is accepted
  std::uint32_t packet_samples = 160;
  std::uint64_t session = 0;
  std::uint32_t version = 0;
  std::optional<CryptoLine> crypto;  ///< none: RTP/AVP
};
std::string write_sdp(const OwnDescription& own);

}  // namespace offhook::sip
