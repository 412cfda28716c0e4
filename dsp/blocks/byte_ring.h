// SPDX-License-Identifier: MIT
#ifndef OFFHOOK_DSP_BLOCKS_BYTE_RING_H
#define OFFHOOK_DSP_BLOCKS_BYTE_RING_H

#include <stdint.h>
#include <string.h>

namespace offhook {

/// A ring of bytes in the caller's memory, with free-running positions. One thread.
struct ByteRing {
  uint8_t* bytes = nullptr;
  uint32_t size = 0;            ///< a power of two
  uint32_t head = 0, tail = 0;  ///< written, released

  uint32_t used() const { return head - tail; }
  uint32_t free() const { return size - used(); }
  /// @pre n <= free()
  void put(const uint8_t* from, uint32_t n) {
    const uint32_t at = index(head), first = n < size - at ? n : size - at;
    memcpy(bytes + at, from, first);
    memcpy(bytes, from + first, n - first);
    head += n;
  }
  /// @pre tail <= from, and from + n <= head
  void copy(uint32_t from, uint8_t* out, uint32_t n) const {
    const uint32_t at = index(from), first = n < size - at ? n : size - at;
    memcpy(out, bytes + at, first);
    memcpy(out + first, bytes, n - first);
  }
  /// The oldest bytes that are contiguous in memory. @param[out] n  their number
  const uint8_t* front(uint32_t* n) const {
    const uint32_t at = index(tail);
    *n = used() < size - at ? used() : size - at;
    return bytes + at;
  }

 private:
  uint32_t index(uint32_t position) const { return position & (size - 1); }
};

}  // namespace offhook
#endif
