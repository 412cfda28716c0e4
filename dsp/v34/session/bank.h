// SPDX-License-Identifier: MIT
//
// A bank of pumps that advance by a block, one after the other. While one runs, the state of the next is prefetched,
// because the states of a thousand pumps fit in no cache.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "dsp/blocks/hot_lines.h"
#include "offhook/pump.h"

namespace offhook::v34 {

/// Calls process() of `count` modems for n samples each.
/// @tparam Modem  has process(), and HotLines from add_to()
/// and add_heads_to(). Real-time: yes, O(count * n).
template <class Modem>
void advance_bank(const oh_pump_type*, void* const* self, const void* const* rx, void* const* tx, size_t count,
                  size_t n) {
  constexpr size_t kLinesOfAModem = 384;  // maximum, reached at most symbol rates
  const int lines = n == 0 ? 0 : static_cast<int>((kLinesOfAModem + n - 1) / n);  // evenly: memory gives one at a time
  HotLines next;
  for (size_t k = 0; k < count; ++k) {
    next.clear();
    if (k + 1 < count) {
      next.add(rx[k + 1], n * sizeof(int16_t));
      next.add(tx[k + 1], n * sizeof(int16_t));
      static_cast<const Modem*>(self[k + 1])->add_to(&next);
    }
    if (k + 2 < count) static_cast<const Modem*>(self[k + 2])->add_heads_to(&next);
    auto* const modem = static_cast<Modem*>(self[k]);
    const auto* const in = static_cast<const int16_t*>(rx[k]);
    auto* const out = static_cast<int16_t*>(tx[k]);
    for (size_t i = 0; i < n; ++i) {
      next.prefetch(lines);
      out[i] = modem->process(in[i]);
    }
  }
}

}  // namespace offhook::v34
