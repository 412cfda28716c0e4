// SPDX-License-Identifier: MIT
#include "hostsim/call/random_file.h"

#include "hostsim/engine/random.h"

namespace offhook::hostsim {

std::vector<std::uint8_t> random_file(const Scenario& scenario) {
  constexpr std::uint64_t kFileStream = 0x46494c45;  // not used by any other stream
  const Random random(scenario.seed, kFileStream);
  std::vector<std::uint8_t> bytes(scenario.bytes);
  for (std::size_t i = 0; i < bytes.size(); ++i)
    bytes[i] = static_cast<std::uint8_t>(random.word(i / 8) >> (8 * (i % 8)));
  return bytes;
}

}  // namespace offhook::hostsim
