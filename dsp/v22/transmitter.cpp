// SPDX-License-Identifier: MIT
#include "dsp/v22/transmitter.h"

#include "dsp/blocks/level.h"

namespace offhook::v22 {
namespace {

constexpr double kRootMeanEnergy = 3.16227766016837933200;

struct Guard {
  int hz;
  double db;  // 2.2: against the data
};
constexpr Guard kGuards[] = {{0, -300}, {1800, -6}, {550, -3}};

}  // namespace

Transmitter::Transmitter(Channel channel, float level_dbm0, const oh_bit_port& port)
    : shaper_(channel), rms_(dbm0_to_rms(static_cast<double>(level_dbm0))), port_(port) {
  set_guard_tone(GuardTone::kNone);
}

void Transmitter::set_guard_tone(GuardTone guard) {
  const Guard& g = kGuards[static_cast<int>(guard)];
  const double amplitude = db_to_gain(g.db);
  const double data = rms_ / static_cast<double>(square_root(static_cast<float>(1 + amplitude * amplitude)));
  gain_ = static_cast<float>(data / kRootMeanEnergy);
  guard_gain_ = guard == GuardTone::kNone ? 0 : static_cast<float>(data * amplitude * kSqrt2);
  guard_ = Oscillator(g.hz);
}

/// Bits to be scrambled, the first in bit 0.
int Transmitter::next_bits(int n) {
  int bits = 0;
  switch (signal_) {
    case Signal::kData:
    case Signal::kDataSlow: {
      uint8_t octet = 0;
      oh_port_get(&port_, &octet, static_cast<size_t>(n));
      bits_sent_ += static_cast<uint64_t>(n);
      return octet;
    }
    case Signal::kReversals:
    case Signal::kReversalsSlow:
      for (int k = 0; k < n; ++k) bits |= (reversal_ ^= 1) << k;
      return bits;
    case Signal::kLoop:
    case Signal::kLoopSlow:
      for (int k = 0; k < n; ++k) bits |= static_cast<int>(loop_.get()) << k;
      return bits;
    default:
      return 0xff;
  }
}

Complex Transmitter::symbol() {
  const int n = count_++;
  int dibit = 3, inner = kInnerAt1200;
  switch (signal_) {
    case Signal::kSilence:
      return {};
    case Signal::kUsb1:
      break;
    case Signal::kOnes:
      inner = 3;
      break;
    case Signal::kS1:
      dibit = n & 1 ? 3 : 0;
      break;
    default: {
      const bool fast = signal_ == Signal::kData || signal_ == Signal::kSb1 || signal_ == Signal::kReversals ||
                        signal_ == Signal::kLoop;
      const int bits = fast ? 4 : 2;
      const int octet = next_bits(bits);
      int scrambled = 0;
      for (int k = 0; k < bits; ++k) scrambled = scrambled << 1 | scrambler_.scramble(octet >> k & 1);
      dibit = bits == 4 ? scrambled >> 2 : scrambled;
      if (bits == 4) inner = scrambled & 3;
      break;
    }
  }
  quadrant_ = (quadrant_ + kTurnOfDibit[dibit]) & 3;
  return gain_ * point(quadrant_, inner);
}

float Transmitter::next() {
  float x = shaper_.next();
  if (guard_gain_ > 0) {
    const Complex w = guard_.next();
    if (signal_ != Signal::kSilence) x += guard_gain_ * w.re;
  }
  return x;
}

}  // namespace offhook::v22
