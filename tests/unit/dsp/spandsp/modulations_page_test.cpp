// SPDX-License-Identifier: MIT
//
// docs/modulations.md has the table of modulations, row by row.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "dsp/spandsp/modulations.h"

namespace offhook {
namespace {

std::string rates(const Modulation& m) {
  const std::string most = std::to_string(m.max_bit_rate);
  return m.min_bit_rate == m.max_bit_rate ? most : std::to_string(m.min_bit_rate) + " to " + most;
}

std::string beginning(const Modulation& m) {
  if (m.id == OH_MODULATION_V34 || m.id == OH_MODULATION_V90) return "nothing: it has V.8";
  const std::string mark = "its mark, " + std::to_string(m.mark_hz) + " Hz";
  if (m.id == OH_MODULATION_BELL103) return mark;
  return "2100 Hz, then " + (m.mark_hz == 0 ? "its own signal" : mark);
}

TEST(ModulationsPage, HasEveryRowOfTheTable) {
  std::ifstream page(std::filesystem::path(OFFHOOK_SOURCE_DIR) / "docs/modulations.md");
  ASSERT_TRUE(page.is_open());
  std::vector<std::string> rows, wanted;
  for (std::string line; std::getline(page, line);) {
    if (line.starts_with("| `") && !line.starts_with("| `pump.modem`")) rows.push_back(line);
  }
  for (const Modulation& m : kModulations) {
    if (m.id == OH_MODULATION_NONE) continue;
    wanted.push_back("| `" + std::string(m.name) + "` | " + m.title + " | `" + m.carrier + "` | " +
                     (m.v8.modulations != 0 ? "yes" : "no") + " | " + rates(m) + " | " +
                     (m.v42_window > 0 ? "yes" : "no") + " | " + beginning(m) + " |");
  }
  EXPECT_EQ(rows, wanted);
}

}  // namespace
}  // namespace offhook
