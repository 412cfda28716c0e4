// SPDX-License-Identifier: MIT
//
// Monitors data mode and reports when the rate no longer fits the line, or the receiver has lost it.
//
// The first measure is the noise variance of the Viterbi decoder's best path, averaged over 256 pairs (a sixth of a
// second, accurate to 0.01). It equals the true variance up to the point at which every second data frame is bad (0.26
// to 0.31, grid units squared per dimension). If the received signal has no relation to the grid, it stays at 0.38.
//
// A receiver that has slipped by some symbols still sees points of the grid, but not those that the code allows. After
// a slip by an odd number of symbols, half of all pairs have the wrong parity. The path is then worse than the nearest
// points: by at least 0.15 on a good line, by half on the noisiest. After a slip by an even number, only the bits that
// the superframe's pattern inverts are wrong. Each adds a squared distance of about 4 to the path, within few pairs.
// All these numbers were measured for the three codes, and agree with the geometry of the grid.
//
// The second measure is the number of errors. Robbed bits and impulses cause more errors than white noise of the same
// mean. If the second best path comes within 0.5 of the best, the decision was a toss-up. Noise that causes a toss-up
// is about as often strong enough for an error, so the number of toss-ups estimates the number of errors. Measured with
// robbed bits and impulses, at the rates that they damage: 0.8 to 1.1 toss-ups per error. Where the line clips, an
// error is so strong that the decision has no doubt. Frames of the link above that are damaged without a toss-up
// therefore count as errors, too. rate_search.h uses this number. Its findings are valid until the noise between the
// errors changes.
#pragma once

#include <stdint.h>

#include "dsp/v34/session/data_mode.h"
#include "dsp/v34/session/rate_choice.h"
#include "dsp/v34/session/rate_search.h"

namespace offhook::v34 {

class LineMonitor {
 public:
  enum class Advice : uint8_t {
    kNone,
    kResynchronise,  ///< lost, or slipped: a renegotiation finds the symbols again and keeps the equaliser
    kLower,          ///< too many errors for seconds: renegotiate to a lower rate
    kHigher,         ///< the line could have carried more than this for long
    kMove,           ///< renegotiate to most(), because of errors
    kYield,          ///< lost again after that: renegotiate to a rate well below
    kRetrain         ///< lost again at that rate
  };

  static constexpr int kWindowPairs = 256;
  static constexpr float kLost = 0.34f;
  static constexpr double kBadFrames = 0.1;  ///< more bad data frames than that are too many
  static constexpr int kLostWindows = 2;
  static constexpr int kBadWindows = 12;      ///< 2 s
  static constexpr int kGoodWindows = 24;     ///< 4 s the first time, then twice the previous time
  static constexpr int kSettledWindows = 30;  ///< lost within 5 s after a resynchronisation: it did not help

  /// The state that survives a training.
  struct Memory {
    RateSearch search;
    int wait_for_higher = kGoodWindows;
    float quiet_then = 0;
    uint32_t slips = 0;
  };
  Memory memory() const { return {search_, wait_for_higher_, quiet_then_, slips_}; }
  void remember(const Memory& memory);

  /// Data mode begins. @param required_next  required_snr()
  /// of the next higher rate that both ends have; 0: none
  /// @param lowest  rate that both ends have, in 2400
  /// bit/s. Not strictly real-time: as required_snr().
  void start(const DataParameters& p, double required_next, uint8_t lowest);
  /// The receiver has another 4D symbol. @param uncertain  Heard::uncertain: errors from a gap or a hit do not count,
  /// because another rate would not help  Real-time: yes, O(1).
  Advice put(const DataReceiver& r, bool uncertain);
  /// The link above has received `n` frames with a bad check sequence since the last call.  Real-time: yes, O(1).
  void note_bad_frames(uint32_t n) { has_bad_frame_ |= n > 0; }
  /// The highest rate that the errors so far permit, in 2400 bit/s.
  uint8_t most() const { return search_.most(); }
  /// Whether variance() is known: several successive windows were neither lost nor slipped.
  bool settled() const { return good_for_ >= kSettledMean; }
  /// Number of slips of the receiver by whole symbols.
  uint32_t slips() const { return slips_; }
  /// Mean of the last windows.
  float variance() const { return variance_; }

 private:
  Advice window(float mean, float grid);
  void follow_quiet(float mean);
  bool error(const DataReceiver& r, bool uncertain);
  bool superframe_lost();
  Advice resynchronise();

  static constexpr float kSlipRatio = 1.35f;  ///< noise of path and grid
  static constexpr float kSlipExcess = 0.03f;
  static constexpr int kEdgePairs = 4;           ///< pairs until a wrong inversion is detected
  static constexpr int kSuperframePairs = 1024;  ///< two superframes, rounded
  static constexpr float kEdgeExcess = 0.045f;

  static constexpr float kQuieter = 1.6f;    ///< 2 dB
  static constexpr int kOneErrorPairs = 48;  ///< later errors within one data frame belong to the same error
  static constexpr int kFrameBits = 1080;    ///< V.42's with 128 octets of data, the usual most

  static constexpr int kSettledMean = 4;
  static constexpr int kMostGoodWindows = 1536;

  float variance_ = 0;
  int good_for_ = 0;
  int wait_for_higher_ = kGoodWindows;
  float bad_ = 0;
  float good_ = 0;
  float sum_ = 0;
  float grid_sum_ = 0;
  float edge_sum_ = 0;
  float rest_sum_ = 0;
  int edge_pairs_ = 0;
  int rest_pairs_ = 0;
  int edges_wrong_ = 0;
  int slip_windows_ = 0;
  int pairs_ = 0;
  int windows_ = 0;
  int lost_windows_ = 0;
  int bad_windows_ = 0;
  int good_windows_ = 0;
  uint32_t slips_ = 0;
  int losses_ = 0;  // slips of the receiver, each within kSettledWindows of data mode after the previous one
  RateSearch search_;
  float energy_ = 0;         // of the data's points
  float quietest_ = 1;       // window with the smallest noise among several: noise without impulses
  float recent_quiet_[3]{};  // the last such minima over energy, newest first; 0: not known
  float quiet_then_ = 0;     // noise over energy when errors last lowered the rate; 0: never
  int quiet_windows_ = 0;
  int since_error_ = 0;
  int errors_ = 0;
  int frame_pairs_ = 0;  // of a frame of the link above, at least a window
  int explained_ = 0;    // pairs in which a damaged frame has a cause that is known
  bool has_bad_frame_ = false;
};

}  // namespace offhook::v34
