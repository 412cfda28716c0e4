// SPDX-License-Identifier: MIT
//
// Cosines of whole 1024ths of a turn, for filters that are designed by a sum over a grid of frequencies: bit-identical
// to sincos_turns(), without its divisions.
#pragma once

#include <stdint.h>

#include "dsp/blocks/sincos.h"

namespace offhook {

struct CosineTable {
  static constexpr uint32_t kSteps = 1024;
  double at[kSteps];
  /// cos of 2 pi `steps` / kSteps.  Real-time: yes.
  constexpr double operator()(uint32_t steps) const { return at[steps % kSteps]; }
};

constexpr CosineTable make_cosine_table() {
  CosineTable table{};
  for (uint32_t k = 0; k < CosineTable::kSteps; ++k)
    table.at[k] = sincos_turns(static_cast<double>(k) / CosineTable::kSteps).cos;
  return table;
}
inline constexpr CosineTable kCosine = make_cosine_table();

}  // namespace offhook
