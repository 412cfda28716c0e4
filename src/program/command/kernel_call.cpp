// SPDX-License-Identifier: MIT
#include "src/program/command/kernel_call.h"

#include <fmt/format.h>

#include "driver/base/file.h"
#include "dsp/link/cells.h"
#include "traces/scenario/key.h"

namespace offhook::command {

std::vector<std::uint8_t> octets_to_send(const std::string& path, bool cells) {
  if (path.empty()) return {};
  const std::string octets = read_file(path);
  if (cells && octets.size() % OH_CELL_OCTETS != 0)
    throw config::Error(fmt::format("{0}: {2} octets; expected whole ATM cells of {1} octets for a DMT pump", path,
                                    +OH_CELL_OCTETS, octets.size()));
  return {octets.begin(), octets.end()};
}

}  // namespace offhook::command
