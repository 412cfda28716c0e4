// SPDX-License-Identifier: MIT
#pragma once

#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>
#include <utility>

namespace offhook {

/// Starts a thread; an error has a clear reason, where the library only gives "Resource temporarily unavailable".
/// @throws std::runtime_error when the system refuses another thread
template <typename Work>
std::thread start_thread(Work&& work) {
  try {
    return std::thread(std::forward<Work>(work));
  } catch (const std::system_error& e) {
    throw std::runtime_error("a thread cannot be started: " + e.code().message() +
                             "; the limit of processes (ulimit -u, pids.max of the cgroup) or of memory is reached");
  }
}

}  // namespace offhook
