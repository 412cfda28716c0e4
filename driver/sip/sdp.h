// SPDX-License-Identifier: MIT
//
// Session descriptions of one G.711 stream. Source: RFC 8866 (SDP), RFC 3264 (offer and answer), RFC 3551 (G.711).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "driver/network/rtp_card.h"

namespace offhook::sip {

/// The audio stream that the far end describes.
struct MediaDescription {
  RtpMedia media;                 ///< the first law of G.711 that it names, and its ptime
  std::vector<oh_encoding> laws;  ///< all that it names, in its order
  bool on_hold = false;           ///< it does not send, or does not receive
};

/// A description from an untrusted source: takes any bytes.
/// @throws std::runtime_error with the reason why a modem cannot use it, for people and for a Warning header
MediaDescription parse_sdp(std::string_view text);

/// Our description. @param laws  offered, or the one that is accepted
std::string write_sdp(const InternetAddress& local, const std::vector<oh_encoding>& laws, std::uint32_t packet_samples,
                      std::uint64_t session, std::uint32_t version);

}  // namespace offhook::sip
