// SPDX-License-Identifier: MIT
// V.44: a decoder takes any octets; what an encoder makes of any characters and flushes, a decoder reads.
#include <stdlib.h>
#include <string.h>

#include "dsp/v44/v44.h"

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

  // exactly, so that the sanitizer sees what goes beyond
  auto* encoder_memory = static_cast<uint8_t*>(aligned_alloc(64, Encoder::size(p)));
  auto* decoder_memory = static_cast<uint8_t*>(aligned_alloc(64, Decoder::size(p)));
  Encoder encoder;
  Decoder decoder;
  encoder.init(encoder_memory, p);
  decoder.init(decoder_memory, p);
  uint8_t out[300];
  if (any_octets) {
    while (size > 0 && !decoder.failed()) {
      size_t used = 0;
      const size_t made = decoder.put(data, size, &used, out, step);
      if (made > step || used > size || (made < step && used < size && !decoder.failed())) abort();
      data += used;
      size -= used;
    }
  } else {
    for (size_t at = 0, read = 0; at < size;) {
      uint8_t octets[Encoder::kMaxStep];
      size_t n = encoder.put(data[at++], octets);
      const bool flush = at % step == 0 || at == size;
      for (int part = 0; part < (flush ? 2 : 1); ++part) {
        if (part == 1) n = encoder.flush(octets);
        if (n > Encoder::kMaxStep) abort();
        for (size_t i = 0, made = 1; i < n || made > 0;) {
          size_t used = 0;
          made = decoder.put(octets + i, n - i, &used, out, sizeof out);
          i += used;
          if (read + made > at || memcmp(out, data + read, made) != 0) abort();
          read += made;
        }
      }
      if (decoder.failed() || (flush && read != at)) abort();
    }
  }
  free(encoder_memory);
  free(decoder_memory);
  return 0;
}
