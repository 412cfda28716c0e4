// SPDX-License-Identifier: MIT
#include "src/decode/line/high_passed.h"

#include <algorithm>

#include "dsp/blocks/linear_high_pass.h"

namespace offhook::decode {

std::vector<float> high_passed(std::span<const float> x, std::size_t from, std::size_t to) {
  constexpr std::size_t kDelay = LinearHighPass::kDelaySamples;
  const std::size_t before = std::min<std::size_t>(from, LinearHighPassDesign::kTaps);
  LinearHighPass filter;
  std::vector<float> y;
  y.reserve(to - from);
  for (std::size_t k = from - before; k < to + kDelay; ++k) {
    const float passed = filter.process(k < x.size() ? x[k] : 0);
    if (k >= from + kDelay) y.push_back(passed);
  }
  return y;
}

}  // namespace offhook::decode
