// SPDX-License-Identifier: MIT
// What every data compression has to hold: a decoder takes any octets; what an encoder makes of any characters and
// flushes, a decoder reads.
#ifndef OFFHOOK_TESTS_FUZZ_COMPRESSION_H
#define OFFHOOK_TESTS_FUZZ_COMPRESSION_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/// @param step  characters requested at once, 1 to 256
template <class Decoder>
void decode_any_octets(Decoder& decoder, const uint8_t* data, size_t size, size_t step) {
  uint8_t out[256];
  while (size > 0 && !decoder.failed()) {
    size_t used = 0;
    const size_t made = decoder.put(data, size, &used, out, step);
    if (made > step || used > size || (made < step && used < size && !decoder.failed())) abort();
    data += used;
    size -= used;
  }
}

/// @param step  characters between two flushes
template <class Encoder, class Decoder>
void pass_through(Encoder& encoder, Decoder& decoder, const uint8_t* data, size_t size, size_t step) {
  uint8_t out[300];
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

#endif
