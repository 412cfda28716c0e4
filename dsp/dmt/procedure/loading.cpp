// SPDX-License-Identifier: MIT
#include "dsp/dmt/procedure/loading.h"

#include "dsp/dmt/coding/constellation.h"

namespace offhook::dmt {

int Loading::total() const {
  int sum = 0;
  for (const uint8_t b : bits) sum += b;
  return sum;
}

bool choose_path(int octets, PathParameters* path) {
  constexpr int kDepthSymbols = 64;
  int s = kMostFramesPerWord;
  while (s > 1 && s * octets > ReedSolomon::kMostOctets) s /= 2;
  if (octets > ReedSolomon::kMostOctets) octets = ReedSolomon::kMostOctets;
  // A frame has an overhead octet and something besides.
  const int check = octets - ReedSolomon::kMostCheck / s >= 2 ? ReedSolomon::kMostCheck : 0;
  const int payload = octets - check / s - 1;
  if (payload < 1) return false;
  *path = {static_cast<uint8_t>(payload), static_cast<uint8_t>(check), static_cast<uint8_t>(s),
           static_cast<uint8_t>(kDepthSymbols / s)};
  return path->possible();
}

bool load(const Band& band, const float* error, uint32_t max_bit_rate, Loading* loading) {
  int total = 0;
  for (uint8_t& b : loading->bits) b = 0;
  for (int k = band.first; k <= band.last; ++k) {
    if (!band.carries(k) || error[k] <= 0) continue;
    const float over_gap = 1 / (error[k] * kGap);
    int bits = 0;
    while (bits < band.most_bits && static_cast<float>((2 << bits) - 1) <= over_gap) ++bits;
    if (bits < kLeastBits) continue;
    loading->bits[k] = static_cast<uint8_t>(bits);
    total += bits;
  }
  if (!choose_path(total / 8, &loading->path)) return false;
  if (max_bit_rate > 0) {
    const uint32_t most = max_bit_rate / 32'000;
    if (most < 1) return false;
    // The overhead with less payload is not more than it is now.
    for (int octets = total / 8 - 1; loading->path.payload > most && octets > 1; --octets) {
      if (!choose_path(octets, &loading->path)) return false;
    }
  }
  return loading->path.payload >= 1;
}

}  // namespace offhook::dmt
