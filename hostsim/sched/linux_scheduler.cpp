// SPDX-License-Identifier: MIT
#include <cmath>
#include <map>
#include <stdexcept>

#include "hostsim/sched/bottom_halves.h"
#include "hostsim/sched/linux_cpu_max.h"
#include "hostsim/sched/linux_eevdf.h"
#include "hostsim/sched/linux_fair.h"
#include "hostsim/sched/linux_realtime.h"
#include "hostsim/sched/linux_rt_group.h"
#include "hostsim/sched/linux_scx.h"
#include "hostsim/sched/scheduler.h"
#include "hostsim/sched/softirq.h"

namespace offhook::hostsim {
namespace {

constexpr Ns kRoundRobinSlice = 100'000'000;  // RR_TIMESLICE
// Default of sysctl_sched_base_slice. Debian's 6.12.117 in a
// virtual machine has 700000 (tests/live/vm/schedulers.py).
constexpr Ns k66Slice = 750'000, k612Slice = 700'000;

/// Differences between versions.
struct Version {
  enum class Fair { kCfs, kEevdf, kEevdfDelayed, kScxSimple } fair = Fair::kCfs;
  bool server = false;  ///< the fair class has a server, and real-time threads are not throttled
  enum class Softirqs { kBeforeThreads, kLocked, kThreads } softirqs = Softirqs::kBeforeThreads;
};

/// Linux's classes: real-time threads, fair threads, softirqs.
class LinuxScheduler final : public Scheduler {
 public:
  LinuxScheduler(const Version& version, const SchedulerHost& host)
      : version_(version),
        real_time_(version.server ? std::make_shared<LinuxRealTimeGroup>(host.tick_hz, host.cpus, kNever)
                                  : std::make_shared<LinuxRealTimeGroup>(host.tick_hz, host.cpus)),
        locks_(std::make_shared<BottomHalfLocks>(host.cpus)) {
    if (version.fair == Version::Fair::kCfs) {
      cfs_ = std::make_shared<LinuxFairGroup>(host.tick_hz, host.cpus);
      return;
    }
    if (version.fair == Version::Fair::kScxSimple) {
      scx_ = std::make_shared<ScxSimpleGroup>(host.tick_hz, host.cpus);
      return;
    }
    const bool delayed = version.fair == Version::Fair::kEevdfDelayed;
    LinuxEevdfGroup::Options options{.tick_hz = host.tick_hz,
                                     .cpus = host.cpus,
                                     .slice = LinuxEevdfGroup::slice_of(delayed ? k612Slice : k66Slice, host.cpus),
                                     .delay = delayed};
    if (!version.server) options.server.reset();
    eevdf_ = std::make_shared<LinuxEevdfGroup>(options);
  }

  bool has(ThreadRequest::Class) const override { return true; }
  bool charges_stolen_time() const override { return true; }
  bool has_fair_server() const override { return version_.server; }
  bool wants_threaded_interrupts() const override { return version_.softirqs != Version::Softirqs::kBeforeThreads; }
  Policy thread(const ThreadRequest& t) override {
    using Class = ThreadRequest::Class;
    if (t.wants == Class::kProgram || t.wants == Class::kNice)
      return OwnPolicy(fair(t.wants == Class::kNice ? t.nice : 0));
    const LinuxRealTime of{t.priority, t.wants == Class::kRoundRobin ? kRoundRobinSlice : 0};
    return OwnPolicy([of, group = real_time_,
                      locks = t.handler && version_.softirqs == Version::Softirqs::kLocked
                                  ? locks_
                                  : nullptr]() -> std::unique_ptr<ThreadPolicy> {
      auto thread = std::make_unique<LinuxRealTimeThread>(of, group);
      if (locks == nullptr) return thread;
      return std::make_unique<BottomHalfThread>(std::move(thread), locks);
    });
  }
  std::unique_ptr<DeferredWork> deferred_work(int cpu) override {
    std::unique_ptr<ThreadPolicy> ksoftirqd = fair(0)();
    if (version_.softirqs == Version::Softirqs::kLocked)
      ksoftirqd = std::make_unique<BottomHalfThread>(std::move(ksoftirqd), locks_);
    ksoftirqd->moved(cpu);
    if (version_.softirqs == Version::Softirqs::kBeforeThreads)
      return std::make_unique<Softirq>(SoftirqLimit{}, std::move(ksoftirqd));
    auto* locked = dynamic_cast<BottomHalfThread*>(ksoftirqd.get());
    return std::make_unique<SoftirqThread>(SoftirqLimit{}, std::move(ksoftirqd), locked);
  }

 private:
  OwnPolicy fair(int nice) const {
    // Each step of nice is a tenth of the CPU (kernel/sched/core.c, sched_prio_to_weight, within a few parts in 1000).
    const auto weight = std::llround(1024 * std::pow(1.25, -nice));
    if (cfs_) return [weight, group = cfs_] { return std::make_unique<LinuxFairThread>(group, weight); };
    if (scx_) return [weight, group = scx_] { return std::make_unique<ScxSimpleThread>(group, weight); };
    return [weight, group = eevdf_] { return std::make_unique<LinuxEevdfThread>(group, weight); };
  }

