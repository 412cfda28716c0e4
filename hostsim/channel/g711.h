// SPDX-License-Identifier: MIT
//
// ITU-T G.711 between 16-bit linear samples and octets in the form of the line (A-law with its even bits inverted,
// mu-law inverted). Sixteen-bit full scale is the codec's overload point. Source: G.711 (11/88) tables 1a to 2b; the
// segment is found from the highest set bit, so there is no table.
#pragma once

#include <bit>
#include <cstdint>

namespace offhook::hostsim {

constexpr std::uint8_t mu_law_encode(std::int16_t linear) {
  constexpr int kBias = 33 * 4;
  constexpr int kClip = 32767 - kBias;
  const int sign = linear < 0 ? 0x80 : 0;
  int magnitude = sign ? -static_cast<int>(linear) : linear;
  magnitude = (magnitude < kClip ? magnitude : kClip) + kBias;
  const int segment = static_cast<int>(std::bit_width(static_cast<unsigned>(magnitude))) - 8;
  return static_cast<std::uint8_t>(~(sign | segment << 4 | (magnitude >> (segment + 3) & 15)));
}

constexpr std::int16_t mu_law_decode(std::uint8_t octet) {
  const int code = ~octet & 0xFF;
  const int magnitude = (((code & 15) << 3 | 0x84) << (code >> 4 & 7)) - 0x84;
  return static_cast<std::int16_t>(code & 0x80 ? -magnitude : magnitude);
}

constexpr std::uint8_t a_law_encode(std::int16_t linear) {
  const int sign = linear < 0 ? 0 : 0x80;
  const int magnitude = sign ? linear : -linear - 1;
  const int segment = static_cast<int>(std::bit_width(static_cast<unsigned>(magnitude | 0xFF))) - 8;
  return static_cast<std::uint8_t>((sign | segment << 4 | (magnitude >> (segment ? segment + 3 : 4) & 15)) ^ 0x55);
}

constexpr std::int16_t a_law_decode(std::uint8_t octet) {
  const int code = octet ^ 0x55;
  const int segment = code >> 4 & 7;
  const int step = (code & 15) << 4;
  const int magnitude = segment ? (step + 0x108) << (segment - 1) : step + 8;
  return static_cast<std::int16_t>(code & 0x80 ? magnitude : -magnitude);
}

}  // namespace offhook::hostsim
