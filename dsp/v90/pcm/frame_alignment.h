// SPDX-License-Identifier: MIT
//
// The alignment of the data frames, after the network has dropped or repeated octets: a playout buffer that moves, a
// slip. The equaliser and the clock are unaffected, because the line card sends as before; but the six intervals shift.
//
// Three tests distinguish a wrong alignment from the right one. Levels: if the intervals have different constellations,
// the received levels lie between their points. Numbers: six labels make one above 2^K now and then, which no digital
// modem sends. Data: HDLC has no seven ones in a row, except an abort (V.42 8.1.1.2); with a wrong alignment the
// descrambler has seven every 256 bits. The last test needs a line that was long without such a run, and is the only
// one for six equal constellations of 64 points.
//
// When the data become wrong, all six alignments are decoded in parallel for a window of frames, and the only good one
// is taken. While octets are wrong none is good, and the next window follows. After a jump with robbed bits, which stay
// in their intervals, none is good either. In the end the one that is by far the best is taken, for a renegotiation, or
// the data are lost.
#pragma once

#include <stdint.h>

#include <bit>

#include "dsp/blocks/scrambler.h"
#include "dsp/v90/coding/constellation_choice.h"
#include "dsp/v90/coding/data_frame.h"

namespace offhook::v90 {

/// Seven ones in a row, counted.
class OnesRuns {
 public:
  /// @return 1 if a run reaches seven ones; the run then starts again
  int put(int bit) {
    run_ = (run_ + 1) * static_cast<int>(bit != 0);  // without a branch, which no processor could foresee
    if (run_ < kRun) return 0;
    run_ = 0;
    return 1;
  }
  /// n bits, the first in time in bit 0, the others 0. @pre 1 <= n <= 57  @return how many runs
  int put(uint64_t bits, int n) {
    const uint64_t all = bits << run_ | ((uint64_t{1} << run_) - 1);  // with the run so far
    uint64_t seven = all & all >> 1;
    seven &= seven >> 2;
    seven &= seven >> 3;
    if (seven == 0) {
      run_ = std::countl_one(all << (64 - n - run_));
      return 0;
    }
    int runs = 0;
    for (int k = 0; k < n; ++k) runs += put(static_cast<int>(bits >> k & 1));
    return runs;
  }

 private:
  static constexpr int kRun = 7;
  int run_ = 0;
};

class FrameAlignment {
 public:
  static constexpr int kWindowFrames = 96;  ///< 72 ms: 8 or more runs in a wrong alignment
  static constexpr int kCleanWindows = 4;   ///< without a run, before the data count as HDLC
  static constexpr int kMostWindows = 8;    ///< of a search

  FrameAlignment() = default;
  /// Data begin. @param distance  least, between two levels in use
  FrameAlignment(const FrameParameters& p, float distance);

  /// A data frame was read. @param bits  p.bits() of them, descrambled  @param number  of its labels  @param error  sum
  /// of the squared distances from the points.  Real-time: yes, O(bits).
  void watch(uint64_t bits, uint64_t number, float error);

  /// The alignments are compared: give each symbol to put().
  bool searching() const { return windows_left_ > 0; }
  /// @param[in] levels  of each Ucode in each interval, as the intervals lie now
  /// @return intervals by which the frames have moved, 1 to 5, with the last symbol of a search that found it; else 0
  /// Real-time: yes, O(6 * points).
  int put(float level, int interval, const LearntLevels& levels);
  /// For the symbol that was put: the level of the alignment with the best recent fit.
  float reference() const { return reference_; }
  enum class Verdict : uint8_t {
    kNone,
    kPoor,  ///< the frames have moved, and other points are needed there
    kLost   ///< the data were good and are no longer, and no alignment makes them so
  };
  /// Result of a search that has ended, once.
  Verdict take_verdict() {
    const Verdict v = verdict_;
    verdict_ = Verdict::kNone;
    return v;
  }

 private:
  struct Candidate {
    SignDecoder signs{0};
    Descrambler descrambler{kGpc};
    OnesRuns ones;
    uint8_t sign[kFrameIntervals]{};
    uint8_t label[kFrameIntervals]{};
    bool begun = false;
    int frames = 0;
    int faults = 0;
    float error = 0, recent = 0;
  };
  void begin_search();
  void begin_window();
  int give_up();
  void end_frame(Candidate& c);
  int decide();
  int cost(const Candidate& c) const;
  bool is_hdlc() const { return clean_ >= kCleanWindows; }
  bool is_off(float error, int symbols) const {
    return error > kBetweenPoints * distance_ * distance_ * static_cast<float>(symbols);
  }

  // Squared error over squared distance: noise for which the rate was chosen gives 0.01, a level anywhere between two
  // points 0.083 and more.
  static constexpr float kBetweenPoints = 0.04f;
  static constexpr int kErrorFrames = 16;  // over which levels are judged
  static constexpr int kMostClean = 2 * kCleanWindows;
  static constexpr int kSuspicion = 4;     // faults within a window
  static constexpr int kFirstFrames = 4;   // of a candidate, which signs and descrambler need
  static constexpr int kQuietFrames = 24;  // and until the fed-back samples have left the taps
  static constexpr float kRecent = 1.f / 16;
  static constexpr int kTrusted = 1, kRefused = 3;
  static constexpr int kOff = 1000;  // cost of levels that are off

  FrameParameters p_{};
  float distance_ = 0;
  OnesRuns ones_;
  int frames_ = 0, runs_ = 0, illegal_ = 0;  // of the window
  int clean_ = 0;                            // windows without runs
  float error_ = 0;
  Verdict verdict_ = Verdict::kNone;
  int total_[kFrameIntervals]{};  // cost of the alignments over all windows
  int windows_left_ = 0;
  float reference_ = 0;
  int symbols_ = 0;  // of the window
  Candidate candidate_[kFrameIntervals]{};
};

}  // namespace offhook::v90
