// SPDX-License-Identifier: MIT
//
// What interrupts take from a thread, charged to it as by Linux without CONFIG_IRQ_TIME_ACCOUNTING: schedules worked
// out by hand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>

#include "hostsim/call/host_policies.h"
#include "hostsim/sched/linux_reclaim.h"
#include "hostsim/sched/scheduler.h"
#include "tests/unit/hostsim/cpu/recorder.h"

namespace offhook::hostsim {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Class = ThreadRequest::Class;

constexpr Ns kMs = 1'000'000, kUs = 1'000;

/// One CPU, threads that never block, and an interrupt with deferred work; each part has half of the cost.
class Host {
 public:
  Host(std::string_view scheduler, std::string_view reservations, int hz, bool charge)
      : host_{.tick_hz = hz},
        threads_(make_scheduler(PolicyUse::kThreads, scheduler, host_)),
        reservations_(make_scheduler(PolicyUse::kReservations, reservations, host_)) {
    if (charge) cpu.charge_stolen_time();
    cpu.set_deferred_work([this](int n) { return threads_->deferred_work(n); });
  }
  EntityId hog(const ThreadRequest& request) { return start(threads_->thread(request)); }
  EntityId reserved(Ns budget, Ns period) {
    return start(reservations_->reserve({.budget = budget, .period = period}));
  }
  void interrupt(Ns cost, Ns offset, Ns period) {
    handler_.emplace(std::vector<Ns>{cost / 2});
    softirq_.emplace(std::vector<Ns>{cost - cost / 2});
    const EntityId dpc = cpu.add_dpc({.name = "softirq"}, *softirq_);
    const EntityId id = cpu.add_interrupt({.name = "interrupt", .dpc = dpc}, *handler_);
    ticks_.emplace(engine, cpu, id, offset, period);
  }
  /// Its own CPU time.
  Ns own_time(EntityId id, Ns at) {
    engine.run_until(at);
    return cpu.cpu_time(id);
  }
  Scheduler& reservations() { return *reservations_; }
  Engine engine;
  Cpu cpu{engine};

