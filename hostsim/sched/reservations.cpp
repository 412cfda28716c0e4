// SPDX-License-Identifier: MIT
//
// The schedulers of reservations. Each only makes the policy that its header describes.
#include "hostsim/sched/augmented_rez.h"
#include "hostsim/sched/linux_deadline.h"
#include "hostsim/sched/linux_reclaim.h"
#include "hostsim/sched/scheduler.h"

namespace offhook::hostsim {
namespace {

using Request = ReservationRequest;

/// Slots of whole ticks, on top of the priority scheduler (Jones and Regehr 1999).
class Rialto final : public Scheduler {
 public:
  explicit Rialto(const SchedulerHost& host) : tick_hz_(host.tick_hz), slot_priority_(host.slot_priority) {}
  bool slots() const override { return true; }
  Policy reserve(const Request& r) override {
    return Slot{.offset = r.offset,
                .length = r.x_ticks,
                .period = r.y_ticks,
                .strict = r.strict,
                .priority = r.background_priority,
                .tick_hz = tick_hz_,
                .slot_priority = slot_priority_};
  }

 private:
  int tick_hz_, slot_priority_;
};

/// A policy that needs only budget, period and offset.
template <typename Make>
class Simple final : public Scheduler {
 public:
  Simple(Make make, bool moves, bool of_linux) : make_(std::move(make)), moves_(moves), of_linux_(of_linux) {}
  Policy reserve(const Request& r) override { return make_(r); }
  bool moves() const override { return moves_; }
  bool charges_stolen_time() const override { return of_linux_; }
  bool admits_by_bandwidth() const override { return of_linux_; }

 private:
  Make make_;
  bool moves_, of_linux_;
};

template <typename Make>
std::unique_ptr<Scheduler> simple(Make make, bool moves, bool of_linux = false) {
  return std::make_unique<Simple<Make>>(std::move(make), moves, of_linux);
}

/// One RezScheduler for each CPU.
SchedulerFactory augmented_rez(RezForm form) {
  return [form](const SchedulerHost& host) {
    std::vector<std::shared_ptr<RezScheduler>> rez;
    for (int n = 0; n < host.cpus; n++) {
      rez.push_back(std::make_shared<RezScheduler>(
          form, host.tick_hz, [dpc_time = host.dpc_time, n] { return dpc_time ? dpc_time(n) : 0; }));
    }
    return simple(
        [rez](const Request& r) -> Policy {
          return OwnPolicy([on = rez.at(static_cast<std::size_t>(r.cpu)), budget = r.budget, period = r.period] {
            return on->reserve(budget, period);
          });
        },
        false);
  };
}

SchedulerRow linux_deadline(std::string name, bool hrtick) {
  return {std::move(name), PolicyUse::kReservations, [hrtick](const SchedulerHost& host) {
            return simple(
                [hz = host.tick_hz, hrtick](const Request& r) -> Policy {
                  const LinuxDeadline deadline{r.budget, r.period, hz, hrtick};
                  return OwnPolicy([deadline] { return std::make_unique<LinuxDeadlineThread>(deadline); });
                },
                true, true);
          }};
}

}  // namespace

SchedulerRow rialto_scheduler() {
  return {"rialto", PolicyUse::kReservations, [](const SchedulerHost& host) { return std::make_unique<Rialto>(host); }};
}

SchedulerRow rez_scheduler() {
  return {"rez", PolicyUse::kReservations, [](const SchedulerHost&) {
            return simple(
                [](const Request& r) -> Policy {
                  return Rez{.budget = r.budget, .period = r.period, .offset = r.offset, .background = -1};
                },
                false);
          }};
}

SchedulerRow rez_ticks_scheduler() {
  return {"rez-ticks", PolicyUse::kReservations, augmented_rez(RezForm::kRez)};
}
SchedulerRow rez_c_scheduler() {
  return {"rez-c", PolicyUse::kReservations, augmented_rez(RezForm::kRezC)};
}
SchedulerRow rez_fb_scheduler() {
  return {"rez-fb", PolicyUse::kReservations, augmented_rez(RezForm::kRezFb)};
}

SchedulerRow deadline_scheduler() {
  return {"deadline", PolicyUse::kReservations, [](const SchedulerHost&) {
            return simple([](const Request& r) -> Policy { return ConstantBandwidth{r.budget, r.period}; }, true);
          }};
}

SchedulerRow deadline_ticks_scheduler() {
  return linux_deadline("deadline-ticks", false);
}
SchedulerRow deadline_hrtick_scheduler() {
  return linux_deadline("deadline-hrtick", true);
}

/// One account for each CPU.
SchedulerRow deadline_reclaim_scheduler() {
  return {"deadline-reclaim", PolicyUse::kReservations, [](const SchedulerHost& host) {
            std::vector<std::shared_ptr<LinuxReclaimGroup>> groups;
            for (int n = 0; n < host.cpus; n++) groups.push_back(std::make_shared<LinuxReclaimGroup>());
            return simple(
                [hz = host.tick_hz, groups](const Request& r) -> Policy {
                  const LinuxDeadline deadline{r.budget, r.period, hz};
                  return OwnPolicy([deadline, group = groups.at(static_cast<std::size_t>(r.cpu))] {
                    return std::make_unique<LinuxReclaimThread>(deadline, group);
                  });
                },
                false, true);
          }};
}

}  // namespace offhook::hostsim
