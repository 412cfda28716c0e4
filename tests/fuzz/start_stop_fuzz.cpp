// SPDX-License-Identifier: MIT
// Start-stop characters of any bits: no more than one in nine bits, and what is not read is counted.
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "dsp/link/start_stop.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  offhook::v14::Link link;
  const oh_bit_port port = link.port();
  uint64_t bits = 0, read = 0;
  for (size_t i = 0; i < size; ++i) {
    for (int k = 0; k < 8; ++k, ++bits) oh_port_put_bit(&port, data[i] >> k & 1);
    uint8_t out[16];
    if (data[i] % 16 == 0) read += link.read(out, sizeof out);
    if (data[i] % 3 == 0) link.write(data, uint32_t(i));
    const int bit = oh_port_get_bit(&port);
    if (bit != 0 && bit != 1) abort();
    if ((read + link.lost() + link.breaks()) * 9 > bits) abort();
  }
  return 0;
}
