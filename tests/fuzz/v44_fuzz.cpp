// SPDX-License-Identifier: MIT
// V.44: a decoder takes any octets; what an encoder makes of any characters and flushes, a decoder reads.
#include <stdlib.h>

#include "dsp/link/v44.h"
#include "tests/fuzz/compression.h"

using namespace offhook::v44;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 4) return 0;
  constexpr uint16_t kCodewords[] = {256, 257, 300, 1024, 2048, 4096, 65535, 511};
  constexpr uint16_t kHistory[] = {512, 513, 600, 1000, 3072, 6144, 65535, 700};
  const Parameters p = {kCodewords[data[0] & 7], uint8_t(kMinString + data[1] % (255 - kMinString + 1)),
                        kHistory[data[3] & 7]};
  const bool any_octets = data[0] & 8;
  const size_t step = 1 + data[2];
  data += 4;
  size -= 4;

  // exactly this size, so that the sanitizer detects accesses beyond it
  auto* encoder_memory = static_cast<uint8_t*>(aligned_alloc(64, Encoder::size(p)));
  auto* decoder_memory = static_cast<uint8_t*>(aligned_alloc(64, Decoder::size(p)));
  Encoder encoder;
  Decoder decoder;
  encoder.init(encoder_memory, p);
  decoder.init(decoder_memory, p);
  if (any_octets) {
    decode_any_octets(decoder, data, size, step);
  } else {
    pass_through(encoder, decoder, data, size, step);
  }
  free(encoder_memory);
  free(decoder_memory);
  return 0;
}
