// SPDX-License-Identifier: MIT
#include "hostsim/sched/scheduler.h"

#include <stdexcept>

#include "driver/context/name_table.h"
#include "hostsim/sched/dpc_queue.h"

// Each row is a function in its own file. To add a scheduler, add its file and name its function here.
#define OFFHOOK_SCHEDULERS(ROW)       \
  ROW(fixed_priority_scheduler)       \
  ROW(windows_nt_scheduler)           \
  ROW(linux_scheduler)                \
  ROW(linux_6_6_scheduler)            \
  ROW(linux_6_12_scheduler)           \
  ROW(linux_6_12_rt_scheduler)        \
  ROW(linux_6_18_rt_scheduler)        \
  ROW(linux_7_0_scx_simple_scheduler) \
  ROW(rialto_scheduler)               \
  ROW(rez_scheduler)                  \
  ROW(rez_ticks_scheduler)            \
  ROW(rez_c_scheduler)                \
  ROW(rez_fb_scheduler)               \
  ROW(deadline_scheduler)             \
  ROW(deadline_ticks_scheduler)       \
  ROW(deadline_hrtick_scheduler)      \
  ROW(deadline_reclaim_scheduler) ROW(cpu_max_scheduler) ROW(hcbs_scheduler)

namespace offhook::hostsim {

#define DECLARE(row) SchedulerRow row();
OFFHOOK_SCHEDULERS(DECLARE)
#undef DECLARE

namespace {

using Table = NameTable<SchedulerFactory>;

struct Tables {
  Table threads, reservations;
  Tables() {
#define ADD(row) add(row());
    OFFHOOK_SCHEDULERS(ADD)
#undef ADD
  }
  void add(const SchedulerRow& row) {
    if (row.use != PolicyUse::kReservations) threads.add(row.name, row.make);
    if (row.use != PolicyUse::kThreads) reservations.add(row.name, row.make);
  }
};

Tables& tables() {
  static Tables all;
  return all;
}

const Table& table(PolicyUse use) {
  return use == PolicyUse::kThreads ? tables().threads : tables().reservations;
}

}  // namespace

Policy Scheduler::thread(const ThreadRequest&) {
  throw std::invalid_argument("this scheduler has no such threads");
}

Policy Scheduler::reserve(const ReservationRequest&) {
  throw std::invalid_argument("this scheduler supports no reservations");
}

std::unique_ptr<DeferredWork> Scheduler::deferred_work(int) {
  return std::make_unique<DpcQueue>();
}

void register_policy(std::string name, SchedulerFactory make, PolicyUse use) {
  tables().add({std::move(name), use, std::move(make)});
}

std::span<const std::string_view> policy_names(PolicyUse use) {
  return table(use).names();
}

std::unique_ptr<Scheduler> make_scheduler(PolicyUse use, std::string_view name, const SchedulerHost& host) {
  const int row = table(use).find(name);
  if (row >= 0) return table(use)[row](host);
  std::string known;
  for (const std::string_view one : policy_names(use)) known += (known.empty() ? "" : ", ") + std::string(one);
  throw std::invalid_argument("\"" + std::string(name) + "\" is not a scheduler" +
                              (use == PolicyUse::kThreads ? "" : " of reservations") + "; expected one of " + known);
}

}  // namespace offhook::hostsim
