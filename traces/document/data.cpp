// SPDX-License-Identifier: MIT
#include "traces/document/data.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <string>

#include "traces/document/key.h"
#include "traces/text/nearest.h"

namespace offhook::config {

namespace fs = std::filesystem;

fs::path data_dir() {
  if (const char* set = std::getenv("OFFHOOK_DATA_DIR"); set != nullptr && *set != '\0') return set;
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  if (!error) {
    const fs::path installed = program.parent_path().parent_path() / "share/offhook";
    if (fs::is_directory(installed / "profiles", error)) return installed;
  }
  return fs::is_directory(OFFHOOK_DATA_DIR, error) ? OFFHOOK_DATA_DIR : OFFHOOK_INSTALLED_DATA;
}

std::vector<std::string> data_names(std::string_view room) {
  std::vector<std::string> names;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(data_dir() / room, error)) {
    if (entry.path().extension() == ".toml") names.push_back(entry.path().stem().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

fs::path data_file(std::string_view room, std::string_view name) {
  if (name.ends_with(".toml")) return name;
  const std::vector<std::string> names = data_names(room);
  if (std::find(names.begin(), names.end(), name) == names.end()) {
    const std::vector<std::string_view> known(names.begin(), names.end());
    throw Error(fmt::format("\"{}\" is not in {}{}; expected one of: {}", name, (data_dir() / room).string(),
                            the_nearest(name, known), fmt::join(names, ", ")));
  }
  return data_dir() / room / fmt::format("{}.toml", name);
}

}  // namespace offhook::config
