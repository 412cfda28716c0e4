// SPDX-License-Identifier: MIT
#include "src/decode/compression.h"

#include <spandsp.h>

#include <algorithm>

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

std::optional<std::vector<std::uint8_t>> decompress(const V42bisParameters& p, std::span<const std::uint8_t> octets,
                                                    std::span<const std::size_t> ends) {
  // Larger dictionaries pass spandsp's init and then crash.
  if (p.codewords < 512 || p.codewords > 4096 || p.string_length < 6 || p.string_length > 250) return {};
  std::vector<std::uint8_t> out;
  const auto put = [](void* user, const std::uint8_t* message, int n) {
    auto* to = static_cast<std::vector<std::uint8_t>*>(user);
    to->insert(to->end(), message, message + std::max(n, 0));
  };
  v42bis_state_t* s = v42bis_init(nullptr, 3, p.codewords, p.string_length, put, &out, 512, put, &out, 512);
  if (s == nullptr) return {};
  bool good = true;
  std::size_t begin = 0;
  for (const std::size_t end : ends) {
    good = good && v42bis_decompress(s, octets.data() + begin, static_cast<int>(end - begin)) == 0;
    if (!good) break;
    v42bis_decompress_flush(s);
    begin = end;
  }
  v42bis_free(s);
  if (!good) return {};
  return out;
}

}  // namespace offhook::decode
