// SPDX-License-Identifier: MIT
//
// Proves that a piece of code is fit for the real-time path: it allocates nothing, locks nothing and makes no system
// call.
//
// The body runs in a child process of its own. There malloc and its kin and the pthread locks, which this library
// replaces for the whole executable, end the child at the first call, and a seccomp filter traps every system call but
// exit_group. What the child did wrong, or how it ended otherwise, comes back as text.
//
//     const RealtimeRun run = run_realtime([&] { oh_driver_service(&driver); return blocks; });
//     if (!run.skipped.empty()) GTEST_SKIP() << run.skipped;
//     EXPECT_EQ(run.violation, "");
//     EXPECT_EQ(run.value, 100'000u);
//
// Memory that the body changes is the child's copy: only the returned number comes back. clock_gettime() through the
// vDSO is no system call and passes. Sanitizers allocate and call the system themselves: under them the run is skipped.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace offhook::test {

struct RealtimeRun {
  std::string skipped;      ///< why nothing was run; empty if it ran
  std::string violation;    ///< "malloc", "pthread_mutex_lock", "system call 1", "signal 11"; empty: none
  std::uint64_t value = 0;  ///< the return value of the body
};

RealtimeRun run_realtime(const std::function<std::uint64_t()>& body);

}  // namespace offhook::test
