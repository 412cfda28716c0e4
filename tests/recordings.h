// SPDX-License-Identifier: MIT
//
// Where the recorded calls are that tests may use: OFFHOOK_RECORDINGS, or shared/recordings beside the project. They
// are not part of it, so a test that needs them skips where they are absent.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

namespace offhook {

inline std::filesystem::path recordings() {
  namespace fs = std::filesystem;
  if (const char* set = std::getenv("OFFHOOK_RECORDINGS")) return set;
  for (fs::path at = fs::current_path(); at != at.root_path(); at = at.parent_path()) {
    if (fs::exists(at / "shared" / "recordings")) return at / "shared" / "recordings";
  }
  return "../shared/recordings";
}

/// @return the first of these files in a folder of recordings() that is not on this machine; empty if all exist
inline std::string absent(const std::filesystem::path& folder, const std::vector<std::string>& files) {
  for (const std::string& file : files) {
    if (!std::filesystem::exists(folder / file)) return folder / file;
  }
  return {};
}

}  // namespace offhook
