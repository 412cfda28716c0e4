// SPDX-License-Identifier: MIT
//
// Before two modems talk, one of them talks with the exchange: it waits for dial tone, sends the digits as DTMF, and
// hears ringback or busy.
//
// Tones are identified by their frequencies (dial 350 + 440 Hz, ringback 440 + 480, busy 480 + 620: the precise tone
// plan of North America; 425 Hz for all three, identified only by their cadence: ITU-T E.180) in frames of 40 ms.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

struct dtmf_tx_state_s;  // spandsp
struct modem_connect_tones_rx_state_s;

namespace offhook::modem {

enum class Progress { kNothing, kDialTone, kRinging, kBusy, kNoDialTone, kNoAnswer, kFaxCaller };

/// Analyses received samples. Real-time: yes, O(n).
class ProgressDetector {
 public:
  /// @param rate_hz  of the samples; whole frames of 40 ms
  explicit ProgressDetector(std::uint32_t rate_hz);
  void process(const std::int16_t* rx, std::size_t n);
  /// n samples were lost: time advances. A frame with less than half of its samples counts as the one
  /// before.
  void report_gap(std::size_t n);
  /// The last tone that lasted long enough.
  Progress progress() const { return progress_; }
  void reset() { *this = ProgressDetector(rate_hz_); }

 private:
  static constexpr std::size_t kTones = 5;
  enum class Kind { kNone, kDial, kRing, kBusy, kSingle };
  void step(float x);
  Kind classify() const;
  void frame(Kind kind);

  std::uint32_t rate_hz_;
  int frame_;                       // 40 ms, samples: bins of 25 Hz
  std::array<float, kTones> turn_;  // 2 cos(2 pi f / rate)
  std::array<float, kTones> z1_{}, z2_{};
  float energy_ = 0;
  int in_frame_ = 0;  // samples, and how many of them were not lost:
  int heard_in_frame_ = 0;
  Kind kind_ = Kind::kNone;  // of the current run of frames
  int run_ = 0, bursts_ = 0;
  Progress progress_ = Progress::kNothing;
};

/// An answerer's search for a calling fax machine, which sends CNG (1100 Hz for 0.5 s, every 3.5 s), or frames by V.21
/// if a person started it. Source: spandsp, because the text of T.30 was not available. Real-time: yes, O(n), after the
/// constructor.
class FaxCallerDetector {
 public:
  /// Analyses received samples at 8000 samples per second.
  FaxCallerDetector();
  void process(const std::int16_t* rx, std::size_t n);
  bool found() const { return found_; }

 private:
  struct Free {
    void operator()(modem_connect_tones_rx_state_s* rx) const;
  };
  using Tone = std::unique_ptr<modem_connect_tones_rx_state_s, Free>;
  static constexpr std::size_t kSections = 4;
  /// y[n] = b0 (x[n] + 2 x[n-1] + x[n-2]) - a1 y[n-1] - a2 y[n-2]
  struct Section {
    float b0, a1, a2;
  };
  static std::array<Section, kSections> low_pass();
  float below_answer_tone(float x);

  Tone cng_, frames_;
  std::array<Section, kSections> low_pass_ = low_pass();
  std::array<std::array<float, 2>, kSections> z_{};
  bool found_ = false;
};

struct DialPlan {
  bool need_dial_tone = true;  ///< X2, X4: without dial tone the call fails; otherwise it waits for a fixed time
  int pause_s = 2;             ///< S6, before dialling blindly
  int comma_s = 2;             ///< S8
  int digit_ms = 95;           ///< S11
};

/// Dials. Real-time: yes, after the constructor.
class Dialler {
 public:
  static constexpr std::size_t kMaxDigits = 64;
  /// ',' is a pause, 'W' waits for dial tone.
  static constexpr std::string_view kDigits = "0123456789ABCD*#,W";
  /// @param digits  of kDigits. None: done at once
  /// @param rate_hz  of the samples  @throws std::invalid_argument for digits at a rate that spandsp's DTMF does not
  /// support
  Dialler(std::string_view digits, const DialPlan& plan, std::uint32_t rate_hz);

  /// @param rx [n]  @param[out] tx [n]
  void process(const std::int16_t* rx, std::int16_t* tx, std::size_t n);
  /// n samples were lost, both ways: pauses, waits and digits end when they would have.
  void report_gap(std::size_t n);
  bool done() const { return state_ == State::kDone; }
  /// it waited for a dial tone that did not come
  bool failed() const { return state_ == State::kFailed; }

 private:
  enum class State { kPause, kWaitForTone, kDigits, kDone, kFailed };
  void advance(std::int16_t* tx, std::size_t n);
  void next();

  std::array<char, kMaxDigits> digits_{};
  std::size_t count_ = 0, at_ = 0;
  DialPlan plan_;
  long rate_hz_;
  State state_ = State::kDone;
  long left_ = 0;  // samples: length of the pause or the wait
  ProgressDetector detector_;
  struct Free {
    void operator()(dtmf_tx_state_s* tx) const;
  };
  std::unique_ptr<dtmf_tx_state_s, Free> tx_;
};

}  // namespace offhook::modem
