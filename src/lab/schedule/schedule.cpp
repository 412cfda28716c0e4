// SPDX-License-Identifier: MIT
#include "src/lab/schedule/schedule.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <ostream>
#include <utility>

#include "driver/base/csv.h"
#include "driver/base/record.h"
#include "hostsim/cpu/critical_section.h"

namespace offhook::schedule {
namespace {

using hostsim::Cpu;
using hostsim::CpuObserver;
using hostsim::Engine;
using hostsim::EntityId;

class PeriodicRelease final : public hostsim::Event {
 public:
  PeriodicRelease(Engine& engine, Cpu& cpu, EntityId id, Ns period, std::uint64_t& released)
      : engine_(engine), cpu_(cpu), id_(id), period_(period), released_(released) {}
  void fire(Ns now) override {
    released_++;
    cpu_.release(id_);
    engine_.at(now + period_, *this);
  }

 private:
  Engine& engine_;
  Cpu& cpu_;
  EntityId id_;
  Ns period_;
  std::uint64_t& released_;
};

class Recorder final : public CpuObserver {
 public:
  Recorder(ScheduleResult& result, std::ostream& csv, Gantt* gantt) : result_(result), csv_(csv), gantt_(gantt) {
    for (const auto& e : result.system.entities) tails_.push_back(",0," + csv_field(e.name) + ',');
    dpc_releases_.resize(tails_.size());
    fmt::format_to(std::back_inserter(buffer_), "time_ns,cpu,entity,event\n");
  }
  ~Recorder() override {
    if (gantt_ != nullptr && running_) end_segment(result_.system.horizon);
    flush();
  }

  void on_event(Ns time, EntityId id, Kind kind) override {
    fmt::format_to(std::back_inserter(buffer_), "{}{}{}\n", time, tails_[id], event_name(kind));
    if (buffer_.size() > kFlush) flush();
    EntityFigures& f = result_.entities[id];
    f.events[static_cast<std::size_t>(kind)]++;
    if (gantt_ != nullptr) draw(time, id, kind);
    if (kind == Kind::kMiss) f.misses++;
    if (kind == Kind::kFinish) finish(time, id, f);
  }

 private:
  static constexpr std::size_t kFlush = 1 << 16;

  void finish(Ns time, EntityId id, EntityFigures& f) {
    const EntityDescription& e = result_.system.entities[id];
    Ns release = e.offset + static_cast<Ns>(f.completed) * e.period;
    if (e.kind == schedule::Kind::kDpc) {
      release = dpc_releases_[id].front();
      dpc_releases_[id].pop_front();
    }
    const Ns response = time - release;
    f.response_min = f.completed == 0 ? response : std::min(f.response_min, response);
    f.response_max = std::max(f.response_max, response);
    f.response_sum += response;
    f.completed++;
    if (e.dpc >= 0) {
      dpc_releases_[static_cast<std::size_t>(e.dpc)].push_back(time);
      result_.entities[static_cast<std::size_t>(e.dpc)].released++;
    }
  }
  /// For one CPU: an entity that starts or resumes has the CPU until it is preempted, finishes or is throttled.
  void draw(Ns time, EntityId id, Kind kind) {
    if (kind == Kind::kMiss) {
      if (gantt_->misses.size() < gantt_->most) gantt_->misses.push_back({time, id});
    } else if (kind == Kind::kStart || kind == Kind::kResume) {
      if (running_) end_segment(time);
      running_ = true;
      segment_ = {time, time, id};
    } else if (kind != Kind::kReplenish && running_ && segment_.entity == id) {
      end_segment(time);
    }
  }
  void end_segment(Ns time) {
    running_ = false;
    segment_.end = time;
    if (time == segment_.begin) return;
    if (gantt_->segments.size() < gantt_->most) {
      gantt_->segments.push_back(segment_);
    } else {
      gantt_->cut = true;
    }
  }
  void flush() {
    csv_.write(buffer_.data(), static_cast<std::streamsize>(buffer_.size()));
    buffer_.clear();
  }

