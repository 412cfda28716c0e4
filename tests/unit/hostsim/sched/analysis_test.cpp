// SPDX-License-Identifier: MIT
//
// The engine against what the literature proves about task sets.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <numeric>
#include <random>

#include "tests/unit/hostsim/cpu/recorder.h"

namespace offhook::hostsim {
namespace {

struct Task {
  Ns cost, period;
};

// Random tasks with the periods of a small hyperperiod and about the given utilisation, never above 1.
std::vector<Task> random_tasks(std::mt19937& random, double utilisation) {
  static constexpr Ns kPeriods[] = {20, 30, 40, 50, 60, 100, 120, 150, 200, 300, 600};
  std::vector<Task> tasks;
  double left = utilisation;
  while (left > 0.01 && tasks.size() < 8) {
    const Ns period = kPeriods[random() % std::size(kPeriods)] * 10;
    const double share = std::min(left, 0.05 + 0.4 * static_cast<double>(random() % 1000) / 1000);
    const Ns cost = static_cast<Ns>(share * static_cast<double>(period));
    if (cost < 1) break;
    tasks.push_back({cost, period});
    left -= share;
  }
  return tasks;
}

/// Worst response of each entity, computed from the finish events.
class Responses final : public CpuObserver {
 public:
  explicit Responses(const std::vector<Task>& tasks) : tasks_(tasks), done_(tasks.size()), worst(tasks.size()) {}
  void on_event(Ns time, EntityId id, Kind kind) override {
    if (kind == Kind::kMiss) misses++;
    if (kind == Kind::kFinish) worst[id] = std::max(worst[id], time - tasks_[id].period * done_[id]++);
  }

 private:
  const std::vector<Task>& tasks_;
  std::vector<Ns> done_;

