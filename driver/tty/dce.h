// SPDX-License-Identifier: MIT
//
// The DCE of V.250, a modem that programs can dial: the AT interpreter on a pseudo-terminal on one side, a session on
// the other.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "driver/fax/class1.h"
#include "driver/fax/class2.h"
#include "driver/session/call_line.h"
#include "driver/tty/at.h"
#include "driver/tty/last_call.h"
#include "driver/tty/modulation.h"
#include "driver/tty/quick_profiles.h"
#include "driver/tty/terminal.h"
#include "offhook/pump.h"

namespace offhook::modem {

/// Only from the owner's thread.
class Dce final : private AtHost {
 public:
  enum class State : std::uint8_t {
    kOnHook,
    kGuardTime,  ///< a call waits until the line has been on hook for long enough since the last one
    kConnecting,
    kDialled,  ///< off hook after D with a semicolon: command state
    kOnline,
    kOnlineCommand,
    kAskingHold,  ///< the far end was asked to wait; no commands meanwhile
    kOnHold,      ///< the far end waits: command state
    kReturning,   ///< from hold to data
    kAskingLoop,  ///< a test loop was requested; no commands meanwhile
    kFax,         ///< a call of a fax class: command state
    kFaxData      ///< as above, while an operation is running
  };
  enum class Event : std::uint8_t {
    kOrder,      ///< D, A, or the number of rings in S0
    kLineReady,  ///< the guard time is over
    kRefused,    ///< no carrier of +MS supports its rates
    kNoDialTone,
    kBusy,
    kNoAnswer,      ///< reported by the network
    kFailed,        ///< the modem gave up, the far end cleared down, or the line ended the call
    kIncompatible,  ///< connected, but without the compression that +DS or +DS44 requires
    kConnected,
    kDigitsOut,  ///< of D with a semicolon
    kTooLong,    ///< S7
    kLost,       ///< S10: nothing is heard, or a signal that is not a modem's
    kCharacter,
    kEscape,
    kReturn,   ///< O
    kAskHold,  ///< +PMHR
    kHoldGranted,
    kHoldDenied,    ///< or not available
    kBack,          ///< data mode, after a hold
    kAskLoop,       ///< &T3, &T6
    kLooped,        ///< received data are sent back
    kTesting,       ///< the far end sends our data back
    kLoopDenied,    ///< or not available
    kFaxCaller,     ///< +FAE: the caller of an answered call is a fax machine
    kFaxConnected,  ///< class 1: frames can be sent, or are received. Class 2.0: both machines have agreed
    kFaxOrder,      ///< +FTH and similar commands
    kFaxDone,       ///< the operation has ended
    kFaxOver,       ///< class 2.0: the call has ended
    kHangUp,        ///< H, Z
    kDtrOff         ///< the program closed the terminal, under &D2
  };
  enum class Action : std::uint8_t { kNone, kBegin, kBeginFax, kGoOnline, kHangUp, kAskHold, kTellHold, kResume };
  struct Transition {
    State state;
    Event event;
    Action action;
    std::optional<Result> result;
    State next;
    std::string_view clause;  ///< in V.250, unless another source is named
  };
  /// An event without a row has no effect.
  static constexpr Transition kTransitions[] = {
      {State::kOnHook, Event::kOrder, Action::kNone, {}, State::kGuardTime, "6.3.1, 6.3.5, 6.3.8"},

      {State::kGuardTime, Event::kLineReady, Action::kBegin, {}, State::kConnecting, "6.3.1"},
      {State::kGuardTime, Event::kRefused, Action::kNone, Result::kError, State::kOnHook, "6.4.1"},
      {State::kGuardTime, Event::kCharacter, Action::kNone, Result::kNoCarrier, State::kOnHook, "5.6.1"},
      {State::kGuardTime, Event::kDtrOff, Action::kNone, {}, State::kOnHook, "6.2.9"},

      {State::kConnecting, Event::kNoDialTone, Action::kHangUp, Result::kNoDialtone, State::kOnHook, "6.2.7"},
      {State::kConnecting, Event::kBusy, Action::kHangUp, Result::kBusy, State::kOnHook, "6.2.7"},
      {State::kConnecting, Event::kNoAnswer, Action::kHangUp, Result::kNoAnswer, State::kOnHook, "6.3.1"},
      {State::kConnecting, Event::kFailed, Action::kHangUp, Result::kNoCarrier, State::kOnHook, "6.3.1"},
      {State::kConnecting, Event::kIncompatible, Action::kHangUp, Result::kNoCarrier, State::kOnHook, "6.6.1"},
      {State::kConnecting, Event::kConnected, Action::kGoOnline, Result::kConnect, State::kOnline, "6.3.1"},
      {State::kConnecting, Event::kDigitsOut, Action::kNone, Result::kOk, State::kDialled, "6.3.1"},
      {State::kConnecting, Event::kTooLong, Action::kHangUp, Result::kNoCarrier, State::kOnHook, "6.3.10"},
      {State::kConnecting, Event::kCharacter, Action::kHangUp, Result::kNoCarrier, State::kOnHook, "5.6.1"},
      {State::kConnecting, Event::kDtrOff, Action::kHangUp, {}, State::kOnHook, "6.2.9"},

      {State::kDialled, Event::kOrder, Action::kBegin, {}, State::kConnecting, "6.3.1"},
      {State::kDialled, Event::kRefused, Action::kNone, Result::kError, State::kDialled, "6.4.1"},
      {State::kDialled, Event::kHangUp, Action::kHangUp, {}, State::kOnHook, "6.3.6"},
      {State::kDialled, Event::kDtrOff, Action::kHangUp, {}, State::kOnHook, "6.2.9"},

      {State::kOnline, Event::kFailed, Action::kHangUp, Result::kNoCarrier, State::kOnHook, "6.2.8"},
      {State::kOnline, Event::kLost, Action::kHangUp, Result::kNoCarrier, State::kOnHook, "6.3.12"},
      {State::kOnline, Event::kEscape, Action::kNone, Result::kOk, State::kOnlineCommand, "6.3.7"},
      {State::kOnline, Event::kDtrOff, Action::kHangUp, {}, State::kOnHook, "6.2.9"},

      {State::kOnlineCommand, Event::kFailed, Action::kHangUp, Result::kNoCarrier, State::kOnHook, "6.2.8"},
      {State::kOnlineCommand, Event::kLost, Action::kHangUp, Result::kNoCarrier, State::kOnHook, "6.3.12"},
      {State::kOnlineCommand, Event::kReturn, Action::kNone, Result::kConnect, State::kOnline, "6.3.7"},
      {State::kOnlineCommand, Event::kHangUp, Action::kHangUp, {}, State::kOnHook, "6.3.6"},
      {State::kOnlineCommand, Event::kDtrOff, Action::kHangUp, {}, State::kOnHook, "6.2.9"},
      {State::kOnlineCommand, Event::kAskHold, Action::kAskHold, {}, State::kAskingHold, "V.92 9.10"},

      {State::kAskingHold, Event::kHoldGranted, Action::kTellHold, Result::kOk, State::kOnHold, "V.92 9.10"},
      {State::kAskingHold, Event::kHoldDenied, Action::kTellHold, Result::kOk, State::kOnlineCommand, "V.92 9.10"},
      {State::kAskingHold, Event::kFailed, Action::kHangUp, Result::kNoCarrier, State::kOnHook, "6.2.8"},
      {State::kAskingHold, Event::kDtrOff, Action::kHangUp, {}, State::kOnHook, "6.2.9"},

      {State::kOnHold, Event::kReturn, Action::kResume, {}, State::kReturning, "6.3.7, V.92 9.10.2"},
      {State::kOnHold, Event::kFailed, Action::kHangUp, Result::kNoCarrier, State::kOnHook, "6.2.8"},
      {State::kOnHold, Event::kHangUp, Action::kHangUp, {}, State::kOnHook, "6.3.6"},
      {State::kOnHold, Event::kDtrOff, Action::kHangUp, {}, State::kOnHook, "6.2.9"},

      {State::kReturning, Event::kBack, Action::kNone, Result::kConnect, State::kOnline, "6.3.7"},
      {State::kReturning, Event::kFailed, Action::kHangUp, Result::kNoCarrier, State::kOnHook, "6.2.8"},
      {State::kReturning, Event::kLost, Action::kHangUp, Result::kNoCarrier, State::kOnHook, "6.3.12"},
      {State::kReturning, Event::kCharacter, Action::kHangUp, Result::kNoCarrier, State::kOnHook, "5.6.1"},
      {State::kReturning, Event::kDtrOff, Action::kHangUp, {}, State::kOnHook, "6.2.9"},

      {State::kOnlineCommand, Event::kAskLoop, Action::kNone, {}, State::kAskingLoop, "V.54"},
      {State::kAskingLoop, Event::kLooped, Action::kNone, Result::kOk, State::kOnlineCommand, "V.54"},
      {State::kAskingLoop, Event::kTesting, Action::kNone, Result::kConnect, State::kOnline, "V.54"},
      {State::kAskingLoop, Event::kLoopDenied, Action::kNone, Result::kError, State::kOnlineCommand, "V.54"},
      {State::kAskingLoop, Event::kFailed, Action::kHangUp, Result::kNoCarrier, State::kOnHook, "6.2.8"},
      {State::kAskingLoop, Event::kDtrOff, Action::kHangUp, {}, State::kOnHook, "6.2.9"},

      // Fax. The operation reports its results itself.
      {State::kConnecting, Event::kFaxCaller, Action::kBeginFax, Result::kFax, State::kConnecting, "T.31"},
      {State::kConnecting, Event::kFaxConnected, Action::kNone, {}, State::kFaxData, "T.31"},
      {State::kFaxData, Event::kFaxDone, Action::kNone, {}, State::kFax, "T.31"},
      {State::kFaxData, Event::kFailed, Action::kHangUp, Result::kNoCarrier, State::kOnHook, "T.31"},
      {State::kFaxData, Event::kDtrOff, Action::kHangUp, {}, State::kOnHook, "6.2.9"},
      {State::kFaxData, Event::kFaxOver, Action::kHangUp, Result::kOk, State::kOnHook, "TIA-592"},
      {State::kConnecting, Event::kFaxOver, Action::kHangUp, Result::kOk, State::kOnHook, "TIA-592"},
      {State::kFax, Event::kFaxOrder, Action::kNone, {}, State::kFaxData, "T.31"},
      {State::kFax, Event::kFailed, Action::kHangUp, Result::kNoCarrier, State::kOnHook, "T.31"},
      {State::kFax, Event::kHangUp, Action::kHangUp, {}, State::kOnHook, "6.3.6"},
      {State::kFax, Event::kDtrOff, Action::kHangUp, {}, State::kOnHook, "6.2.9"},
  };

