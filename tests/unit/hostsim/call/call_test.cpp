// SPDX-License-Identifier: MIT
//
// The script of a call, and what a call refuses. What comes out of calls is in tests/sim.
#include "hostsim/call/call.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <map>
#include <stdexcept>
#include <vector>

#include "hostsim/host/context.h"
#include "hostsim/sched/scheduler.h"

namespace offhook::hostsim {
namespace {

constexpr Ns kMs = 1'000'000;
constexpr Ns kSecond = 1000 * kMs;

/// A light pump, phases of 2, 9 and 12 s.
CostProfile profile() {
  CostProfile p;
  p.phases[0] = {7200, {18}, kMs / 10, 0, 2 * kSecond};
  p.phases[1] = {7200, {90}, kMs, 0, 9 * kSecond};
  p.phases[2] = {8000, {105, 105, 90}, kMs, 3 * kMs, 12 * kSecond};
  p.phases[3] = {8000, {105, 105, 90}, kMs, 0, 0};
  return p;
}

Scenario reservation(int x, int y) {
  Scenario s;
  s.context.kind = OH_CONTEXT_RESERVATION;
  s.context.x_ticks = x;
  s.context.y_ticks = y;
  return s;
}

struct Recorded {
  CallResult result;
  std::vector<oh_event> events;
  std::vector<std::string> names;
};

Recorded run(const Scenario& s) {
  const CostProfile p = profile();
  std::vector<oh_event> ring(1 << 16), out(1 << 16);
  oh_event_log log{};
  oh_event_log_init(&log, ring.data(), ring.size(), 0);
  Call call(s, p, make_link_model_connection(s, p, &log), &log);
  Recorded r;
  bool more = true;
  for (Ns horizon = kSecond; more; horizon += kSecond) {
    more = call.advance(horizon);
    const std::size_t n = oh_event_log_read(&log, out.data(), out.size());
    r.events.insert(r.events.end(), out.begin(), out.begin() + static_cast<std::ptrdiff_t>(n));
  }
  r.result = call.result();
  r.names = call.entity_names();
  return r;
}

std::string refusal(const Scenario& s) {
  const CostProfile p = profile();
  try {
    Call call(s, p, make_link_model_connection(s, p, nullptr), nullptr);
  } catch (const std::invalid_argument& e) {
    return e.what();
  }
  return "";
}

TEST(Call, ItsContextChangesWhileItIsUp) {
  Scenario s;
  s.context = ContextSpec::parse("FIFO 50");
  s.host.scheduler = "linux";
  s.host.reservations = "deadline";
  s.host.tick_hz = 250;
  s.load.threads = {LoadThread{.name = "a"}, LoadThread{.name = "b"}};
  s.dial = false;
  s.bytes = 10'000'000;
  const CostProfile p = profile();
  Call call(s, p, make_link_model_connection(s, p, nullptr), nullptr);
  const oh_context context = call.context();
  const auto become = [&](const char* text) {
    const ContextSpec spec = ContextSpec::parse(text);
    return oh_context_reconfigure(&context, &spec);
  };
  const auto name = [&] {
    char text[32];
    EXPECT_LT(oh_context_describe(&context, text, sizeof text), sizeof text);
    return std::string(text);
  };
  const auto longest_wait = [&] {
    std::uint64_t longest = 0;
    for (int i = 0; i < 200; i++) {
      call.advance(call.now() + 10'000'000);
      longest = std::max(longest, oh_context_latency_of(&context).last_ns);
    }
    return longest;
  };
  EXPECT_LT(longest_wait(), 1'000'000u);
  EXPECT_EQ(become("RES 2ms/8ms"), 0);
  EXPECT_LT(longest_wait(), 1'000'000u);
  EXPECT_EQ(name(), "RES 2ms/8ms");
  EXPECT_EQ(become("OTHER 19"), 0);
  EXPECT_GT(longest_wait(), 10'000'000u);
  EXPECT_EQ(name(), "OTHER 19");
  EXPECT_EQ(become("RES 9ms/8ms"), -EBUSY);
  EXPECT_EQ(become("INT"), -EINVAL);
  EXPECT_EQ(name(), "OTHER 19");
  EXPECT_EQ(become("FIFO 50"), 0);
  (void)longest_wait();  // the owed samples are served
  EXPECT_LT(longest_wait(), 1'000'000u);
  EXPECT_THROW(call.reconfigure(ContextSpec::parse("SOFTIRQ")), std::invalid_argument);
}

TEST(Call, AnInterruptRoutineStaysOne) {
  Scenario s;
  s.dial = false;
  const CostProfile p = profile();
  Call call(s, p, make_link_model_connection(s, p, nullptr), nullptr);
  call.advance(kSecond);
  EXPECT_THROW(call.reconfigure(ContextSpec::parse("THR 24")), std::invalid_argument);
  EXPECT_TRUE(call.advance(2 * kSecond));
}

TEST(Call, RefusesAReservationThatCannotBeAdmittedBeforeItBegins) {
  EXPECT_EQ(refusal(reservation(2, 8)), "");
  EXPECT_THAT(refusal(reservation(9, 8)), testing::HasSubstr("9 of every 8, expected 0 < X <= Y"));
  EXPECT_THAT(refusal(reservation(0, 8)), testing::HasSubstr("0 of every 8"));
  EXPECT_THAT(refusal(reservation(1, 0)), testing::HasSubstr("1 of every 0"));
}

TEST(Call, RefusesBlocksAndLeadsThatTheDriverCannotDo) {
  Scenario s;
  s.transmit_lead_samples = 104;
  EXPECT_THAT(refusal(s), testing::HasSubstr("transmit_lead_samples is 104: expected at least the longest block, 105"));
  s.transmit_lead_samples = 513;
  EXPECT_THAT(refusal(s), testing::HasSubstr("at most 512"));
  s.transmit_lead_samples = 512;
  EXPECT_EQ(refusal(s), "");
  s.block_plan = {90, 257};
  EXPECT_THAT(refusal(s), testing::HasSubstr("a block of 257 samples"));
  s.block_plan = {0};
  EXPECT_THAT(refusal(s), testing::HasSubstr("a block of 0 samples"));
  s.block_plan.assign(9, 90);
  EXPECT_THAT(refusal(s), testing::HasSubstr("9 blocks: expected 1 to 8"));
}

TEST(Call, GoesThroughItsPhasesAndLosesNothingWhenTheRateChanges) {
  Scenario s;
  s.bytes = 20'000;
  const Recorded r = run(s);
  std::map<std::uint32_t, double> phase_at;
  std::vector<std::uint32_t> rates;
  std::uint64_t samples = 0;
  double begin = -1;
  for (const oh_event& e : r.events) {
    const double at = static_cast<double>(e.time_ns) / 1e9;
    if (e.kind == OH_EV_PHASE) {
      if (begin < 0) begin = at;
      phase_at[e.argument] = at - begin;
    }
    if (e.kind == OH_EV_CARD_RATE) rates.push_back(e.argument);
    if (e.kind == OH_EV_INTERRUPT) samples += e.argument;
  }
  EXPECT_DOUBLE_EQ(phase_at.at(1), 2);
  EXPECT_DOUBLE_EQ(phase_at.at(2), 11);
  EXPECT_NEAR(phase_at.at(3), 23, 0.03);  // at a block's end
  ASSERT_FALSE(rates.empty());
  EXPECT_EQ(rates.back(), 8000u);
  EXPECT_TRUE(r.result.completed);
  EXPECT_EQ(r.result.driver.samples_filled_in + r.result.driver.samples_late, 0u);
  EXPECT_EQ(r.result.card.overrun_samples + r.result.card.underrun_samples, 0u);
  // Every sample that an interrupt announced was served, except a last block in progress.
  EXPECT_NEAR(static_cast<double>(r.result.driver.samples_served), static_cast<double>(samples), 105);
}

TEST(Call, WithoutDiallingBeginsWithTheTraining) {
  Scenario s = reservation(2, 8);
  s.dial = false;
  s.bytes = 20'000;
  const Recorded r = run(s);
  EXPECT_TRUE(r.result.completed);
  EXPECT_LT(r.result.simulated_s, 17);
  for (const oh_event& e : r.events) {
    if (e.kind == OH_EV_PHASE) {
      EXPECT_GE(e.argument, 2u);
    }
  }
}

/// An entity that asks for a priority gets the one that makes the fewest friends.
class Backwards final : public Scheduler {
 public:
  bool has(ThreadRequest::Class wanted) const override { return wanted < ThreadRequest::Class::kFifo; }
  Policy thread(const ThreadRequest& t) override { return FixedPriority{31 - t.priority, 0}; }
};

TEST(Call, RunsUnderASchedulerOfTheProgramsOwn) {
  register_policy("backwards", [](const SchedulerHost&) { return std::make_unique<Backwards>(); });
  Scenario s;
  s.context = ContextSpec::parse("THR 24");
  s.load.spinner = true;
  s.dial = false;
  s.bytes = 20'000;
  s.time_limit_s = 60;
  EXPECT_TRUE(run(s).result.completed);
  s.host.scheduler = "backwards";
  EXPECT_FALSE(run(s).result.completed);
  s.context = ContextSpec::parse("THR 2");
  EXPECT_TRUE(run(s).result.completed);
}

/// As INT, and it is counted.
class Counted final : public Context {
 public:
  explicit Counted(const ContextParts& p) : Context(p), routine_(*this, p) {
    interrupt_ = server_ = cpu_.add_interrupt({"counted interrupt", p.level, kNoEntity, p.interrupt_cpu}, routine_);
  }
  static inline int requests = 0;

