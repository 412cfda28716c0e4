// SPDX-License-Identifier: MIT
#include "src/decode/compression.h"

#include <algorithm>
#include <array>

#include "dsp/v42/v42bis.h"

namespace offhook::decode {

std::optional<V42bisParameters> v42bis_of(std::span<const std::uint8_t> x) {
  constexpr std::uint8_t kFormat = 0x82, kPrivateGroup = 0xF0;
  if (x.empty() || x[0] != kFormat) return {};
  std::size_t at = 1;
  while (at + 3 <= x.size()) {
    const std::uint8_t group = x[at];
    const std::size_t length = static_cast<std::size_t>(x[at + 1]) << 8 | x[at + 2];
    at += 3;
    const std::size_t end = std::min(x.size(), at + length);
    if (group == kPrivateGroup) {
      V42bisParameters p;
      bool named = false;
      while (at + 2 <= end) {
        const std::uint8_t id = x[at], n = x[at + 1];
        at += 2;
        if (at + n > end) break;
        int value = 0;
        for (int k = 0; k < n && k < 3; ++k) value = value << 8 | x[at + static_cast<std::size_t>(k)];
        if (id == 0) named = n == 3 && x[at] == 'V' && x[at + 1] == '4' && x[at + 2] == '2';
        if (id == 1) p.directions = value & 3;
        if (id == 2) p.codewords = value;
        if (id == 3) p.string_length = value;
        at += n;
      }
      if (named) return p;
    }
    at = end;
  }
  return {};
}

V42bisParameters agreed(const V42bisParameters& a, const V42bisParameters& b) {
  return {a.directions & b.directions, std::min(a.codewords, b.codewords), std::min(a.string_length, b.string_length)};
}

std::optional<std::vector<std::uint8_t>> decompress(const V42bisParameters& p, std::span<const std::uint8_t> octets) {
  if (p.codewords < v42::kMinCodewords || p.codewords > 0xFFFF || p.string_length < v42::kMinString ||
      p.string_length > v42::kMaxString) {
    return {};
  }
  const auto codewords = static_cast<std::uint16_t>(p.codewords);
  std::vector<std::uint64_t> memory(v42::Dictionary::size(codewords) / sizeof(std::uint64_t));
  v42::Decoder decoder;
  decoder.init(reinterpret_cast<std::uint8_t*>(memory.data()), codewords, static_cast<std::uint8_t>(p.string_length));
  std::vector<std::uint8_t> out;
  std::array<std::uint8_t, 4096> characters;
  for (std::size_t n = characters.size(); n == characters.size();) {
    std::size_t used = 0;
    n = decoder.put(octets.data(), octets.size(), &used, characters.data(), characters.size());
    octets = octets.subspan(used);
    out.insert(out.end(), characters.begin(), characters.begin() + static_cast<std::ptrdiff_t>(n));
  }
  if (decoder.failed()) return {};
  return out;
}

}  // namespace offhook::decode
