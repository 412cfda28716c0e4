// SPDX-License-Identifier: MIT
//
// A modem that programs can dial: the AT interpreter on a pseudo-terminal on one side, a session on the other.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "driver/tty/at.h"
#include "driver/tty/session.h"
#include "offhook/pump.h"

namespace offhook::modem {

/// The DTE's side: a pseudo-terminal, with a link under a name that stays the same.
class Terminal {
 public:
  /// @param link  made, or replaced if it is a link; empty: none  @throws std::runtime_error
  explicit Terminal(const std::string& link);
  ~Terminal();
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;

  int fd() const { return fd_; }
  const std::string& device() const { return device_; }
  /// @return bytes read; 0 when none wait; -1 while no program has the terminal open
  int read(char* bytes, int n);
  void write(std::string_view text);  ///< what finds no room is kept for the next time
  bool congested() const { return !pending_.empty(); }
  void flush() { write({}); }
  std::uint32_t rate() const;  ///< bit/s that the program has set
  /// What a serial port does when the carrier drops: a program that has cleared CLOCAL, as pppd does unless told
  /// otherwise, gets SIGHUP or the end of the file; one that leaves CLOCAL set, as it is at first, sees nothing. A
  /// pseudo-terminal has no other way to be hung up than to end: the link leads to a new one, of the same group and
  /// mode.
  /// @throws std::runtime_error when there is no new one
  void carrier_lost();

 private:
  void open_pair();
  int fd_ = -1;
  std::string device_, link_, pending_;
};

/// Call progress, from the owner's thread alone.
class Modem final : private AtHost {
 public:
  Modem(Session& session, CardRings& rings, Terminal& terminal);

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
  hostsim::LinkWishes wishes() const;
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
