// SPDX-License-Identifier: MIT
// Any text as published claims and as a cost profile: either an Error, or what can be read from end to end.
#include <cstdint>
#include <string_view>

#include "src/lab/reproduce/published.h"
#include "traces/scenario/document.h"
#include "traces/scenario/profile.h"

using namespace offhook;

namespace {

template <typename Act>
void attempt(Act act) {
  try {
    act();
  } catch (const config::Error&) {
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  attempt([&] {
    for (const reproduce::Published& p : reproduce::read_published(config::Document::parse(text, "fuzz")))
      (void)p.unread();
  });
  attempt([&] {
    const hostsim::CostProfile profile = config::read_profile(config::Document::parse(text, "fuzz"), "fuzz");
    for (const auto& phase : profile.phases) {
      if (phase.block_plan.empty() || phase.service_ns < 0 || phase.worst_service_ns < 0) __builtin_trap();
    }
  });
  return 0;
}
