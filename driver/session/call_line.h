// SPDX-License-Identifier: MIT
//
// A modem and its telephone line, as seen by a program that makes calls.
#pragma once

#include <cstddef>
#include <cstdint>

#include "driver/live/live_card.h"
#include "driver/session/call.h"

namespace offhook::modem {

class CallLine {
 public:
  virtual ~CallLine() = default;
  virtual bool ringing() const = 0;
  /// The current or last caller, if the line identifies it.
  virtual Caller caller() const { return {}; }
  /// Once per round of the owner, before all other calls.
  virtual void work() {}
  /// Off hook: a call begins, with the digits if there are any. Ends the previous call.
  /// @throws std::invalid_argument: the pump does not support these modulations and rates; the hook is unchanged
  virtual void begin_call(const CallConfig& call) = 0;
  /// Replaces the pump of a call that is answered; the line stays off hook.  @throws as begin_call()
  virtual void change_pump(const CallConfig& call) { begin_call(call); }
  /// On hook; informs a connected far end first, which may take a second.
  virtual void end_call() = 0;
  /// Why the owner ends the call, for the event log. If the modem ends it, the log already has the reason.
  virtual void note_end(oh_call_end) {}
  /// Modem-on-hold of the call: status() shows the result of the order.
  virtual void hold(oh_hold_order order) = 0;
  /// A test loop of the call, likewise.  @return false if the pump has none
  virtual bool loop(oh_loop_order) { return false; }
  /// Whether a call may have the pump of a fax machine (CallConfig::pump).
  virtual bool can_fax() const { return false; }
  /// The memory of that pump, from its start on the line to the end of the call; otherwise null.
  virtual void* fax_pump() { return nullptr; }
  /// The status of the call, or of none.
  virtual CallStatus status() const = 0;
  virtual std::size_t write(const std::uint8_t* bytes, std::size_t n) = 0;  ///< to the far end  @return bytes taken
  virtual std::size_t read(std::uint8_t* bytes, std::size_t n) = 0;         ///< from it  @return bytes given
  virtual std::size_t writable() const = 0;
};

}  // namespace offhook::modem