 private:
  EntityId start(const Policy& policy) {
    jobs_.push_back(std::make_unique<Segments>(std::vector<Ns>{kNever}));
    const EntityId id = cpu.add_thread("hog" + std::to_string(jobs_.size()), policy, *jobs_.back());
    cpu.release(id);
    return id;
  }
  SchedulerHost host_;
  std::shared_ptr<Scheduler> threads_, reservations_;
  std::vector<std::unique_ptr<Segments>> jobs_;
  std::optional<Segments> handler_, softirq_;
  std::optional<Periodic> ticks_;
};

// Handlers of 0.1 ms, 2 ms after each of 250 ticks a second. The throttle begins at the tick after 950 ms of real-time
// threads: at 952 ms if the handlers' 23.8 ms count, otherwise at 976 ms.
TEST(StolenTime, CountsForTheThrottleOfRealTimeThreads) {
  for (const bool charge : {true, false}) {
    Host host("linux", "deadline-ticks", 250, charge);
    const EntityId fifo = host.hog({.wants = Class::kFifo, .priority = 50});
    const EntityId fair = host.hog({.wants = Class::kNice});
    host.interrupt(100 * kUs, 2 * kMs, 4 * kMs);
    const Ns throttled = (charge ? 952 : 976) * kMs, handlers = throttled / (4 * kMs) * 100 * kUs;
    EXPECT_EQ(host.own_time(fifo, 1000 * kMs), throttled - handlers) << charge;
    EXPECT_EQ(host.own_time(fair, 1000 * kMs), 1000 * kMs - throttled - (25 * kMs - handlers)) << charge;
  }
}

// 4 of every 16 ms, and 0.5 ms of every ms are stolen. If that counts, the budget is spent after 4 ms, of which the
// thread had 2; if not, after 8, of which it had all 4.
TEST(StolenTime, IsPartOfADeadlineThreadsBudget) {
  for (const bool charge : {true, false}) {
    Host host("linux", "deadline-ticks", 1000, charge);
    const EntityId thread = host.reserved(4 * kMs, 16 * kMs);
    host.interrupt(500 * kUs, 250 * kUs, kMs);
    EXPECT_EQ(host.own_time(thread, 16 * kMs), (charge ? 2 : 4) * kMs);
    EXPECT_EQ(host.own_time(thread, 24 * kMs), (charge ? 4 : 8) * kMs) << "and each budget anew";
  }
}

// With HRTICK it ends within a tick: after 3.25 ms a handler begins, which takes more than the rest of 3.3 ms. The
// timer is never set for less than 10 us.
TEST(StolenTime, EndsABudgetWithHrtickToo) {
  Host host("linux", "deadline-hrtick", 1000, true);
  const EntityId thread = host.reserved(3300 * kUs, 16 * kMs);
  host.interrupt(500 * kUs, 250 * kUs, kMs);
  EXPECT_EQ(host.own_time(thread, 16 * kMs), (3250 - 3 * 500 + 10) * kUs);
}

// Alone it reclaims all except 5 %: 3 of every 20 ms last 19. Half of every ms is stolen: if that counts, they are over
// at 19, after 9.5 ms of the thread; if not, it has the rest of every ms.
TEST(StolenTime, OfAThreadThatReclaimsIsScaledAsWhatRan) {
  for (const bool charge : {true, false}) {
    Host host("linux", "deadline-reclaim", 1000, charge);
    const EntityId thread = host.reserved(3 * kMs, 20 * kMs);
    host.interrupt(500 * kUs, 250 * kUs, kMs);
    EXPECT_EQ(host.own_time(thread, 20 * kMs), charge ? 9500 * kUs : 10 * kMs);
    EXPECT_EQ(host.own_time(thread, 40 * kMs), charge ? 19 * kMs : 20 * kMs);
  }
}

// Half of the CPU each, 8 of 16 and 4 of 8. Until 2 ms the second never woke, and the
// first's budget decreases half as fast: 0.5 for its own ms, 0.5 for one of the handler's,
// and then 1 for the handler's other: 6 remain at 3. The second has the CPU for 2 ms; its
// 0-lag time is 6. Of the first, 5 remain then, which last until 16 at half the speed.
TEST(StolenTime, IsReclaimedAtTheSpeedOfWhenItWasStolen) {
  Engine engine;
  Cpu cpu(engine);
  cpu.charge_stolen_time();
  const auto group = std::make_shared<LinuxReclaimGroup>(1);
  const auto reclaims = [&group](Ns budget, Ns period) {
    return OwnPolicy([=] { return std::make_unique<LinuxReclaimThread>(LinuxDeadline{budget, period, 1000}, group); });
  };
  Segments first_job({kNever}), second_job({2 * kMs}), handler({2 * kMs});
  const EntityId first = cpu.add_thread("first", reclaims(8 * kMs, 16 * kMs), first_job);
  const EntityId second = cpu.add_thread("second", reclaims(4 * kMs, 8 * kMs), second_job);
  const EntityId interrupt = cpu.add_interrupt({.name = "interrupt"}, handler);
  Recorder recorder(cpu);
  cpu.release(first);
  Once interrupts([&](Ns) { cpu.release(interrupt); }), wakes([&](Ns) { cpu.release(second); });
  engine.at(kMs, interrupts);
  engine.at(2 * kMs, wakes);
  engine.run_until(17 * kMs);
  EXPECT_THAT(recorder.events, ElementsAre("0 first start", "1000000 first preempt", "1000000 interrupt start",
                                           "3000000 interrupt finish", "3000000 second start", "5000000 second finish",
                                           "5000000 first resume", "16000000 first replenish"));
}

// cpu.max takes its quota in 5 ms and checks at a tick; a thread in a group of real-time threads has its server's
// budget.
TEST(StolenTime, IsPartOfAGroupsBudget) {
  for (const std::string_view reservations : {"cpu-max", "hcbs"}) {
    for (const bool charge : {true, false}) {
      Host host("linux-6.12", reservations, 1000, charge);
      const EntityId thread = host.reserved(5 * kMs, 20 * kMs);
      host.interrupt(500 * kUs, 250 * kUs, kMs);
      EXPECT_EQ(host.own_time(thread, 20 * kMs), (charge ? 2500 : 5000) * kUs) << reservations;
    }
  }
}

// Two equal threads, and 100 ms that are taken from the first. The other gets as much before they share again, within
// the slices of each.
TEST(StolenTime, IsTheVirtualTimeOfAFairThread) {
  for (const std::string_view scheduler : {"linux", "linux-6.6", "linux-6.12", "linux-7.0-scx-simple"}) {
    for (const bool charge : {true, false}) {
      Host host(scheduler, "deadline-ticks", 1000, charge);
      const EntityId first = host.hog({.wants = Class::kNice}), other = host.hog({.wants = Class::kNice});
      host.interrupt(100 * kMs, kMs, 1'000'000 * kMs);
      const Ns more = host.own_time(other, 600 * kMs) - host.own_time(first, 600 * kMs);
      EXPECT_NEAR(static_cast<double>(more), (charge ? 100.0 : 0.0) * kMs, 20.0 * kMs) << scheduler;
    }
  }
}

// Handlers that begin when a job of 1 ms ends, and are over before the next: meanwhile no thread has the CPU.
TEST(StolenTime, IsNobodysOnAnIdleCpu) {
  std::vector<std::string> events[2];
  for (const bool charge : {true, false}) {
    Host host("linux", "deadline-ticks", 1000, charge);
    Segments job({kMs});
    const EntityId thread =
        host.cpu.add_thread("thread", host.reservations().reserve({.budget = 1500 * kUs, .period = 2 * kMs}), job);
    Periodic work(host.engine, host.cpu, thread, 500 * kUs, 2 * kMs);
    host.interrupt(800 * kUs, 1500 * kUs, 2 * kMs);
    Recorder recorder(host.cpu);
    EXPECT_EQ(host.own_time(thread, 100 * kMs), 50 * kMs);
    events[charge] = recorder.events;
  }
  EXPECT_EQ(events[true], events[false]);
}

TEST(StolenTime, IsRefusedWhereThreadsCannotBeChargedWithIt) {
  HostScenario host;
  host.charge_stolen_time = true;
  EXPECT_THAT(scheduler_problem(host), AllOf(HasSubstr("host.charge_stolen_time"), HasSubstr("\"fixed-priority\"")));
  host.scheduler = "linux";
  host.reservations = "rez";
  EXPECT_THAT(scheduler_problem(host), HasSubstr("host.reservations is \"rez\""));
  for (const char* takes : {"deadline-ticks", "deadline-hrtick", "deadline-reclaim", "cpu-max", "hcbs"}) {
    host.reservations = takes;
    EXPECT_THAT(scheduler_problem(host), IsEmpty()) << takes;
  }
}

}  // namespace
}  // namespace offhook::hostsim
