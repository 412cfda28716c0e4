// SPDX-License-Identifier: MIT
//
// The input of a fuzz target as a row of octets, and bits to and from a link.
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "offhook/pump.h"

namespace offhook::fuzz {

struct Input {
  const uint8_t* data;
  size_t left;
  /// 0 after the last octet
  uint8_t next() {
    if (left == 0) return 0;
    --left;
    return *data++;
  }
};

/// One bit in each direction. Aborts if the link sends no bit.
inline void exchange(oh_bit_port& port, int bit) {
  oh_port_put_bit(&port, bit);
  const int sent = oh_port_get_bit(&port);
  if (sent != 0 && sent != 1) abort();
}

}  // namespace offhook::fuzz
