// SPDX-License-Identifier: MIT
//
// Any text as the tasks of `offhook mttf --tasks`: either an Error, or computations that can be analysed.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "src/lab/advice/computations.h"

using namespace offhook;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    const auto file =
        config::read_computations(config::Document::parse({reinterpret_cast<const char*>(data), size}, "fuzz"));
    const hostsim::LatencyDistribution d({{1, 0.01}, {1e-4, 5}, {1e-6, 20}});
    for (const auto& t : response_times(file.computations, {d, d, d, d}))
      if (!(t.response_ms > 0)) std::abort();
  } catch (const config::Error&) {
  }
  return 0;
}
