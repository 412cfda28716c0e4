// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

namespace offhook::decode {

/// What happened to a connection after it was made.
struct Change {
  enum class Kind : std::uint8_t { kRenegotiation, kRetrain, kCleardown } kind{};
  double t = 0;  ///< s
  int channel = -1;
  const char* by = nullptr;    ///< "call", "answer", "both"; null: one direction alone was heard
  std::uint32_t bit_rate = 0;  ///< of both directions after it, V.32bis only; 0: unknown, or none
};

}  // namespace offhook::decode
