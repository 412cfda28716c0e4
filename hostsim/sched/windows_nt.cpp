// SPDX-License-Identifier: MIT
#include "hostsim/sched/windows_nt.h"

#include <cmath>

#include "hostsim/sched/scheduler.h"

namespace offhook::hostsim {
namespace {

// Windows 2000 counts quanta in intervals of 1/64 s when its clock is the real-time clock.
constexpr int kIntervalHz = 64;

class WindowsNtScheduler final : public Scheduler {
 public:
  explicit WindowsNtScheduler(const SchedulerHost& host)
      : quantum_(std::max(1, static_cast<int>(std::lround(static_cast<double>(host.quantum) * kIntervalHz / 1e9)))) {}
  bool has(ThreadRequest::Class wanted) const override {
    return wanted == ThreadRequest::Class::kPriority || wanted == ThreadRequest::Class::kProgram;
  }
  Policy thread(const ThreadRequest& t) override {
    const WindowsNt nt{t.priority, t.boost, quantum_, kIntervalHz};
    return OwnPolicy([nt] { return std::make_unique<WindowsNtThread>(nt); });
  }

 private:
  int quantum_;  // intervals
};

}  // namespace

SchedulerRow windows_nt_scheduler() {
  return {"windows-nt", PolicyUse::kThreads,
          [](const SchedulerHost& host) { return std::make_unique<WindowsNtScheduler>(host); }};
}

}  // namespace offhook::hostsim
