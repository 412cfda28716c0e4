// SPDX-License-Identifier: MIT
//
// The path of a system call through three kernels (Chen et al. 1995, 4.1 and 4.2). Threads of one host enter and leave
// the kernel, change the mode of the CPU, and pass a request to a server. Times only cover the instructions.
#pragma once

#include <cstdint>
#include <vector>

#include "hostsim/engine/engine.h"

namespace offhook::reproduce {

/// CPU time of one crossing, ns.
struct CrossingCosts {
  hostsim::Ns enter = 0;        ///< INT, into the kernel
  hostsim::Ns leave = 0;        ///< IRET, out of it
  hostsim::Ns mode_change = 0;  ///< either of them, if the mode of the CPU changes
};

/// The steps of a thread of the path for each call. kHandOver wakes the other thread and waits for it.
enum class Step : std::uint8_t { kEnter, kLeave, kModeChange, kHandOver };

struct Path {
  std::vector<Step> application;
  std::vector<Step> server;  ///< empty if there is none
};
/// dup() of a monolithic kernel.
Path monolithic_path();
/// A request to a server in user mode that itself calls the kernel, and the answer.
Path server_path();
/// A system call that only changes the mode of the CPU.
Path mode_change_path(int changes);

struct PathResult {
  double crossings = 0;     ///< crossings of protection domains by one call
  double mode_changes = 0;  ///< of one call
  double elapsed_us = 0;    ///< of one call
};
/// @param calls one after another, on an idle host
PathResult run_path(const Path& path, const CrossingCosts& costs, int calls);

}  // namespace offhook::reproduce
