// SPDX-License-Identifier: MIT
//
// The analogue modem's receiver of PCM: from samples of the line to the output levels of the exchange's converter,
// symbol by symbol, in time with the network. Bits are decoded elsewhere.
//
//   16000 samples/s -> timebase: two samples per network symbol -> Sd detector: clock, place
//                        ^                       |---> TRN1d, known: least squares -> first taps
//                   timing loop                  '---> forward taps (64 symbols) --(+)--> level
//                        ^                                                          ^
//                        '---------- error <-- reference <-- decider                '-- feedback taps (128 symbols)
//
// Two samples per symbol, because a line card's filter ends beyond 4000 Hz and the signal there is needed. Feedback,
// because transformers remove the lowest frequencies, and a tail of a hundred small taps undoes that without
// amplifying noise.
//
// Levels are in the units of Table 1 as the digital modem's TRN1d has them: linear_of(UINFO) on a transparent path.
// The caller gives the most likely transmitted level of each symbol, and the error moves taps and timing.
//
//   if (receiver.process(sample)) receiver.adapt(decide(receiver.symbol(), receiver.interval()));
//
// Everything is float; state is plain memory, no allocation. Source: Mueller, Spaulding 1975; Gitlin, Weinstein 1981
// (fractionally spaced equalisation); Salz 1973 (decision feedback).
#pragma once

#include <stdint.h>

#include "dsp/blocks/kernels.h"
#include "dsp/v90/coding/modulus.h"
#include "dsp/v90/pcm/least_squares.h"
#include "dsp/v90/pcm/sd_detector.h"
#include "dsp/v90/pcm/timebase.h"

namespace offhook::v90 {

class PcmReceiver {
 public:
  static constexpr int kForward = LeastSquares::kForward;
  static constexpr int kFeedback = LeastSquares::kFeedback;

  enum class Task : uint8_t {
    kHold,   ///< keep time; give symbols if trained, adapt nothing
    kSeek,   ///< detect Sd, Sd-bar and TRN1d of an unknown line
    kFollow  ///< adapt
  };
  enum class Event : uint8_t {
    kNone,
    kSdBar,   ///< Sd has turned into Sd-bar; TRN1d is taken in
    kTrained  ///< symbols come from now on
  };

  /// The permitted use of a reference.
  enum class Trust : uint8_t {
    kNone,    ///< it is fed back, and that is all
    kTiming,  ///< the timing loop follows its error
    kAll      ///< the taps, too
  };

  PcmReceiver() = default;
  /// Not real-time in the strict sense: fills tables (about 0.2 ms). Starts with Task::kHold.
  void init(const Kernels& kernels = best_kernels());
  /// @param level  of TRN1d: linear_of(UINFO). kSeek forgets the line.
  void set_task(Task task, float level = 0);
  Task task() const { return task_; }

  /// One sample at 16 000 Hz, without echo. @return true when there is a new symbol().
  /// Real-time: yes; O(taps), except one sample in a training, which finds the place of TRN1d: 25 000 multiplications.
  bool process(float sample) { return put(sample, false); }
  /// One sample was lost: time advances, nothing is adapted.
  bool process_lost() { return put(0, true); }
  Event take_event() {
    const Event e = event_;
    event_ = Event::kNone;
    return e;
  }

  /// The newest level, with its sign.
  float symbol() const { return symbol_; }
  /// Symbols since the first of TRN1d, of the newest.
  int64_t position() const { return position_; }
  /// Interval of the data frame that the newest belongs to.
  int interval() const { return static_cast<int>(position_ % kFrameIntervals); }
  /// The data frames have moved: adds `intervals` to the next symbol's interval and to position().
  void move(int intervals) {
    position_ += intervals;
    first_ -= 2 * intervals;
  }
  /// It was heard through a gap.
  bool erased() const { return lost_ > 0; }
  /// The level that was sent for the newest symbol. @param trust  adapt to it so far, as the task allows.
  /// Real-time: yes, O(taps).  @pre process() has just returned true; call it once for each symbol
  void adapt(float reference, Trust trust = Trust::kAll);

  /// Collects the next symbols, whose references must be right, and computes the taps again by least squares: more
  /// accurate than LMS achieves in seconds.
  void refit();
  bool refitting() const { return stage_ == Stage::kRun && (collecting_ || !fit_.idle()); }

  bool trained() const { return stage_ == Stage::kRun; }
  /// Mean squared error of the symbols that were trusted since the taps were found, over 1024; 0 before there is any.
  float error_power() const { return error_power_; }
  /// The network's time of the newest sample, in symbols. Only differences have a meaning.
  double network_symbols() const { return (static_cast<double>(half_ + 1) - timebase_.until() / (1 + deviation_)) / 2; }
  /// Symbols of the network in two samples.
  double symbols_a_sample() const { return 1 / (1 + deviation_); }
  /// Network clock against ours.
  float clock_ppm() const { return static_cast<float>(deviation_ * -1e6); }
  const float* taps() const { return taps_; }  ///< [kForward + kFeedback], each oldest first

 private:
  enum class Stage : uint8_t { kIdle, kSeek, kCapture, kSolve, kRun };
  static constexpr int kRows = LeastSquares::kRows;
  static constexpr int kRing = 256;            // T/2 samples kept
  static constexpr int kSearch = 24;           // T/2 samples either side, of the place of TRN1d
  static constexpr int kAhead = kForward / 2;  // samples of a window before its symbol, and after
  static constexpr int kCaptured = 2 * (kRows + kFeedback) + kForward + 2 * kSearch;

  bool put(float sample, bool lost);
  bool half_symbol(float u);
  void begin_capture();
  void place();
  void begin_to_run();
  void equalise();
  void collect(float reference);
  const float* window(int age) const { return ring_ + (at_ + kRing - age - kForward + 1) % kRing; }

  const Kernels* kernels_ = nullptr;
  Task task_ = Task::kHold;
  Stage stage_ = Stage::kIdle;
  Event event_ = Event::kNone;
  Timebase timebase_;
  SdDetector detector_;
  LeastSquares fit_;

  float level_ = 1;
  int64_t half_ = 0;   // T/2 samples so far
  int64_t first_ = 0;  // of them the middle of TRN1d's first symbol
  int64_t expected_ = 0;
  int at_ = 0;
  float ring_[kRing + kForward]{};  // the first again after the end
  int decided_at_ = 0;
  float decided_[2 * kFeedback]{};
  float unit_ = 1;  // of the fed-back samples: makes a level of TRN1d as strong as the samples

  float captured_[kCaptured]{};
  int captures_ = 0;
  float known_[kRows + kFeedback]{};  // fed-back values of the rows' symbols
  float wanted_[kRows]{};
  bool collecting_ = false;
  int collected_ = 0;

  float taps_[kForward + kFeedback]{};
  float symbol_ = 0;
  float slope_ = 0;  // of the newest symbol, a symbol period
  float slope_power_ = 0;
  float input_power_ = 1;
  int64_t position_ = -1;
  uint32_t adapted_ = 0;
  uint32_t averaged_ = 0;  // errors, since the taps were found
  float error_power_ = 0;
  double deviation_ = 0;  // of the output spacing from nominal
  int lost_ = 0;
};

}  // namespace offhook::v90
