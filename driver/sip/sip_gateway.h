// SPDX-License-Identifier: MIT
//
// A T.38 gateway between a telephone line on a card and a SIP account: call after call, in both directions.
//
//   the line rings  --> call `to` by SIP -----+--> T.38 is agreed --> off hook, digits --> gateway (t38_gateway.h)
//   a call by SIP   --> answer it ------------+       |                                        |
//                                                     +-- refused: on hook, hang up       DCN, BYE, no signal: on hook,
//                                                     hang up
//
// The line goes off hook when T.38 is agreed, so that no signal is lost. The card's samples are served in the driver's
// context; packets and SIP are work of the owner's thread.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "driver/fax/t38_gateway.h"
#include "driver/session/session.h"
#include "driver/sip/t38_line.h"

namespace offhook::sip {

struct SipGatewayConfig {
  std::string to;    ///< user part of the SIP address for calls from the line; empty: not answered
  std::string dial;  ///< digits for the line, for calls by SIP, at least a comma; empty: not answered
  modem::DialPlan plan{};
  fax::GatewayConfig gateway{};
  fax::T38Gateway::Frame frame{};  ///< may be empty
};

/// Only from the owner's thread.
class SipGateway {
 public:
  /// @param card  of the telephone line, outlives the gateway  @throws std::runtime_error as T38Line, and Session's
  SipGateway(LiveCard& card, const SipPlace& place, const LiveDriverConfig& driver, const SipGatewayConfig& config);
  ~SipGateway();

  /// Call it about every 10 ms.
  void poll();
  /// Ends a call.
  void stop();
  bool in_call() const { return stage_ != Stage::kIdle; }
  /// Why the card is gone; empty: it exists.
  std::string card_failure() const { return line_.card_failure(); }
  /// A change for people, once; empty: none.
  std::string news();
  std::uint32_t calls() const { return calls_; }              ///< that have ended
  std::uint32_t calls_without_page() const { return vain_; }  ///< of these: no page was confirmed
  std::uint64_t blocks_late() const { return line_.counters().blocks_late; }
  std::vector<std::string> shortcomings() const { return line_.shortcomings(); }

 private:
  enum class Stage : std::uint8_t { kIdle, kSetUp, kFax };
  void await_call();
  void begin(bool from_line);
  void set_up();
  void connect();
  void carry();
  void end(const std::string& why);
  std::string line_trouble() const;

  SipGatewayConfig config_;
  modem::Session line_;
  T38Line sip_;
  std::unique_ptr<fax::T38Gateway> gateway_;  // its pump is on the line
  Stage stage_ = Stage::kIdle;
  bool from_line_ = false, offered_ = false;
  std::int64_t since_ms_ = 0;  // of the stage, and of the last ring before it
  std::int64_t heard_ms_ = 0;  // last packet in either direction
  std::int64_t over_ms_ = -1;  // DCN, or the far end's BYE
  std::uint64_t packets_ = 0;  // until then
  std::uint32_t calls_ = 0, vain_ = 0;
  std::string news_, registered_;
};

}  // namespace offhook::sip
