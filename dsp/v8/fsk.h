// SPDX-License-Identifier: MIT
//
// V.21 frequency shift keying at 300 bit/s, as V.8 uses it: the call modem in the lower channel (CI, CM, CJ), the
// answer modem in the upper one (JM). A binary one is the lower frequency of a channel.
//
// The receiver mixes its channel down and compares, over one bit, the energy at the two frequencies. It reads
// start-stop octets: a falling edge sets the clock for the next ten bits, so no timing has to be recovered and +-2 % of
// clock difference does no harm. It needs no carrier detector: an octet carries its level and how clear its bits were.
// The messages of V.8 bis have no start bits: their receiver follows the edges with a bit clock.
#pragma once

#include <stdint.h>

#include "dsp/blocks/downconverter.h"

namespace offhook::v8 {

enum class Channel : uint8_t { kLow, kHigh };

/// Frequency of a bit. Source: V.21, channels 1 and 2
constexpr int fsk_hz(Channel channel, int bit) {
  return (channel == Channel::kLow ? 980 : 1650) + (bit ? 0 : 200);
}

/// One start-stop octet and the conditions of its reception.
struct Octet {
  uint8_t value;         ///< the first bit is in bit 0
  uint16_t ones_before;  ///< idle bits between the stop bit of the last octet and this start bit, at most 65535
  float peak;            ///< amplitude, int16 units
  float clarity;         ///< 0 to 1: mean contrast of its bits; noise alone gives about 0.4, a clean line 0.7
  float contrast[8];     ///< of each bit, -1 (zero) to 1 (one); repetitions are combined by their sums
};

/// Compares the energy at the two frequencies of a channel, over the newest bit length.
class FskDiscriminator {
 public:
  static constexpr int kBit = 16;  ///< outputs per bit, 4800 a second

  explicit FskDiscriminator(Channel channel);

  /// One sample at 8000 Hz.  @return whether there is a new output: contrast() and energy().  Real-time: yes.
  bool put(float x);
  /// +1 if all energy is at the one, -1 if at the zero.
  float contrast() const { return contrast_; }
  /// Sum of the squared amplitudes of kBit outputs.
  float energy() const { return energy_; }

 private:
  static constexpr int kTaps = 112;

  Downconverter<kTaps> converter_;
  Complex history_[2 * kBit]{};
  int at_ = 0;
  float contrast_ = 0;
  float energy_ = 0;
};

/// Reads octets from one channel of the line. It sends nothing, so it may run in parallel with any other receiver.
class FskReceiver {
 public:
  explicit FskReceiver(Channel channel) : discriminator_(channel) {}

  /// One sample at 8000 Hz. @return whether `octet` is new: its stop bit arrived, whose middle was kDelaySamples ago.
  /// Framing errors and silence give no octets. Noise gives some, so a reader requires a synchronization octet and
  /// repetitions. Real-time: yes.
  bool put(float x, Octet* octet);

  /// Octets with the level of a signal but a wrong stop bit.
  uint32_t framing_errors() const { return framing_errors_; }

  /// From the middle of a bit on the line to the sample that completes it, rounded.
  static constexpr int kDelaySamples = 57 + 13;

 private:
  static constexpr int kBit = FskDiscriminator::kBit;

  FskDiscriminator discriminator_;
  int rest_ = 0;    // samples since the last stop bit or framing error
  int clock_ = -1;  // samples since the start edge; -1: idle
  uint8_t value_ = 0;
  uint16_t ones_before_ = 0;
  float clarity_ = 0;
  float contrasts_[8]{};
  uint32_t framing_errors_ = 0;
  float peak_ = 0;
};

/// Reads bits without start bits from one channel of the line.
class FskBitReceiver {
 public:
  explicit FskBitReceiver(Channel channel) : discriminator_(channel) {}

  /// One sample at 8000 Hz.  @return whether bit() is new, 300 times a second. Noise gives bits, too.  Real-time: yes.
  bool put(float x);
  int bit() const { return bit_; }

 private:
  FskDiscriminator discriminator_;
  bool one_ = false;
  int clock_ = 0;       // 0 when an edge shows; a bit is read half a bit later
  int since_edge_ = 0;  // outputs
  int bit_ = 0;
};

/// Continuous-phase modulator. A callable `int next_bit()` gives each bit when its time begins.
class FskModulator {
 public:
  /// @param tx_level_dbm0  level of the signal
  FskModulator(Channel channel, double tx_level_dbm0);

  /// One sample.  Real-time: yes, O(1).
  template <class NextBit>
  float next(NextBit&& next_bit) {
    if (clock_ <= 0) {
      oscillator_.tune(fsk_hz(channel_, next_bit()));
      clock_ += 8000;
    }
    clock_ -= 300;
    return peak_ * oscillator_.next().re;
  }
  /// The next sample begins a new bit.
  void restart() { clock_ = 0; }

 private:
  Channel channel_;
  Oscillator oscillator_;
  float peak_;
  int clock_ = 0;  // time until the next bit, in 1/300 samples
};

}  // namespace offhook::v8