  Version version_;
  std::shared_ptr<LinuxRealTimeGroup> real_time_;
  std::shared_ptr<BottomHalfLocks> locks_;
  std::shared_ptr<LinuxFairGroup> cfs_;
  std::shared_ptr<LinuxEevdfGroup> eevdf_;
  std::shared_ptr<ScxSimpleGroup> scx_;
};

SchedulerRow row(std::string name, const Version& version) {
  return {std::move(name), PolicyUse::kThreads,
          [version](const SchedulerHost& host) { return std::make_unique<LinuxScheduler>(version, host); }};
}

/// The groups of a host by their names. Members of one group share a limit, which must be equal for all; a thread
/// without a group has its own.
template <typename Group, typename Limit>
class NamedGroups {
 public:
  std::shared_ptr<Group> find(const std::string& name, const Limit& limit, int cpus) {
    if (name.empty()) return nullptr;
    auto& [group, asked] = groups_[name];
    if (group == nullptr) group = std::make_shared<Group>(asked = limit, cpus);
    if (asked != limit)
      throw std::invalid_argument("group '" + name +
                                  "' has another quota; expected one budget and one period per group");
    return group;
  }

 private:
  std::map<std::string, std::pair<std::shared_ptr<Group>, Limit>> groups_;
};

/// X of every Y as the limit of a control group of fair threads.
class CpuMax final : public Scheduler {
 public:
  explicit CpuMax(const SchedulerHost& host) : host_(host) {
    if (host_.threads == nullptr) host_.threads = make_scheduler(PolicyUse::kThreads, "linux-6.12", host);
  }
  bool moves() const override { return true; }
  bool groups() const override { return true; }
  bool charges_stolen_time() const override { return true; }
  Policy reserve(const ReservationRequest& r) override {
    const ThreadRequest fair{.wants = ThreadRequest::Class::kNice};
    if (!host_.threads->has(fair.wants))
      throw std::invalid_argument(
          "cpu-max limits fair threads, which this host's scheduler does not have; expected a scheduler of Linux");
    const LinuxCpuMax limit{r.budget, r.period, r.offset, host_.tick_hz};
    return OwnPolicy([limit, group = groups_.find(r.group, limit, host_.cpus), cpus = host_.cpus,
                      thread = host_.threads->thread(fair)] {
      return std::make_unique<LinuxCpuMaxThread>(
          make_thread_policy(thread), group != nullptr ? group : std::make_shared<LinuxCpuMaxGroup>(limit, cpus));
    });
  }

 private:
  SchedulerHost host_;
  NamedGroups<LinuxCpuMaxGroup, LinuxCpuMax> groups_;
};

/// X of every Y as the limit of a control group of real-time threads, all with the same priority.
class Hcbs final : public Scheduler {
 public:
  explicit Hcbs(const SchedulerHost& host) : tick_hz_(host.tick_hz), cpus_(host.cpus) {}
  bool groups() const override { return true; }
  bool admits_by_bandwidth() const override { return true; }
  bool charges_stolen_time() const override { return true; }
  Policy reserve(const ReservationRequest& r) override {
    const LinuxDeadline limit{r.budget, r.period, tick_hz_};
    return OwnPolicy([limit, group = groups_.find(r.group, limit, cpus_), cpus = cpus_] {
      return std::make_unique<LinuxRtGroupThread>(
          group != nullptr ? group : std::make_shared<LinuxRtGroup>(limit, cpus), 0);
    });
  }

 private:
  int tick_hz_, cpus_;
  NamedGroups<LinuxRtGroup, LinuxDeadline> groups_;
};

}  // namespace

SchedulerRow linux_scheduler() {
  return row("linux", {});
}
SchedulerRow linux_6_6_scheduler() {
  return row("linux-6.6", {.fair = Version::Fair::kEevdf});
}
SchedulerRow linux_6_12_scheduler() {
  return row("linux-6.12", {.fair = Version::Fair::kEevdfDelayed, .server = true});
}
SchedulerRow linux_6_12_rt_scheduler() {
  return row("linux-6.12-rt",
             {.fair = Version::Fair::kEevdfDelayed, .server = true, .softirqs = Version::Softirqs::kLocked});
}
SchedulerRow linux_6_18_rt_scheduler() {
  return row("linux-6.18-rt",
             {.fair = Version::Fair::kEevdfDelayed, .server = true, .softirqs = Version::Softirqs::kThreads});
}
SchedulerRow linux_7_0_scx_simple_scheduler() {
  return row("linux-7.0-scx-simple", {.fair = Version::Fair::kScxSimple, .server = true});
}

SchedulerRow hcbs_scheduler() {
  return {"hcbs", PolicyUse::kReservations, [](const SchedulerHost& host) { return std::make_unique<Hcbs>(host); }};
}
SchedulerRow cpu_max_scheduler() {
  return {"cpu-max", PolicyUse::kReservations,
          [](const SchedulerHost& host) { return std::make_unique<CpuMax>(host); }};
}

}  // namespace offhook::hostsim
