// SPDX-License-Identifier: MIT
#include "dsp/v8/fsk.h"

#include "dsp/blocks/level.h"

namespace offhook::v8 {
namespace {

constexpr double kCutoffHz = 330;   // the spectrum of one bit; the other channel begins 470 Hz away
constexpr float kLeastPeak = 45.f;  // -48 dBm0
constexpr int kShiftHz = 100;       // from the middle of a channel to either frequency

// The turns w that bring -100 Hz (one) to 0 Hz, and conj(w) for +100 Hz (zero): v w and v conj(w), by parts of v.
using Quad = float __attribute__((vector_size(16)));
struct Turns {
  Quad of_re[FskDiscriminator::kBit], of_im[FskDiscriminator::kBit];
};
constexpr Turns make_turns() {
  Turns turns{};
  for (int k = 0; k < FskDiscriminator::kBit; ++k) {
    const Complex w = kOscillatorTable.at[k * OscillatorTable::kSize * kShiftHz / 4800];
    turns.of_re[k] = Quad{w.re, w.im, w.re, -w.im};
    turns.of_im[k] = Quad{-w.im, w.re, w.im, w.re};
  }
  return turns;
}
constexpr Turns kTurns = make_turns();

int centre_hz(Channel channel) {
  return fsk_hz(channel, 1) + kShiftHz;
}

}  // namespace

FskDiscriminator::FskDiscriminator(Channel channel)
    : converter_(centre_hz(channel), [](int k) { return lowpass_tap(k, 3 * kTaps, kCutoffHz); }) {}

bool FskDiscriminator::put(float x) {
  Complex y;
  if (!converter_.put(x, &y)) return false;
  history_[at_] = history_[at_ + kBit] = y;
  at_ = at_ + 1 == kBit ? 0 : at_ + 1;

  Quad sum{};
  float energy = 0;
  for (int k = 0; k < kBit; ++k) {
    const Complex v = history_[at_ + k];
    sum += v.re * kTurns.of_re[k] + v.im * kTurns.of_im[k];
    energy += norm(v);
  }
  const float e1 = norm(Complex{sum[0], sum[1]}), e0 = norm(Complex{sum[2], sum[3]});
  contrast_ = e1 + e0 > 0 ? (e1 - e0) / (e1 + e0) : 0;
  energy_ = energy;
  return true;
}

bool FskReceiver::put(float x, Octet* octet) {
  const float before = discriminator_.contrast();
  if (!discriminator_.put(x)) return false;
  const float contrast = discriminator_.contrast();

  if (clock_ < 0) {
    if (rest_ < 60000 * kBit) ++rest_;
    if (before > 0 && contrast <= 0) {  // half a start bit has passed
      clock_ = kBit / 2;
      value_ = 0;
      clarity_ = peak_ = 0;
      ones_before_ = static_cast<uint16_t>(rest_ / kBit);
    }
    return false;
  }
  if (++clock_ % kBit != 0) return false;
  const int bit = clock_ / kBit - 1;  // 0 is the start bit, 9 the stop bit
  const bool is_one = contrast > 0;
  clarity_ += (is_one ? contrast : -contrast) * 0.1f;
  peak_ += square_root(discriminator_.energy() / kBit) * 0.1f;
  if (bit == 0 && is_one) {
    clock_ = -1;  // a glitch
    rest_ += kBit / 2;
    return false;
  }
  if (bit >= 1 && bit <= 8) contrasts_[bit - 1] = contrast;
  if (bit >= 1 && bit <= 8 && is_one) value_ = static_cast<uint8_t>(value_ | 1 << (bit - 1));
  if (bit < 9) return false;
  clock_ = -1;
  rest_ = 0;
  // The framing decides. An echo of some milliseconds lowers the contrast of every bit that differs from its
  // predecessor, so a limit on the contrast would drop the same octets in every repetition.
  if (peak_ < kLeastPeak) return false;
  if (!is_one) {
    ++framing_errors_;
    return false;
  }
  *octet = {value_, ones_before_, peak_, clarity_, {}};
  for (int k = 0; k < 8; ++k) octet->contrast[k] = contrasts_[k];
  return true;
}

// The contrast changes its sign half a bit after an edge, and is largest half a bit later.
bool FskBitReceiver::put(float x) {
  constexpr int kBit = FskDiscriminator::kBit;
  constexpr int kLongestRun = 7 * kBit;  // a frame has six ones at most between two zeros: the clock is unknown
  if (!discriminator_.put(x)) return false;
  const bool one = discriminator_.contrast() > 0;
  if (since_edge_ <= kLongestRun) ++since_edge_;
  clock_ = clock_ + 1 == kBit ? 0 : clock_ + 1;
  if (one != one_) {
    one_ = one;
    const int late = clock_ < kBit / 2 ? clock_ : clock_ - kBit;
    clock_ = since_edge_ > kLongestRun ? 0 : (clock_ - late / 2 + kBit) % kBit;
    since_edge_ = 0;
  }
  if (clock_ != kBit / 2) return false;
  bit_ = one ? 1 : 0;
  return true;
}

FskModulator::FskModulator(Channel channel, double tx_level_dbm0)
    : channel_(channel), peak_(static_cast<float>(dbm0_to_peak(tx_level_dbm0))) {}

}  // namespace offhook::v8
