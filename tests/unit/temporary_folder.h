// SPDX-License-Identifier: MIT
//
// What tests of files need: a folder of their own, and what an action says when it throws.
#pragma once

#include <cstdlib>
#include <exception>
#include <filesystem>
#include <functional>
#include <string>

namespace offhook::test {

/// Created empty, and removed at the end. Its path is short enough for a socket's address.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = "/tmp/offhook-XXXXXX";
    if (mkdtemp(name.data()) == nullptr) std::abort();
    path_ = name;
  }
  ~TemporaryFolder() { std::filesystem::remove_all(path_); }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

/// "no error" if nothing was thrown.
inline std::string complaint(const std::function<void()>& act) {
  try {
    act();
  } catch (const std::exception& e) {
    return e.what();
  }
  return "no error";
}

}  // namespace offhook::test
