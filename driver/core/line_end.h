// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>

#include "offhook/card_engine.h"

namespace offhook {

/// A line end (see oh_line_end) of 16-bit samples at one rate both ways: one end of a telephone line.
class LineEnd {
 public:
  virtual ~LineEnd() = default;
  /// @param[in] played [n]  @param[out] captured [n]; never the same memory.  n >= 1, at most the card's ring.
  virtual void exchange(const std::int16_t* played, std::int16_t* captured, std::size_t n) = 0;

  /// The handle for a card's engine; this object must outlive it.
  oh_line_end handle() {
    return {[](void* self, const void* played, void* captured, std::size_t n) {
              static_cast<LineEnd*>(self)->exchange(static_cast<const std::int16_t*>(played),
                                                    static_cast<std::int16_t*>(captured), n);
            },
            this};
  }
};

}  // namespace offhook
