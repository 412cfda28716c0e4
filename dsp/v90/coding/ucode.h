// SPDX-License-Identifier: MIT
//
// The PCM codes of V.90 (09/98) clause 3, Table 1. A Ucode, 0 to 127, names a magnitude of either law. With a sign it
// is a codeword of G.711 in the form of the digital network, and a linear value.
#pragma once

#include <stdint.h>

namespace offhook::v90 {

enum class Law : uint8_t { kMu, kA };  ///< as bit 39 of INFO0d and bit 35 of CP

inline constexpr int kUcodes = 128;
inline constexpr int kUchord = 16;  ///< Ucodes of a Uchord; 3.5

/// A Ucode with a sign.
struct Pcm {
  uint8_t ucode;
  bool positive;
  friend constexpr bool operator==(const Pcm&, const Pcm&) = default;
};

/// The octet on the network, with the inversions of G.711. @pre ucode < kUcodes.  Real-time: yes, O(1).
constexpr uint8_t octet_of(Law law, Pcm p) {
  const int sign = p.positive ? 0x80 : 0;
  return static_cast<uint8_t>(law == Law::kMu ? (0x7F | sign) - p.ucode : (p.ucode | sign) ^ 0x55);
}

/// The Ucode and sign of any octet.  Real-time: yes, O(1).
constexpr Pcm pcm_of(Law law, uint8_t octet) {
  const int code = law == Law::kMu ? 0x7F - (octet & 0x7F) : (octet ^ 0x55) & 0x7F;
  return {static_cast<uint8_t>(code), (octet & 0x80) != 0};
}

/// The linear magnitude of Table 1: 0 to 32124 for mu-law, 8 to 32256 for A-law. @pre ucode < kUcodes.
constexpr int linear_of(Law law, int ucode) {
  const int chord = ucode / kUchord, step = ucode % kUchord;
  if (law == Law::kMu) return 4 * (((2 * step + 33) << chord) - 33);
  return 8 * (chord == 0 ? 2 * step + 1 : (2 * step + 33) << (chord - 1));
}

/// The linear value with its sign.
constexpr int linear_of(Law law, Pcm p) {
  return p.positive ? linear_of(law, p.ucode) : -linear_of(law, p.ucode);
}

/// The octet whose value is nearest to a linear one; the upper of two equally near.  Real-time: yes, O(log kUcodes).
constexpr uint8_t nearest_octet(Law law, int linear) {
  const bool positive = linear >= 0;
  const int magnitude = positive ? linear : -linear;
  int low = 0, high = kUcodes - 1;  // the first Ucode that is not below
  while (low < high) {
    const int middle = (low + high) / 2;
    if (linear_of(law, middle) < magnitude) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  if (low > 0 && magnitude - linear_of(law, low - 1) < linear_of(law, low) - magnitude) --low;
  return octet_of(law, {static_cast<uint8_t>(low), positive});
}

}  // namespace offhook::v90
