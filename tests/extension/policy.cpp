// SPDX-License-Identifier: MIT
//
// A scheduler that a stranger adds: every thread at one priority.
#include "hostsim/sched/fixed_priority.h"
#include "hostsim/sched/scheduler.h"

namespace offhook::hostsim {
namespace {

struct OwnScheduler final : Scheduler {
  bool has(ThreadRequest::Class wanted) const override {
    return wanted == ThreadRequest::Class::kPriority || wanted == ThreadRequest::Class::kProgram;
  }
  Policy thread(const ThreadRequest&) override { return FixedPriority{8, 1'000'000}; }
};

}  // namespace

SchedulerRow extension_scheduler() {
  return {"extension", PolicyUse::kThreads, [](const SchedulerHost&) { return std::make_unique<OwnScheduler>(); }};
}

}  // namespace offhook::hostsim
