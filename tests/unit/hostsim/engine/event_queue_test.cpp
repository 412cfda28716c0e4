// SPDX-License-Identifier: MIT
#include "hostsim/engine/event_queue.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <stdexcept>
#include <utility>

#include "hostsim/engine/processor.h"

namespace offhook::hostsim {
namespace {

struct Numbered final : Event {
  void fire(Ns) override {}
};

TEST(EventQueue, GivesTheOrderOfAStableSortWhateverIsPutBetweenTheTakes) {
  std::mt19937 random(1);
  std::vector<Numbered> events(4000);
  EventQueue queue;
  std::vector<std::pair<Ns, Event*>> expected;  // sorted by time; equal times in the order of insertion
  Ns now = 0;
  std::size_t next = 0;
  while (next < events.size() || !expected.empty()) {
    for (unsigned puts = random() % 4; puts > 0 && next < events.size(); puts--) {
      const Ns when = now + static_cast<Ns>(random() % 20);
      Event* event = &events[next++];
      queue.put(when, *event);
      const auto after =
          std::upper_bound(expected.begin(), expected.end(), when, [](Ns w, const auto& e) { return w < e.first; });
      expected.insert(after, {when, event});
    }
    if (expected.empty()) continue;
    ASSERT_EQ(queue.first(), expected.front().first);
    now = expected.front().first;
    ASSERT_EQ(queue.take(), expected.front().second);
    expected.erase(expected.begin());
  }
  EXPECT_EQ(queue.first(), kNever);
}

TEST(Engine, AProcessorThatAsksForThePastIsAFault) {
  struct Backwards final : Processor {
    void settle(Ns) override {}
    void dispatch(Ns now) override { wake = now - 5; }
  } processor;
  processor.wake = 10;
  Engine engine;
  engine.attach(processor);
  EXPECT_THROW(engine.run_until(100), std::logic_error);
  EXPECT_EQ(engine.now(), 10);
}

TEST(Engine, RunsEveryInstantBeforeTheHorizonAndNoneAtIt) {
  struct Counting final : Event {
    explicit Counting(Engine& e) : engine(e) {}
    void fire(Ns now) override {
      count++;
      engine.at(now + 10, *this);
      if (count == stop_at) engine.stop();
    }
    Engine& engine;
    int count = 0, stop_at = 0;
  };
  Engine engine;
  Counting event(engine);
  engine.at(0, event);
  engine.run_until(100);
  EXPECT_EQ(event.count, 10);
  EXPECT_EQ(engine.now(), 100);
  event.stop_at = 12;
  engine.run_until(1000);
  EXPECT_EQ(event.count, 12);
  EXPECT_EQ(engine.now(), 110);
  engine.run_until(200);
  EXPECT_EQ(event.count, 20);
}

}  // namespace
}  // namespace offhook::hostsim
