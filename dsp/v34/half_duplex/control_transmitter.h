// SPDX-License-Identifier: MIT
//
// The transmitter of the control channel (10.2.4): QAM of 600 symbols/s with two bits per symbol (1200 bit/s) or four
// (2400 bit/s). The call modem's carrier is 1200 Hz. The answer modem's is 2400 Hz, with a guard tone of 1800 Hz. The
// pulse is that of V.22bis; it fits the mask of Figure 13.
//
// Each signal is started, runs for its length, and then reports its end. The procedure chooses the next one.
#pragma once

#include <stdint.h>

#include "dsp/blocks/oscillator.h"
#include "dsp/v22/sampler.h"
#include "dsp/v34/coding/training.h"
#include "dsp/v34/half_duplex/mph.h"
#include "offhook/pump.h"

namespace offhook::v34 {

inline constexpr int kControlSymbolHz = 600;
inline constexpr int kShSymbols = 24;    ///< 12.6.1.1
inline constexpr int kShBarSymbols = 8;  ///< 12.6.1.1
inline constexpr int kPphPeriod = 8;     ///< 10.2.4.5
inline constexpr int kPphSymbols = 4 * kPphPeriod;

/// Phase of symbol i of PPh in eighths of a turn. (10-2) prints k(k-1), but half of that sequence's spectrum is empty,
/// so no equaliser can be trained with it. With k(k-I), as in (10-1), the spectrum is flat.
/// @pre i >= 0
constexpr int pph_phase(int i) {
  const int k = i % kPphPeriod / 2;
  return (2 * k * (k - i % 2) + 1) % 8;
}
/// Symbol i of PPh, magnitude 1.
constexpr Complex pph_symbol(int i) {
  constexpr float kHalf = 0.70710678f;
  constexpr Complex kOdd[4] = {{kHalf, kHalf}, {-kHalf, kHalf}, {-kHalf, -kHalf}, {kHalf, -kHalf}};
  return kOdd[pph_phase(i) / 2];
}

enum class ControlSignal : uint8_t { kSilence, kPph, kAlt, kMph, kE, kSh, kShBar, kAc, kOnes, kData };

class ControlTransmitter {
 public:
  static constexpr int kForEver = 1 << 30;

  /// @param nominal_dbm0  of 10.2.4: the answer modem's carrier is 1 dB lower, and its guard tone 7 dB lower
  ControlTransmitter(oh_pump_role role, double nominal_dbm0);

  /// The signal from the next symbol on. @param symbols  number of symbols, for kSilence, kAlt, kAc and kOnes
  /// @pre s is neither kMph nor kData
  void start(ControlSignal s, int symbols = 0);
  void start_mph(const Mph& mph);
  /// From now on the port's bits, then ones of the same rate with kOnes.
  void start_data(bool at_2400);
  /// kAlt ends after this number of further symbols, and after at least 16 in total.
  void end_alt(int symbols);

  ControlSignal signal() const { return signal_; }
  bool ended() const { return sent_ >= length_; }
  int sent() const { return sent_; }
  uint64_t bits_sent() const { return bits_sent_; }

  /// The next sample is the first of a new symbol: call next_symbol() before next().
  bool wants_symbol() const { return shaper_.wants_symbol(); }
  void next_symbol(const oh_bit_port& port);
  /// The next sample, int16 units.  Real-time: yes, O(1).
  float next();

 private:
  Complex symbol(const oh_bit_port& port);
  Complex encoded(const uint8_t* bits);

  v22::Shaper shaper_;
  Scrambling scrambling_;
  float rms_;
  float guard_peak_;
  Oscillator guard_;
  ControlSignal signal_ = ControlSignal::kSilence;
  int sent_ = 0;
  int length_ = 0;
  TrainingPoints points_ = TrainingPoints::k4;
  TrainingEncoder encoder_;
  uint64_t bits_sent_ = 0;
  uint8_t bits_[Mph::kBitsType1]{};
};

}  // namespace offhook::v34
