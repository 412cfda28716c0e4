// SPDX-License-Identifier: MIT
#include "traces/scenario/data.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <string>
#include <utility>

#include "driver/base/nearest.h"
#include "driver/base/output.h"
#include "traces/scenario/key.h"

namespace offhook::config {

namespace fs = std::filesystem;

namespace {

/// The data of the installation that contains a file: bin/offhook, lib/ARCHITECTURE/liboffhook-simulator.so.
std::optional<fs::path> data_of_prefix(const fs::path& file) {
  constexpr int kDeepest = 3;
  std::error_code error;
  fs::path folder = file.parent_path();
  for (int k = 0; k < kDeepest && folder.has_relative_path(); ++k) {
    folder = folder.parent_path();
    if (fs::is_directory(folder / "share/offhook/profiles", error)) return folder / "share/offhook";
  }
  return std::nullopt;
}

}  // namespace

fs::path data_dir() {
  if (const char* set = std::getenv("OFFHOOK_DATA_DIR"); set != nullptr && *set != '\0') return set;
  std::error_code error;
  if (const fs::path program = fs::read_symlink("/proc/self/exe", error); !error) {
    if (const auto installed = data_of_prefix(program)) return *installed;
  }
  if (Dl_info self{}; dladdr(reinterpret_cast<const void*>(&data_dir), &self) != 0 && self.dli_fname != nullptr) {
    if (const auto installed = data_of_prefix(fs::absolute(self.dli_fname, error))) return *installed;
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

std::string file_named_in(std::string_view file, std::string name) {
  const fs::path beside = fs::path(file).parent_path() / name;
  std::error_code error;
  return !name.empty() && fs::exists(beside, error) ? beside.string() : std::move(name);
}

fs::path data_file(std::string_view room, std::string_view name) {
  if (name.ends_with(".toml")) return name;
  const std::vector<std::string> names = data_names(room);
  if (std::find(names.begin(), names.end(), name) == names.end()) {
    const std::vector<std::string_view> known(names.begin(), names.end());
    struct stat at {};
    const bool exists = stat(std::string(name).c_str(), &at) == 0;  // so it is a path, and not a misspelt name
    throw Error(fmt::format("\"{}\" is {}not in {}{}; expected one of: {}{}", name,
                            exists ? kind_of_file(at.st_mode) + ", and " : "", (data_dir() / room).string(),
                            the_nearest(name, known), fmt::join(names, ", "),
                            exists ? ", or a file whose name ends in .toml" : ""));
  }
  return data_dir() / room / fmt::format("{}.toml", name);
}

}  // namespace offhook::config
