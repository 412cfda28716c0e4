// SPDX-License-Identifier: MIT
#include "dsp/v90/pcm/downstream.h"

namespace offhook::v90 {

void Downstream::start(Signal s, int symbols) {
  signal_ = s;
  sent_ = 0;
  length_ = whole_frames(symbols);
  switch (s) {
    case Signal::kSd:
      length_ = kSdSymbols;
      break;
    case Signal::kSdBar:
      length_ = kSdBarSymbols;
      break;
    case Signal::kTrn1d:
      scrambler_.reset();
      break;
    case Signal::kJdPrime:
      length_ = kJdPrimeBits;
      break;
    case Signal::kRBar:
      length_ = kRBarSymbols;
      break;
    case Signal::kDrain:
      encoder_.end();
      break;
    case Signal::kEd:
      length_ = kEdFrames * kFrameIntervals;
      break;
    case Signal::kB1d:
      length_ = kB1dFrames * kFrameIntervals;
      break;
    default:
      break;
  }
}

void Downstream::start_jd(const Jd& jd) {
  start(Signal::kJd);
  length_ = encode(jd, bits_);
}

void Downstream::start_dil(const Dil& dil, int segment) {
  start(Signal::kDil);
  dil_ = &dil;
  segment_ = segment;
  length_ = dil.symbols(segment);
}

void Downstream::start_r(const uint8_t* ucodes, int symbols) {
  start(Signal::kR, symbols);
  for (int i = 0; i < kFrameIntervals; ++i) r_[i] = ucodes[i];
}

void Downstream::start_mp(const Mp& mp) {
  start_sequence(bits_, encode(mp, bits_));
}

void Downstream::start_sequence(const uint8_t* bits, int size) {
  start(Signal::kMp);
  sequence_ = bits;
  bits_size_ = size;
  const int d = encoder_.parameters().bits();
  length_ = (size + d - 1) / d * kFrameIntervals;
}

void Downstream::start_jp(const Jp& jp) {
  start(Signal::kJd);
  length_ = encode(jp, bits_);
}

void Downstream::start_scr(int symbols) {
  start(Signal::kDil, symbols);
  dil_ = nullptr;
}

void Downstream::begin_frames(const FrameParameters& p) {
  encoder_ = FrameEncoder(p);
  scrambler_.reset();
  code_ = kFrameIntervals;
}

bool Downstream::ready(const oh_bit_port& port, bool live) {
  if (!framed()) return length_ == 0 || sent_ < length_;
  if (code_ < kFrameIntervals) return true;
  if (signal_ == Signal::kDrain) return !encoder_.empty();
  while (encoder_.wants_frame() && (signal_ == Signal::kData || sent_ < length_)) put_frame(port, live);
  return !encoder_.wants_frame();
}

void Downstream::put_frame(const oh_bit_port& port, bool live) {
  const int d = encoder_.parameters().bits();
  uint64_t bits = signal_ == Signal::kEd ? 0 : ~uint64_t{0};  // the first in time in bit 0
  if (signal_ == Signal::kMp) {
    bits = 0;
    const int from = static_cast<int>(sent_ / kFrameIntervals) * d;
    for (int k = 0; k < d && from + k < bits_size_; ++k) bits |= uint64_t{sequence_[from + k]} << k;
  } else if (signal_ == Signal::kData && live) {
    uint8_t octets[sizeof bits]{};
    oh_port_get(&port, octets, static_cast<size_t>(d));
    bits = 0;
    for (size_t k = 0; k < sizeof bits; ++k) bits |= uint64_t{octets[k]} << 8 * k;
    bits_sent_ += static_cast<uint64_t>(d);
  }
  encoder_.put(scrambler_.scramble(bits, d));
  sent_ += kFrameIntervals;
}

Pcm Downstream::coded(int bit) {
  sign_ ^= scrambler_.scramble(bit);
  return {u_info_, sign_ != 0};
}

Pcm Downstream::scrambled_one() {
  sign_ = scrambler_.scramble(1);
  return {u_info_, sign_ != 0};
}

Pcm Downstream::next() {
  if (framed()) {
    if (code_ == kFrameIntervals) {
      encoder_.next(codes_);
      code_ = 0;
    }
    return codes_[code_++];
  }
  const int64_t n = sent_++;
  const auto i = static_cast<int>(n % kFrameIntervals);
  switch (signal_) {
    case Signal::kSd:
    case Signal::kSdBar: {
      // W 0 W -W -0 -W, and its opposite.
      const bool positive = (i < 3) == (signal_ == Signal::kSd);
      return {static_cast<uint8_t>(i % 3 == 1 ? 0 : u_info_ + kUchord), positive};
    }
    case Signal::kTrn1d:
      return scrambled_one();
    case Signal::kJd:
      return coded(bits_[n]);
    case Signal::kJdPrime:
      return coded(0);
    case Signal::kDil:
      return dil_ == nullptr ? scrambled_one() : dil_->symbol(segment_, static_cast<int>(n));
    case Signal::kR:
    case Signal::kRBar:
      return {r_[i], (i < 3) == (signal_ == Signal::kR)};
    default:
      return {0, true};
  }
}

}  // namespace offhook::v90
