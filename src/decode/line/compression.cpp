// SPDX-License-Identifier: MIT
#include "src/decode/line/compression.h"

#include <algorithm>
#include <array>

#include "dsp/link/v42bis.h"

namespace offhook::decode {
namespace {

using Pieces = std::span<const std::span<const std::uint8_t>>;

template <class Decoder>
std::optional<std::vector<std::vector<std::uint8_t>>> run(Decoder& decoder, Pieces pieces) {
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

v44::Parameters smaller(const v44::Parameters& a, const v44::Parameters& b) {
  return {std::min(a.codewords, b.codewords), std::min(a.max_string, b.max_string), std::min(a.history, b.history)};
}

// The transmit direction of one end is the receive direction of the other.
int swapped(int directions) {
  return (directions & 1) << 1 | (directions & 2) >> 1;
}

}  // namespace

std::optional<v42::Xid> xid_of(std::span<const std::uint8_t> information) {
  v42::Xid xid;
  if (v42::read_xid(information.data(), information.size(), &xid) != 0) return {};
  return xid;
}

std::optional<Compression> agreed(const v42::Xid& sender, const v42::Xid& receiver, bool from_initiator) {
  Compression c;
  const int v44_directions = sender.v44_directions & swapped(receiver.v44_directions);
  if (sender.v44 && receiver.v44 && v44_directions != 0) {
    if ((v44_directions & 1) == 0) return {};
    c.v44 = true;
    c.v44_parameters = smaller(sender.v44_tx, receiver.v44_rx);
    return c;
  }
  if (!sender.v42bis || !receiver.v42bis) return {};
  const int direction = from_initiator ? v42::kFromInitiator : v42::kToInitiator;
  if ((sender.compress & receiver.compress & direction) == 0) return {};
  c.codewords = std::min(sender.codewords, receiver.codewords);
  c.string_length = std::min(sender.max_string, receiver.max_string);
  return c;
}

std::optional<std::vector<std::vector<std::uint8_t>>> decompress(const Compression& c, Pieces pieces) {
  const auto memory = [](std::size_t bytes) { return std::vector<std::uint64_t>(bytes / sizeof(std::uint64_t)); };
  if (c.v44) {
    if (!c.v44_parameters.valid()) return {};
    std::vector<std::uint64_t> m = memory(v44::Decoder::size(c.v44_parameters));
    v44::Decoder decoder;
    decoder.init(reinterpret_cast<std::uint8_t*>(m.data()), c.v44_parameters);
    return run(decoder, pieces);
  }
  if (c.codewords < v42::kMinCodewords || c.codewords > 0xFFFF || c.string_length < v42::kMinString ||
      c.string_length > v42::kMaxString) {
    return {};
  }
  const auto codewords = static_cast<std::uint16_t>(c.codewords);
  std::vector<std::uint64_t> m = memory(v42::Dictionary::size(codewords));
  v42::Decoder decoder;
  decoder.init(reinterpret_cast<std::uint8_t*>(m.data()), codewords, static_cast<std::uint8_t>(c.string_length));
  return run(decoder, pieces);
}

}  // namespace offhook::decode
