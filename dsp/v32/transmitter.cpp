// SPDX-License-Identifier: MIT
#include "dsp/v32/transmitter.h"

namespace offhook::v32 {

float mean_power(const Rate& rate) {
  float sum = 0;
  for (int k = 0; k < rate.count; ++k) sum += norm(complex(rate.points[k]));
  return sum / static_cast<float>(rate.count);
}

// The first bit is the highest.
int Transmitter::data_bits() {
  const int n = rate_->bits;
  uint8_t octet = 0xff;
  if (live_) {
    oh_port_get(&port_, &octet, static_cast<size_t>(n));
    bits_sent_ += static_cast<uint64_t>(n);
  }
  return reversed(static_cast<int>(scrambler_.scramble(octet, n)), n);
}

Complex Transmitter::next() {
  const int n = count_++;
  constexpr int kA = 0, kB = 1, kC = 3, kD = 2;
  switch (signal_) {
    case Signal::kSilence:
      return {};
    case Signal::kPreamble: {
      if (n == kPreambleSymbols + kPreambleTurned) {
        start(Signal::kRate);
        scrambler_ = Scrambler(scrambling_);
        b1_ = kB1AgainSymbols;
        return next();
      }
      const bool turned = n >= kPreambleSymbols;
      return training_point(turned != (!calls_ && n & 1) ? kC : kA);
    }
    case Signal::kAa:
      return training_point(kA);
    case Signal::kCc:
      return training_point(kC);
    case Signal::kAc:
      return training_point(n & 1 ? kC : kA);
    case Signal::kCa:
      return training_point(n & 1 ? kA : kC);
    case Signal::kS:
      return training_point(n & 1 ? kB : kA);
    case Signal::kSBar:
      return training_point(n & 1 ? kD : kC);
    case Signal::kTrn:
      b1_ = kB1Symbols;
      return training_point(trn_.next());
    case Signal::kRate:
    case Signal::kE: {
      const int at = n % kSequenceSymbols;
      if (at == 0) {
        if (signal_ == Signal::kE && !forever_) {  // has been sent
          start(Signal::kData);
          encoder_ = Encoder(*rate_);
          encoder_.start(y_);
          gain_ = 1 / square_root(mean_power(*rate_));
          return next();
        }
        if (signal_ == Signal::kRate) sending_ = rates_;
        if (ending_) {
          ending_ = false;
          sending_ = end_;
          signal_ = Signal::kE;
          count_ = 1;
        }
      }
      const int q = scrambled_dibit(sending_ >> (2 * at) & 1, sending_ >> (2 * at + 1) & 1);
      return training_point(differential_4800(q, y_));
    }
    case Signal::kData:
      break;
  }
  return gain_ * complex(rate_->points[encoder_.label(data_bits())]);
}

}  // namespace offhook::v32
