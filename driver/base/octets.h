// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace offhook {

/// Removes `n` octets from the front. @return nothing if there are fewer
inline std::optional<std::span<const std::uint8_t>> cut_octets(std::span<const std::uint8_t>& from, std::size_t n) {
  if (from.size() < n) return std::nullopt;
  const std::span<const std::uint8_t> taken = from.first(n);
  from = from.subspan(n);
  return taken;
}

}  // namespace offhook
