// SPDX-License-Identifier: MIT
//
// Viterbi decoder and decoder of V.34 on arbitrary received numbers, parameter sets and precoder coefficients.
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "dsp/v34/coding/encoder.h"
#include "dsp/v34/coding/viterbi.h"
#include "dsp/v34/session/data_mode.h"

using namespace offhook;
using namespace offhook::v34;

namespace {

ViterbiDecoder viterbi;

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 16) return 0;
  const auto symbol_rate = static_cast<SymbolRate>(data[0] % kSymbolRates);
  uint32_t rate = (1 + data[1] % 14) * 2400u;
  while (!is_supported(symbol_rate, rate)) rate = rate > traits(symbol_rate).max_bit_rate ? rate - 2400 : rate + 2400;
  CodingParameters p{};
  p.framing = make_framing(symbol_rate, rate, data[2] & 1, data[2] & 2);
  p.scrambling = data[2] & 4 ? kGpc : kGpa;
  p.trellis = static_cast<TrellisCode>(data[3] % 3);
  memcpy(p.precoder.h, data + 4, sizeof p.precoder.h);
  data += 16;
  size -= 16;

  viterbi.reset(p.trellis, false);
  Decoder decoder(p);
  const qam::NonlinearEncoder warp(kNonlinearTheta, mean_energy(p.framing, true));
  Point y[8];
  int have = 0;
  for (size_t at = 0; at + 16 <= size; at += 16) {
    float r[4];
    memcpy(r, data + at, sizeof r);
    warp.decode(&r[0], &r[1]);
    if (!viterbi.decode(r, data[at] & 1, y + have)) continue;
    have += 2;
    if (have < 8) continue;
    have = 0;
    for (const Point q : y) {
      if (abs(q.re) > 255 || abs(q.im) > 255 || !(q.re & q.im & 1)) abort();
    }
    uint8_t bits[kMaxMappingFrameBits];
    uint8_t aux = 0;
    const int n = decoder.frame(y, bits, &aux);
    for (int k = 0; k < n; ++k) {
      if (bits[k] > 1) abort();
    }
    if (aux > 1) abort();
  }
  return 0;
}
