// SPDX-License-Identifier: MIT
//
// Control groups of real-time threads as proposed with the hierarchical constant bandwidth server (HCBS, RFC patches
// of 2025 and 2026; cpu.rt.max). On each CPU, a group has a deadline server with a budget per period. The group's
// SCHED_FIFO threads on that CPU run in its place, the most urgent first.
//   - The server is a reservation like that of a deadline thread (linux_deadline.h): the group is throttled at a
//     tick. It becomes active when the first of its threads wakes.
//   - It precedes all real-time threads of the root group, whatever their priorities.
//   - A group of groups keeps for its own threads the budget that its children did not get. Each server is therefore
//     independent, and the hierarchy only limits the budgets.
//   - Threads stay on their CPU (migration within a group is not modelled).
// Source: "[RFC PATCH v6 00/25] Hierarchical Constant Bandwidth Server" (Andriaccio, lkml, 2026-06-08) and the
// discussion of version 5 (2026-05-13 and 18). No released kernel has it, so it is not compared with measurements.
#pragma once

#include <algorithm>
#include <deque>
#include <memory>
#include <utility>
#include <vector>

#include "hostsim/sched/linux_deadline.h"
#include "hostsim/sched/thread_policy.h"

namespace offhook::hostsim {

class LinuxRtGroupThread;

/// State shared by the threads of one group.
class LinuxRtGroup {
 public:
  LinuxRtGroup(const LinuxDeadline& limit, int cpus) {
    for (int n = 0; n < cpus; n++) cpus_.emplace_back(limit);
  }

 private:
  friend LinuxRtGroupThread;
  struct PerCpu {
    explicit PerCpu(const LinuxDeadline& limit) : server(limit) {}
    LinuxDeadlineThread server;
    std::vector<const LinuxRtGroupThread*> ready;  // in the order in which they woke
  };
  std::deque<PerCpu> cpus_;
};

class LinuxRtGroupThread final : public ThreadPolicy {
 public:
  LinuxRtGroupThread(std::shared_ptr<LinuxRtGroup> group, int priority)
      : group_(std::move(group)), priority_(priority) {}
  ~LinuxRtGroupThread() override { forget(); }

  void begin_job(Ns now, const CurrentJob& job, bool woken) override {
    if (!woken) return;
    if (here().ready.empty()) here().server.begin_job(now, job, true);
    here().ready.push_back(this);
  }
  void sleep(Ns) override { forget(); }
  void moved(int cpu) override {
    const bool ready = forget();
    cpu_ = static_cast<std::size_t>(cpu);
    if (ready) here().ready.push_back(this);
  }
  void charge(Ns ran) override { here().server.charge(ran); }
  void stolen(Ns time) override { here().server.stolen(time); }
  void stopped() override { here().server.stopped(); }
  Change update(Ns now) override { return here().server.update(now); }
  bool shares() const override { return true; }
  Migration migration() const override { return Migration::kPinned; }
  Standing standing(Ns now) const override { return first() == this ? here().server.standing(now) : Standing{}; }
  Ns next_change(Ns now) const override { return here().server.next_change(now); }
  bool exhausted() const override { return here().server.exhausted(); }

 private:
  LinuxRtGroup::PerCpu& here() const { return group_->cpus_[cpu_]; }
  bool forget() { return std::erase(here().ready, this) > 0; }
  const LinuxRtGroupThread* first() const {
    const auto less_urgent = [](const LinuxRtGroupThread* a, const LinuxRtGroupThread* b) {
      return a->priority_ < b->priority_;
    };
    return *std::max_element(here().ready.begin(), here().ready.end(),
                             less_urgent);  // among equals, the one that woke first
  }

  std::shared_ptr<LinuxRtGroup> group_;
  int priority_;
  std::size_t cpu_ = 0;
};

}  // namespace offhook::hostsim
