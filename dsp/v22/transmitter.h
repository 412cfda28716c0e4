// SPDX-License-Identifier: MIT
//
// The signals of a V.22bis transmitter, symbol by symbol, and their samples (clauses 2 and 6.3).
#pragma once

#include <stdint.h>

#include "dsp/blocks/oscillator.h"
#include "dsp/v22/coding.h"
#include "dsp/v22/sampler.h"
#include "offhook/pump.h"

namespace offhook::v22 {

enum class Signal : uint8_t {
  kSilence,
  kUsb1,     ///< unscrambled ones, 1200 bit/s
  kS1,       ///< unscrambled 00 and 11 alternately, 1200 bit/s
  kSb1Slow,  ///< scrambled ones, 1200 bit/s
  kSb1,      ///< scrambled ones, 2400 bit/s
  kDataSlow,
  kData,
  kOnes,           ///< unscrambled ones, 2400 bit/s: initiation of loop 2 (7.1.1); at 1200 bit/s it is kUsb1
  kReversalsSlow,  ///< scrambled reversals, 1200 bit/s
  kReversals,
  kLoopSlow,  ///< the bits of loop_back(), 1200 bit/s
  kLoop
};

/// Received bits that are sent back to the far end. If the clocks of the directions differ, a bit is lost or repeated
/// once the difference has used up kAhead bits.
class LoopBuffer {
 public:
  static constexpr uint32_t kBits = 256, kAhead = kBits / 2;

  /// Gives kAhead ones, then the bits of put().
  void reset() {
    for (bool& bit : bits_) bit = true;
    get_ = 0;
    put_ = kAhead;
  }
  void put(bool bit) {
    if (put_ - get_ < kBits) bits_[put_++ % kBits] = bit;
  }
  bool get() { return get_ == put_ || bits_[get_++ % kBits]; }

 private:
  bool bits_[kBits]{};
  uint32_t get_ = 0, put_ = 0;
};

enum class GuardTone : uint8_t { kNone, k1800Hz, k550Hz };

class Transmitter {
 public:
  /// Samples from next_symbol() to the peak of its pulse on the line.
  static constexpr double kDelay = kSymbolSamples * TransmitPulse::kSpan / 2;

  /// @param level_dbm0  of the whole signal, including the guard tone
  Transmitter(Channel channel, float level_dbm0, const oh_bit_port& port);

  /// Between symbols, and only with the high channel (2.1).
  void set_guard_tone(GuardTone guard);

  void start(Signal s) {
    signal_ = s;
    count_ = 0;
  }
  Signal signal() const { return signal_; }
  /// Symbols of the current signal so far.
  int count() const { return count_; }
  uint64_t bits_sent() const { return bits_sent_; }

  /// Switches to kLoop, or at 1200 bit/s to kLoopSlow.
  void start_loop(bool fast) {
    loop_.reset();
    start(fast ? Signal::kLoop : Signal::kLoopSlow);
  }
  /// n bits to send back, the first one in bit 0.
  void loop_back(int bits, int n) {
    for (int k = 0; k < n; ++k) loop_.put((bits >> k & 1) != 0);
  }

  /// The next sample is the first of a new symbol: call next_symbol() before next().
  bool wants_symbol() const { return shaper_.wants_symbol(); }
  void next_symbol() { shaper_.put(symbol()); }
  /// The next sample, int16 units, not clipped.  Real-time: yes, O(1).
  float next();

 private:
  Complex symbol();
  int next_bits(int n);

  Shaper shaper_;
  double rms_;
  oh_bit_port port_;
  Signal signal_ = Signal::kSilence;
  int count_ = 0;
  int quadrant_ = 0;
  GuardedScrambler scrambler_;
  uint64_t bits_sent_ = 0;
  LoopBuffer loop_;
  int reversal_ = 0;
  float gain_ = 0;  // of the points
  float guard_gain_ = 0;
  Oscillator guard_;
};

}  // namespace offhook::v22
