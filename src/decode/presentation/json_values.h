// SPDX-License-Identifier: MIT
//
// How the JSON of a decoded call writes its values.
#pragma once

#include <fmt/format.h>

#include <cmath>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "src/decode/phases/start_up.h"

namespace offhook::decode {

using Json = nlohmann::ordered_json;

inline double rounded(double x, int decimals) {
  const double scale = std::pow(10.0, decimals);
  return std::round(x * scale) / scale;
}
inline double time(double t) {
  return rounded(t, 5);
}
inline int round_hz(double hz) {
  return static_cast<int>(std::lround(hz));
}

inline std::string bit_string(const std::vector<std::uint8_t>& bits) {
  std::string s;
  for (const std::uint8_t b : bits) s += b ? '1' : '0';
  return s;
}
inline std::string octet_string(const std::vector<std::uint8_t>& octets) {
  return fmt::format("{:02X}", fmt::join(octets, " "));
}

inline Json channel_or_null(int channel) {
  return channel < 0 ? Json() : Json(channel);
}

/// V.8, V.8bis, INFO and Phase 2, under the keys of truth.json. In start_up_json.cpp.
void add_start_up(const StartUp& s, Json& j);

}  // namespace offhook::decode
