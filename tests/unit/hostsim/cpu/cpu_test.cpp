// SPDX-License-Identifier: MIT
#include "hostsim/cpu/cpu.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <stdexcept>

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
    if (segment < 2) cpu.release(high);  // once as it starts, once between its segments
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
    if (segment == 1) second.release(high);  // as its job ends at 10
  });
  const EntityId s = first.add_thread("s", FixedPriority{8, 0}, sender);
  const EntityId low = second.add_thread("low", FixedPriority{8, 0}, low_job);
  high = second.add_thread("high", FixedPriority{9, 0}, high_job);
  Once start([&](Ns) { first.release(s); }), also([&](Ns) { second.release(low); });
  engine.at(0, start);
  engine.at(10, also);  // low is released at 10 too, and must not start before high
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
