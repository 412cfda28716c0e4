// SPDX-License-Identifier: MIT
//
// Any text as a scenario and as the axes of a grid: either an Error, or a scenario that writes and reads back the same.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "traces/scenario/scenario.h"

using namespace offhook::config;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  try {
    (void)Document::parse(text, "fuzz").axes();
  } catch (const Error&) {
  }
  ScenarioBuilder builder{offhook::hostsim::Scenario{}};
  try {
    builder.apply(Document::parse(text, "fuzz"));
    const std::string once = to_toml(builder.finish());
    ScenarioBuilder again;
    again.apply(Document::parse(once, "again"));
    if (to_toml(again.finish()) != once) std::abort();
  } catch (const Error&) {
    return 0;
  }
  return 0;
}
