// SPDX-License-Identifier: MIT
//
// Session descriptions of one G.711 stream, or of one T.38 stream. Source: RFC 8866 (SDP), RFC 3264 (offer and answer),
// RFC 3551 (G.711), RFC 4568 (keys of SRTP in descriptions), RFC 3362 (T.38). T.38's attributes follow the descriptions
// that other implementations publish; the text of T.38 was not available.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "driver/network/rtp_card.h"
#include "driver/network/udptl_socket.h"

namespace offhook::sip {

/// A crypto line of RFC 4568: the key of the packets that its writer sends.
struct CryptoLine {
  unsigned tag = 0;  ///< the answer repeats the tag of the line that it accepts
  SrtpKey key;
};

/// A line "m=" of a description. An answer, and every later offer, has a line for each of the first offer (RFC 3264 8).
struct MediaLine {
  std::string kind, transport, formats;
};

/// The stream that the far end describes: audio, or T.38.
struct MediaDescription {
  std::optional<UdptlFarEnd> fax;  ///< T.38; there is no audio then, and the members up to `lines` have no meaning
  RtpMedia media;                  ///< the first law of G.711 in the description, and its ptime
  std::vector<oh_encoding> laws;   ///< all formats in the description, in its order
  bool on_hold = false;            ///< it does not send, or does not receive
  bool encrypted = false;          ///< RTP/SAVP
  std::vector<CryptoLine> crypto;  ///< for an encrypted stream: SrtpStreams', in the far end's order; at least one
  std::vector<MediaLine> lines;    ///< all of them
  std::size_t line = 0;            ///< address and port of the stream
};

/// A description from an untrusted source. It may contain any bytes.
/// @throws std::runtime_error with the reason why a modem cannot use it, for people and for a Warning header
MediaDescription parse_sdp(std::string_view text);

/// The value of a crypto attribute, from an untrusted source.
/// @return nothing if SrtpStreams does not have its suite, key method or parameter
std::optional<CryptoLine> parse_crypto(std::string_view value);

/// Our description.
struct OwnDescription {
  InternetAddress local;
  std::vector<oh_encoding> laws;  ///< offered, or the accepted one
  std::uint32_t packet_samples = 160;
  std::uint64_t session = 0;
  std::uint32_t version = 0;
  std::optional<CryptoLine> crypto;  ///< none: RTP/AVP
  bool fax = false;                  ///< T.38 at `local` in place of audio
  std::vector<MediaLine> lines{};    ///< lines of the far end's description; empty: there is none
  std::size_t line = 0;              ///< index of the stream in them; the others are refused
};
std::string write_sdp(const OwnDescription& own);

}  // namespace offhook::sip
