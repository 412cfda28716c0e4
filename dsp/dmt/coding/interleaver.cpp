// SPDX-License-Identifier: MIT
#include "dsp/dmt/coding/interleaver.h"

namespace offhook::dmt {

void Interleaver::reset(Way way, int n, int depth) {
  way_ = way;
  n_ = n;
  length_ = n | 1;
  depth_ = depth;
  size_ = depth * length_;
  base_ = 0;
  inverse_ = 1;
  while (inverse_ * depth % length_ != 1 % length_) ++inverse_;
  for (uint8_t& octet : memory_) octet = 0;
}

void Interleaver::process(const uint8_t* in, uint8_t* out) {
  const int extra = length_ - n_;  // the octet that is not sent has no delay: it always stands in front
  for (int i = 0; i < n_; ++i) {
    const int place = i + extra;
    int to = base_;
    if (way_ == Way::kInterleave) {
      to += depth_ * place;
    } else {
      const int first = place * inverse_ % length_;  // where in its word it was
      to += place + (depth_ - 1) * (length_ - first);
    }
    memory_[to % size_] = in[i];
  }
  for (int i = 0; i < n_; ++i) out[i] = memory_[(base_ + i + extra) % size_];
  base_ = (base_ + length_) % size_;
}

}  // namespace offhook::dmt
