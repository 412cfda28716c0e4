// SPDX-License-Identifier: MIT
//
// A channel in steps of half a symbol, in pieces: a search over an hour needs only one window of the channel at a time.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "src/decode/line/baseband.h"

namespace offhook::decode {

class HalfSymbols {
 public:
  /// @param first  in samples, of half symbol 0  @param step  samples per half symbol  @param size  how many there are
  HalfSymbols(const Baseband& line, double first, double step, std::size_t size)
      : line_(line), first_(first), step_(step), size_(size) {}

  std::size_t size() const { return size_; }
  double sample(std::size_t k) const { return first_ + static_cast<double>(k) * step_; }

  /// Half symbols `from` on, up to `to` or the last. They stay there until the next call.
  /// @return the one numbered k at [k - from]
  const std::vector<Cf>& piece(std::size_t from, std::size_t to) {
    piece_.clear();
    for (std::size_t k = from; k < std::min(to, size_); ++k) piece_.push_back(line_.at(sample(k)));
    return piece_;
  }

 private:
  const Baseband& line_;
  double first_, step_;
  std::size_t size_;
  std::vector<Cf> piece_;
};

}  // namespace offhook::decode
