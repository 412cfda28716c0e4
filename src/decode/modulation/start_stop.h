// SPDX-License-Identifier: MIT
//
// Start-stop characters in bits: the format is found by how many characters are whole.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace offhook::decode {

struct StartStopText {
  std::string format;                    ///< "8N1", "7E1", ...: data bits, parity, stop bits; empty: no characters
  std::vector<std::uint8_t> characters;  ///< without parity, those with a good stop bit and parity
  int bad = 0;                           ///< start bits with a wrong stop bit or parity
};

/// @param bits  in order of time, one each, LSB first within a character. A stop bit may be missing where V.14 permits
/// it: once in eight characters
StartStopText read_start_stop(const std::vector<bool>& bits);

/// The same of a signal of two frequencies, whose bits have no clock.
/// @param ones  for each sample whether it is a one  @param bit_samples  samples that a bit lasts
StartStopText read_start_stop(const std::vector<bool>& ones, double bit_samples);

/// The characters as text for people: printable ones, control characters as spaces, others as "." @param most
/// characters
std::string preview(std::span<const std::uint8_t> characters, std::size_t most = 60);

}  // namespace offhook::decode
