// SPDX-License-Identifier: MIT
#include "driver/user_modem/modulations.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <tuple>

#include "driver/user_modem/automode.h"
#include "dsp/automode/automode.h"
#include "tables/modulation.h"

namespace offhook {
namespace {

constexpr auto kTable = [] {
  Modulation any = {.id = OH_MODULATION_NONE,
                    .name = "auto",
                    .title = "automode",
                    .carrier = "",
                    .v8 = {},
                    .min_bit_rate = UINT32_MAX,
                    .max_bit_rate = 0,
                    .v42_window = 0,
                    .alone = false,
                    .mark_hz = 0,
                    .type = oh_automode_v22bis_type,
                    .begin = nullptr,
                    .loops = &automode::kLoops,
                    .v92 = &automode::kV92Choices};
#define OFFHOOK_ROW(name) name,
  std::array rows{OFFHOOK_ROWS(OFFHOOK_ROW) any};
#undef OFFHOOK_ROW
  std::ranges::sort(rows.begin(), rows.end() - 1, {}, [](const Modulation& m) {
    return std::tuple(m.max_bit_rate, m.min_bit_rate, std::string_view(m.name));
  });
  for (const Modulation& m : rows) {
    any.min_bit_rate = std::min(any.min_bit_rate, m.min_bit_rate);
    any.max_bit_rate = std::max(any.max_bit_rate, m.max_bit_rate);
    any.v42_window = std::max(any.v42_window, m.v42_window);
  }
  rows.back() = any;
  return rows;
}();

}  // namespace

constinit const std::span<const Modulation> kModulations = kTable;

constinit const uint32_t kAllModulations = [] {
  uint32_t all = 0;
  for (const Modulation& m : kTable) all |= m.id;
  return all;
}();

constinit const uint32_t kModulationsWithV42 = [] {
  uint32_t all = 0;
  for (const Modulation& m : kTable) all |= m.v42_window > 0 ? uint32_t{m.id} : 0u;
  return all;
}();

int index_of(oh_modulation id) {
  const auto found = std::ranges::find(kTable, id, &Modulation::id);
  return static_cast<int>(std::min(found - kTable.begin(), std::ssize(kTable) - 1));
}

const Modulation& modulation_of(oh_modulation id) {
  return kTable[static_cast<std::size_t>(index_of(id))];
}

}  // namespace offhook
