// SPDX-License-Identifier: MIT
#include "src/measure/cause.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace offhook::measure {
namespace {

using hostsim::HostLoad;
using traces::KernelEvent;
using Type = KernelEvent::Type;
using ::testing::HasSubstr;

constexpr int kPid = 42;
constexpr std::int64_t kDue = 1'000'000;

KernelEvent at(std::int64_t us, Type type, std::string name = "", int cpu = 1) {
  KernelEvent e;
  e.type = type;
  e.time = kDue + us * 1000;
  e.cpu = cpu;
  e.name = std::move(name);
  return e;
}
KernelEvent waking(std::int64_t us) {
  KernelEvent e = at(us, Type::kWaking);
  e.thread = {"probe", kPid, 19};
  return e;
}
KernelEvent switched(std::int64_t us, KernelEvent::Thread from, KernelEvent::Thread to) {
  KernelEvent e = at(us, Type::kSwitch);
  e.thread = std::move(from);
  e.next = std::move(to);
  return e;
}
const KernelEvent::Thread kProbe{"probe", kPid, 19}, kHog{"hog", 7, 120}, kIdle{"swapper/1", 0, 120};

/// A wake-up: the interrupt at `interrupt` us, woken 2 us later, switched to at `to`, running 1 us later.
std::vector<KernelEvent> a_wakeup(std::int64_t interrupt, std::int64_t to) {
  return {switched(-500, kIdle, kHog),          at(interrupt, Type::kEnter, "local_timer"),
          at(interrupt + 1, Type::kTimerEnter), waking(interrupt + 2),
          at(interrupt + 3, Type::kTimerLeave), at(interrupt + 4, Type::kLeave, "local_timer"),
          switched(to, kHog, kProbe),           switched(to + 50, kProbe, kHog)};
}

TEST(Stages, AreCountedFromTheTimeItWasDue) {
  const auto events = a_wakeup(5, 30);
  const WakeupStages s = stages_of({kDue, kDue + 31'000}, events, kPid);
  EXPECT_EQ(s.interrupt, 5'000);  // the interrupt's entry, not the timer function's within
  EXPECT_EQ(s.waking, 7'000);
  EXPECT_EQ(s.switched, 30'000);
  EXPECT_EQ(s.ran, 31'000);
  EXPECT_EQ(s.cpu, 1);
}

TEST(Stages, AnInterruptThatHadBegunBeforeIsNotWaitedFor) {
  auto events = a_wakeup(5, 30);
  events[1].time = kDue - 3000;
  EXPECT_EQ(stages_of({kDue, kDue + 31'000}, events, kPid).interrupt, 0);
}

TEST(Stages, WithoutItsEventsAWakeupHasNone) {
  const auto events = a_wakeup(5, 30);
  EXPECT_EQ(stages_of({kDue, kDue + 31'000}, events, kPid + 1).waking, -1);
  EXPECT_EQ(stages_of({kDue, kDue + 20'000}, events, kPid).switched, -1);
}

TEST(StageCollector, MatchesWakeupsWithEventsThatComeLater) {
  StageCollector collector(kPid);
  const Wakeup wakeup{kDue, kDue + 31'000};
  collector.add({}, {&wakeup, 1});
  auto events = a_wakeup(5, 30);
  KernelEvent raise = at(40, Type::kSoftirqRaise, "TIMER"), enter = at(47, Type::kEnter, "TIMER");
  raise.kind = enter.kind = HostLoad::Kind::kSoftirq;
  events.push_back(raise);
  events.push_back(enter);
  collector.add(events, {});
  collector.finish();
  EXPECT_EQ(collector.histograms().unmatched, 0u);
  ASSERT_EQ(collector.histograms().switched.count(), 1u);
  EXPECT_NEAR(double(collector.histograms().switched.max()), 30'000, 1000);
  EXPECT_NEAR(double(collector.histograms().softirq.max()), 7'000, 250);
}

TEST(Cause, AThreadThatCouldNotBePreempted) {
  CauseResult r;
  judge(r, a_wakeup(5, 800), {kDue, kDue + 801'000}, kPid, "FIFO 80");
  EXPECT_THAT(r.verdict, HasSubstr("FIFO 80 ran 801.0 us late: 793.0 us of it runnable, but not switched to; meanwhile "
                                   "normal thread hog had the CPU for 791.0 us"));
  ASSERT_FALSE(r.culprits.empty());
  EXPECT_EQ(r.culprits[0].name, "hog");
  EXPECT_EQ(r.culprits[0].ns, 796'000);  // all but the interrupt's 4 us and the probe's 1
  EXPECT_EQ(r.timeline.size(), 6u);
}

TEST(Cause, AnInterruptThatCameLate) {
  CauseResult r;
  judge(r, a_wakeup(700, 720), {kDue, kDue + 721'000}, kPid, "FIFO 80");
  EXPECT_THAT(r.verdict, HasSubstr("700.0 us of it until the timer interrupt came"));
  EXPECT_THAT(r.verdict, HasSubstr("hog"));
}

TEST(Cause, ALongSoftirqBeforeTheSwitch) {
  auto events = a_wakeup(5, 800);
  KernelEvent enter = at(10, Type::kEnter, "NET_RX"), leave = at(790, Type::kLeave, "NET_RX");
  enter.kind = leave.kind = HostLoad::Kind::kSoftirq;
  events.insert(events.begin() + 6, {enter, leave});
  CauseResult r;
  judge(r, events, {kDue, kDue + 801'000}, kPid, "FIFO 80");
  EXPECT_THAT(r.verdict, HasSubstr("softirq NET_RX had the CPU for 780.0 us"));
}

}  // namespace
}  // namespace offhook::measure
