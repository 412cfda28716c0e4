// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>

namespace offhook {

/// What a codec is plugged into: one end of a telephone line.
class LineEnd {
 public:
  virtual ~LineEnd() = default;
  /// The next n sample periods: the codec plays `played` into the line and captures `captured` from it.
  /// @param[in] played [n]  @param[out] captured [n]; never the same memory.  1 <= n <= OH_RING_SAMPLES.
  /// Called in order of time and without gaps, but in batches whose lengths mean nothing: the result may depend on the
  /// samples only. Sample i of `captured` may depend on played[0..i] and on all that came before.
  virtual void exchange(const std::int16_t* played, std::int16_t* captured, std::size_t n) = 0;
};

}  // namespace offhook
