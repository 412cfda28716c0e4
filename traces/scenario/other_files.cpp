// SPDX-License-Identifier: MIT
#include "traces/scenario/other_files.h"

#include <algorithm>
#include <array>
#include <utility>

namespace offhook::config {

std::string_view file_that_begins(std::string_view name) {
  constexpr std::string_view kGrid = "a grid, for offhook sweep", kDevice = "a device, for offhook advise",
                             kScenario = "a scenario, for offhook run",
                             kTasks = "a set of tasks, for offhook mttf --tasks";
  using Name = std::pair<std::string_view, std::string_view>;
  static constexpr auto kNames = std::to_array<Name>({{"axes", kGrid},
                                                      {"base", kGrid},
                                                      {"repeats", kGrid},
                                                      {"block", kDevice},
                                                      {"buffers", kDevice},
                                                      {"work", kDevice},
                                                      {"context", kScenario},
                                                      {"pump", kScenario},
                                                      {"line", kScenario},
                                                      {"link", kScenario},
                                                      {"transfer", kScenario},
                                                      {"driver", kScenario},
                                                      {"host", kScenario},
                                                      {"load", kScenario},
                                                      {"computation", kTasks}});
  const auto* found = std::ranges::find(kNames, name, &Name::first);
  return found == kNames.end() ? std::string_view() : found->second;
}

}  // namespace offhook::config
