// SPDX-License-Identifier: MIT
//
// The scheduling semantics S0 to S10 a second time, as slow and as close to their text as can be: no event queue, no
// policy objects, no caches. It visits every time at which anything could happen, and at each does all the steps of S8
// for all entities. It shares with the engine only the description of a system.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "src/lab/schedule/schedule.h"

namespace offhook::schedule::reference {

struct Job {
  std::int64_t release, left;
  bool started = false, missed = false;
};

struct State {
  const EntityDescription* is;
  std::deque<Job> jobs;
  std::int64_t released = 0;  // the periodic ones so far
  std::int64_t q = 0, quantum = 0, c = 0, d = 0;
  bool was_throttled = false, throttled_now = false;
  std::int64_t cpu = 0, completed = 0, misses = 0, all_released = 0, rmin = 0, rmax = 0, rsum = 0;
};

inline const hostsim::FixedPriority* fp(const State& e) {
  return std::get_if<hostsim::FixedPriority>(&e.is->policy);
}
inline const hostsim::ConstantBandwidth* cbs(const State& e) {
  return std::get_if<hostsim::ConstantBandwidth>(&e.is->policy);
}
inline const hostsim::Slot* slot(const State& e) {
  return std::get_if<hostsim::Slot>(&e.is->policy);
}
inline const hostsim::Rez* rez(const State& e) {
  return std::get_if<hostsim::Rez>(&e.is->policy);
}

class Simulator {
 public:
  explicit Simulator(const System& system) : system_(system) {
    for (const auto& description : system.entities) all_.push_back({&description, {}});
  }

  std::string run() {
    csv_ = "time_ns,cpu,entity,event\n";
    for (std::int64_t t = 0; t < system_.horizon; t = next(t)) {
      instant(t);
      last_ = t;
    }
    if (running_ >= 0) all_[static_cast<std::size_t>(running_)].cpu += system_.horizon - last_;
    return csv_;
  }
  const std::vector<State>& states() const { return all_; }

 private:
  static bool thread(const State& e) { return e.is->kind == Kind::kThread; }

  void row(int order, std::size_t entity, const char* what) { rows_.push_back({order, entity, what}); }

  void becomes_current(State& e, std::int64_t t) {
    e.q = t;
    if (thread(e) && fp(e)) e.quantum = fp(e)->quantum;
  }

  void release(State& e, std::int64_t t) {
    e.jobs.push_back({t, e.is->cost});
    e.all_released++;
    if (e.jobs.size() > 1) return;
    if (thread(e) && cbs(e) && (e.d <= t || e.c * cbs(e)->period >= (e.d - t) * cbs(e)->budget)) {
      e.d = t + cbs(e)->period;
      e.c = cbs(e)->budget;
    }
    becomes_current(e, t);
  }

  void refill_cbs(std::size_t i, std::int64_t t) {
    State& e = all_[i];
    e.d += cbs(e)->period;
    if (e.d < t) e.d = t + cbs(e)->period;
    e.c = cbs(e)->budget;
    e.q = t;
    row(2, i, "replenish");
  }

