// SPDX-License-Identifier: MIT
//
// How the JSON of a decoded call writes its values, and the parts that it is made of.
#pragma once

#include <cmath>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "src/decode/call/call.h"

namespace offhook::decode {

using Json = nlohmann::ordered_json;

inline double rounded(double x, int decimals) {
  const double scale = std::pow(10.0, decimals);
  return std::round(x * scale) / scale;
}
/// In seconds.
inline double time(double t) {
  return rounded(t, 5);
}
inline Json times(const std::vector<double>& all) {
  Json j = Json::array();
  for (const double t : all) j.push_back(time(t));
  return j;
}
inline std::string bit_string(const std::vector<std::uint8_t>& bits) {
  std::string s;
  for (const std::uint8_t b : bits) s += b ? '1' : '0';
  return s;
}
/// Of each of `all`, by `one`.
template <class Range, class One>
Json list(const Range& all, One&& one) {
  Json j = Json::array();
  for (const auto& x : all) j.push_back(one(x));
  return j;
}

// Objects of the schema. Each of these is one of its types.
Json v8bis_json(const StartUp& s);
Json v8_json(const StartUp& s);
Json phase2_json(const StartUp& s);
Json mp_json(const MpHeard& mp);
Json cp_json(const CpHeard& cp);
Json data_json(const DataHeard& data, const Link& link);
Json connection_json(const Connection& connection);
Json training_json(const Training& training);

}  // namespace offhook::decode
