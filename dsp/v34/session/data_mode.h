// SPDX-License-Identifier: MIT
//
// Data mode, one object per direction: bits to transmitted symbols, and received symbols to bits. Both begin with B1, a
// data frame of ones (10.1.3.1) that counts as the last of a superframe. The user's data follow.
#pragma once

#include <stdint.h>

#include "dsp/blocks/complex.h"
#include "dsp/qam/nonlinear.h"
#include "dsp/qam/receiver.h"
#include "dsp/v34/coding/encoder.h"
#include "dsp/v34/coding/viterbi.h"
#include "offhook/pump.h"

namespace offhook::v34 {

inline constexpr float kNonlinearTheta = 0.3125f;  ///< the only non-zero value of Theta (9.7, MP bit 31)

/// One direction's data mode: the parameters negotiated by MP.
struct DataParameters {
  CodingParameters coding;
  bool nonlinear;  ///< Theta = 0.3125
  uint32_t bit_rate;

  bool precoding() const;
  /// Mean |x|^2 before the non-linear encoder, grid units squared.  Not strictly real-time.
  float mean_energy() const;
  /// Mean |x'|^2 after it, if that of the transmitted symbols is 1.
  float transmitted_energy() const;
  /// The symbol format for a receiver.
  qam::SymbolFormat format() const;
};

/// Source and destination of the primary bits and of the auxiliary channel. If a port is incomplete, ones are sent, and
/// received bits are dropped.
struct DataPort {
  oh_bit_port primary, auxiliary;
};

class DataTransmitter {
 public:
  DataTransmitter() = default;
  /// B1 begins with the next symbol.  Not strictly real-time: see mean_energy().
  explicit DataTransmitter(const DataParameters& p);

  /// True from the last symbol of B1 on, when the next one takes user bits.
  bool b1_sent() const { return b1_sent_; }
  /// All symbols of the last mapping frame were sent.
  bool frame_sent() const { return next_ == kSymbolsPerMappingFrame; }
  /// @param live  take bits from the port; otherwise send ones  @return symbol of mean power 1. Real-time: yes; the
  /// first symbol of a mapping frame encodes the frame.
  Complex next(const DataPort& port, bool live);
  uint64_t bits_sent() const { return bits_; }

 private:
  void make_frame(const DataPort& port, bool live);

  Encoder encoder_;
  qam::NonlinearEncoder nonlinear_;
  float scale_ = 0;
  Complex symbols_[kSymbolsPerMappingFrame];
  int next_ = kSymbolsPerMappingFrame;
  int frames_left_of_b1_ = 0;
  bool b1_sent_ = false;
  uint64_t bits_ = 0;
};

class DataReceiver {
 public:
  DataReceiver() = default;
  /// The next symbol is the first of B1.
  explicit DataReceiver(const DataParameters& p);

  /// The most likely transmitted point of the next symbol `y`, in grid units after the whitening filter. In B1 it is
  /// the known point. After B1 it is the nearest of the grid or, for the second of a pair, the point of the best path.
  /// Real-time: yes; every second symbol runs the Viterbi decoder.
  Complex decide(Complex y);
  /// Processes the symbol that was given to decide(). Its bits follow ViterbiDecoder::kDelay pairs later.
  /// @param live  the port may receive the bits after B1
  /// @pre decide() was called since the last put().  Real-time:
  /// yes; every eighth symbol decodes a mapping frame.
  void put(const DataPort& port, bool live);

  /// All symbols of B1 were received.
  bool b1_received() const { return symbols_ >= b1_symbols_; }
  /// Decoded bits of B1 that were not one.
  int b1_errors() const { return b1_errors_; }
  uint64_t bits_received() const { return bits_; }
  /// Noise variance per dimension in B1, grid units squared. It is valid even if noise makes decisions on data
  /// impossible, because all of B1 is known.  @pre b1_received()
  float b1_variance() const { return b1_sum_ / (2 * static_cast<float>(b1_symbols_)); }

  /// True if the last put() completed a 4D symbol.
  bool pair_completed() const { return !second_; }
  /// Noise variance per dimension of the last 4D symbol relative to the best path, grid units squared; at most 1.
  float variance() const { return variance_; }
  /// The same relative to the nearest points of the grid, without the code.
  float grid_variance() const { return grid_variance_; }
  /// ViterbiDecoder::toss_up(); false before the first decision.
  bool toss_up() const { return toss_up_; }
  /// 4D symbols since the last position where the superframe's pattern may invert a bit (V0), including that one.
  int since_inversion() const { return since_inversion_; }

  /// The memory that decide() and put() use after B1.
  void add_to(HotLines* hot) const {
    viterbi_.add_to(hot);
    hot->add_up_to(&decoder_, &b1_);
  }

 private:
  void decode_pair();
  void give(const DataPort& port, bool live, bool with_aux, int n, const FrameBits& bits, uint8_t aux);

  ViterbiDecoder viterbi_;
  Decoder decoder_;
  FramePosition ahead_;  // for the pairs that enter the Viterbi decoder
  int pair_ = 0;         // 4D symbol of the mapping frame at ahead_
  float received_[4]{};
  bool second_ = false;  // whether the next symbol is the second of its pair
  bool ready_ = false;   // whether the decoder has returned a pair
  Point decided_[kSymbolsPerMappingFrame]{};
  int decided_count_ = 0;
  int frames_left_of_b1_ = 0;
  int b1_symbols_ = 0;
  int symbols_ = 0;
  int b1_errors_ = 0;
  float b1_sum_ = 0;  // of squared distances
  uint64_t bits_ = 0;
  bool toss_up_ = false;
  float variance_ = 0;
  float grid_variance_ = 0;
  int since_inversion_ = 0;
  Encoder b1_;  // of the far end, because B1 is known
  Encoder::Symbol known_[kSymbolsPerMappingFrame]{};
};

}  // namespace offhook::v34
