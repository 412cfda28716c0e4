// SPDX-License-Identifier: MIT
//
// The procedures of V.22bis as two tables: the signal that an end sends in each step, and the events that end a step.
//
//   caller     kListen kPause |   kS1 kSb1   | kSb1Timed kSb2 | kData
//   answerer   kUsb1 ............... | kReply  kSb1Timed kSb2 | kData
//
// Without S1: kSb1 or kUsb1, kSb1Slow, kData at 1200 bit/s. A retrain begins with kS1 at the end that requests it and
// with kReply at the other (6.4). If 2400 bit/s failed several times, or its signal is poor for seconds, a retrain
// requests 1200 bit/s (6.6):
//
//   requests   kS1 kRateAsk    | kRateTimed kRateOnes | kData
//   agrees     kReply kSb1Timed | kRateReply kRateOnes | kData
//
// Loop 2 (7.1):
//
//   requests   kLoopAsk | kLoopOnes | kLoopTest | kLoopDrop kLoopAfter | kData
//   grants     kData    | kLoopGrant  kLooped   | kDropped             | kData
//
// Bell 212A: kBellTone instead of the answer tone and kUsb1, and no S1.
#pragma once

#include <stdint.h>

#include <optional>
#include <span>

#include "dsp/v22/transmitter.h"
#include "offhook/pump.h"

namespace offhook::v22 {

class Modem;

enum class Step : uint8_t {
  kSilence,  ///< answerer, before its tone
  kAnswerTone,
  kAfterTone,
  kUsb1,       ///< answerer: until the caller is detected
  kBellTone,   ///< answerer of Bell 212A: likewise
  kListen,     ///< caller: until unscrambled ones are received
  kPause,      ///< caller: silent still
  kS1,         ///< first of the two bits
  kSb1,        ///< until the far end's S1 was received
  kReply,      ///< S1 that answers S1
  kSb1Timed,   ///< until 600 ms after the end of the far end's S1
  kSb2,        ///< scrambled ones at 2400 bit/s, until both directions are ready
  kSb1Slow,    ///< scrambled ones at 1200 bit/s, after the far end's were received
  kRateAsk,    ///< R1 for 1200 bit/s, until the far end's S1 was received
  kRateTimed,  ///< R1, until 600 ms after the end of the far end's S1
  kRateReply,  ///< R2 for 1200 bit/s, for 600 ms
  kRateOnes,   ///< scrambled ones at 1200 bit/s, until both directions are ready
  kData,
  kDropped,    ///< data mode, but nothing is received
  kLoopAsk,    ///< unscrambled ones, until reversals are received
  kLoopOnes,   ///< scrambled ones, until they return
  kLoopTest,   ///< data, which return
  kLoopDrop,   ///< silence that ends the test
  kLoopAfter,  ///< scrambled ones, until the far end is in data mode again
  kLoopGrant,  ///< scrambled reversals, until the far end's unscrambled ones have ended
  kLooped,     ///< received data
  kReleased,
  kFailed,
  kNothingInCommon,
  kSteps,
  // In transitions only.
  kBeginning  ///< kUsb1, kBellTone, or kListen
};

enum class Event : uint8_t {
  kSymbol,  ///< a symbol is due
  kS1,      ///< comes
  kS1End,   ///< has ended
  kOnes,    ///< scrambled ones at 1200 bit/s were received for long enough
  kRate,    ///< R1 or R2 for 1200 bit/s was received
  kLost,    ///< the signal cannot be decoded
  kPoor,    ///< at 2400 bit/s, most frames of the layer above must be damaged
  kCarrierOff,
  kBegin,           ///< from the owner: the answer tone is over
  kRetrain,         ///< of the owner
  kLoopRequest,     ///< of the owner
  kLoopLocal,       ///< of the owner
  kLoopEnd,         ///< of the owner
  kInitiation,      ///< unscrambled ones were received for long enough
  kInitiationOver,  ///< and have ended
  kReversals,       ///< scrambled reversals were received for long enough
  kLoopedOnes,      ///< scrambled ones were received for long enough
  kHangUp,          ///< of the owner
  kGiveUp           ///< no data for too long
};

struct StepInfo {
  const char* name;
  std::optional<Signal> signal;  ///< signal that the step begins; none: the current signal continues
  oh_pump_state state;
};
/// Every step. A row for it comes after the rows of single steps.
inline constexpr uint64_t kAny = (uint64_t{1} << static_cast<int>(Step::kSteps)) - 1;
/// @pre s < Step::kSteps
const StepInfo& info(Step s);

/// Rows of the same step and event are tried from the top.
struct Transition {
  uint64_t from;  ///< set of steps: in()
  Event event;
  bool (*guard)(const Modem&);  ///< NULL: always
  Step to;
  void (*action)(Modem&);  ///< called before the step is entered; may be NULL
  const char* clause;      ///< of V.22bis, unless another Recommendation is named; "ours": from none
};
std::span<const Transition> transitions();

}  // namespace offhook::v22
