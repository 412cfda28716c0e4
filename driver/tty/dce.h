// SPDX-License-Identifier: MIT
//
// The DCE of V.250, a modem that programs can dial: the AT interpreter on a pseudo-terminal on one side, a session on
// the other.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "driver/session/session.h"
#include "driver/tty/at.h"
#include "driver/tty/terminal.h"
#include "offhook/pump.h"

namespace offhook::modem {

/// Call progress, from the owner's thread alone.
class Dce final : private AtHost {
 public:
  Dce(Session& session, CardRings& rings, Terminal& terminal);

  /// Once every 20 ms or sooner: characters, call progress, ring, time-outs. @param now_ms  monotonic
  void work(std::int64_t now_ms);
  /// For people: "on hook", "connecting (call)", "online 2400/2400 bit/s".
  std::string state_text() const;

 private:
  enum class State { kOnHook, kConnecting, kOnline, kOnlineCommand };
  std::string_view carriers() const override;
  void dial(std::string_view digits) override;
  void answer() override;
  bool go_online() override;
  void hang_up() override;

  void begin(oh_pump_role role, std::string_view digits = {});
  void follow_hook(std::int64_t now_ms);
  void follow_call(std::int64_t now_ms);
  void follow_ring();
  void move_data(std::int64_t now_ms);
  void end_with(Result result);
  void connected(const CallStatus& status);
  ErrorControl error_control() const;
  CallConfig call_config() const;
  /// XON and XOFF of the DTE's in `bytes`, taken out unless they go to the far end, too.  @return how many are left
  std::size_t obey(char* bytes, std::size_t n);
  void throttle();

  Session& session_;
  CardRings& rings_;
  Terminal& terminal_;
  AtInterpreter at_;
  EscapeDetector escape_;
  State state_ = State::kOnHook;
  oh_pump_role role_ = OH_PUMP_CALL;
  std::string digits_;             // of a call that has not begun
  bool begins_ = false;            // off hook as soon as the last call's hang-up is over
  bool hung_up_ = false;           // since the last work()
  std::int64_t hook_free_ms_ = 0;  // from when off hook is a new call
  std::int64_t now_ms_ = 0, deadline_ms_ = 0, heard_ms_ = 0, data_ms_ = 0;
  bool was_ringing_ = false;
  bool open_ = false;
  bool held_ = false;       // XOFF from the DTE
  bool throttled_ = false;  // and to it
};

}  // namespace offhook::modem
