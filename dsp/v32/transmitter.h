// SPDX-License-Identifier: MIT
//
// The signals of a V.32bis transmitter, symbol by symbol (clauses 5 and 8, Figures 3 and 5): the parts of start-up,
// retrain, rate renegotiation and data.
#pragma once

#include <stdint.h>

#include "dsp/blocks/scrambler.h"
#include "dsp/v32/coding.h"
#include "offhook/pump.h"

namespace offhook::v32 {

enum class Signal : uint8_t {
  kSilence,
  kPreamble,  ///< renegotiation: A or A C, then C or C A; then kRate
  kAa,        ///< A A ..
  kCc,        ///< C C ..
  kAc,        ///< A C A C ..
  kCa,        ///< C A C A ..
  kS,         ///< A B A B ..
  kSBar,      ///< C D C D ..
  kTrn,       ///< scrambled ones, with a scrambler that starts at zero
  kRate,      ///< the rate signal, repeatedly
  kE,         ///< once; then kData. Without a rate: repeatedly
  kData       ///< scrambled ones (B1) until live, then the bits of the port
};

inline constexpr int kTrnTwoPoints = 256;   ///< symbols of TRN that are only A and C (5.2.3)
inline constexpr int kLeastTrn = 1280;      ///< symbols
inline constexpr int kSequenceSymbols = 8;  ///< one of the 16 bits of a rate sequence
inline constexpr int kB1Symbols = 128;
inline constexpr int kB1AgainSymbols = 24;  ///< after a renegotiation
inline constexpr int kPreambleSymbols = 56;
inline constexpr int kPreambleTurned = 8;  ///< the preamble's last

/// TRN as labels of kPoints4800, for the transmitter and for the receiver that trains on it.
class Trn {
 public:
  constexpr explicit Trn(Scrambling s) : scrambler_(s) {}
  constexpr int next() {
    const int first = scrambler_.scramble(1);
    const int second = scrambler_.scramble(1);
    if (count_ < kTrnTwoPoints) {
      ++count_;
      return first ? 3 : 0;
    }
    return first << 1 | second;  // Table 4
  }
  const Scrambler& scrambler() const { return scrambler_; }

 private:
  Scrambler scrambler_;
  int count_ = 0;
};

class Transmitter {
 public:
  explicit Transmitter(oh_pump_role role, const oh_bit_port& port)
      : calls_(role == OH_PUMP_CALL),
        scrambling_(calls_ ? kGpc : kGpa),
        scrambler_(scrambling_),
        trn_(scrambling_),
        port_(port) {}

  void start(Signal s) {
    signal_ = s;
    count_ = 0;
    if (s == Signal::kTrn) trn_ = Trn(scrambling_);
    if (s == Signal::kRate) scrambler_ = trn_.scrambler();
    ending_ = false;
    if (s == Signal::kData) live_ = false;
  }
  Signal signal() const { return signal_; }
  /// Symbols of the signal so far.
  int count() const { return count_; }
  /// The rate signal of kRate. A new value takes effect at the next sequence.
  void set_rates(RateSignal r) { rates_ = r.encode(); }
  /// After the current rate sequence, sends E and then scrambled ones at this rate; -1: E without a rate, permanently.
  void end_rate_signal(RateSignal r, int rate) {
    r.rates = static_cast<RateSet>(rate < 0 ? 0 : 1u << rate);
    r.end = true;
    end_ = r.encode();
    forever_ = rate < 0;
    if (rate >= 0) rate_ = &kRates[rate];
    ending_ = true;
  }
  /// Symbols of B1 that have been sent.
  bool ready() const { return signal_ == Signal::kData && count_ >= b1_; }
  /// From the next symbol on, kData carries the bits of the port.
  void set_live() { live_ = true; }
  bool live() const { return signal_ == Signal::kData && live_; }
  uint64_t bits_sent() const { return bits_sent_; }
  const Rate& rate() const { return *rate_; }

  /// The next symbol, unit mean power. Real-time: yes, O(1).
  Complex next();

 private:
  Complex training_point(int label) {
    y_ = label;
    return 0.31622777f * complex(kPoints4800[label]);
  }
  int scrambled_dibit(int first, int second) {
    const int q = scrambler_.scramble(first);
    return q << 1 | scrambler_.scramble(second);
  }
  int data_bits();

  bool calls_;
  Scrambling scrambling_;
  Scrambler scrambler_;
  Trn trn_;
  oh_bit_port port_;
  Signal signal_ = Signal::kSilence;
  int count_ = 0;
  int y_ = 0;  // Y1 Y2 of the last symbol
  uint16_t rates_ = 0, sending_ = 0, end_ = 0;
  bool ending_ = false;
  bool forever_ = false;
  int b1_ = kB1Symbols;
  bool live_ = false;
  const Rate* rate_ = &kRates[0];
  float gain_ = 1;
  Encoder encoder_{kRates[0]};
  uint64_t bits_sent_ = 0;
};

/// Mean |point|^2.
float mean_power(const Rate& rate);

}  // namespace offhook::v32
