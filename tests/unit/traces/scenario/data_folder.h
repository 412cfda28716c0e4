// SPDX-License-Identifier: MIT
//
// A data folder of the test's own, so that what a test says does not change with traces/.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

namespace offhook::config {

class DataFolder {
 public:
  DataFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "offhook-data-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) std::abort();
    path_ = name;
    std::filesystem::create_directories(path_ / "hosts");
    std::filesystem::create_directories(path_ / "profiles");
    std::ofstream(path_ / "hosts/nt2000-p2-450.toml") << "tick_hz = 1024\nclock_isr_us = 2\n";
    std::ofstream(path_ / "profiles/pentium2-450-vendor.toml") << "";
    setenv("OFFHOOK_DATA_DIR", path_.c_str(), 1);
  }
  ~DataFolder() {
    unsetenv("OFFHOOK_DATA_DIR");
    std::filesystem::remove_all(path_);
  }
  DataFolder(const DataFolder&) = delete;
  DataFolder& operator=(const DataFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace offhook::config
