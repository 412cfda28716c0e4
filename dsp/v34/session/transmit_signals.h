// SPDX-License-Identifier: MIT
//
// The signals of Phases 3 and 4 of one transmitter, symbol by symbol (10.1.3). Each signal is started, runs for its
// length, and then reports its end. The procedure chooses the next one (session.h).
#pragma once

#include <stdint.h>

#include "dsp/blocks/complex.h"
#include "dsp/v34/coding/training.h"
#include "dsp/v34/session/mp.h"
#include "offhook/pump.h"

namespace offhook::v34 {

inline constexpr int kSSymbols = 128;    ///< length of S; 10.1.3.7
inline constexpr int kSBarSymbols = 16;  ///< length of S-bar
inline constexpr int kMinTrnSymbols = 512;
inline constexpr uint32_t kMdUnitMs = 35;  ///< unit for the length of MD; Tables 15 and 16

enum class Signal : uint8_t { kSilence, kS, kSBar, kMd, kPp, kTrn, kJ, kJPrime, kMp, kE, kScr, kSequence };

/// The transmit scrambler of a modem of this role.
constexpr Scrambling scrambling_of(oh_pump_role transmitter) {
  return transmitter == OH_PUMP_CALL ? kGpc : kGpa;
}
constexpr oh_pump_role far_role(oh_pump_role own) {
  return own == OH_PUMP_CALL ? OH_PUMP_ANSWER : OH_PUMP_CALL;
}

/// From grid units to unit mean power: 1 / sqrt(2) for four points, 1 / sqrt(10) for sixteen.
constexpr float training_scale(TrainingPoints points) {
  return points == TrainingPoints::k4 ? 0.70710678f : 0.31622777f;
}

class TransmitSignals {
 public:
  TransmitSignals() = default;
  explicit TransmitSignals(Scrambling s) : scrambling_(s) {}

  /// The signal from the next symbol on. @param symbols  of kSilence, kMd, kTrn and kScr: minimum number; the others
  /// have a fixed length.  @pre s is not kJ, kMp or kSequence
  void start(Signal s, int symbols = 0);
  /// TRN with this constellation, which the later MP and E keep.
  void start_trn(TrainingPoints points, int symbols);
  /// One J that requests `wanted` from the far modem.
  void start_j(TrainingPoints wanted);
  /// Prepares for sequences, SCR and E with this constellation without a TRN before them: scrambler and differential
  /// encoder at zero. V.90 8.5.2.
  void begin_sequences(TrainingPoints points) {
    points_ = points;
    encoder_ = TrainingEncoder(scrambling_, points);
  }
  /// Any sequence, sent like J and MP. @param[in] bits  [n] one per byte, kept by the caller until it was sent; n is a
  /// multiple of the bits of a symbol
  void start_sequence(const uint8_t* bits, int n);
  /// One MP. Without a TRN before it (cleardown), it is sent as after a TRN of no symbols.
  void start_mp(const Mp& mp);

  Signal signal() const { return signal_; }
  /// All of it was sent. Silence, MD and TRN continue until another signal is started; other signals must end.
  bool ended() const { return sent_ >= length_; }
  int sent() const { return sent_; }

  /// @return the next symbol, mean power 1.  Real-time: yes, O(1).
  Complex next();

 private:
  void start_bits(Signal s, int bits);
  const uint8_t* given_ = nullptr;  // kSequence

  Scrambling scrambling_ = kGpc;
  Signal signal_ = Signal::kSilence;
  int sent_ = 0;
  int length_ = 0;
  TrainingPoints points_ = TrainingPoints::k4;
  TrainingEncoder encoder_;
  uint8_t bits_[Mp::kBitsType1]{};
};

}  // namespace offhook::v34
