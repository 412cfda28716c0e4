// SPDX-License-Identifier: MIT
//
// The procedures of V.32bis as two tables: the signals that an end sends and listens for in each step, and the events
// that end a step. The start-up of clause 6, from left to right:
//
//   caller     kAa ------------ kCc      | kWaitS                kS2 kSBar2 kTrn2 kR2 ............ | kE  | kData
//   answerer   kAc ---- kCa -- kAcAgain  | kS1 kSBar1 kTrn1 kR1  kHearS kWaitR2 | kS3 kSBar3 kTrn3 kR3 | kE | kData
//
// A retrain (clause 7) begins again with kAa or kAc. A renegotiation (clause 8), first and second end:
//
//   first      kData | kR4 .............. kR5 | kEAgain | kData
//   second     kData ......... kWaitR4 | kR5 | kEAgain  | kData
//
// A rate signal without rates, and E without a rate, clear the connection (kR4Clear, kR3Clear, ..).
#pragma once

#include <stdint.h>

#include <optional>
#include <span>

#include "dsp/v32/transmitter.h"
#include "offhook/pump.h"

namespace offhook::v32 {

class Modem;

enum class Step : uint8_t {
  kV8,
  kAnswerTone,       ///< caller: until ANS has lasted one second; answerer: sends ANS
  kAfterAnswerTone,  ///< answerer: 75 ms of silence
  kQuiet,            ///< silence before tones that start again
  kAa,
  kAaTurns,    ///< the reversal that ends AA is due
  kCc,         ///< until the second reversal
  kAcAfterV8,  ///< kAc; if nothing answers, the answer tone is sent again
  kAc,         ///< until AA is detected
  kCa,         ///< until AA turns to CC
  kCaTurns,    ///< the reversal that ends CA is due
  kAcAgain,    ///< until CC ends
  kWaitS,      ///< caller: silent until S, TRN and R1 were received
  kS2,
  kSBar2,
  kTrn2,
  kR2,     ///< until R3
  kPause,  ///< answerer: silence of 16 symbols
  kS1,
  kSBar1,
  kTrn1,
  kR1,      ///< until S
  kHearS,   ///< silent during S, which the caller prolongs by a round trip
  kWaitR2,  ///< silent during S, TRN and R2
  kS3,
  kSBar3,
  kTrn3,
  kR3,       ///< until E
  kR3Clear,  ///< R3 without a rate
  kE,        ///< E is due, or E and B1 are being sent
  kData,
  kWaitR4,     ///< data are still sent; the preamble of the far end's R4 was received
  kR4,         ///< preamble and rate signal; waits for the far end's
  kR5,         ///< preamble and rate signal; the far end's is known
  kEAgain,     ///< E and B1, after R4 and R5
  kR4Clear,    ///< R4 without rates
  kR5Clear,    ///< the same; the far end's R5 is known
  kEClear,     ///< E without a rate, after R4 without rates
  kEFarClear,  ///< and after the same from the far end
  kReleased,
  kFailed,
  kNothingInCommon,
  kSteps,
  // In transitions only.
  kTones,  ///< kAa, or kAc
  kEnd     ///< kReleased; kNothingInCommon if there were no data
};

enum class Event : uint8_t {
  kV8None,        ///< an answer tone without V.8
  kV8Other,       ///< V.8 chose no V.32bis
  kWithoutV8,     ///< from the owner: V.25's answer tone only
  kBegin,         ///< from the owner: the answer tone is over
  kBeginAfterV8,  ///< V.8 is over
  kFarTone,       ///< AA or AC, too early
  kSample,        ///< a sample of V.25 or of the tones
  kReversal,      ///< the far end's tone changed its phase
  kReceived,      ///< the receiver processed a sample
  kPreamble,      ///< of R4 or R5
  kFarRetrains,   ///< AA or AC instead of data or training
  kLost,          ///< the line can no longer be decoded
  kSymbol,        ///< a symbol is due
  kTimeout,       ///< the step's limit has passed
  kGiveUp,        ///< a minute without data
  kRenegotiate,   ///< from the owner, or from the line monitor
  kRetrain,       ///< of the owner
  kHangUp         ///< of the owner
};

/// The detector for received samples.
enum class Hears : uint8_t {
  kNothing,
  kV8,
  kAnswerTone,
  kTones,         ///< of the far end, and their reversals
  kOwnEcho,       ///< training of the echo canceller
  kLine,          ///< the receiver
  kTraining,      ///< the receiver; until S arrives, AA or AC are a retrain
  kDataOrRetrain  ///< the receiver; AA or AC are a retrain
};

/// The time limit for the far end, without two round trips.
enum class Limit : uint8_t {
  kNone,
  kShort,     ///< for a reversal, for E
  kLong,      ///< for TRN and rate signals
  kShortForS  ///< kShort until S, kLong after S
};

struct StepInfo {
  const char* name;
  std::optional<Signal> signal;  ///< signal that the step begins; none: the current signal continues
  Hears hears;
  Limit limit;
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
  const char* clause;      ///< of V.32bis, unless another Recommendation is named; "ours": from none
  bool goes_on = false;    ///< the signal and the step's time continue unchanged
};
std::span<const Transition> transitions();

}  // namespace offhook::v32
