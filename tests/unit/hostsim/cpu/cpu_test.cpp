// SPDX-License-Identifier: MIT
#include "hostsim/cpu/cpu.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <stdexcept>

#include "hostsim/cpu/job_queue.h"
#include "hostsim/cpu/rows.h"
#include "tests/unit/hostsim/cpu/recorder.h"

namespace offhook::hostsim {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(Cpu, ProgramIsAskedAtTheStartAndAtEachSegmentEndAtExactInstantsThoughPreempted) {
  Engine engine;
  Cpu cpu(engine);
  std::vector<Ns> asked;
  Segments interrupt({5}), thread({10, 7}, [&](std::size_t) { asked.push_back(engine.now()); });
  const EntityId i = cpu.add_interrupt({"i", 1, kNoEntity}, interrupt);
  const EntityId t = cpu.add_thread("t", FixedPriority{8, 0}, thread);
  Periodic pi(engine, cpu, i, 4, 1000), pt(engine, cpu, t, 0, 1000);
  Recorder recorder(cpu);
  engine.run_until(500);
  EXPECT_THAT(asked, ElementsAre(0, 15, 22));
  EXPECT_THAT(recorder.events,
              ElementsAre("0 t start", "4 t preempt", "4 i start", "9 i finish", "9 t resume", "22 t finish"));
  EXPECT_EQ(cpu.cpu_time(t), 17);
  EXPECT_EQ(cpu.cpu_time(i), 5);
}

TEST(Cpu, ReleaseFromAProgramPreemptsAtThatVeryInstant) {
  Engine engine;
  Cpu cpu(engine);
  EntityId high = kNoEntity;
  Segments high_job({3}), low_job({10, 10}, [&](std::size_t segment) {
    if (segment < 2) cpu.release(high);  // once when it starts, once between its segments
  });
  high = cpu.add_thread("high", FixedPriority{9, 0}, high_job);
  const EntityId low = cpu.add_thread("low", FixedPriority{8, 0}, low_job);
  Once start([&](Ns) { cpu.release(low); });
  engine.at(100, start);
  Recorder recorder(cpu);
  engine.run_until(1000);
  EXPECT_THAT(recorder.events,
              ElementsAre("100 low start", "100 low preempt", "100 high start", "103 high finish", "103 low resume",
                          "113 low preempt", "113 high start", "116 high finish", "116 low resume", "126 low finish"));
}

TEST(Cpu, LowerInterruptWaitsForTheHigherOneAndDpcsRunInOrderOfRelease) {
  Engine engine;
  Cpu cpu(engine);
  Segments ten({10}), twenty({20});
  const EntityId d1 = cpu.add_dpc({"d1"}, ten), d2 = cpu.add_dpc({"d2"}, ten);
  Segments ten_high({10});
  const EntityId low = cpu.add_interrupt({"low", 1, d1}, twenty);
  const EntityId high = cpu.add_interrupt({"high", 2, d2}, ten_high);
  Periodic ph(engine, cpu, high, 0, 1000), pl(engine, cpu, low, 5, 1000);
  Recorder recorder(cpu);
  engine.run_until(900);
  // high's DPC was queued at 10, low's at 30.
  EXPECT_THAT(recorder.events, ElementsAre("0 high start", "10 high finish", "10 low start", "30 low finish",
                                           "30 d2 start", "40 d2 finish", "40 d1 start", "50 d1 finish"));
}

TEST(Cpu, AProgramThatEndsAtOnceTakesNoTimeAndStillFinishes) {
  Engine engine;
  Cpu cpu(engine);
  Segments nothing({}), ten({10});
  const EntityId a = cpu.add_thread("a", FixedPriority{9, 0}, nothing);
  const EntityId b = cpu.add_thread("b", FixedPriority{8, 0}, ten);
  Once start([&](Ns) {
    cpu.release(b);
    cpu.release(a);
    cpu.release(a);
  });
  engine.at(7, start);
  Recorder recorder(cpu);
  engine.run_until(100);
  EXPECT_EQ(cpu.unfinished_jobs(a), 0u);
  EXPECT_EQ(cpu.cpu_time(a), 0);
  EXPECT_EQ(recorder.events.back(), "17 b finish");
}

TEST(Cpu, PolicyChangesAtRunTimeFromTheInstantOn) {
  Engine engine;
  Cpu cpu(engine);
  Segments spin({kNever}), work({100});
  cpu.add_thread("spin", FixedPriority{8, 0}, spin);
  const EntityId t = cpu.add_thread("t", FixedPriority{7, 0}, work);
  Once start([&](Ns) {
    cpu.release(0);
    cpu.release(t);
  });
  Once reserve([&](Ns) { cpu.set_policy(t, Slot{.offset = 60, .length = 10, .period = 50}); });
  engine.at(0, start);
  engine.at(45, reserve);
  Recorder recorder(cpu);
  engine.run_until(130);
  EXPECT_THAT(recorder.events,
              ElementsAre("0 spin start", "60 spin preempt", "60 t start", "70 t preempt", "70 spin resume",
                          "110 spin preempt", "110 t resume", "120 t preempt", "120 spin resume"));
  EXPECT_EQ(cpu.cpu_time(t), 20);
}

TEST(Cpu, TwoCpusOfOneEngineSeeEachOthersReleasesBeforeTheyDispatch) {
  Engine engine;
  Cpu first(engine), second(engine);
  Segments a_job({10}, {}), low_job({50}), high_job({5});
  EntityId high = kNoEntity;
  Segments sender({10}, [&](std::size_t segment) {
    if (segment == 1) second.release(high);  // when its job ends at 10
  });
  const EntityId s = first.add_thread("s", FixedPriority{8, 0}, sender);
  const EntityId low = second.add_thread("low", FixedPriority{8, 0}, low_job);
  high = second.add_thread("high", FixedPriority{9, 0}, high_job);
  Once start([&](Ns) { first.release(s); }), also([&](Ns) { second.release(low); });
  engine.at(0, start);
  engine.at(10, also);  // low is also released at 10, and must not start before high
  Recorder recorder(second);
  engine.run_until(1000);
  EXPECT_THAT(recorder.events, ElementsAre("10 high start", "15 high finish", "15 low start", "65 low finish"));
}

TEST(Cpu, AdmissionRefusesXOverYAndASumOver100Percent) {
  Engine engine;
  Cpu cpu(engine);
  Segments job({1});
  const auto refusal = [&](const Policy& policy) -> std::string {
    try {
      cpu.add_thread("modem", policy, job);
    } catch (const std::invalid_argument& e) {
      return e.what();
    }
    return "admitted";
  };
  EXPECT_THAT(refusal(Slot{.length = 9, .period = 8}), HasSubstr("'modem' cannot be admitted: 9 of every 8"));
  EXPECT_THAT(refusal(Rez{.budget = 0, .period = 8}), HasSubstr("0 of every 8"));
  cpu.add_thread("audio", ConstantBandwidth{6, 10}, job);
  EXPECT_THAT(refusal(Rez{.budget = 5, .period = 10}), HasSubstr("110.0"));
  EXPECT_EQ(refusal(Slot{.length = 4, .period = 10}), "admitted");
}

TEST(Cpu, AReservationThatIsAskedForLaterMustFitToo) {
  Engine engine;
  Cpu cpu(engine, Admission::kRequired, 2);
  Segments job({1});
  const ConstantBandwidth sixty{6, 10};
  cpu.add_thread("there", sixty, job, kNever, 1);
  const EntityId pinned = cpu.add_thread("pinned", FixedPriority{}, job, kNever, 1);
  const EntityId free = cpu.add_thread("free", FixedPriority{}, job);
  EXPECT_THROW(cpu.set_policy(free, ConstantBandwidth{11, 10}), std::invalid_argument);
  EXPECT_THROW(cpu.set_policy(pinned, sixty), std::invalid_argument);  // 120 % of CPU 1
  cpu.set_policy(free, sixty);                                         // of both CPUs
  cpu.set_policy(free, Rez{.budget = 6, .period = 10});                // on CPU 0
  EXPECT_THROW(cpu.set_policy(pinned, Rez{.budget = 5, .period = 10}), std::invalid_argument);
}

TEST(Cpu, APolicyIsToldItsCpuBeforeAnythingElse) {
  std::vector<std::string> told;
  class Told final : public ThreadPolicy {
   public:
    explicit Told(std::vector<std::string>& told) : told_(told) {}
    void moved(int cpu) override { told_.push_back("cpu " + std::to_string(cpu)); }
    void begin_job(Ns, const CurrentJob&, bool) override { told_.push_back("begin"); }
    Standing standing(Ns) const override { return {Band::kPriority, 0}; }

   private:
    std::vector<std::string>& told_;
  };
  Engine engine;
  Cpu cpu(engine, Admission::kRequired, 2);
  Segments job({10});
  const EntityId t = cpu.add_thread("t", FixedPriority{}, job, kNever, 1);
  Once change([&](Ns) { cpu.set_policy(t, OwnPolicy([&] { return std::make_unique<Told>(told); })); });
  Periodic releases(engine, cpu, t, 0, 1000);
  engine.at(5, change);
  engine.run_until(100);
  EXPECT_THAT(told, ElementsAre("cpu 1", "begin"));
}

TEST(Cpu, APolicyIsToldOfEachMoveToAnotherCpu) {
  std::vector<int> told;
  class Told final : public ThreadPolicy {
   public:
    explicit Told(std::vector<int>& told) : told_(told) {}
    void moved(int cpu) override { told_.push_back(cpu); }
    Standing standing(Ns) const override { return {Band::kPriority, 0}; }

   private:
    std::vector<int>& told_;
  };
  Engine engine;
  Cpu cpu(engine, Admission::kRequired, 2);
  Segments high_job({100}), job({50});
  const EntityId high = cpu.add_thread("high", FixedPriority{9, 0}, high_job, kNever, 0);
  const EntityId t = cpu.add_thread("t", OwnPolicy([&] { return std::make_unique<Told>(told); }), job);
  Periodic p_high(engine, cpu, high, 10, 1000), p_t(engine, cpu, t, 0, 1000);
  engine.run_until(9);
  EXPECT_EQ(cpu.running(0), t);
  EXPECT_THAT(told, ElementsAre(0));
  engine.run_until(11);  // the other thread, pinned to CPU 0, takes it
  EXPECT_EQ(cpu.running(1), t);
  EXPECT_THAT(told, ElementsAre(0, 1));
}

// Rialto and Rez schedule one CPU only, the first.
TEST(Cpu, AThreadThatGetsAPolicyOfOneCpuGoesThere) {
  Engine engine;
  Cpu cpu(engine, Admission::kRequired, 2);
  Segments high_job({100}), job({20});
  const EntityId high = cpu.add_thread("high", FixedPriority{9, 0}, high_job, kNever, 0);
  const EntityId t = cpu.add_thread("t", FixedPriority{8, 0}, job);
  Once change([&](Ns) { cpu.set_policy(t, Rez{.budget = 5, .period = 10}); });
  Periodic p_high(engine, cpu, high, 0, 1000), p_t(engine, cpu, t, 0, 1000);
  engine.at(8, change);
  engine.run_until(5);
  EXPECT_EQ(cpu.running(1), t);
  engine.run_until(9);
  EXPECT_EQ(cpu.running(1), kNoEntity);
  EXPECT_EQ(cpu.running(0), t);
}

TEST(Cpu, EqualsOfOneInstantRunInTheOrderOfTheirDeclarationPinnedOrNot) {
  Engine engine;
  Cpu cpu(engine, Admission::kRequired, 2);
  Segments pinned_job({5}), free_job({5}), busy_job({100});
  const EntityId pinned = cpu.add_thread("pinned", FixedPriority{8, 0}, pinned_job, kNever, 0);
  const EntityId free = cpu.add_thread("free", FixedPriority{8, 0}, free_job);
  const EntityId busy = cpu.add_thread("busy", FixedPriority{9, 0}, busy_job, kNever, 1);
  Recorder recorder(cpu);
  for (const EntityId id : {busy, free, pinned}) cpu.release(id);
  engine.run_until(20);
  EXPECT_THAT(recorder.events,
              ElementsAre("0 pinned start", "0 busy start", "5 pinned finish", "5 free start", "10 free finish"));
}

TEST(Cpu, AnInterruptWithoutALevelIsOfTheLowest) {
  Engine engine;
  Cpu cpu(engine);
  Segments low_job({10}), high_job({2});
  const EntityId low = cpu.add_interrupt({"low"}, low_job), high = cpu.add_interrupt({"high", 1}, high_job);
  Periodic p_low(engine, cpu, low, 0, 1000), p_high(engine, cpu, high, 5, 1000);
  Recorder recorder(cpu);
  engine.run_until(100);
  EXPECT_THAT(recorder.events, ElementsAre("0 low start", "5 low preempt", "5 high start", "7 high finish",
                                           "7 low resume", "12 low finish"));
}

TEST(JobQueue, KeepsTheOrderWhereItGrows) {
  for (Ns popped = 0; popped < 8; ++popped) {
    JobQueue jobs;
    Ns next = 0, first = 0;
    for (; first < popped; ++first) {
      jobs.push(next++);
      jobs.pop();
    }
    while (jobs.size() < 20) jobs.push(next++);
    for (std::size_t k = 0; k < 20; ++k) EXPECT_EQ(jobs[k], first + static_cast<Ns>(k));
    for (; !jobs.empty(); jobs.pop()) EXPECT_EQ(jobs.front(), first++);
    EXPECT_EQ(first, next);
  }
}

TEST(Rows, OfAnInstantAreToldInTheOrderOfS9ThenOfDeclaration) {
  struct Told final : CpuObserver {
    void on_event(Ns, EntityId id, Kind kind) override { rows.emplace_back(kind, id); }
    std::vector<std::pair<Kind, EntityId>> rows;
  } told;
  using enum CpuObserver::Kind;
  const std::vector<std::pair<CpuObserver::Kind, EntityId>> ordered = {
      {kFinish, 3}, {kMiss, 2}, {kReplenish, 1}, {kThrottle, 0}, {kPreempt, 4}, {kStart, 1}, {kResume, 5}};
  Rows rows;
  rows.set_observer(&told);
  for (std::size_t first = 0; first < ordered.size(); ++first) {  // each rotation, beginning with the last thread
    for (std::size_t k = ordered.size(); k-- > 0;) {
      const auto& [kind, id] = ordered[(first + k) % ordered.size()];
      rows.note(id, kind);
    }
    rows.emit(10, [](EntityId) { return false; });
    EXPECT_EQ(told.rows, ordered) << first;
    told.rows.clear();
  }
}

TEST(Cpu, LogSaysWhoRunsAndHowLongJobsTook) {
  Engine engine;
  Cpu cpu(engine);
  std::array<oh_event, 16> events{};
  oh_event_log log;
  ASSERT_EQ(oh_event_log_init(&log, events.data(), events.size(), 0), 0);
  cpu.set_log(&log);
  Segments job({5000});
  const EntityId t = cpu.add_thread("t", FixedPriority{8, 0}, job);
  Once start([&](Ns) { cpu.release(t); });
  engine.at(1000, start);
  engine.run_until(100'000);
  oh_event out[16];
  ASSERT_EQ(oh_event_log_read(&log, out, 16), 3u);
  EXPECT_EQ(out[0].kind, OH_EV_RUN);
  EXPECT_EQ(out[0].time_ns, 1000u);
  EXPECT_EQ(out[0].argument, 1u);
  EXPECT_EQ(out[1].kind, OH_EV_FINISH);
  EXPECT_EQ(out[1].time_ns, 6000u);
  EXPECT_EQ(out[1].argument, 5u);
  EXPECT_EQ(out[2].kind, OH_EV_IDLE);
}

}  // namespace
}  // namespace offhook::hostsim