  ScheduleResult& result_;
  std::ostream& csv_;
  Gantt* gantt_;
  bool running_ = false;
  Gantt::Segment segment_;
  std::vector<std::string> tails_;            // text of a CSV line, for each entity
  std::vector<std::deque<Ns>> dpc_releases_;  // of unfinished jobs
  fmt::memory_buffer buffer_;
};

constexpr std::string_view kEventNames[] = {"start", "resume", "preempt", "finish", "miss", "throttle", "replenish"};

using Schedulers = std::map<std::string, std::shared_ptr<hostsim::Scheduler>>;

/// The first scheduler of the system that has fair threads; null if there is none.
std::shared_ptr<hostsim::Scheduler> fair_scheduler(const System& system, Schedulers& made,
                                                   const hostsim::SchedulerHost& host) {
  for (const EntityDescription& e : system.entities) {
    if (e.scheduler.empty() || e.reserves) continue;
    auto& scheduler = made[e.scheduler];
    if (!scheduler) scheduler = make_scheduler(hostsim::PolicyUse::kThreads, e.scheduler, host);
    if (scheduler->has(hostsim::ThreadRequest::Class::kNice)) return scheduler;
  }
  return nullptr;
}

}  // namespace

std::string_view event_name(CpuObserver::Kind kind) {
  return kEventNames[static_cast<std::size_t>(kind)];
}

ScheduleResult run_schedule(const System& system, std::ostream& csv, Gantt* gantt) {
  ScheduleResult result{system, std::vector<EntityFigures>(system.entities.size())};
  Engine engine;
  hostsim::Mutexes mutexes(system.locks);
  Cpu cpu(engine, hostsim::Admission::kNone);
  if (system.charge_stolen_time) cpu.charge_stolen_time();
  hostsim::SchedulerHost host = system.host;
  host.dpc_time = [&cpu](int n) { return cpu.dpc_time(n); };
  Schedulers schedulers;
  const auto policy = [&](const EntityDescription& e) {
    if (e.scheduler.empty()) return e.policy;
    auto& scheduler = schedulers[e.scheduler];
    using hostsim::PolicyUse;
    if (!scheduler && e.reserves) host.threads = fair_scheduler(system, schedulers, host);
    if (!scheduler)
      scheduler = make_scheduler(e.reserves ? PolicyUse::kReservations : PolicyUse::kThreads, e.scheduler, host);
    return e.reserves ? scheduler->reserve(e.reservation) : scheduler->thread(e.thread);
  };
  std::vector<std::unique_ptr<hostsim::SectionedJob>> programs;
  std::vector<std::unique_ptr<PeriodicRelease>> releases;
  for (std::size_t i = 0; i < system.entities.size(); i++) {
    const EntityDescription& e = system.entities[i];
    const bool locks = !e.critical_sections.empty();
    const auto member = locks ? mutexes.member(e.name) : 0;
    std::vector<hostsim::CriticalSection> sections;
    for (const CriticalSectionDescription& s : e.critical_sections)
      sections.push_back({mutexes.mutex(s.mutex), s.after, s.length});
    programs.push_back(std::make_unique<hostsim::SectionedJob>(e.cost, sections, mutexes, member));
    EntityId id = hostsim::kNoEntity;
    if (e.kind == Kind::kInterrupt) {
      id = cpu.add_interrupt({e.name, e.level, e.dpc < 0 ? hostsim::kNoEntity : static_cast<EntityId>(e.dpc)},
                             *programs.back());
    } else if (e.kind == Kind::kDpc) {
      cpu.add_dpc({e.name}, *programs.back());
      continue;
    } else {
      hostsim::Policy own = policy(e);
      id = cpu.add_thread(e.name, locks ? mutexes.policy(member, std::move(own)) : std::move(own), *programs.back(),
                          e.deadline);
    }
    releases.push_back(std::make_unique<PeriodicRelease>(engine, cpu, id, e.period, result.entities[i].released));
    engine.at(e.offset, *releases.back());
  }
  {
    Recorder recorder(result, csv, gantt);
    cpu.set_observer(&recorder);
    engine.run_until(system.horizon);
    cpu.set_observer(nullptr);
  }
  for (std::size_t i = 0; i < result.entities.size(); i++)
    result.entities[i].cpu = cpu.cpu_time(static_cast<EntityId>(i));
  return result;
}

namespace {

/// An interrupt, DPC or thread, and its figures.
struct Entity {
  const EntityDescription* description;
  const EntityFigures* figures;

  std::vector<std::pair<std::string, std::uint64_t>> events() const {
    std::vector<std::pair<std::string, std::uint64_t>> counts;
    for (std::size_t k = 0; k < figures->events.size(); ++k) counts.emplace_back(kEventNames[k], figures->events[k]);
    return counts;
  }
  /// Only if it completed a job.
  std::optional<Ns> of_completed(Ns EntityFigures::*response) const {
    return figures->completed > 0 ? std::optional(figures->*response) : std::nullopt;
  }
};

using E = record::Written<Entity>;
constexpr record::Row kEventRows[] = {
    E::of("", "", "number of events: start, resume, preempt, finish, miss, throttle, replenish",
          [](const Entity& e) { return e.events(); })
        .as_keys(),
};
constexpr record::Table kEvents{kEventRows};
constexpr record::Row kEntityRows[] = {
    E::of("name", "", "name of an interrupt, a DPC or a thread", [](const Entity& e) { return e.description->name; }),
    E::of("kind", "", "kind of the entity", [](const Entity& e) { return e.description->kind_name; }),
    E::of("released", "", "released jobs", [](const Entity& e) { return e.figures->released; }),
    E::of("completed", "", "completed jobs", [](const Entity& e) { return e.figures->completed; }),
    E::of("misses", "", "jobs that missed their deadline", [](const Entity& e) { return e.figures->misses; }),
    E::of("resp_min", "ns", "shortest response time; null: no job was completed",
          [](const Entity& e) { return e.of_completed(&EntityFigures::response_min); })
        .or_null(),
    E::of("resp_max", "ns", "longest response time",
          [](const Entity& e) { return e.of_completed(&EntityFigures::response_max); })
        .or_null(),
    E::of("resp_sum", "ns", "sum of the response times", [](const Entity& e) { return e.figures->response_sum; }),
    E::of("cpu_ns", "ns", "CPU time", [](const Entity& e) { return e.figures->cpu; }),
    E::part("events", kEvents, [](const Entity& e) { return &e; }).always(),
};
constexpr record::Table kEntity{kEntityRows};

struct Summary {
  Ns horizon;
  std::vector<Entity> entities;
};
constexpr record::Row kSummaryRows[] = {
    record::Written<Summary>::of<&Summary::horizon>("horizon_ns", "ns", "end of the simulation"),
    record::Written<Summary>::part<&Summary::entities>("entities", kEntity),
};

}  // namespace

constexpr record::Table kSummary{kSummaryRows};

std::string summary_json(const ScheduleResult& result) {
  Summary summary{result.system.horizon, {}};
  for (std::size_t i = 0; i < result.entities.size(); ++i)
    summary.entities.push_back({&result.system.entities[i], &result.entities[i]});
  return record::json_text(kSummary, &summary, 2);
}

}  // namespace offhook::schedule