  void instant(std::int64_t t) {
    // 1: charge
    if (running_ >= 0) {
      const std::size_t i = static_cast<std::size_t>(running_);
      State& e = all_[i];
      const std::int64_t ran = t - last_;
      e.jobs.front().left -= ran;
      e.cpu += ran;
      const bool spends = thread(e) && (cbs(e) || (rez(e) && e.c > 0));
      if (spends) e.c -= ran;
      if (thread(e) && fp(e) && fp(e)->quantum > 0) e.quantum -= ran;
      // 2: finish
      if (e.jobs.front().left == 0) {
        const std::int64_t response = t - e.jobs.front().release;
        e.jobs.pop_front();
        e.rmin = e.completed == 0 ? response : std::min(e.rmin, response);
        e.rmax = std::max(e.rmax, response);
        e.rsum += response;
        e.completed++;
        row(0, i, "finish");
        if (e.is->dpc >= 0) release(all_[static_cast<std::size_t>(e.is->dpc)], t);
        if (!e.jobs.empty()) becomes_current(e, t);
      }
      // 3: exhaustion
      if (!e.jobs.empty() && thread(e)) {
        if (cbs(e) && e.c == 0 && t >= e.d) refill_cbs(i, t);
        if (rez(e) && spends && e.c == 0) e.q = t;
        if (fp(e) && fp(e)->quantum > 0 && e.quantum == 0) {
          e.q = t;
          e.quantum = fp(e)->quantum;
        }
      }
    }
    // 4: refills
    for (std::size_t i = 0; i < all_.size(); i++) {
      State& e = all_[i];
      if (!thread(e)) continue;
      if (cbs(e) && e.c == 0 && !e.jobs.empty() && t == e.d) refill_cbs(i, t);
      if (rez(e) && t >= rez(e)->offset && (t - rez(e)->offset) % rez(e)->period == 0) {
        if (!e.jobs.empty()) {
          if (e.c == 0) row(2, i, "replenish");
          e.q = t;
        }
        e.c = rez(e)->budget;
        e.d = t + rez(e)->period;
      }
    }
    // 5: releases
    for (State& e : all_) {
      if (e.is->kind == Kind::kDpc || t != e.is->offset + e.released * e.is->period) continue;
      e.released++;
      release(e, t);
    }
    // 6: misses
    for (std::size_t i = 0; i < all_.size(); i++) {
      if (!thread(all_[i]) || all_[i].is->deadline == hostsim::kNever) continue;
      for (Job& job : all_[i].jobs) {
        if (job.missed || job.release + all_[i].is->deadline != t) continue;
        job.missed = true;
        all_[i].misses++;
        row(1, i, "miss");
      }
    }
    // 7: throttles
    for (std::size_t i = 0; i < all_.size(); i++) {
      State& e = all_[i];
      const bool throttled = thread(e) && (cbs(e) || rez(e)) && e.c == 0 && !e.jobs.empty();
      e.throttled_now = throttled && !e.was_throttled;
      if (e.throttled_now) row(3, i, "throttle");
      e.was_throttled = throttled;
    }
    // 8: dispatch
    int best = -1;
    for (std::size_t i = 0; i < all_.size(); i++) {
      if (key(i, t)[0] == 7) continue;
      if (best < 0 || key(i, t) < key(static_cast<std::size_t>(best), t)) best = static_cast<int>(i);
    }
    if (running_ >= 0 && running_ != best) {
      const State& e = all_[static_cast<std::size_t>(running_)];
      const bool implied = e.throttled_now && (cbs(e) || rez(e)->background == -1);
      if (!e.jobs.empty() && e.jobs.front().started && !implied) row(4, static_cast<std::size_t>(running_), "preempt");
    }
    if (best >= 0) {
      Job& job = all_[static_cast<std::size_t>(best)].jobs.front();
      if (!job.started) {
        row(5, static_cast<std::size_t>(best), "start");
      } else if (best != running_) {
        row(5, static_cast<std::size_t>(best), "resume");
      }
      job.started = true;
    }
    running_ = best;
    std::stable_sort(rows_.begin(), rows_.end(), [](const Row& a, const Row& b) {
      return a.order != b.order ? a.order < b.order : a.entity < b.entity;
    });
    for (const Row& r : rows_)
      csv_ += std::to_string(t) + ",0," + system_.entities[r.entity].name + "," + r.what + "\n";
    rows_.clear();
  }

  // S2: the class and the order within it; class 7 cannot run.
  std::array<std::int64_t, 4> key(std::size_t i, std::int64_t t) const {
    const State& e = all_[i];
    const auto decl = static_cast<std::int64_t>(i);
    if (e.jobs.empty()) return {7, 0, 0, decl};
    const std::int64_t release = e.jobs.front().release;
    if (e.is->kind == Kind::kInterrupt) return {1, -e.is->level, release, decl};
    if (e.is->kind == Kind::kDpc) return {2, release, decl, 0};
    if (const auto* p = fp(e)) return {6, -p->priority, e.q, decl};
    if (cbs(e))
      return e.c > 0 ? std::array{std::int64_t{5}, e.d, e.q, decl} : std::array{std::int64_t{7}, e.d, e.q, decl};
    if (const auto* p = rez(e)) {
      if (e.c > 0) return {4, e.d, e.q, decl};
      if (p->background >= 0) return {6, -p->background, e.q, decl};
      return {7, 0, 0, decl};
    }
    if (const auto* p = slot(e)) {
      if (t >= p->offset && (t - p->offset) % p->period < p->length) {
        return {3, t - (t - p->offset) % p->period, e.q, decl};
      }
      if (p->strict) return {7, 0, 0, decl};
      return {6, -p->priority, e.q, decl};
    }
    return {5, release + e.is->deadline, e.q, decl};
  }

  std::int64_t next(std::int64_t t) const {
    std::int64_t n = system_.horizon;
    const auto candidate = [&](std::int64_t when) {
      if (when > t) n = std::min(n, when);
    };
    if (running_ >= 0) {
      const State& e = all_[static_cast<std::size_t>(running_)];
      candidate(t + e.jobs.front().left);
      if (thread(e) && (cbs(e) || rez(e)) && e.c > 0) candidate(t + e.c);
      if (thread(e) && fp(e) && fp(e)->quantum > 0) candidate(t + e.quantum);
    }
    for (const State& e : all_) {
      if (e.is->kind != Kind::kDpc) candidate(e.is->offset + e.released * e.is->period);
      if (!thread(e)) continue;
      if (e.is->deadline != hostsim::kNever)
        for (const Job& job : e.jobs) candidate(job.release + e.is->deadline);
      if (cbs(e)) candidate(e.d);
      if (const auto* p = rez(e)) candidate(t < p->offset ? p->offset : t - (t - p->offset) % p->period + p->period);
      if (const auto* p = slot(e)) {
        if (t < p->offset) {
          candidate(p->offset);
        } else {
          const std::int64_t start = t - (t - p->offset) % p->period;
          candidate(start + p->length);
          candidate(start + p->period);
        }
      }
    }
    return n;
  }

  struct Row {
    int order;
    std::size_t entity;
    const char* what;
  };
  const System& system_;
  std::vector<State> all_;
  std::vector<Row> rows_;
  std::string csv_;
  int running_ = -1;
  std::int64_t last_ = 0;
};

}  // namespace offhook::schedule::reference
