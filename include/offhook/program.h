// SPDX-License-Identifier: MIT
//
// The whole program as one function, for programs that extend it: with a pump (hostsim/call/registered_pump.h), a
// scheduling policy (hostsim/sched/scheduler.h) or a context (hostsim/host/context.h). Every command can use extensions
// that were added before the call. A plug-in adds the same to the program itself (offhook/plugin.h).
#pragma once

namespace offhook {

/// Runs `offhook` with the arguments of main(). Errors go to standard error as one line. Signal handlers are restored
/// afterwards. Closed standard streams remain unusable, but keep their descriptors. @return the exit status: 0, 1 on
/// error, 2 if the call ran but the context was not sufficient, 130 if interrupted
int run_program(int argc, const char* const* argv);

}  // namespace offhook
