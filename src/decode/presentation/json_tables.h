// SPDX-License-Identifier: MIT
//
// Tables of the JSON of a decoded call that several files share, and how values are written.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "driver/base/record.h"

namespace offhook::decode {

using record::Row;
using record::Table;
using record::Written;

inline constexpr int kTime = 5;  // decimals of a time, s

inline std::string bit_string(const std::vector<std::uint8_t>& bits) {
  std::string s;
  for (const std::uint8_t b : bits) s += b ? '1' : '0';
  return s;
}

/// Types of the schema. kOneTraining: Phases 3 and 4, and their data mode.
extern const Table kV8bis, kV8, kPhase2, kOneTraining, kConnection, kSpan, kFax;

}  // namespace offhook::decode
