// SPDX-License-Identifier: MIT
//
// V.42bis as two ends agreed on it by XID, undone for one direction.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace offhook::decode {

/// The V.42bis parameters of an XID (V.42 12.2.1, V.42bis 10).
struct V42bisParameters {
  int directions = 0;     ///< P0: bit 0 from the sender of the XID command, bit 1 towards it
  int codewords = 512;    ///< P1
  int string_length = 6;  ///< P2
};

/// @param information  of the XID frame, from its format identifier on  @return none when V.42bis is not in it
std::optional<V42bisParameters> v42bis_of(std::span<const std::uint8_t> information);

/// What both allow: directions in common, the smaller dictionary and strings.
V42bisParameters agreed(const V42bisParameters& a, const V42bisParameters& b);

/// @param pieces  of the octets as sent, from the beginning of the link
/// @return each piece as it was; none when the parameters are out of their ranges or the octets are no V.42bis
std::optional<std::vector<std::vector<std::uint8_t>>> decompress(const V42bisParameters& parameters,
                                                                 std::span<const std::span<const std::uint8_t>> pieces);

}  // namespace offhook::decode
