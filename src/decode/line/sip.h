// SPDX-License-Identifier: MIT
//
// SIP in captured packets (RFC 3261), as far as it shows which media belong to one call: the session descriptions of
// offer and answer (RFC 8866, RFC 3264) name an address, a port and payload types for each direction. A later
// description of the call replaces the earlier one of the same end. Over UDP each message is one datagram; sip_tcp.h
// finds messages in TCP.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "src/decode/line/recording.h"

namespace offhook::decode {

/// Octets of an address of IPv4 or IPv6, and a port.
struct IpPlace {
  std::vector<std::uint8_t> ip;
  int port = 0;
  auto operator<=>(const IpPlace&) const = default;
};

/// The content of a payload type's packets. kClear: 64 kbit/s without a law (RFC 4040).
enum class PayloadCodec : std::uint8_t { kMuLaw, kALaw, kClear, kEvents };

class SipReader {
 public:
  /// @param datagram  any octets  @param t  s, of the capture's clock
  /// @return whether it is a message of SIP
  bool message(double t, std::span<const std::uint8_t> datagram);

  /// The format that one end of a call expects at an address and port.
  struct Media {
    double t = 0;          ///< of the description
    std::size_t call = 0;  ///< number for call()
    bool fax = false;      ///< T.38 in UDPTL, not RTP
    int fax_version = 0;   ///< T38FaxVersion
    std::map<int, PayloadCodec> types;
  };
  /// The last description for a place before `t`; null: none.
  const Media* media_at(const IpPlace& place, double t) const;
  const SipCall& call(std::size_t k) const { return calls_[k]; }

  static constexpr std::size_t kMostCalls = 10000, kMostPlaces = 100000, kMostText = 65536;

 private:
  std::size_t call_of(std::string_view id, std::string_view from, std::string_view to);
  void describe(double t, std::size_t call, std::string_view sdp);

  std::vector<SipCall> calls_;
  std::map<std::string, std::size_t, std::less<>> by_id_;
  std::map<IpPlace, std::vector<Media>> media_;  // by place, in order of time
  std::size_t places_ = 0;
};

/// The user of an address in the form of From and To, or its host: "Bob" <sip:bob@example.com>;tag=1 is bob.
std::string sip_user(std::string_view header);

/// Whether a line is the first one of a request or a response.
bool is_sip_start_line(std::string_view line);

/// The size of the message with which a text begins: its head, and as many octets as Content-Length has.
/// @return nothing: the text does not have all of it, or it is longer than SipReader::kMostText
std::optional<std::size_t> sip_message_size(std::string_view text);

}  // namespace offhook::decode
