// SPDX-License-Identifier: MIT
//
// For tests that nothing is left open, also where the first number that is free is 0, as in a service without a
// standard input.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <cstddef>
#include <filesystem>
#include <iterator>

namespace offhook::test {

/// The descriptors that this process has open.
inline std::ptrdiff_t open_descriptors() {
  return std::distance(std::filesystem::directory_iterator("/proc/self/fd"), {});
}

/// Keeps descriptor 0 free until its end.
class WithoutStandardInput {
 public:
  WithoutStandardInput() : kept_(fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 100)) { close(STDIN_FILENO); }
  ~WithoutStandardInput() {
    if (kept_ < 0) return;
    dup2(kept_, STDIN_FILENO);
    close(kept_);
  }
  WithoutStandardInput(const WithoutStandardInput&) = delete;
  WithoutStandardInput& operator=(const WithoutStandardInput&) = delete;

 private:
  int kept_;
};

}  // namespace offhook::test
