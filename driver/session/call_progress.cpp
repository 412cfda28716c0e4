// SPDX-License-Identifier: MIT
#include "driver/session/call_progress.h"

#include <spandsp.h>

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstring>
#include <numbers>
#include <stdexcept>
#include <string>

namespace offhook::modem {

namespace {

enum { k350, k440, k480, k620, k425 };
constexpr std::array<double, 5> kHz = {350, 440, 480, 620, 425};
constexpr float kPure = 0.75f;          // least share of the energy that the tones of a class have
constexpr float kEachTone = 0.15f;      // least share of each of two tones
constexpr float kQuietest = 60 * 60.f;  // mean square: -43 dBm0
constexpr int kFramesPerSecond = 25;
constexpr int kDialToneFrames = 15;            // 0.6 s of a pair
constexpr int kSingleDialFrames = 38;          // 1.5 s of 425 Hz: longer than ringback, which lasts 1 s
constexpr int kRingFrames = 18;                // 0.7 s
constexpr int kBusyLeast = 5, kBusyMost = 18;  // 0.2 to 0.7 s on, and off for the same time
constexpr long kDialToneWaitS = 6;

}  // namespace

ProgressDetector::ProgressDetector(std::uint32_t rate_hz)
    : rate_hz_(rate_hz), frame_(static_cast<int>(rate_hz) / kFramesPerSecond) {
  assert(rate_hz % kFramesPerSecond == 0);
  for (std::size_t k = 0; k < kTones; ++k)
    turn_[k] = static_cast<float>(2 * std::cos(2 * std::numbers::pi * kHz[k] / rate_hz));
}

void ProgressDetector::process(const std::int16_t* rx, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) {
    const float x = rx[i];
    energy_ += x * x;
    ++heard_in_frame_;
    step(x);
  }
}

// Silence keeps the filters' phase: the tone after the gap adds to the tone before it.
void ProgressDetector::report_gap(std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) step(0);
}

void ProgressDetector::step(float x) {
  for (std::size_t k = 0; k < kTones; ++k) {
    const float z = x + turn_[k] * z1_[k] - z2_[k];
    z2_[k] = z1_[k];
    z1_[k] = z;
  }
  if (++in_frame_ < frame_) return;
  frame(2 * heard_in_frame_ < frame_ ? kind_ : classify());
  z1_ = z2_ = {};
  energy_ = 0;
  in_frame_ = heard_in_frame_ = 0;
}

ProgressDetector::Kind ProgressDetector::classify() const {
  const auto heard = static_cast<float>(heard_in_frame_);
  if (energy_ < kQuietest * heard) return Kind::kNone;
  std::array<float, kTones> share;
  for (std::size_t k = 0; k < kTones; ++k)
    share[k] = 2 * (z1_[k] * z1_[k] + z2_[k] * z2_[k] - turn_[k] * z1_[k] * z2_[k]) / (heard * energy_);
  const auto pair = [&share](int a, int b) {
    const float least = std::min(share[static_cast<std::size_t>(a)], share[static_cast<std::size_t>(b)]);
    return share[static_cast<std::size_t>(a)] + share[static_cast<std::size_t>(b)] > kPure && least > kEachTone;
  };
  if (pair(k480, k620)) return Kind::kBusy;
  if (pair(k350, k440)) return Kind::kDial;
  if (pair(k440, k480)) return Kind::kRing;
  return share[k425] > kPure ? Kind::kSingle : Kind::kNone;
}

void ProgressDetector::frame(Kind kind) {
  if (kind == kind_) {
    ++run_;
  } else {
    const bool fits = run_ >= kBusyLeast && run_ <= kBusyMost;
    if (fits && (kind_ == Kind::kBusy || kind_ == Kind::kSingle)) {
      ++bursts_;
    } else if (!(fits && kind_ == Kind::kNone) && run_ > 1) {  // a single different frame, at an edge, is not a run
      bursts_ = 0;
    }
    kind_ = kind;
    run_ = 1;
  }
  if (bursts_ >= 2) progress_ = Progress::kBusy;
  if (kind_ == Kind::kDial && run_ >= kDialToneFrames) progress_ = Progress::kDialTone;
  if (kind_ == Kind::kSingle && run_ >= kSingleDialFrames) progress_ = Progress::kDialTone;
  if (kind_ == Kind::kRing && run_ >= kRingFrames) progress_ = Progress::kRinging;
}

FaxCallerDetector::FaxCallerDetector()
    : cng_(modem_connect_tones_rx_init(nullptr, MODEM_CONNECT_TONES_FAX_CNG, nullptr, nullptr)),
      frames_(modem_connect_tones_rx_init(nullptr, MODEM_CONNECT_TONES_FAX_PREAMBLE, nullptr, nullptr)) {}

void FaxCallerDetector::Free::operator()(modem_connect_tones_rx_state_s* rx) const {
  modem_connect_tones_rx_free(rx);
}

