// SPDX-License-Identifier: MIT
#include "src/lab/advice/schedulability.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <limits>
#include <memory>

#include "hostsim/cpu/cpu.h"
#include "hostsim/engine/random.h"

namespace offhook {

using hostsim::Cpu;
using hostsim::Engine;
using hostsim::EntityId;
using hostsim::kNsPerMs;
using hostsim::LatencyDistribution;
using hostsim::Modality;
using hostsim::Ns;

namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();

enum class Standing { kLower, kEqual, kHigher };

/// Precedence of `other` relative to `own`.
Standing standing(const Computation& other, const Computation& own) {
  if (other.modality != own.modality) return other.modality < own.modality ? Standing::kHigher : Standing::kLower;
  if (other.modality == Modality::kDpc || other.priority == own.priority) return Standing::kEqual;
  return other.priority > own.priority ? Standing::kHigher : Standing::kLower;
}

double blocking_ms(const std::vector<Computation>& all, std::size_t i) {
  double most = 0;
  if (all[i].modality == Modality::kInterrupt) return 0;
  for (std::size_t j = 0; j < all.size(); j++)
    if (standing(all[j], all[i]) == Standing::kLower) most = std::max(most, all[j].raised_ms);
  return most;
}

/// Least fixed point of w; infinite if it exceeds the period.
double busy_ms(const std::vector<Computation>& all, const std::vector<ResponseTime>& times, std::size_t i) {
  const double own = all[i].cost_ms + times[i].blocking_ms;
  for (double w = own;;) {
    double next = own;
    for (std::size_t j = 0; j < all.size(); j++) {
      if (j == i) continue;
      const Standing s = standing(all[j], all[i]);
      const double jitter = times[j].pseudo_worst_ms, period = all[j].period_ms;
      if (s == Standing::kHigher) next += std::ceil((w + jitter) / period - 1e-12) * all[j].cost_ms;
      if (s == Standing::kEqual) next += (1 + std::floor(jitter / period)) * all[j].cost_ms;
      // At raised IRQL a thread precedes every DPC. Higher threads take that time in any case.
    }
    if (next > all[i].period_ms) return kInfinite;
    if (next <= w) return w;
    w = next;
  }
}

/// One computation on the engine.
class Task final : public hostsim::Event {
 public:
  Task(const Computation& c, const LatencyDistribution& latency, Engine& engine, Cpu& cpu, std::uint64_t seed,
       std::uint64_t stream)
      : c_(c),
        latency_(latency),
        engine_(engine),
        cpu_(cpu),
        random_(seed, stream),
        release_(*this),
        period_(static_cast<Ns>(c.period_ms * kNsPerMs)),
        raised_(static_cast<Ns>(c.raised_ms * kNsPerMs)),
        plain_(std::max(static_cast<Ns>(c.cost_ms * kNsPerMs) - raised_, Ns{0})),
        tolerance_(period_ * (c.buffers - 1)) {
    work_.task = raised_work_.task = this;
    switch (c.modality) {
      case Modality::kInterrupt:
        entity_ = cpu.add_interrupt({c.name, c.priority, hostsim::kNoEntity}, work_);
        break;
      case Modality::kDpc:
        entity_ = cpu.add_dpc({c.name}, work_);
        break;
      case Modality::kThread:
        entity_ = cpu.add_thread(c.name, hostsim::FixedPriority{c.priority, 0}, work_);
        // At raised IRQL a thread is equivalent to a DPC: only interrupts precede it.
        if (raised_ > 0) raised_entity_ = cpu.add_dpc({c.name + " at raised IRQL"}, raised_work_);
        break;
    }
    engine.at(static_cast<Ns>(random_.uniform(draws_++) * static_cast<double>(period_)), *this);
  }

  void fire(Ns now) override {  // the interrupt
    engine_.at(now + period_, *this);
    const bool idle = arrivals_.empty();
    arrivals_.push_back(now);
    if (idle) awake_at_ = now + static_cast<Ns>(latency_.latency_ms(random_.uniform(draws_++)) * kNsPerMs);
    engine_.at(std::max(now, awake_at_), release_);
  }
  const DeadlineRun& run() const { return run_; }

