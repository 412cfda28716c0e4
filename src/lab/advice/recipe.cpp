// SPDX-License-Identifier: MIT
#include "src/lab/advice/recipe.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <set>

#include "hostsim/call/host_policies.h"

namespace offhook::advice {
namespace {

using hostsim::ContextScenario;
using hostsim::Scenario;
using hostsim::ThreadClass;

using Lines = std::vector<std::string>;

/// Interrupt threads of PREEMPT_RT are SCHED_FIFO 50. Those of this device come just before its thread.
void say_interrupt_threads(Lines& lines, const Scenario& base, int priority) {
  if (!base.host.threaded_interrupts) return;
  const int above = std::min(priority + 1, 99);
  lines.push_back(
      fmt::format("# PREEMPT_RT: the interrupt's thread (SCHED_FIFO {} by default) wakes yours; put it above",
                  hostsim::kInterruptThreadPriority));
  lines.push_back(
      fmt::format("for t in $(pgrep 'irq/.*-NAME'); do chrt -f -p {} $t; done   # NAME: see /proc/interrupts", above));
}

Lines fifo(const Scenario& base, int priority) {
  Lines lines = {fmt::format("chrt -f {} PROGRAM", priority),
                 "# in a systemd unit",
                 "[Service]",
                 "CPUSchedulingPolicy=fifo",
                 fmt::format("CPUSchedulingPriority={}", priority),
                 "LimitMEMLOCK=infinity",
                 "# in a program: mlockall(MCL_CURRENT | MCL_FUTURE), then",
                 fmt::format("struct sched_param p = {{.sched_priority = {}}};", priority),
                 "pthread_setschedparam(pthread_self(), SCHED_FIFO, &p);"};
  say_interrupt_threads(lines, base, priority);
  return lines;
}

Lines deadline(const Scenario& base, const ContextScenario& c) {
  const double tick_ns = 1e9 / base.host.tick_hz;
  const auto runtime = static_cast<long long>(c.in_ticks() ? static_cast<double>(c.x_ticks) * tick_ns
                                                           : static_cast<double>(c.budget_ns));
  const auto period = static_cast<long long>(c.in_ticks() ? static_cast<double>(c.y_ticks) * tick_ns
                                                          : static_cast<double>(c.period_ns));
  Lines lines = {
      fmt::format("chrt -d --sched-runtime {} --sched-deadline {} --sched-period {} 0 PROGRAM", runtime, period,
                  period),
      "# in a systemd unit, which has no key for SCHED_DEADLINE",
      "[Service]",
      fmt::format("ExecStart=/usr/bin/chrt -d --sched-runtime {} --sched-deadline {} --sched-period {} 0 PROGRAM",
                  runtime, period, period),
      "# in a program: no CPU affinity, and SCHED_FLAG_RESET_ON_FORK if it forks",
      fmt::format("struct sched_attr a = {{.size = sizeof a, .sched_policy = SCHED_DEADLINE, .sched_runtime = {}, "
                  ".sched_deadline = {}, .sched_period = {}}};",
                  runtime, period, period),
      "syscall(SYS_sched_setattr, 0, &a, 0);"};
  if (const auto admission = hostsim::deadline_admission(base.host))
    lines.push_back(
        fmt::format("# EBUSY: all SCHED_DEADLINE threads of the root domain may have {:.1f} % of a CPU together; "
                    "this is {:.1f} %",
                    hostsim::DeadlineAdmission::percent(admission->most()), 100 * c.share()));
  return lines;
}

Lines limited(const Scenario& base, const ContextScenario& c) {
  const double tick_us = 1e6 / base.host.tick_hz;
  const auto us = [&](std::int64_t ticks, std::uint64_t ns) {
    return static_cast<long long>(c.in_ticks() ? static_cast<double>(ticks) * tick_us : static_cast<double>(ns) * 1e-3);
  };
  return {fmt::format("echo '{} {}' > /sys/fs/cgroup/GROUP/{}", us(c.x_ticks, c.budget_ns), us(c.y_ticks, c.period_ns),
                      base.host.reservations == "hcbs" ? "cpu.rt.max" : "cpu.max")};
}

std::string class_of(const hostsim::LoadThread& t) {
  switch (t.scheduling) {
    case ThreadClass::kRoundRobin:
      return fmt::format("SCHED_RR {}", t.priority);
    case ThreadClass::kFifo:
      return fmt::format("SCHED_FIFO {}", t.priority);
    default:
      return t.priority > 0 ? fmt::format("SCHED_FIFO {}", t.priority) : fmt::format("SCHED_OTHER, nice {}", t.nice);
  }
}

struct Place {
  int rank;  // greater is more urgent; a real-time priority is its own value
  std::string text;
};
// A recorded SCHED_FIFO p is 40 + p (hostsim/host/host_load.h).
constexpr int kRealTimeFrom = 40;
constexpr int kNormal = 0, kDeadline = 200, kDeferred = 300, kInterrupt = 400;

/// Threads of the load, including the spinner.
void add_load(std::vector<Place>& places, const Scenario& base) {
  for (const hostsim::LoadThread& t : base.load.threads) {
    const bool deadline = t.scheduling == ThreadClass::kDeadline;
    places.push_back({deadline ? kDeadline : t.priority, deadline ? fmt::format("SCHED_DEADLINE: {}", t.name)
                                                                  : fmt::format("{}: {}", class_of(t), t.name)});
  }
  for (const hostsim::ReservedThread& t : base.load.reservations)
    places.push_back({kDeadline, fmt::format("SCHED_DEADLINE: {}", t.name)});
  for (const hostsim::CompetingDevice& d : base.load.soft_devices)
    places.push_back({d.context.kind == OH_CONTEXT_INTERRUPT     ? kInterrupt
                      : d.context.kind == OH_CONTEXT_DPC         ? kDeferred
                      : d.context.kind == OH_CONTEXT_RESERVATION ? kDeadline
                                                                 : static_cast<int>(d.context.priority),
                      fmt::format("{}: {}", d.context.str(), d.name)});
  if (base.load.spinner) places.push_back({kNormal, "SCHED_OTHER, nice 0: a thread that never blocks"});
}

/// Threads of the recording that ran on the replayed CPU, by priority.
void add_recorded(std::vector<Place>& places, const Scenario& base) {
  if (!base.load.recorded) return;
  std::map<int, std::set<std::string>> threads;
  for (const auto& cpu : base.load.recorded->cpus) {
    if (cpu.number != base.load.trace_cpu) continue;
    for (const auto& interval : cpu.intervals) {
      const auto& source = base.load.recorded->sources[interval.source];
      if (source.kind == hostsim::HostLoad::Kind::kThread)
        threads[std::max(source.priority - kRealTimeFrom, 0)].insert(source.name);
    }
  }
  constexpr std::size_t kNamed = 4;
  for (const auto& [priority, names] : threads) {
    const std::vector<std::string> first(names.begin(), std::next(names.begin(), std::min(names.size(), kNamed)));
    const std::string which = priority == 0   ? "SCHED_OTHER"
                              : priority > 99 ? "SCHED_DEADLINE"
                                              : fmt::format("SCHED_FIFO or SCHED_RR {}", priority);
    places.push_back({priority > 99 ? kDeadline : priority,
                      fmt::format("{}, recorded: {}{}", which, fmt::join(first, ", "),
                                  names.size() > kNamed ? fmt::format(" and {} more", names.size() - kNamed) : "")});
  }
}

}  // namespace

std::vector<std::string> recipe(const Advice& advice) {
  if (!advice.chosen || !hostsim::has_linux_classes(advice.base.host)) return {};
  const ContextScenario& c = advice.trials[*advice.chosen].context;
  switch (c.kind) {
    case OH_CONTEXT_THREAD:
    case OH_CONTEXT_FIFO:
      return fifo(advice.base, static_cast<int>(c.priority));
    case OH_CONTEXT_RESERVATION:
      return advice.base.host.reservations.starts_with("deadline") ? deadline(advice.base, c) : limited(advice.base, c);
    default:
      return {};
  }
}

std::vector<std::string> order_of_priorities(const Advice& advice) {
  const Scenario& base = advice.base;
  if (!hostsim::has_linux_classes(base.host)) return {};
  const bool threaded = base.host.threaded_interrupts;
  std::vector<Place> places = {{kInterrupt, threaded ? "hard interrupt: timers, stubs of devices" : "hard interrupt"}};
  if (!threaded) places.push_back({kDeferred, "softirq"});
  if (threaded)
    places.push_back(
        {hostsim::kInterruptThreadPriority, fmt::format("SCHED_FIFO {}: interrupt threads of devices, softirqs in them",
                                                        hostsim::kInterruptThreadPriority)});
  if (advice.chosen) {
    const Trial& t = advice.trials[*advice.chosen];
    const oh_context_kind kind = t.context.kind;
    places.push_back({kind == OH_CONTEXT_INTERRUPT     ? (threaded ? hostsim::kInterruptThreadPriority : kInterrupt)
                      : kind == OH_CONTEXT_DPC         ? (threaded ? hostsim::kInterruptThreadPriority : kDeferred)
                      : kind == OH_CONTEXT_RESERVATION ? kDeadline
                                                       : static_cast<int>(t.context.priority),
                      fmt::format("{}: {} <- this device", t.in_full, advice.device)});
  }
  add_load(places, base);
  add_recorded(places, base);
  std::stable_sort(places.begin(), places.end(), [](const Place& a, const Place& b) { return a.rank > b.rank; });
  std::vector<std::string> lines;
  for (Place& p : places) lines.push_back(std::move(p.text));
  return lines;
}

}  // namespace offhook::advice
