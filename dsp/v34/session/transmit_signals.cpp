// SPDX-License-Identifier: MIT
#include "dsp/v34/session/transmit_signals.h"

namespace offhook::v34 {

void TransmitSignals::start(Signal s, int symbols) {
  signal_ = s;
  sent_ = 0;
  length_ = symbols;
  switch (s) {
    case Signal::kS:
      length_ = kSSymbols;
      break;
    case Signal::kSBar:
      length_ = kSBarSymbols;
      break;
    case Signal::kPp:
      length_ = kPpSymbols;
      break;
    case Signal::kMd:
    case Signal::kTrn:
      points_ = TrainingPoints::k4;
      encoder_ = TrainingEncoder(scrambling_, points_);
      break;
    case Signal::kJPrime:
      for (int k = 0; k < kSequenceJBits; ++k) bits_[k] = kSequenceJPrime >> (kSequenceJBits - 1 - k) & 1;
      start_bits(s, kSequenceJBits);
      break;
    case Signal::kE:
      for (int k = 0; k < kSequenceEBits; ++k) bits_[k] = 1;
      start_bits(s, kSequenceEBits);
      break;
    default:
      break;
  }
}

void TransmitSignals::start_trn(TrainingPoints points, int symbols) {
  start(Signal::kTrn, symbols);
  points_ = points;
  encoder_ = TrainingEncoder(scrambling_, points);
}

void TransmitSignals::start_j(TrainingPoints wanted) {
  const uint16_t j = wanted == TrainingPoints::k4 ? kSequenceJ4 : kSequenceJ16;
  for (int k = 0; k < kSequenceJBits; ++k) bits_[k] = j >> (kSequenceJBits - 1 - k) & 1;
  start_bits(Signal::kJ, kSequenceJBits);
}

void TransmitSignals::start_mp(const Mp& mp) {
  if (signal_ != Signal::kTrn && signal_ != Signal::kMp) start(Signal::kTrn);
  start_bits(Signal::kMp, encode(mp, bits_));
}

void TransmitSignals::start_sequence(const uint8_t* bits, int n) {
  given_ = bits;
  start_bits(Signal::kSequence, n);
}

void TransmitSignals::start_bits(Signal s, int bits) {
  signal_ = s;
  sent_ = 0;
  length_ = bits / training_bits(points_);
}

Complex TransmitSignals::next() {
  const int n = sent_++;
  if (sent_ < 0) sent_ = n;  // a TRN of hours
  const auto scaled = [this](Point p) { return training_scale(points_) * to_complex(p); };
  constexpr float kScale4 = training_scale(TrainingPoints::k4);
  switch (signal_) {
    case Signal::kSilence:
      return {};
    case Signal::kS:
    case Signal::kSBar:
      return kScale4 * to_complex(signal_ == Signal::kS ? s_symbol(n) : s_bar_symbol(n));
    case Signal::kPp:
      return pp_symbol(n);
    case Signal::kMd:
    case Signal::kTrn:
      return scaled(encoder_.trn());
    case Signal::kScr: {
      constexpr uint8_t kOnes[4] = {1, 1, 1, 1};
      return scaled(encoder_.sequence(kOnes));
    }
    case Signal::kSequence:
      return scaled(encoder_.sequence(given_ + n * training_bits(points_)));
    default:
      return scaled(encoder_.sequence(bits_ + n * training_bits(points_)));
  }
}

}  // namespace offhook::v34