 private:
  void request_service() override { requests++; }
  class Routine final : public InterruptRoutine {
   public:
    Routine(Context& context, const ContextParts& p) : InterruptRoutine(p), run_(context, p) {}

   private:
    Ns after_isr(Ns) override { return run_.next(); }
    ServiceRun run_;
  } routine_;
};

TEST(Call, RunsInAContextOfTheProgramsOwn) {
  register_context({"COUNTED", "counted"}, [](const ContextParts& p) { return std::make_unique<Counted>(p); });
  Scenario s;
  s.context = ContextSpec::parse("COUNTED");
  s.dial = false;
  s.bytes = 20'000;
  const CallResult r = run(s).result;
  EXPECT_TRUE(r.completed);
  EXPECT_EQ(static_cast<std::uint64_t>(Counted::requests), r.driver.interrupts);
}

TEST(Call, TheThreadHasNoReservationOnHook) {
  Scenario s = reservation(1, 1024);  // a tick is a second: if it were used, 18-sample blocks would overflow at once
  s.context.strict = true;
  s.time_limit_s = 1.9;
  EXPECT_EQ(run(s).result.card.underrun_samples, 0u);
  s.time_limit_s = 4;
  EXPECT_GT(run(s).result.card.underrun_samples, 0u);
}

TEST(Call, EndsAtItsTimeLimitAndSaysNotCompleted) {
  Scenario s;
  s.time_limit_s = 30;
  const CallResult r = run(s).result;
  EXPECT_FALSE(r.completed);
  EXPECT_EQ(r.transfer_s, 0);
  EXPECT_DOUBLE_EQ(r.simulated_s, 30);
  EXPECT_GT(r.transfer.bytes_delivered, 0u);
}

TEST(Call, EachContextRunsThePumpInAnEntityOfItsOwnKind) {
  const std::pair<oh_context_kind, const char*> kinds[] = {{OH_CONTEXT_INTERRUPT, "modem interrupt"},
                                                           {OH_CONTEXT_DPC, "modem DPC"},
                                                           {OH_CONTEXT_THREAD, "modem thread"},
                                                           {OH_CONTEXT_RESERVATION, "modem thread"}};
  for (const auto& [kind, expected] : kinds) {
    Scenario s;
    s.context.kind = kind;
    s.time_limit_s = 15;
    const Recorded r = run(s);
    std::uint16_t running = 0xffff;
    std::uint64_t begins = 0;
    for (const oh_event& e : r.events) {
      if (e.kind == OH_EV_RUN) running = e.id;
      if (e.kind != OH_EV_SERVICE_BEGIN) continue;
      begins++;
      ASSERT_EQ(r.names.at(running), expected);
    }
    EXPECT_GT(begins, 1000u) << expected;
  }
}

// The modem's thread waits for a mutex that a program at priority 1 holds for 8 ms of each half second. A few ms later
// a program at priority 4 works for 200 ms, before the holder (plain) or after it.
TEST(Call, WhoWaitsForAMutexIsHelpedByItsHost) {
  for (const LockProtocol protocol : {LockProtocol::kPlain, LockProtocol::kInherit, LockProtocol::kProxy}) {
    SCOPED_TRACE(static_cast<int>(protocol));
    Scenario s;
    s.context = ContextSpec::parse("THR 24");
    s.context.lock = "settings";
    s.host.locks = protocol;
    LoadThread holder, works;
    holder.priority = 1;
    holder.every_ns = 500 * kMs;
    holder.work_ns = 8 * kMs;
    holder.lock = "settings";
    works.priority = 4;
    works.every_ns = 501 * kMs;
    works.work_ns = 200 * kMs;
    s.load.threads = {holder, works};
    s.bytes = 20'000;
    const Recorded r = run(s);
    EXPECT_EQ(r.result.transfer.done && r.result.card.underrun_samples == 0, protocol != LockProtocol::kPlain);
  }
}

// The lead, 204 samples at 7200 Hz, lasts 28 ms, and Q.24 allows 10 ms without a tone: 20 ms of another thread are
// tolerated, 80 ms are not.
TEST(Call, AHoleThatBreaksAToneWhileDiallingEndsTheCallUnanswered) {
  for (const int work_ms : {20, 80}) {
    Scenario s;
    s.context.kind = OH_CONTEXT_THREAD;
    s.context.priority = 8;
    LoadThread load;
    load.priority = 24;
    load.every_ns = 500 * kMs;
    load.work_ns = work_ms * kMs;
    s.load.threads = {load};
    s.bytes = 1000;
    const Recorded r = run(s);
    const bool answered = work_ms == 20;
    EXPECT_EQ(r.result.transfer.connected, answered) << work_ms;
    EXPECT_EQ(r.result.transfer.failed, !answered) << work_ms;
    if (answered) continue;
    EXPECT_THAT(r.result.transfer.failure, testing::HasSubstr("not dialled"));
    EXPECT_NEAR(r.result.simulated_s, 2 + 9 + 60, 0.1);
    for (const oh_event& e : r.events)
      EXPECT_FALSE(e.kind == OH_EV_PHASE && e.argument > static_cast<std::uint32_t>(Phase::kDialling));
  }
}

}  // namespace
}  // namespace offhook::hostsim
