// SPDX-License-Identifier: MIT
#include <cmath>

#include "hostsim/sched/linux_fair.h"
#include "hostsim/sched/linux_realtime.h"
#include "hostsim/sched/scheduler.h"
#include "hostsim/sched/softirq.h"

namespace offhook::hostsim {
namespace {

constexpr Ns kRoundRobinSlice = 100'000'000;  // RR_TIMESLICE

/// Linux's classes: real-time threads with their throttle, fair ones; softirqs, which ksoftirqd takes over.
class LinuxScheduler final : public Scheduler {
 public:
  explicit LinuxScheduler(const SchedulerHost& host)
      : real_time_(std::make_shared<LinuxRealTimeGroup>(host.tick_hz, host.cpus)),
        fair_(std::make_shared<LinuxFairGroup>(host.tick_hz, host.cpus)) {}

  bool has(ThreadRequest::Class) const override { return true; }
  Policy thread(const ThreadRequest& t) override {
    using Class = ThreadRequest::Class;
    if (t.wants == Class::kProgram || t.wants == Class::kNice) {
      // Each step of nice is a tenth of the CPU (kernel/sched/core.c, sched_prio_to_weight, to a few parts in 1000).
      const auto weight = std::llround(1024 * std::pow(1.25, t.wants == Class::kNice ? -t.nice : 0));
      return OwnPolicy([weight, group = fair_] { return std::make_unique<LinuxFairThread>(group, weight); });
    }
    const LinuxRealTime of{t.priority, t.wants == Class::kRoundRobin ? kRoundRobinSlice : 0};
    return OwnPolicy([of, group = real_time_] { return std::make_unique<LinuxRealTimeThread>(of, group); });
  }
  std::unique_ptr<DeferredWork> deferred_work(int cpu) override {
    auto ksoftirqd = std::make_unique<LinuxFairThread>(fair_);
    ksoftirqd->moved(cpu);
    return std::make_unique<Softirq>(SoftirqLimit{}, std::move(ksoftirqd));
  }

 private:
  std::shared_ptr<LinuxRealTimeGroup> real_time_;
  std::shared_ptr<LinuxFairGroup> fair_;
};

}  // namespace

SchedulerRow linux_scheduler() {
  return {"linux", PolicyUse::kThreads,
          [](const SchedulerHost& host) { return std::make_unique<LinuxScheduler>(host); }};
}

}  // namespace offhook::hostsim
