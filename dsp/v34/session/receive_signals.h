// SPDX-License-Identifier: MIT
//
// The signals of Phases 3 and 4 as a receiver reads them (10.1.3), from equalised symbols. After the transition from S
// to S-bar all positions are known, so S-bar, PP and the first 512 symbols of TRN are the equaliser's reference. After
// them the reference is the nearest point, and J, J', MP and E are searched for in the bits.
//
// A sequence is coded in changes of the quadrant. So it is found with any rotation of the receiver, even if TRN was
// shorter than expected, or not sent at all.
#pragma once

#include <stdint.h>

#include "dsp/blocks/complex.h"
#include "dsp/v34/coding/training.h"
#include "dsp/v34/session/mp.h"

namespace offhook::v34 {

class ReceiveSignals {
 public:
  enum class Found : uint8_t {
    kNone,
    kJ,       ///< two equal copies of J were received: wanted_points()
    kJPrime,  ///< its last symbol
    kMp,      ///< mp()
    kE        ///< its last symbol was received; not before an MP
  };

  ReceiveSignals() = default;
  /// @param far  of the far transmitter
  explicit ReceiveSignals(Scrambling far) : scrambling_(far), decoder_(far, TrainingPoints::k4) {}

  /// The transition from S to S-bar is over: the next symbol comes after `age` symbols of S-bar.
  /// @param pp  PP follows S-bar (Phase 3)  @param points  of TRN and the later signals
  /// @param known_trn  number of symbols of TRN that certainly arrive and are treated as known
  void start(int age, bool pp, TrainingPoints points, int known_trn);

  /// The most likely transmitted point for a received `y`. Both are in grid units of the constellation in use; PP has
  /// the power of four points.  Call it before put() of the same symbol.  Real-time: yes, O(1).
  Complex decide(Complex y) const;
  /// The next symbol.  Real-time: yes; O(1), and O(bits) after seventeen ones.
  Found put(Complex y);

  /// The bits of the newest symbol, descrambled, as in J and MP. @return [training_bits(points())]
  const uint8_t* symbol_bits() const { return symbol_bits_; }

  /// Received symbols of TRN and later.
  int trn_symbols() const { return position_; }
  TrainingPoints points() const { return points_; }
  TrainingPoints wanted_points() const { return wanted_; }  ///< requested by the far modem's J
  const Mp& mp() const { return mp_; }

  /// Mean squared error over the constellation's mean energy, in TRN or later. While it falls, it is the mean of the
  /// last 128 symbols; after that, of up to nine times as many. 1 before the first mean.
  float error() const { return error_; }
  /// The error no longer falls: two successive windows improved the previous mean by less than a tenth.
  bool settled() const { return settled_windows_ >= 2; }

 private:
  static constexpr int kWindow = 128;
  static constexpr int kLongestRun = 20;

  Point nearest(Complex y) const { return nearest_point(points_, y); }
  Found read(int bit);
  void measure(Complex y);

  Scrambling scrambling_ = kGpc;
  TrainingPoints points_ = TrainingPoints::k4;
  int position_ = 0;  // of the next symbol; 0: the first of TRN; negative: PP and S-bar
  int pp_ = 0;        // symbols of PP
  int known_ = 0;     // symbols of TRN that are treated as known
  int mismatches_ = 0;
  Point reference_{};  // the known symbol at position_
  TrainingEncoder trn_;
  TrainingDecoder decoder_;
  BitHistory bits_;
  uint8_t symbol_bits_[4]{};
  MpReceiver mp_receiver_;
  Mp mp_{};
  bool mp_found_ = false;
  int until_e_ = 0;  // bits until the twentieth bit of the sequence after the last MP
  TrainingPoints wanted_ = TrainingPoints::k4;
  int j_age_ = -1;  // bits since the end of a copy of J; negative: none found
  float sum_ = 0;
  int in_window_ = 0;
  float error_ = 1;
  int settled_windows_ = 0;
};

}  // namespace offhook::v34
