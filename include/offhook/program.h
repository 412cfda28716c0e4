// SPDX-License-Identifier: MIT
//
// The whole program as one function, for programs that add something to it: a scheduling policy
// (hostsim/sched/scheduler.h), a context (hostsim/host/context.h). What is added before the call is known to every
// command. examples/embed/policy.cpp does it.
#pragma once

namespace offhook {

/// `offhook` with these arguments, as main() has them. Errors go to standard error as one line. Signals are handled
/// afterwards as they were before. Standard streams that are closed stay unusable, but keep their descriptors.
/// @return the exit status: 0, 1 on error, 2 when the call ran but the context did not suffice, 130 when interrupted
int run_program(int argc, const char* const* argv);

}  // namespace offhook
