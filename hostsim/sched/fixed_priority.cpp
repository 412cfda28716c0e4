// SPDX-License-Identifier: MIT
#include "hostsim/sched/fixed_priority.h"

#include "hostsim/sched/scheduler.h"

namespace offhook::hostsim {
namespace {

/// Windows NT's priorities without its boosts. Normal priorities (1 to 15) are time-sliced. Real-time priorities are
/// too, but here no two are equal.
class FixedPriorityScheduler final : public Scheduler {
 public:
  explicit FixedPriorityScheduler(const SchedulerHost& host) : quantum_(host.quantum) {}
  bool has(ThreadRequest::Class wanted) const override {
    return wanted == ThreadRequest::Class::kPriority || wanted == ThreadRequest::Class::kProgram;
  }
  Policy thread(const ThreadRequest& t) override {
    const bool sliced = t.wants == ThreadRequest::Class::kProgram || t.priority < 16;
    return FixedPriority{t.priority, sliced ? quantum_ : 0};
  }

 private:
  Ns quantum_;
};

}  // namespace

SchedulerRow fixed_priority_scheduler() {
  return {"fixed-priority", PolicyUse::kThreads,
          [](const SchedulerHost& host) { return std::make_unique<FixedPriorityScheduler>(host); }};
}

}  // namespace offhook::hostsim
