// SPDX-License-Identifier: MIT
#include "offhook/decode.h"
#include "src/decode/call/call.h"

namespace offhook::decode {

std::vector<std::pair<std::string, std::vector<std::uint8_t>>> payloads(const Call& call) {
  std::vector<std::pair<std::string, std::vector<std::uint8_t>>> files;
  for (const bool answer : {false, true}) {
    std::vector<std::uint8_t> octets, bits;
    std::size_t n = 0;
    const auto take = [&](const auto& side) {
      for (const Link& link : side.links) octets.insert(octets.end(), link.payload.begin(), link.payload.end());
      for (const DataHeard& d : side.data) {
        for (const std::uint8_t bit : d.bits) {
          if (n % 8 == 0) bits.push_back(0);
          bits.back() = static_cast<std::uint8_t>(bits.back() | bit << n++ % 8);
        }
      }
    };
    for (const Training& t : call.trainings) take(answer ? t.from_2400 : t.from_1200);
    take(answer ? call.connection.answer : call.connection.call);
    if (n == 0) continue;
    const std::string name = answer ? "answer" : "call";
    files.emplace_back(name + ".bin", std::move(octets));
    files.emplace_back(name + ".bits", std::move(bits));
  }
  return files;
}

}  // namespace offhook::decode
