// SPDX-License-Identifier: MIT
//
// Any text as a device description: either an Error, or a device that writes and reads back the same and whose law can
// be computed.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "src/lab/advice/law.h"
#include "traces/scenario/device.h"

using namespace offhook;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  try {
    const hostsim::SoftDevice device = config::parse_device(config::Document::parse(text, "fuzz"));
    const std::string once = config::to_toml(device);
    if (config::to_toml(config::parse_device(config::Document::parse(once, "again"))) != once) std::abort();
    const DeviceTiming timing = device_timing(device);
    const double y = timing.mean_period_ms();
    const LawResult law = full_law(timing, y, y);
    if (law.overloaded && law.sufficient) std::abort();
  } catch (const config::Error&) {
  }
  return 0;
}