  /// @param carriers  outlive it  @param not_offered  for AT+MS?, see Offer
  Dce(CallLine& line, Terminal& terminal, Carriers carriers, std::string not_offered = "");

  /// Handles characters, call progress, ring and time-outs. Call it at least every 20 ms. @param now_ms  monotonic
  void work(std::int64_t now_ms);
  /// Quick Connect uses these profiles under the name of its card. Without this call it has its own.
  /// @param profiles  outlive it
  void share_profiles(QuickProfiles& profiles, std::string card) {
    profiles_ = &profiles;
    card_ = std::move(card);
  }
  /// Whether it reacts to a ring; initially it does.
  void heed_ring(bool heeds) { heeds_ring_ = heeds; }
  /// Whether it takes commands and the escape sequence; at first it does. Else it drops octets that come outside of
  /// data.
  void heed_commands(bool heeds) { heeds_commands_ = heeds; }
  State state() const { return state_; }
  /// Whether a call is on the line, or is being set up.
  bool calling() const { return state_ >= State::kConnecting; }
  /// Calls that neither this end's command nor the far end's cleardown ended.
  unsigned failed_calls() const { return failed_calls_; }
  const LastCall& last_call() const { return last_call_; }
  /// For people: "on hook", "connecting (call)", "online 2400/2400 bit/s".
  std::string state_text() const;

