// SPDX-License-Identifier: MIT
#include "dsp/dmt/coding/frame.h"

#include "dsp/blocks/renew.h"

namespace offhook::dmt {
namespace {

// Frames that carry indicator bits 0-7, 8-15, 16-23.
constexpr int kIndicatorFrames[] = {1, 34, 35};

}  // namespace

void TransmitPath::reset(const PathParameters& p) {
  p_ = p;
  renew(code_, p.check);
  interleaver_.reset(Interleaver::Way::kInterleave, p.word(), p.depth);
  scrambler_.reset();
  crc_.reset();
  frame_ = in_word_ = 0;
  for (uint8_t& octet : leaving_) octet = 0;
}

void TransmitPath::process(const uint8_t* payload, uint32_t indicators, const uint8_t* operation, uint8_t* out) {
  const int place = operation_octet(frame_);
  uint8_t overhead = place >= 0 ? operation[place] : uint8_t{0};
  if (frame_ == 0) {
    overhead = crc_.value();
    crc_.reset();
  } else {
    for (int k = 0; k < 3; ++k) {
      if (frame_ == kIndicatorFrames[k]) overhead = static_cast<uint8_t>(indicators >> 8 * k);
    }
    crc_.put(overhead);
  }
  uint8_t* to = filling_ + in_word_ * (p_.payload + 1);
  to[0] = scrambler_.scramble(overhead);
  for (int k = 0; k < p_.payload; ++k) {
    crc_.put(payload[k]);
    to[k + 1] = scrambler_.scramble(payload[k]);
  }
  if (++frame_ == kFrames) frame_ = 0;

  for (int k = 0; k < p_.octets(); ++k) out[k] = leaving_[in_word_ * p_.octets() + k];
  if (++in_word_ < p_.frames_per_word) return;
  in_word_ = 0;
  code_.encode(filling_, p_.word_data(), filling_ + p_.word_data());
  interleaver_.process(filling_, leaving_);
}

void ReceivePath::reset(const PathParameters& p) {
  p_ = p;
  renew(code_, p.check);
  interleaver_.reset(Interleaver::Way::kDeinterleave, p.word(), p.depth);
  descrambler_.reset();
  crc_.reset();
  frame_ = in_word_ = 0;
  skip_ = 1 + interleaver_.delay();
  first_ = true;
  corrected_ = lost_ = 0;
}

int ReceivePath::process(const uint8_t* in) {
  for (int k = 0; k < p_.octets(); ++k) filling_[in_word_ * p_.octets() + k] = in[k];
  if (++in_word_ < p_.frames_per_word) return 0;
  in_word_ = 0;
  uint8_t* word = filling_;
  interleaver_.process(word, word);
  if (skip_ > 0) {
    --skip_;
    return 0;
  }
  if (p_.check > 0) {
    const int corrected = code_.decode(word, p_.word());
    if (corrected < 0) {
      ++lost_;
    } else {
      corrected_ += static_cast<uint32_t>(corrected);
    }
  }
  for (int k = 0; k < p_.word_data(); ++k) word[k] = descrambler_.descramble(word[k]);
  return p_.frames_per_word;
}

ReceivePath::Frame ReceivePath::frame(int k) {
  const uint8_t* octets = filling_ + k * (p_.payload + 1);
  Frame f{octets + 1, false, false, false, 0, operation_octet(frame_), octets[0]};
  if (frame_ == 0) {
    f.superframe_ended = !first_;
    f.crc_good = octets[0] == crc_.value();
    first_ = false;
    crc_.reset();
  } else {
    crc_.put(octets[0]);
    for (int n = 0; n < 3; ++n) {
      if (frame_ != kIndicatorFrames[n]) continue;
      indicators_ = (indicators_ & ~(0xffu << 8 * n)) | static_cast<uint32_t>(octets[0]) << 8 * n;
      f.indicators_known = n == 2;
    }
    f.indicators = indicators_;
  }
  for (int n = 0; n < p_.payload; ++n) crc_.put(f.payload[n]);
  if (++frame_ == kFrames) frame_ = 0;
  return f;
}

}  // namespace offhook::dmt
