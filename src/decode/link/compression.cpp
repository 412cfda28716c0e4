// SPDX-License-Identifier: MIT
#include "src/decode/link/compression.h"

#include <algorithm>
#include <array>

#include "dsp/v42/v42bis.h"
#include "dsp/v42/xid.h"

namespace offhook::decode {

std::optional<V42bisParameters> v42bis_of(std::span<const std::uint8_t> information) {
  v42::Xid xid;
  if (v42::read_xid(information.data(), information.size(), &xid) != 0 || !xid.v42bis) return {};
  return V42bisParameters{xid.compress, xid.codewords, xid.max_string};
}

V42bisParameters agreed(const V42bisParameters& a, const V42bisParameters& b) {
  return {a.directions & b.directions, std::min(a.codewords, b.codewords), std::min(a.string_length, b.string_length)};
}

std::optional<std::vector<std::vector<std::uint8_t>>> decompress(
    const V42bisParameters& p, std::span<const std::span<const std::uint8_t>> pieces) {
  if (p.codewords < v42::kMinCodewords || p.codewords > 0xFFFF || p.string_length < v42::kMinString ||
      p.string_length > v42::kMaxString) {
    return {};
  }
  const auto codewords = static_cast<std::uint16_t>(p.codewords);
  std::vector<std::uint64_t> memory(v42::Dictionary::size(codewords) / sizeof(std::uint64_t));
  v42::Decoder decoder;
  decoder.init(reinterpret_cast<std::uint8_t*>(memory.data()), codewords, static_cast<std::uint8_t>(p.string_length));
  std::vector<std::vector<std::uint8_t>> all;
  std::array<std::uint8_t, 4096> characters;
  for (std::span<const std::uint8_t> octets : pieces) {
    std::vector<std::uint8_t>& out = all.emplace_back();
    for (std::size_t n = characters.size(); n == characters.size();) {
      std::size_t used = 0;
      n = decoder.put(octets.data(), octets.size(), &used, characters.data(), characters.size());
      octets = octets.subspan(used);
      out.insert(out.end(), characters.begin(), characters.begin() + static_cast<std::ptrdiff_t>(n));
    }
  }
  if (decoder.failed()) return {};
  return all;
}

}  // namespace offhook::decode
