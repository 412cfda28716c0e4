// SPDX-License-Identifier: MIT
#include "dsp/dmt/interleaver.h"

#include "dsp/dmt/octet_scrambler.h"

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
  place_ = length_ - n_;  // the octet that is not sent has no delay, because it is always first
  spread_ = depth_ * place_;
  first_ = inverse_ * place_ % length_;
  out_ = size_ - n_;
  OctetScrambler filler;
  for (uint8_t& octet : memory_) octet = filler.scramble(0);
}

void Interleaver::put(uint8_t octet) {
  const int ahead = way_ == Way::kInterleave ? spread_ : place_ + (depth_ - 1) * (length_ - first_);
  memory_[wrapped(base_ + ahead)] = octet;
  spread_ += depth_;
  first_ += inverse_;
  if (first_ >= length_) first_ -= length_;
  if (++place_ < length_) return;
  // The unread octets of the previous word are dropped.
  place_ = length_ - n_;
  spread_ = depth_ * place_;
  first_ = inverse_ * place_ % length_;
  out_ = base_ + place_;
  base_ = wrapped(base_ + length_);
}

}  // namespace offhook::dmt
