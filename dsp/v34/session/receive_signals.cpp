// SPDX-License-Identifier: MIT
#include "dsp/v34/session/receive_signals.h"

#include "dsp/v34/session/transmit_signals.h"

namespace offhook::v34 {
namespace {

constexpr float kPpMagnitude = 1.41421356f;

// If the known TRN and the nearest points differ this often, TRN is not at its expected position.
constexpr int kMostMismatches = 12;

}  // namespace

void ReceiveSignals::start(int age, bool pp, TrainingPoints points, int known_trn) {
  pp_ = pp ? kPpSymbols : 0;
  points_ = points;
  known_ = known_trn;
  position_ = age - kSBarSymbols - pp_;
  mismatches_ = 0;
  trn_ = TrainingEncoder(scrambling_, points);
  reference_ = trn_.trn();
  for (int n = 0; n < position_; ++n) reference_ = trn_.trn();
  decoder_ = TrainingDecoder(scrambling_, points);
  bits_ = {};
  mp_receiver_ = {};
  mp_found_ = false;
  j_age_ = -1;
  sum_ = 0;
  in_window_ = 0;
  error_ = 1;
  settled_windows_ = 0;
}

Complex ReceiveSignals::decide(Complex y) const {
  if (position_ < -pp_) {
    const int n = position_ + pp_ + kSBarSymbols;
    return to_complex(s_bar_symbol(n));
  }
  if (position_ < 0) return kPpMagnitude * pp_symbol(position_ + pp_);
  if (position_ < known_) return to_complex(reference_);
  return to_complex(nearest(y));
}

ReceiveSignals::Found ReceiveSignals::put(Complex y) {
  if (position_ < 0) {
    ++position_;
    return Found::kNone;
  }
  measure(y);
  const Point p = nearest(y);
  if (position_ < known_) {
    if (p != reference_ && ++mismatches_ > kMostMismatches && position_ < 4 * kMostMismatches) known_ = 0;
    reference_ = trn_.trn();
  }
  if (position_ < INT16_MAX) ++position_;
  decoder_.sequence(p, symbol_bits_);
  Found found = Found::kNone;
  for (int k = 0; k < training_bits(points_); ++k) {
    const Found f = read(symbol_bits_[k]);
    if (f != Found::kNone) found = f;
  }
  return found;
}

ReceiveSignals::Found ReceiveSignals::read(int bit) {
  bits_.put(bit);
  Mp mp;
  if (mp_receiver_.put(bit, &mp)) {
    mp_ = mp;
    mp_found_ = true;
    until_e_ = mp.bits() - (mp.type1 ? Mp::kBitsType1 - 1 : Mp::kBitsType0 - 3) + kSequenceEBits;
    return Found::kMp;
  }
  // The 18th and 20th bits of the MP sync are always zero: after an MP of known place, E may have some wrong bits.
  if (mp_found_) {
    if (until_e_ > 0 && --until_e_ == 0) {
      int ones = 0;
      for (int k = 0; k < kSequenceEBits; ++k) ones += bits_.at(k);
      if (ones >= kSequenceEBits - 3 && bits_.matches(2, 7, 3)) return Found::kE;
      until_e_ = mp_.bits();
    }
    if (bits_.matches(kLongestRun, (1u << kLongestRun) - 1, kLongestRun + 1)) return Found::kE;
    return Found::kNone;
  }
  if (j_age_ >= 0) ++j_age_;
  const auto pattern_at = [this](int age, uint16_t p) {
    return bits_.matches(age + kSequenceJBits - 1, p, kSequenceJBits);
  };
  constexpr TrainingPoints kWanted[] = {TrainingPoints::k4, TrainingPoints::k16};
  for (const TrainingPoints wanted : kWanted) {
    const uint16_t j = wanted == TrainingPoints::k4 ? kSequenceJ4 : kSequenceJ16;
    if (!pattern_at(0, j)) continue;
    const bool twice = j_age_ == kSequenceJBits && wanted == wanted_;
    wanted_ = wanted;
    j_age_ = 0;
    if (twice) return Found::kJ;
  }
  if (j_age_ == kSequenceJBits) {
    if (pattern_at(0, kSequenceJPrime)) {
      j_age_ = -1;
      return Found::kJPrime;
    }
    j_age_ = 0;  // a copy with errors, whose position is still known
  }
  return Found::kNone;
}

void ReceiveSignals::measure(Complex y) {
  sum_ += norm(y - decide(y));
  if (++in_window_ < kWindow) return;
  const float now = sum_ / (kWindow * points_energy(points_));
  settled_windows_ = now < 0.9f * error_ ? 0 : settled_windows_ < 8 ? settled_windows_ + 1 : 8;
  error_ += (now - error_) / static_cast<float>(settled_windows_ + 1);
  sum_ = 0;
  in_window_ = 0;
}

}  // namespace offhook::v34
