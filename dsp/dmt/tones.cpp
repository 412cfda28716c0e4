// SPDX-License-Identifier: MIT
#include "dsp/dmt/tones.h"

#include "dsp/dmt/bit_stream.h"
#include "dsp/dmt/constellation.h"
#include "dsp/dmt/trellis.h"

namespace offhook::dmt {

namespace {

/// The bits of a frame for a pair of tones: the free inputs of the code, and the labels' bits above the cosets.
/// @param alone  the first tone has no partner: one point, coset 0
struct PairBits {
  int u2, u1, u3;  // each 0 or 1 bit
  int first, second;
};
constexpr PairBits pair_bits(bool alone, bool ends, int first, int second) {
  if (alone) return {1, 0, 0, 0, second - 2};
  return {ends ? 0 : 1, ends ? 0 : 1, 1, first - 2, second - 2};
}

}  // namespace

void BitTable::set(const uint8_t* bits, int n, bool trellis) {
  trellis_ = trellis;
  count_ = data_bits_ = 0;
  for (int k = 0; k < kMostTones; ++k) bits_[k] = k < n ? bits[k] : uint8_t{0};
  for (int b = kLeastBits; b <= kMostBits; ++b) {
    for (int k = 0; k < n; ++k) {
      if (bits_[k] != b) continue;
      order_[count_++] = static_cast<uint8_t>(k);
      data_bits_ += b;
    }
  }
  if (trellis_) data_bits_ -= trellis_overhead(count_);
}

void BitTable::take(const uint8_t* octets, int n, uint16_t* labels) const {
  BitReader from(octets, n);
  if (!trellis_) {
    for (int k = 0; k < count_; ++k) labels[k] = static_cast<uint16_t>(from.get(bits_[order_[k]]));
    return;
  }
  int state = 0;
  const int pairs = trellis_pairs(count_);
  for (int pair = 0; pair < pairs; ++pair) {
    const int k = 2 * pair - count_ % 2;
    const bool ends = pair >= pairs - 2;
    const PairBits b = pair_bits(k < 0, ends, k < 0 ? 0 : bits_[order_[k]], bits_[order_[k + 1]]);
    const TrellisInputs ending = trellis_ending(state);
    const int u1 = ends ? ending.u1 : static_cast<int>(from.get(b.u1));
    const int u2 = ends ? ending.u2 : static_cast<int>(from.get(b.u2));
    const CosetPair cosets = cosets_of(static_cast<int>(from.get(b.u3)), u2, u1, trellis_output(state));
    if (k >= 0) labels[k] = static_cast<uint16_t>(from.get(b.first) << 2 | static_cast<unsigned>(cosets.first));
    labels[k + 1] = static_cast<uint16_t>(from.get(b.second) << 2 | static_cast<unsigned>(cosets.second));
    state = trellis_next(state, u2, u1);
  }
}

void BitTable::give(const uint16_t* labels, uint8_t* octets, int n) const {
  BitWriter to(octets, n);
  if (!trellis_) {
    for (int k = 0; k < count_; ++k) to.put(labels[k], bits_[order_[k]]);
    to.finish();
    return;
  }
  const int pairs = trellis_pairs(count_);
  for (int pair = 0; pair < pairs; ++pair) {
    const int k = 2 * pair - count_ % 2;
    const PairBits b = pair_bits(k < 0, pair >= pairs - 2, k < 0 ? 0 : bits_[order_[k]], bits_[order_[k + 1]]);
    const unsigned first = k < 0 ? 0 : labels[k], second = labels[k + 1];
    // The inverse of cosets_of(); u0 follows from the rest.
    const unsigned u3 = first & 1, u1 = (first >> 1 ^ first) & 1, u2 = (second ^ u3) & 1;
    to.put(b.u1 > 0 ? u1 : 0, b.u1);
    to.put(b.u2 > 0 ? u2 : 0, b.u2);
    to.put(b.u3 > 0 ? u3 : 0, b.u3);
    to.put(first >> 2, b.first);
    to.put(second >> 2, b.second);
  }
  to.finish();
}

}  // namespace offhook::dmt
