// SPDX-License-Identifier: MIT
// V.42bis: a decoder takes any octets; what an encoder makes of any characters and flushes, a decoder reads.
#include <stdlib.h>

#include "dsp/link/v42bis.h"
#include "tests/fuzz/compression.h"

using namespace offhook::v42;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 3) return 0;
  constexpr uint16_t kCodewords[] = {512, 513, 700, 1024, 2048, 4096, 65535, 515};
  const uint16_t codewords = kCodewords[data[0] & 7];
  const uint8_t max_string = uint8_t(kMinString + data[1] % (kMaxString - kMinString + 1));
  const bool any_octets = data[0] & 8;
  const size_t step = 1 + data[2];
  data += 3;
  size -= 3;

  const size_t bytes = Dictionary::size(codewords);  // exactly this size, so the sanitizer finds accesses beyond it
  auto* encoder_memory = static_cast<uint8_t*>(aligned_alloc(64, bytes));
  auto* decoder_memory = static_cast<uint8_t*>(aligned_alloc(64, bytes));
  Encoder encoder;
  Decoder decoder;
  encoder.init(encoder_memory, codewords, max_string);
  decoder.init(decoder_memory, codewords, max_string);
  if (any_octets) {
    decode_any_octets(decoder, data, size, step);
  } else {
    pass_through(encoder, decoder, data, size, step);
  }
  free(encoder_memory);
  free(decoder_memory);
  return 0;
}
