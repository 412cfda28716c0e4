// SPDX-License-Identifier: MIT
//
// The analogue modem's data mode: the line is watched, and the rate renegotiated.
#include "dsp/v90/session/analogue.h"

namespace offhook::v90 {

void AnalogueProcedure::act_on_line(LineAdvice advice) {
  switch (advice) {
    case LineAdvice::kNone:
      break;
    case LineAdvice::kLost:
      handle(Event::kLineLost);
      break;
    case LineAdvice::kRenegotiate:
      renegotiate(false);
      break;
    case LineAdvice::kRenegotiateWithSilence:
      renegotiate(true);
      break;
  }
}

// --- renegotiation

void AnalogueProcedure::begin_procedure(Procedure procedure) {
  procedure_ = procedure;
  ++renegotiations_;
  mp_received_ = answered_ = b1d_received_ = cp_begun_ = false;
  primes_ = 0;
  tx_live_ = false;
  choose_next_rate();
  cp_.silence = procedure == Procedure::kRenegotiation && asks_silence_;
  asks_silence_ = silent_ = false;
  if (carries_nothing() && procedure == Procedure::kRenegotiation) return end_in_retrain();
  send_s();
}

void AnalogueProcedure::begin_renegotiation() {
  deliver(false);
  begin_procedure(Procedure::kRenegotiation);
}

void AnalogueProcedure::begin_cleardown() {
  deliver(false);
  begin_procedure(Procedure::kCleardown);
}

void AnalogueProcedure::answer_renegotiation() {
  begin_procedure(Procedure::kRenegotiation);
  if (outcome_ == Outcome::kNone) follow_frames();
}

}  // namespace offhook::v90
