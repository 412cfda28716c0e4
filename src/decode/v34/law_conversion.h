// SPDX-License-Identifier: MIT
//
// Conversion of a Ucode by a network between countries of different laws: by the tables of ITU-T G.711 (11/88) clause
// 3.5, or by the nearest value. Both are found in networks, and their levels distinguish them.
#pragma once

#include <cstdint>

#include "dsp/v90/coding/ucode.h"

namespace offhook::decode {

enum class Conversion : std::uint8_t { kNearest, kTables };

/// The decoder output value number of A-law, 1 to 128, for one of mu-law, 0 to 127.  Source: G.711 Table 3.
constexpr int a_value_of_mu(int n) {
  if (n < 16) return n / 2 + 1;
  if (n < 33) return n - 7;
  if (n < 37) return 2 * n - 39;
  if (n < 48) return n - 3;
  if (n == 48) return 46;
  if (n < 64) return n - 1;
  return n < 80 ? n : n + 1;
}

/// The decoder output value number of mu-law, 0 to 127, for one of A-law, 1 to 128.  Source: G.711 Table 4.
constexpr int mu_value_of_a(int n) {
  if (n < 9) return 2 * n - 1;
  if (n < 26) return n + 7;
  if (n < 34) return (n + 39) / 2;
  if (n < 46) return n + 3;
  if (n < 48) return n + 2;
  if (n < 64) return n + 1;
  return n < 80 ? n : n - 1;
}

constexpr v90::Law other_law(v90::Law law) {
  return law == v90::Law::kA ? v90::Law::kMu : v90::Law::kA;
}

/// The Ucode after the conversion to the other law. @pre u < v90::kUcodes
constexpr int converted_ucode(Conversion conversion, v90::Law law, int u) {
  const v90::Law other = other_law(law);
  if (conversion == Conversion::kNearest) return pcm_of(other, nearest_octet(other, linear_of(law, u))).ucode;
  // A-law's numbers begin with 1 (Table 1a), mu-law's with 0 (Table 2a), as Ucodes do.
  return law == v90::Law::kMu ? a_value_of_mu(u) - 1 : mu_value_of_a(u + 1);
}

}  // namespace offhook::decode