 private:
  // The requests of the AT interpreter.
  std::string_view carriers() const override { return carrier_names_; }
  std::string_view not_offered() const override { return not_offered_; }
  void dial(std::string_view digits, bool stay) override { order(OH_PUMP_CALL, digits, stay); }
  void answer() override { order(OH_PUMP_ANSWER, {}, false); }
  std::vector<std::string> last_call(bool objects) const override {
    return objects ? last_call_.objects() : last_call_.facts();
  }
  bool go_online() override { return handle(Event::kReturn); }
  void hang_up() override { handle(Event::kHangUp); }
  bool request_hold() override { return handle(Event::kAskHold); }
  bool test_loop(oh_loop_order order) override;
  void end_test() override {
    if (tests(line_.status())) line_.loop(OH_LOOP_END);
  }
  bool can_fax() const override { return line_.can_fax(); }
  bool fax(FaxOrder order, int value) override;

  /// @return false if the state has no row for it
  bool handle(Event event);
  void order(oh_pump_role role, std::string_view digits, bool stay);
  void record_end(Event event);
  void record_fax_end();
  void record_loss(const CallStatus& status);
  void tell_why();
  std::string_view data_carrier(const CallStatus& status) const;
  void report_connection();
  /// The words after the rate of CONNECT (&A, \V).
  std::string connect_words() const;
  CallConfig call_config() const;
  CallConfig fax_config() const;
  QuickProfiles::Key profile_key() const;
  void choose_start_up(CallConfig* call) const;
  void remember_line();
  void begin_call();
  /// Whether an answered call detects the kind of its caller: +FAE.
  bool adapts() const;
  oh_link_config link(std::uint32_t window) const;

