// SPDX-License-Identifier: MIT
//
// What is kept of a call after it has ended: why it ended, how far it came and what it reached. The codes and the names
// of the objects are those of ITU-T V.59.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "driver/session/call.h"

namespace offhook::modem {

/// Why a call ended. Source: V.59 (11/2000), Table 17
enum class CallEnd : std::uint8_t {
  kUnidentified = 0,
  kDtrOff = 32,
  kSetUpTimeOut = 44,
  kNoDialTone = 47,
  kBusy = 51,
  kCarrierLost = 60,
  kTrainingFailed = 61,
  kNothingInCommon = 62,
  kRetrainFailed = 63,
  kClearedDown = 65,
  kProtocolError = 80,
  kUser = 90
};

/// From the owner's thread alone.
class LastCall {
 public:
  /// A call begins.
  void begin(oh_pump_role role, std::int64_t now_ms);
  /// How it stands; once for each round of the owner.
  /// @param carrier  of the modulation in use, as +MCR names it; empty: none yet
  void follow(const CallStatus& status, std::string_view carrier, std::int64_t now_ms);
  /// It has ended.
  void end(CallEnd why);

  bool ended() const { return ended_; }
  CallEnd why() const { return why_; }
  /// Neither this end nor the far end ended it on purpose.
  bool failed() const {
    return ended_ && why_ != CallEnd::kUser && why_ != CallEnd::kDtrOff && why_ != CallEnd::kClearedDown;
  }
  /// One line for people: code, reason and how far the call came.
  std::string reason() const;
  /// AT&V1: one fact on each line.
  std::vector<std::string> facts() const;
  /// AT#UD: V.59's objects, "name{value}".
  std::vector<std::string> objects() const;

 private:
  enum class Reached : std::uint8_t { kNothing, kDialled, kRinging, kHeard, kTraining, kData };
  std::string duration() const;

  bool begun_ = false, ended_ = false, busy_ = false, no_dial_tone_ = false, caller_ = true;
  CallEnd why_ = CallEnd::kUnidentified;
  Reached reached_ = Reached::kNothing;
  std::string carrier_;
  std::uint32_t tx_bit_rate_ = 0, rx_bit_rate_ = 0, retrains_ = 0;
  float rx_level_dbm0_ = -100;
  bool direct_ = false, training_again_ = false;
  unsigned recoveries_ = 0;
  oh_modem_end_line line_{};  // SNR, carrier and clock as of data
  std::uint32_t frames_again_ = 0, bad_frames_ = 0;
  std::uint64_t lost_samples_ = 0;
  std::int64_t began_ms_ = 0, last_ms_ = 0;
  std::string failure_, line_failure_;
};

/// Why a call that ended by itself ended. Source of the texts: oh_modem_end_failure()
CallEnd end_of(const CallStatus& status);

}  // namespace offhook::modem
