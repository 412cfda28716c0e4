// SPDX-License-Identifier: MIT
//
// docs/modulations.md has the table of modulations, row by row; docs of a modulation have the size of its pump.
#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "driver/user_modem/modulations.h"
#include "dsp/pump/pump_type.h"
#include "dsp/v22/pump.h"
#include "dsp/v32/pump.h"
#include "dsp/v34/session/pump.h"
#include "dsp/v90/session/pump.h"

namespace offhook {
namespace {

std::string rates(const Modulation& m) {
  const std::string most = std::to_string(m.max_bit_rate);
  return m.min_bit_rate == m.max_bit_rate ? most : std::to_string(m.min_bit_rate) + " to " + most;
}

std::string beginning(const Modulation& m) {
  if (m.id == OH_MODULATION_V34 || m.id == OH_MODULATION_V90) return "n/a (uses V.8)";
  const std::string mark = "its mark, " + std::to_string(m.mark_hz) + " Hz";
  if (m.id == OH_MODULATION_BELL103 || m.id == OH_MODULATION_BELL212A) return mark;
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

TEST(ModulationPages, HaveTheSizeOfAPumpsState) {
  struct {
    const char* page;
    const oh_pump_type* type;
    oh_pump_format format;
  } const pumps[] = {{"docs/v22.md", oh_v22bis_type(), kLinear8000},
                     {"docs/v32.md", oh_v32bis_type(), kLinear8000},
                     {"docs/v34.md", oh_v34_type(), kLinear8000},
                     {"docs/v90.md", oh_v90_type(), kLinear16000To8000},
                     {"docs/v90.md", oh_v90_type(), kMuLaw8000}};
  for (const auto& pump : pumps) {
    oh_pump_config config{};
    config.struct_size = sizeof config;
    config.format = pump.format;
    config.role = OH_PUMP_CALL;
    config.tx_level_dbm0 = -12;
    config.port = {.get_bit = [](void*) { return 1; }, .put_bit = [](void*, int) {}, .user = nullptr};
    const std::size_t bytes = pump.type->size(&config);
    ASSERT_GT(bytes, 1000u) << pump.page;
    char size[32];
    std::snprintf(size, sizeof size, "%zu,%03zu bytes", bytes / 1000, bytes % 1000);
    std::ifstream page(std::filesystem::path(OFFHOOK_SOURCE_DIR) / pump.page);
    const std::string text((std::istreambuf_iterator<char>(page)), {});
    EXPECT_NE(text.find(size), std::string::npos) << pump.page << ": its pump takes " << size;
  }
}

}  // namespace
}  // namespace offhook
