// SPDX-License-Identifier: MIT
#include "dsp/dmt/coding/tones.h"

#include "dsp/dmt/coding/constellation.h"

namespace offhook::dmt {

void BitTable::set(const uint8_t* bits, int n) {
  count_ = total_ = 0;
  for (int k = 0; k < kMostTones; ++k) bits_[k] = k < n ? bits[k] : uint8_t{0};
  for (int b = kLeastBits; b <= kMostBits; ++b) {
    for (int k = 0; k < n; ++k) {
      if (bits_[k] != b) continue;
      order_[count_++] = static_cast<uint8_t>(k);
      total_ += b;
    }
  }
}

void BitTable::take(const uint8_t* octets, int n, uint16_t* labels) const {
  uint32_t held = 0;
  int have = 0, at = 0;
  for (int k = 0; k < count_; ++k) {
    const int b = bits_[order_[k]];
    while (have < b) {
      held |= static_cast<uint32_t>(at < n ? octets[at] : 0) << have;
      ++at;
      have += 8;
    }
    labels[k] = static_cast<uint16_t>(held & ((1u << b) - 1));
    held >>= b;
    have -= b;
  }
}

void BitTable::give(const uint16_t* labels, uint8_t* octets, int n) const {
  uint32_t held = 0;
  int have = 0, at = 0;
  for (int k = 0; k < count_; ++k) {
    const int b = bits_[order_[k]];
    held |= static_cast<uint32_t>(labels[k]) << have;
    for (have += b; have >= 8 && at < n; have -= 8, held >>= 8) octets[at++] = static_cast<uint8_t>(held);
    if (at == n) return;
  }
  for (; at < n; held >>= 8) octets[at++] = static_cast<uint8_t>(held);
}

}  // namespace offhook::dmt
