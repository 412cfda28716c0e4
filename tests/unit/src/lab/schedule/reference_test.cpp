// SPDX-License-Identifier: MIT
//
// The engine against the slow reference of reference.h, event by event, over random systems that mix every kind of
// entity. Times are small multiples of a unit, so that many things fall into one instant.
#include "tests/unit/src/lab/schedule/reference.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <sstream>

namespace offhook::schedule {
namespace {

class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed) {}
  std::int64_t operator()(std::int64_t low, std::int64_t high) {
    return low + static_cast<std::int64_t>(engine_() % static_cast<std::uint64_t>(high - low + 1));
  }
  bool chance(int percent) { return (*this)(1, 100) <= percent; }

 private:
  std::mt19937_64 engine_;
};

// A system as JSON, so that the test includes the parser.
std::string random_system(std::uint64_t seed) {
  Random random(seed);
  const std::int64_t unit = random.chance(50) ? 1 : random.chance(50) ? 1000 : random(1, 977);
  // Sometimes a nanosecond off the grid.
  const auto time = [&](std::int64_t low, std::int64_t high) {
    return random(low, high) * unit + (unit > 1 && random.chance(10) ? random(0, unit - 1) : 0);
  };
  const std::int64_t load = random(1, 4);  // of the costs
  const std::int64_t slot_period = random(10, 40) * unit;
  std::int64_t slot_used = 0;
  const int n = static_cast<int>(random(2, 9));
  const int dpcs = static_cast<int>(random(0, 2));
  std::string entities;
  const auto add = [&](const std::string& text) { entities += (entities.empty() ? "" : ",\n ") + text; };
  int dpcs_left = dpcs;
  for (int i = 0; i < n || dpcs_left > 0; i++) {
    if (dpcs_left > 0 && (i >= n || random.chance(30))) {  // declared before, between and after the others
      dpcs_left--;
      add(fmt::format(R"({{"name":"dpc{}","kind":"dpc","cost_ns":{}}})", dpcs_left, time(1, 3)));
      if (i >= n) continue;
    }
    const std::int64_t period = time(5, 60);
    const std::int64_t deadline = random.chance(50) ? period : time(1, 80);
    const auto common = [&](const char* kind) {
      return fmt::format(R"("name":"{}{}","kind":"{}","offset_ns":{},"period_ns":{},"cost_ns":{})", kind, i, kind,
                         random.chance(50) ? 0 : time(0, 30), period, std::max<std::int64_t>(1, time(1, 1 + 2 * load)));
    };
    switch (random(0, 6)) {
      case 0:
      case 1: {
        const std::int64_t dpc = dpcs > 0 && random.chance(70) ? random(0, dpcs - 1) : -1;
        add(fmt::format(R"({{{},"level":{},"dpc":{}}})", common("interrupt"), random(0, 3),
                        dpc < 0 ? "null" : fmt::format("\"dpc{}\"", dpc)));
        break;
      }
      case 2:
        add(fmt::format(R"({{{},"deadline_ns":{},"priority":{},"quantum_ns":{}}})", common("fp"), deadline,
                        random(3, 6), random.chance(40) ? 0 : time(1, 4)));
        break;
      case 3:
        add(fmt::format(R"({{{},"deadline_ns":{}}})", common("edf"), deadline));
        break;
      case 4: {
        const std::int64_t reserved = time(3, 30);
        add(fmt::format(R"({{{},"deadline_ns":{},"budget_ns":{},"res_period_ns":{}}})", common("cbs"), deadline,
                        std::min(reserved, time(1, 5)), reserved));
        break;
      }
      case 5: {
        const std::int64_t reserved = time(3, 30);
        add(fmt::format(
            R"({{{},"deadline_ns":{},"budget_ns":{},"res_period_ns":{},"res_offset_ns":{},"background":{}}})",
            common("rez"), deadline, std::min(reserved, time(1, 5)), reserved, random.chance(50) ? 0 : time(0, 20),
            random.chance(50) ? -1 : random(3, 6)));
        break;
      }
      default: {
        const std::int64_t length = time(1, 6);
        if (slot_used + length > slot_period) break;
        add(fmt::format(
            R"({{{},"deadline_ns":{},"slot_offset_ns":{},"slot_length_ns":{},"slot_period_ns":{},"strict":{},"priority":{}}})",
            common("slot"), deadline, slot_used + (random.chance(30) ? slot_period : 0), length, slot_period,
            random.chance(50), random(3, 6)));
        slot_used += length + (random.chance(30) ? unit : 0);
      }
    }
  }
  return fmt::format("{{\"horizon_ns\":{},\"entities\":[{}]}}", 600 * unit + random(0, unit), entities);
}

std::string first_difference(const std::string& got, const std::string& expected) {
  std::istringstream a(got), b(expected);
  std::string x, y, before;
  for (int line = 1;; line++) {
    const bool more_x = static_cast<bool>(std::getline(a, x)), more_y = static_cast<bool>(std::getline(b, y));
    if (!more_x && !more_y) return "none";
    if (!more_x) x = "(end)";
    if (!more_y) y = "(end)";
    if (x != y) return fmt::format("line {}: engine {}, reference {}; before:\n{}", line, x, y, before);
    before += x + "\n";
    if (before.size() > 400) before.erase(0, before.find('\n') + 1);
  }
}

TEST(Schedule, EqualsTheReferenceEventByEventOver3000RandomSystemsOfAllKinds) {
  std::map<std::string, std::size_t> seen;
  std::size_t events = 0;
  for (std::uint64_t seed = 1; seed <= 3000; seed++) {
    const std::string json = random_system(seed);
    SCOPED_TRACE(fmt::format("seed {}: {}", seed, json));
    const System system = parse_system(json, "random");
    std::ostringstream csv;
    const ScheduleResult result = run_schedule(system, csv);
    reference::Simulator simulator(system);
    const std::string expected = simulator.run();
    ASSERT_EQ(csv.str() == expected ? "none" : first_difference(csv.str(), expected), "none");
    for (std::size_t i = 0; i < system.entities.size(); i++) {
      const EntityFigures& f = result.entities[i];
      const reference::State& r = simulator.states()[i];
      SCOPED_TRACE(system.entities[i].name);
      ASSERT_EQ(static_cast<std::int64_t>(f.released), r.all_released);
      ASSERT_EQ(static_cast<std::int64_t>(f.completed), r.completed);
      ASSERT_EQ(static_cast<std::int64_t>(f.misses), r.misses);
      ASSERT_EQ(f.response_min, r.rmin);
      ASSERT_EQ(f.response_max, r.rmax);
      ASSERT_EQ(f.response_sum, r.rsum);
      ASSERT_EQ(f.cpu, r.cpu);
      for (std::size_t k = 0; k < f.events.size(); k++) {
        seen[system.entities[i].kind_name + " " +
             std::string(event_name(static_cast<hostsim::CpuObserver::Kind>(k)))] += f.events[k];
        events += f.events[k];
      }
    }
  }
  // The systems were not trivial: each kind of thread was preempted and missed deadlines, each server throttled.
  for (const char* what : {"interrupt preempt", "dpc preempt", "fp preempt", "edf preempt", "cbs preempt",
                           "rez preempt", "slot preempt", "fp miss", "edf miss", "cbs miss", "rez miss", "slot miss",
                           "cbs throttle", "cbs replenish", "rez throttle", "rez replenish"}) {
    EXPECT_GT(seen[what], 1000u) << what;
  }
  EXPECT_GT(events, 500'000u);
}

}  // namespace
}  // namespace offhook::schedule
