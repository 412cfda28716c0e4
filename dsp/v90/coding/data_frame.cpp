// SPDX-License-Identifier: MIT
#include "dsp/v90/coding/data_frame.h"

namespace offhook::v90 {

LabelledPoints labelled_points(const UcodeMask* constellation, const uint8_t* interval) {
  LabelledPoints points{};
  for (int i = 0; i < kFrameIntervals; ++i) {
    const UcodeMask& mask = constellation[interval[i]];
    for (int u = kUcodes - 1; u >= 0; --u) {
      if (mask.has(u)) points.ucode[i][points.count[i]++] = static_cast<uint8_t>(u);
    }
  }
  return points;
}

bool frame_parameters(const Cp& cp, Law law, FrameParameters* p) {
  const int k = cp.k();
  const bool in_table = cp.data_mode ? k <= kMaxModulusBits : k >= 6 && k <= 24;  // Tables 2 and 17
  if (cp.drn == 0 || !in_table) return false;
  p->k = static_cast<uint8_t>(k);
  p->shaping_bits = cp.shaping_bits;
  p->look_ahead = cp.shaping_bits == 0 ? 0 : cp.look_ahead;
  p->filter = {cp.a1, cp.a2, cp.b1, cp.b2};
  p->law = law;
  p->points = labelled_points(cp.constellation, cp.interval);
  return product_of(p->points.count) >= uint64_t{1} << k;
}

FrameEncoder::FrameEncoder(const FrameParameters& p) : p_(p), signs_(p.shaping_bits) {
  if (p.shaping_bits == 0) return;
  frames_ = p.shaping_bits;
  symbols_ = shaping_frame_symbols(p.shaping_bits);
  shaper_ = SpectralShaper(symbols_, p.filter);
}

void FrameEncoder::put(const uint8_t* bits) {
  uint64_t word = 0;
  for (int i = 0; i < p_.bits(); ++i) word |= static_cast<uint64_t>(bits[i] & 1) << i;
  put(word);
}

void FrameEncoder::put(uint64_t bits) {
  uint8_t s[kFrameIntervals], t[kFrameIntervals], digits[kFrameIntervals];
  for (int i = 0; i < p_.sign_bits(); ++i) s[i] = static_cast<uint8_t>(bits >> i & 1);
  signs_.put(s, t);
  modulus_encode(bits >> p_.sign_bits() & ((uint64_t{1} << p_.k) - 1), p_.points.count, digits);
  for (int i = 0; i < kFrameIntervals; ++i) {
    const int at = queued_ + i / symbols_, k = i % symbols_;
    const uint8_t u = p_.points.ucode[i][digits[i]];
    ucode_[at][k] = u;
    frame_[at].t[k] = t[i];
    frame_[at].magnitude[k] = linear_of(p_.law, u);
  }
  queued_ += frames_;
}

void FrameEncoder::next(Pcm* codes) {
  for (int n = 0; n < frames_; ++n) {
    uint8_t signs[kFrameIntervals];
    const int known = queued_ - n < 1 + p_.look_ahead ? queued_ - n : 1 + p_.look_ahead;
    if (p_.shaping_bits == 0) {
      for (int k = 0; k < symbols_; ++k) signs[k] = frame_[n].t[k];
    } else {
      shaper_.put(frame_ + n, known, signs);
    }
    for (int k = 0; k < symbols_; ++k) *codes++ = {ucode_[n][k], signs[k] != 0};
  }
  queued_ -= frames_;
  for (int n = 0; n < queued_; ++n) {
    frame_[n] = frame_[n + frames_];
    for (int k = 0; k < kFrameIntervals; ++k) ucode_[n][k] = ucode_[n + frames_][k];
  }
}

uint64_t decode_frame(const FrameParameters& p, SignDecoder* sign_decoder, const uint8_t* signs, const uint8_t* labels,
                      uint8_t* bits) {
  sign_decoder->put(signs, bits);
  const uint64_t r0 = modulus_decode(labels, p.points.count);
  bits += p.sign_bits();
  for (int i = 0; i < p.k; ++i) bits[i] = static_cast<uint8_t>(r0 >> i & 1);
  return r0;
}

}  // namespace offhook::v90