  void tell_caller();
  static bool tests(const CallStatus& status) { return status.loop != OH_LOOP_NONE && status.loop != OH_LOOP_REFUSED; }
  void allow_loop(const CallStatus& status);
  void follow_ring();
  void follow_hook(std::int64_t now_ms);
  void follow_call(std::int64_t now_ms);
  void send_to_far(std::int64_t now_ms);
  void receive_from_far();
  void take_commands();
  void begin_fax(void* pump);
  void end_fax();
  void order_class1(FaxOrder order, int value);
  void follow_fax();
  void take_fax_data(std::string_view octets);
  void exchange_fax_data();
  void give_fax_results();
  /// XON and XOFF of the DTE in `bytes`. They are removed unless the far end also gets them.  @return bytes that remain
  std::size_t obey(char* bytes, std::size_t n);
  /// @param room  octets that may arrive from the DTE  @param xoff, xon  limits at which the DTE is stopped and started
  void throttle(std::size_t room, std::size_t xoff, std::size_t xon);

  CallLine& line_;
  Terminal& terminal_;
  Carriers carriers_;
  std::string carrier_names_, not_offered_;
  AtInterpreter at_;
  EscapeDetector escape_;
  State state_ = State::kOnHook;
  oh_pump_role role_ = OH_PUMP_CALL;
  std::string digits_;            // for a call that has not begun
  bool loop_allowed_ = false;     // as given to the pump of the call
  bool digits_only_ = false;      // D with a semicolon
  bool off_hook_before_ = false;  // the call begins after the dialled digits
  bool fax_call_ = false;
  std::unique_ptr<fax::ServiceClass> fax_;  // the following ones, or none
  fax::Class1* class1_ = nullptr;
  fax::Class2* class2_ = nullptr;
  LastCall last_call_;
  QuickProfiles own_profiles_;
  QuickProfiles* profiles_ = &own_profiles_;
  std::string card_;  // for profiles_
  unsigned failed_calls_ = 0;
  std::int64_t now_ms_ = 0;
  bool hung_up_ = false;            // since the last work()
  std::int64_t line_ready_ms_ = 0;  // time from which off hook begins a new call
  std::int64_t deadline_ms_ = 0, heard_ms_ = 0, data_ms_ = 0;
  bool was_ringing_ = false, heeds_ring_ = true, heeds_commands_ = true;
  bool open_ = false;
  bool held_ = false;       // XOFF from the DTE
  bool throttled_ = false;  // and to it
};

}  // namespace offhook::modem
