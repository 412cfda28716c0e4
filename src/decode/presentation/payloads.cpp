// SPDX-License-Identifier: MIT
#include "offhook/decode.h"
#include "src/decode/call/call.h"

namespace offhook::decode {

std::vector<std::pair<std::string, std::vector<std::uint8_t>>> payloads(const Call& call) {
  std::vector<std::pair<std::string, std::vector<std::uint8_t>>> files;
  for (const bool answer : {false, true}) {
    std::vector<std::uint8_t> octets, bits;
    std::size_t n = 0;
    const auto take = [&](const std::vector<Link>& links, const auto& data) {
      for (const Link& link : links) {
        octets.insert(octets.end(), link.payload.begin(), link.payload.end());
        octets.insert(octets.end(), link.characters.begin(), link.characters.end());
      }
      for (const DataHeard& d : data) {
        for (const std::uint8_t bit : d.bits) {
          if (n % 8 == 0) bits.push_back(0);
          bits.back() = static_cast<std::uint8_t>(bits.back() | bit << n++ % 8);
        }
      }
    };
    for (const Training& t : call.trainings) {
      const Training::Side& side = answer ? t.from_2400 : t.from_1200;
      if (!t.pcm) {
        take(side.links, side.data);
      } else if (answer != (t.from_2400.direction.channel == call.start_up.answer_channel)) {
        take(t.downstream_links, t.downstream.data);
      } else {
        take(t.from_2400.links, t.from_2400.data);
      }
    }
    const Connection::Side& side = answer ? call.connection.answer : call.connection.call;
    take(side.links, side.data);
    for (const FskHeard& f : call.fsk) {
      if (f.one_band ? answer : f.calling == answer) continue;  // of one band for both, all is call.bin
      octets.insert(octets.end(), f.text.characters.begin(), f.text.characters.end());
    }
    if (n == 0 && octets.empty()) continue;
    const std::string name = answer ? "answer" : "call";
    files.emplace_back(name + ".bin", std::move(octets));
    if (n > 0) files.emplace_back(name + ".bits", std::move(bits));
  }
  return files;
}

}  // namespace offhook::decode
