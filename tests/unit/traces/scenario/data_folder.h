// SPDX-License-Identifier: MIT
//
// A data folder of the test's own, so that what a test says does not change with traces/.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "tests/unit/temporary_folder.h"

namespace offhook::config {

class DataFolder {
 public:
  DataFolder() {
    std::filesystem::create_directories(path() / "hosts");
    std::filesystem::create_directories(path() / "profiles");
    std::ofstream(path() / "hosts/nt2000-p2-450.toml") << "tick_hz = 1024\nclock_isr_us = 2\n";
    std::ofstream(path() / "profiles/pentium2-450-vendor.toml") << "";
    setenv("OFFHOOK_DATA_DIR", path().c_str(), 1);
  }
  ~DataFolder() { unsetenv("OFFHOOK_DATA_DIR"); }
  DataFolder(const DataFolder&) = delete;
  DataFolder& operator=(const DataFolder&) = delete;
  const std::filesystem::path& path() const { return folder_.path(); }

 private:
  test::TemporaryFolder folder_;
};

}  // namespace offhook::config
