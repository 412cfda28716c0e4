// SPDX-License-Identifier: MIT
//
// Any text as a file of runs that `offhook advise` keeps, and any JSON as a run whose checksum is right (which a fuzzer
// would never guess): left out, or a run whose counts are counts and which is written and read back the same.
#include <cstdint>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>

#include "driver/base/json.h"
#include "src/lab/advice/kept_runs.h"

using namespace offhook;
using Json = nlohmann::ordered_json;

namespace {

void use(const advice::RunsByKey& runs) {
  for (const auto& [key, run] : runs) {
    (void)advice::run_from<advice::Lost>(run);
    (void)advice::run_from<advice::Measured>(run);
    const auto again = advice::parse_kept_runs(advice::kept_run_line(key, run));
    if (again.size() != 1) std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  use(advice::parse_kept_runs(text));
  try {
    const Json run = parse_json<Json>(text);
    const auto kept = advice::parse_kept_runs("cut off {\n" + advice::kept_run_line("key", run) + "\n");
    if (kept.size() != 1) std::abort();
    use(kept);
  } catch (const Json::exception&) {
  }
  return 0;
}
