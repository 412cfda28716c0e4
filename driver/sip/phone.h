// SPDX-License-Identifier: MIT
//
// SIP as a modem needs it: an account, and calls on numbered lines. The stack behind it (docs/adr/0006-sip-stack.md)
// runs in a thread of its own; all functions are for one other thread and do not wait for the network.
//
//   kIdle -- dial() --> kCalling -- 180, 183 --> kRingback -- 200 --> kUp -- BYE, hang_up() --> kEnded
//     |                    +------------- refused, hang_up() ------------------------------------^
//     +-- INVITE, if the line accepts --> kRinging -- answer() --> kUp
//                                            +---- CANCEL, hang_up() --> kEnded
//
// kEnded lasts until accept(), dial() or another call.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "driver/live/live_card.h"
#include "driver/network/internet_address.h"
#include "driver/network/rtp_card.h"
#include "driver/network/udptl_socket.h"
#include "driver/sip/tls.h"

namespace offhook::sip {

enum class Transport : std::uint8_t { kUdp, kTcp, kTls };

struct Account {
  std::string user, host;  ///< host with a port, if one is given
  std::string password;    ///< of digest authentication; empty: none
  InternetAddress local;   ///< of signalling; port 0: any. Media use the same interface
  bool registers = true;
  Transport transport = Transport::kUdp;  ///< of signalling
  TlsSettings tls;
  bool encrypts_media = false;              ///< requires SRTP, or requires RTP
  std::uint32_t session_interval_s = 1800;  ///< that calls of this end request (RFC 4028); 0: no session timers
  std::vector<oh_encoding> laws = {OH_MULAW, OH_ALAW};  ///< offered, in this order
  std::uint32_t packet_samples = 160;
};

enum class CallState : std::uint8_t { kIdle, kRinging, kCalling, kRingback, kUp, kEnded };

/// The end of a call, as the result code of a modem.
enum class EndKind : std::uint8_t { kHungUp, kBusy, kNoAnswer, kNoService, kOther };

/// An offer of T.38 by this end.
enum class FaxOffer : std::uint8_t { kNone, kSent, kRefused };

struct CallInfo {
  CallState state = CallState::kIdle;
  std::uint32_t media_version = 0;  ///< changes with `media`
  std::optional<RtpMedia> media;    ///< set when it is accepted
  std::optional<UdptlFarEnd> fax;   ///< true once the call uses T.38, until its end
  FaxOffer fax_offer = FaxOffer::kNone;
  std::string fax_refusal;  ///< reported by the far end, for people
  Caller caller;            ///< text from the far end, may contain anything
  EndKind end = EndKind::kHungUp;
  std::string reason;  ///< reason for the end, for people
};

class Phone {
 public:
  virtual ~Phone() = default;
  /// Gives the call to a line, or refuses it as busy. @param media_port  of the line's RTP
  virtual void accept(std::size_t line, bool accepts) = 0;
  /// @param user  the user part of the address to call, from sip_number()
  virtual void dial(std::size_t line, const std::string& user) = 0;
  virtual void answer(std::size_t line) = 0;
  /// Ends, cancels or refuses the line's call, if there is one.
  virtual void hang_up(std::size_t line) = 0;
  /// Switches the line's call from audio to T.38 if the far end offers it; otherwise the offer is refused.
  virtual void allow_fax(std::size_t line, bool allows) = 0;
  /// Offers T.38 to the far end of a connected call.
  virtual void offer_fax(std::size_t line) = 0;
  virtual CallInfo call(std::size_t line) const = 0;
  /// For people: "registered", "not registered: 403 Forbidden", or "without registration".
  virtual std::string registration() const = 0;
};

/// Of a line's sockets.
struct LinePorts {
  std::uint16_t media = 0;
  std::uint16_t fax = 0;  ///< port of T.38; 0: the line has none
};
/// @param ports  [lines]
/// @throws std::runtime_error: the address is in use, the build has no SIP stack, or a phone exists already
std::unique_ptr<Phone> make_phone(const Account& account, const std::vector<LinePorts>& ports);

/// The account and options after "sip:", and the card's buffer. The password comes from the file of the option
/// password-file, or from the environment variable OFFHOOK_SIP_PASSWORD.
/// @throws std::runtime_error with the expected form
struct SipPlace {
  Account account;
  std::uint32_t buffer_samples = 320;
};
SipPlace parse_sip_place(std::string_view place);

/// The user part of the address that a dialled number or a name calls. A number loses its pauses (commas, W), and # is
/// sent as %23 (RFC 3261 25.1).
/// @throws std::invalid_argument if nothing remains, or for other characters than digits, letters and "+*#-._"
std::string sip_number(std::string_view number);

/// The result of a final response. Source: RFC 3261 21
EndKind end_of_response(unsigned status);

}  // namespace offhook::sip
