// SPDX-License-Identifier: MIT
//
// The analogue modem's data mode: the line is watched, and the rate renegotiated.
#include "dsp/v90/session/analogue.h"

namespace offhook::v90 {
namespace {

// From a level to the point half way to the next, in standard deviations of the noise.
constexpr float kTooNear = 4.2f;  // measured in data: renegotiate
constexpr float kLost = 1.9f;     // decisions and errors of no relation give 1.7
constexpr float kSpare = 1.12f;   // 1 dB: a higher rate is to last
constexpr int kWindow = 2048;     // symbols
constexpr int kNoisyWindows = 4;
constexpr int kLostWindows = 2;
constexpr int kMostGoodWindows = 1024;
constexpr float kMostlyEcho = 0.5f;  // of the errors' power; of 2048 that are none, 1/16
constexpr uint32_t kBetweenSilencesMs = 30000;

}  // namespace

void AnalogueProcedure::deliver(bool live) {
  rx_live_ = live;
  reader_.deliver(live);
  watched_ = noisy_ = good_ = 0;
}

void AnalogueProcedure::follow_line(float error_power) {
  if (++watched_ % kWindow != 0) return;
  const float rms = square_root(error_power);
  const float half = reader_.decision_distance();
  if (half < kLost * rms) {
    if (++noisy_ >= kLostWindows) handle(Event::kLineLost);
  } else if (half < kTooNear * rms) {
    if (++noisy_ == 1) echo_share_ = 0;
    if (noisy_ < kNoisyWindows) return;
    const bool echo = echo_share_ > kMostlyEcho && now_ >= no_silence_until_;
    if (echo) no_silence_until_ = now_ + ms(kBetweenSilencesMs);
    // Without the echo the current rate is right.
    if (!echo) wanted_rms_ = rms > noise_rms_ ? rms : noise_rms_;
    renegotiate(echo);
  } else {
    noisy_ = 0;
    good_ = kSpare * rms < noise_rms_ ? good_ + 1 : 0;
    if (good_ < wait_for_higher_) return;
    good_ = 0;
    if (wait_for_higher_ < kMostGoodWindows) wait_for_higher_ *= 2;
    Cp higher = cp_;
    choose_rate(reader_.levels(), limits(kSpare * rms), &higher);
    if (higher.drn <= cp_.drn) return;
    wanted_rms_ = kSpare * rms;
    handle(Event::kRenegotiate);
  }
}

// --- renegotiation

void AnalogueProcedure::begin_procedure(Procedure procedure) {
  procedure_ = procedure;
  ++renegotiations_;
  mp_received_ = answered_ = b1d_received_ = cp_begun_ = false;
  primes_ = 0;
  tx_live_ = false;
  // data_frames_ is in use until Ed; cp_ is its successor.
  const FrameParameters running = data_frames_;
  choose_data_rate(wanted_rms_ > 0 ? wanted_rms_ : noise_rms_);
  wanted_rms_ = 0;
  cp_.silence = procedure == Procedure::kRenegotiation && asks_silence_;
  asks_silence_ = silent_ = false;
  data_frames_ = running;
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