 public:
  std::vector<Ns> worst;
  int misses = 0;
};

Responses simulate(const std::vector<Task>& tasks, const std::function<Policy(std::size_t)>& policy, Ns horizon) {
  Engine engine;
  Cpu cpu(engine);
  std::vector<std::unique_ptr<Segments>> jobs;
  std::vector<std::unique_ptr<Periodic>> releases;
  for (std::size_t i = 0; i < tasks.size(); i++) {
    jobs.push_back(std::make_unique<Segments>(std::vector<Ns>{tasks[i].cost}));
    const EntityId id = cpu.add_thread("task", policy(i), *jobs.back(), tasks[i].period);
    releases.push_back(std::make_unique<Periodic>(engine, cpu, id, 0, tasks[i].period));
  }
  Responses responses(tasks);
  cpu.set_observer(&responses);
  engine.run_until(horizon);
  return responses;
}

TEST(FixedPriorityThreads, WorstResponsesEqualExactResponseTimeAnalysis) {  // Joseph and Pandya 1986
  std::mt19937 random(7);
  int compared = 0;
  for (int round = 0; round < 300; round++) {
    std::vector<Task> tasks = random_tasks(random, 0.9);
    std::stable_sort(tasks.begin(), tasks.end(), [](const Task& a, const Task& b) { return a.period < b.period; });
    std::vector<Ns> expected;
    for (std::size_t i = 0; i < tasks.size(); i++) {
      Ns r = 0, next = tasks[i].cost;
      while (next != r && next <= tasks[i].period) {
        r = next;
        next = tasks[i].cost;
        for (std::size_t j = 0; j < i; j++) next += (r + tasks[j].period - 1) / tasks[j].period * tasks[j].cost;
      }
      expected.push_back(next);
    }
    const auto policy = [](std::size_t i) -> Policy { return FixedPriority{31 - static_cast<int>(i), 0}; };
    const Responses got = simulate(tasks, policy, 12'000);  // all begin at 0: the critical instant
    for (std::size_t i = 0; i < tasks.size() && expected[i] <= tasks[i].period; i++, compared++) {
      ASSERT_EQ(got.worst[i], expected[i]) << "round " << round << " task " << i;
    }
  }
  EXPECT_GT(compared, 800);
}

TEST(EarliestDeadlineThreads, NeverMissUpToFullUtilisationAndDoMissAbove) {  // Liu and Layland 1973
  std::mt19937 random(8);
  for (int round = 0; round < 300; round++) {
    std::vector<Task> tasks = random_tasks(random, 1.0);
    // Fills up to exactly 1 over the hyperperiod of 6000 with one more task.
    Ns used = 0;
    for (const Task& t : tasks) used += t.cost * (6000 / t.period);
    if (used < 6000) tasks.push_back({6000 - used, 6000});
    const auto policy = [](std::size_t) -> Policy { return EarliestDeadline{}; };
    ASSERT_EQ(simulate(tasks, policy, 18'000).misses, 0) << "round " << round;
    tasks.front().cost++;
    ASSERT_GT(simulate(tasks, policy, 600'000).misses, 0) << "round " << round;
  }
}

TEST(DpcQueue, WorstResponsesAreTheSumOfAllCostsWhenAllAreQueuedAtOnce) {
  // FIFO, not preemptive, each period longer than the sum of the costs: at most one job of each other task comes before
  // a job.
  std::mt19937 random(9);
  for (int round = 0; round < 100; round++) {
    std::vector<Task> tasks(2 + random() % 6);
    Ns sum = 0;
    for (Task& t : tasks) sum += t.cost = 1 + static_cast<Ns>(random() % 100);
    for (Task& t : tasks) t.period = sum + static_cast<Ns>(random() % 400);
    Engine engine;
    Cpu cpu(engine);
    std::vector<std::unique_ptr<Segments>> jobs;
    std::vector<std::unique_ptr<Periodic>> releases;
    for (const Task& t : tasks) {
      jobs.push_back(std::make_unique<Segments>(std::vector<Ns>{t.cost}));
      releases.push_back(std::make_unique<Periodic>(engine, cpu, cpu.add_dpc({"dpc"}, *jobs.back()), 0, t.period));
    }
    Responses responses(tasks);
    cpu.set_observer(&responses);
    engine.run_until(100'000);
    Ns first = 0;
    for (std::size_t i = 0; i < tasks.size(); i++) {
      first += tasks[i].cost;  // all are released at 0, in the order of declaration
      ASSERT_GE(responses.worst[i], first) << "round " << round;
      ASSERT_LE(responses.worst[i], sum) << "round " << round;
    }
    ASSERT_EQ(responses.worst.back(), sum) << "round " << round;
  }
}

TEST(ConstantBandwidthThreads, HaveTheirBudgetInEveryPeriodAndHarmNoDeadlineUpToFullUtilisation) {
  // Abeni and Buttazzo 1998: to the others, a server that never blocks is an EDF task with its budget and period.
  std::mt19937 random(10);
  for (int round = 0; round < 100; round++) {
    std::vector<Task> tasks = random_tasks(random, 0.6);
    Ns used = 0;
    for (const Task& t : tasks) used += t.cost * (6000 / t.period);
    const Ns period = 100 * (1 + static_cast<Ns>(random() % 6)), budget = (6000 - used) * period / 6000;
    Engine engine;
    Cpu cpu(engine);
    std::vector<std::unique_ptr<Segments>> jobs;
    std::vector<std::unique_ptr<Periodic>> releases;
    for (const Task& t : tasks) {
      jobs.push_back(std::make_unique<Segments>(std::vector<Ns>{t.cost}));
      const EntityId id = cpu.add_thread("task", EarliestDeadline{}, *jobs.back(), t.period);
      releases.push_back(std::make_unique<Periodic>(engine, cpu, id, 0, t.period));
    }
    Segments busy({kNever});
    const EntityId server = cpu.add_thread("server", ConstantBandwidth{budget, period}, busy);
    tasks.push_back({budget, period});  // of the server, which does not finish
    Responses responses(tasks);
    cpu.set_observer(&responses);
    cpu.release(server);
    for (Ns n = 1; n <= 18'000 / period; n++) {
      engine.run_until(n * period);
      ASSERT_EQ(cpu.cpu_time(server), n * budget) << "round " << round << " period " << n;
    }
    ASSERT_EQ(responses.misses, 0) << "round " << round;
  }
}

}  // namespace
}  // namespace offhook::hostsim
