// SPDX-License-Identifier: MIT
//
// The MH sequences of V.92 (11/2000, Amendment 1) 8.9.2, modem-on-hold: a modem in data mode requests that the other
// wait while its subscriber takes another call, or end the connection for it. They have the frame and the modulation of
// Phase 2's INFO sequences, so v34::InfoDetector finds them.
//
// Table 32 prints patterns, whose left-most bit is the first in time (clause 8).
#pragma once

#include <stdint.h>

namespace offhook::v90 {

/// Bits 12:15 of Table 32, as printed.
enum class HoldSignal : uint8_t {
  kRequest = 0b0011,           ///< MHreq: go on hold
  kAcknowledge = 0b0101,       ///< MHack: yes, for this long
  kDeny = 0b0111,              ///< MHnack: no; clear down, or reconnect
  kClearRequest = 0b1001,      ///< MHclrd
  kClearAcknowledge = 0b1011,  ///< MHcda
  kReconnect = 0b1101          ///< MHfrr: answer at once, for a fast reconnect
};

/// Bits 16:19 of MHclrd, as printed.
enum class ClearReason : uint8_t { kIncomingCall = 0b0101, kOutgoingCall = 0b0110, kOther = 0b1010 };

/// Bits 16:19 of MHnack, as printed: whether a later request has a chance (Amendment 1).
enum class DenyReason : uint8_t { kForEver = 0b0101, kForNow = 0b0111 };

inline constexpr uint8_t kHoldWithoutLimit = 13;      ///< code of T1
inline constexpr uint32_t kNoHoldLimit = 0xFFFFFFFF;  ///< hold_seconds()

/// T1 by its code, Table 33: 1 is 10 s. 0: a reserved code.
constexpr uint32_t hold_seconds(int code) {
  constexpr uint32_t kSeconds[16] = {0, 10, 20, 30, 40, 60, 120, 180, 240, 360, 480, 720, 960, kNoHoldLimit, 0, 0};
  return kSeconds[code & 15];
}

struct HoldMessage {
  static constexpr int kBits = 40;
  HoldSignal signal;
  /// Bits 16:19, as printed: T1's code of MHack, a ClearReason of MHclrd, a DenyReason of MHnack; for the others, the
  /// signal repeated. Every value of the last three is accepted: "should not be interpreted" (Note 2).
  uint8_t information;
  friend bool operator==(const HoldMessage&, const HoldMessage&) = default;
};

constexpr HoldMessage hold_message(HoldSignal signal) {
  return {signal, static_cast<uint8_t>(signal)};
}

/// @param[out] bits  [HoldMessage::kBits] one per byte, in order of time.  Real-time: yes.
void encode(const HoldMessage& message, uint8_t* bits);
/// @param[in] bits  as encode() gives; fill bits are ignored.  @return false: damaged, or a reserved signal,
/// which must be ignored (Note 1).  Real-time: yes.
bool decode(const uint8_t* bits, HoldMessage* message);

}  // namespace offhook::v90
