// SPDX-License-Identifier: MIT
//
// The record of a call after its end: why it ended, its last phase and its results. The codes and the names
// of the objects are those of ITU-T V.59.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "driver/session/call.h"

namespace offhook::modem {

/// Only from the owner's thread.
class LastCall {
 public:
  /// A call begins.
  void begin(oh_pump_role role, std::int64_t now_ms);
  /// Its current status; call it once per round of the owner.
  /// @param carrier  of the modulation in use, as +MCR names it; empty: none yet
  void follow(const CallStatus& status, std::string_view carrier, std::int64_t now_ms);
  /// The call has ended. @param detail  observation that explains the reason; may be empty
  void end(oh_call_end why, std::string detail = "");

  bool ended() const { return ended_; }
  oh_call_end why() const { return why_; }
  /// Whether the end of the call was intended by neither end.
  bool failed() const {
    return ended_ && why_ != OH_CALL_END_USER && why_ != OH_CALL_END_DTR_OFF && why_ != OH_CALL_END_CLEARED_DOWN;
  }
  /// One line for people: code, reason, last phase, capabilities of both ends.
  std::string reason() const;
  /// AT&V1: one fact per line.
  std::vector<std::string> facts() const;
  /// AT#UD: V.59's objects, "name{value}".
  std::vector<std::string> objects() const;

 private:
  enum class Reached : std::uint8_t { kNothing, kDialled, kRinging, kHeard, kTraining, kData };
  std::string duration() const;
  std::string reached() const;
  std::string offers(std::string_view between) const;

  bool begun_ = false, ended_ = false, busy_ = false, no_dial_tone_ = false, caller_ = true;
  oh_call_end why_ = OH_CALL_END_UNIDENTIFIED;
  Reached reached_ = Reached::kNothing;
  std::string carrier_;
  std::uint32_t tx_bit_rate_ = 0, rx_bit_rate_ = 0, retrains_ = 0;
  float rx_level_dbm0_ = -100;
  bool direct_ = false, training_again_ = false, quick_connect_ = false;
  unsigned recoveries_ = 0;
  unsigned mnp_class_ = 0;
  oh_modem_end_line line_{};  // SNR, carrier and clock as measured in data mode
  std::uint32_t frames_again_ = 0, bad_frames_ = 0;
  std::uint64_t lost_samples_ = 0;
  std::int64_t began_ms_ = 0, last_ms_ = 0;
  std::uint32_t modulations_tried_ = 0;
  std::uint32_t furthest_ = OH_START_UP_NONE;  // of this start-up, or of the retrains since data mode
  std::string failure_, line_failure_, detail_;
};

/// Why a call ended by itself.
oh_call_end end_of(const CallStatus& status);

/// @return a few words, such as "busy tone"; "unknown" if there is no such code of oh_call_end
std::string_view text_of(std::uint32_t end);
/// The capabilities in a sequence: "CM V.34 V.32bis/V.32", "INFO0 received 2400 3000 3200 symbols/s".
/// @param octets  as in oh_pump_observer::sequence; zeros may follow
std::string offer_text(oh_sequence which, std::span<const std::uint8_t> octets);

}  // namespace offhook::modem