 private:
  struct Release final : hostsim::Event {
    explicit Release(Task& t) : task(t) {}
    void fire(Ns) override { task.cpu_.release(task.entity_); }
    Task& task;
  };
  struct Work final : hostsim::Program {
    Ns next(Ns now) override { return task->next(now); }
    Task* task = nullptr;
  };
  struct RaisedWork final : hostsim::Program {
    Ns next(Ns) override { return (entered = !entered) ? task->raised_ : 0; }
    Task* task = nullptr;
    bool entered = false;
  };

  Ns next(Ns now) {
    switch (step_++) {
      case 0:
        if (raised_entity_ == hostsim::kNoEntity) return std::max(plain_ + raised_, Ns{1});
        cpu_.release(raised_entity_);  // and it runs immediately, because no DPC waits while a thread has the CPU
        return std::max(plain_, Ns{1});
      default:
        step_ = 0;
        finish(now);
        return 0;
    }
  }
  void finish(Ns now) {
    const Ns response = now - arrivals_.front();
    arrivals_.pop_front();
    const bool late = response > tolerance_;
    run_.jobs++;
    run_.missed += late;
    run_.drops += late && !late_;
    late_ = late;
    run_.longest_ms = std::max(run_.longest_ms, static_cast<double>(response) / kNsPerMs);
  }

  const Computation& c_;
  const LatencyDistribution& latency_;
  Engine& engine_;
  Cpu& cpu_;
  hostsim::Random random_;
  Release release_;
  Work work_;
  RaisedWork raised_work_;
  Ns period_, raised_, plain_, tolerance_;
  EntityId entity_ = hostsim::kNoEntity, raised_entity_ = hostsim::kNoEntity;
  std::uint64_t draws_ = 0;
  std::deque<Ns> arrivals_;  // of unfinished jobs
  Ns awake_at_ = 0;
  int step_ = 0;
  bool late_ = false;
  DeadlineRun run_;
};

}  // namespace

std::vector<ResponseTime> response_times(const std::vector<Computation>& all, const hostsim::HostLatencies& host) {
  std::vector<ResponseTime> times;
  for (const Computation& c : all) {
    const LatencyDistribution& latency = host.to(c.modality, c.priority);
    const double longer = c.period_ms * 1e-3 / c.interval_s;
    ResponseTime t;
    t.worst_latency_ms = latency.latency_ms(std::min(longer, 1.0));
    t.mean_latency_ms = latency.mean_ms();
    const double periods = c.buffers - 1;
    t.pseudo_worst_ms = (t.worst_latency_ms + (periods - 1) * t.mean_latency_ms) / periods;
    t.beyond_data = longer < latency.rarest();
    t.blocking_ms = blocking_ms(all, times.size());
    times.push_back(t);
  }
  for (std::size_t i = 0; i < all.size(); i++) {
    times[i].response_ms = times[i].pseudo_worst_ms + busy_ms(all, times, i);
    times[i].schedulable = times[i].response_ms <= all[i].period_ms;
  }
  return times;
}

Interval DeadlineRun::drops_per_s() const {
  const Interval count = poisson_interval(drops);
  return {count.low / simulated_s, count.high / simulated_s};
}

std::vector<DeadlineRun> simulate_deadlines(const std::vector<Computation>& all, const hostsim::HostLatencies& host,
                                            double seconds, std::uint64_t seed, bool (*go_on)(void*, double),
                                            void* user) {
  Engine engine;
  Cpu cpu(engine);
  std::vector<std::unique_ptr<Task>> tasks;
  tasks.reserve(all.size());
  for (const Computation& c : all)
    tasks.push_back(std::make_unique<Task>(c, host.to(c.modality, c.priority), engine, cpu, seed, 1 + tasks.size()));
  const Ns horizon = static_cast<Ns>(seconds * 1e9);
  constexpr Ns kSlice = 60'000'000'000;
  while (engine.now() < horizon) {
    if (go_on != nullptr && !go_on(user, static_cast<double>(engine.now()) / static_cast<double>(horizon))) break;
    engine.run_until(std::min(engine.now() + kSlice, horizon));
  }
  std::vector<DeadlineRun> runs;
  for (const auto& task : tasks) {
    runs.push_back(task->run());
    runs.back().simulated_s = static_cast<double>(engine.now()) * 1e-9;
  }
  return runs;
}

}  // namespace offhook