/// A Butterworth low-pass of eighth order, -3 dB at 1400 Hz: spandsp's detector of CNG takes a tone alone, and the echo
/// of this end's answer tone (2100 Hz) is often the louder one.
std::array<FaxCallerDetector::Section, FaxCallerDetector::kSections> FaxCallerDetector::low_pass() {
  const double w = 2 * std::numbers::pi * 1400 / SAMPLE_RATE, c = std::cos(w);
  std::array<Section, kSections> sections{};
  for (std::size_t k = 0; k < kSections; ++k) {
    const double pole = (2 * static_cast<double>(k) + 1) * std::numbers::pi / (4 * kSections);
    const double alpha = std::sin(w) * std::cos(pole), a0 = 1 + alpha;  // sin(w) / 2Q
    sections[k] = {static_cast<float>((1 - c) / 2 / a0), static_cast<float>(-2 * c / a0),
                   static_cast<float>((1 - alpha) / a0)};
  }
  return sections;
}

float FaxCallerDetector::below_answer_tone(float x) {
  for (std::size_t k = 0; k < kSections; ++k) {
    const auto [b0, a1, a2] = low_pass_[k];
    const float y = b0 * x + z_[k][0];
    z_[k][0] = 2 * b0 * x - a1 * y + z_[k][1];
    z_[k][1] = b0 * x - a2 * y;
    x = y;
  }
  return x;
}

void FaxCallerDetector::process(const std::int16_t* rx, std::size_t n) {
  std::array<std::int16_t, 64> low;
  for (std::size_t some = 0; n > 0; n -= some, rx += some) {
    some = std::min(n, low.size());
    for (std::size_t i = 0; i < some; ++i)
      low[i] = static_cast<std::int16_t>(std::clamp(below_answer_tone(rx[i]), -32768.f, 32767.f));
    modem_connect_tones_rx(cng_.get(), low.data(), static_cast<int>(some));
    modem_connect_tones_rx(frames_.get(), rx, static_cast<int>(some));
    for (const Tone* tone : {&cng_, &frames_})
      found_ |= modem_connect_tones_rx_get(tone->get()) != MODEM_CONNECT_TONES_NONE;
  }
}

Dialler::Dialler(std::string_view digits, const DialPlan& plan, std::uint32_t rate_hz)
    : count_(std::min(digits.size(), kMaxDigits)),
      plan_(plan),
      rate_hz_(rate_hz),
      detector_(rate_hz),
      tx_(dtmf_tx_init(nullptr)) {
  if (count_ > 0 && rate_hz != SAMPLE_RATE) {
    throw std::invalid_argument("digits are dialled at " + std::to_string(SAMPLE_RATE) + " samples/s; the card has " +
                                std::to_string(rate_hz));
  }
  std::copy_n(digits.begin(), count_, digits_.begin());
  dtmf_tx_set_timing(tx_.get(), plan.digit_ms, std::max(plan.digit_ms, 50));
  if (count_ == 0) return;
  state_ = plan.need_dial_tone ? State::kWaitForTone : State::kPause;
  left_ = plan.need_dial_tone ? kDialToneWaitS * rate_hz_ : plan.pause_s * rate_hz_;
}

void Dialler::Free::operator()(dtmf_tx_state_s* tx) const {
  dtmf_tx_free(tx);
}

void Dialler::next() {
  if (at_ == count_) {
    state_ = State::kDone;
    return;
  }
  const char c = digits_[at_++];
  if (c == ',') {
    state_ = State::kPause;
    left_ = plan_.comma_s * rate_hz_;
  } else if (c == 'W') {
    state_ = State::kWaitForTone;
    left_ = kDialToneWaitS * rate_hz_;
    detector_.reset();
  } else {
    state_ = State::kDigits;
    dtmf_tx_put(tx_.get(), &c, 1);
  }
}

void Dialler::process(const std::int16_t* rx, std::int16_t* tx, std::size_t n) {
  std::memset(tx, 0, n * sizeof *tx);
  if (state_ == State::kWaitForTone) detector_.process(rx, n);
  advance(tx, n);
}

void Dialler::report_gap(std::size_t n) {
  if (state_ == State::kWaitForTone) detector_.report_gap(n);
  std::array<std::int16_t, 64> unheard;
  for (std::size_t k = 0; n > 0; n -= k) advance(unheard.data(), k = std::min(n, unheard.size()));
}

void Dialler::advance(std::int16_t* tx, std::size_t n) {
  switch (state_) {
    case State::kPause:
      if ((left_ -= static_cast<long>(n)) <= 0) next();
      return;
    case State::kWaitForTone:
      if (detector_.progress() == Progress::kDialTone) {
        next();
      } else if ((left_ -= static_cast<long>(n)) <= 0) {
        state_ = State::kFailed;
      }
      return;
    case State::kDigits:
      if (dtmf_tx(tx_.get(), tx, static_cast<int>(n)) < static_cast<int>(n)) next();
      return;
    case State::kDone:
    case State::kFailed:
      return;
  }
}

}  // namespace offhook::modem
