// SPDX-License-Identifier: MIT
//
// Programs whose jobs take mutexes (hostsim/sched/mutexes.h).
#pragma once

#include <algorithm>
#include <vector>

#include "hostsim/cpu/cpu.h"
#include "hostsim/sched/mutexes.h"

namespace offhook::hostsim {

/// Each job is a job of `inner` that holds the mutex from its first instruction to its last. The first actions of
/// `inner` happen when it has the mutex. A job that had to wait costs one nanosecond more.
class Locked final : public Program {
 public:
  Locked(Program& inner, Mutexes& mutexes, Mutexes::MemberId thread, Mutexes::MutexId mutex)
      : inner_(inner), mutexes_(mutexes), thread_(thread), mutex_(mutex) {}
  Ns next(Ns now) override {
    if (!in_job_) {
      in_job_ = true;
      if (!mutexes_.take(thread_, mutex_, now)) return 1;
    }
    const Ns cost = inner_.next(now);
    if (cost == 0) {
      in_job_ = false;
      mutexes_.give(thread_, mutex_, now);
    }
    return cost;
  }

 private:
  Program& inner_;
  Mutexes& mutexes_;
  Mutexes::MemberId thread_;
  Mutexes::MutexId mutex_;
  bool in_job_ = false;
};

/// CPU time until a job takes a mutex, and the time for which it holds it.
struct CriticalSection {
  Mutexes::MutexId mutex;
  Ns after;
  Ns length;  ///< > 0
};

/// Every job costs the same and has these critical sections.
class SectionedJob final : public Program {
 public:
  /// @param sections must begin at different times within the job; they may be nested or overlap
  SectionedJob(Ns cost, const std::vector<CriticalSection>& sections, Mutexes& mutexes, Mutexes::MemberId thread)
      : cost_(cost), mutexes_(mutexes), thread_(thread) {
    for (const CriticalSection& s : sections) {
      steps_.push_back({s.after, s.mutex, true});
      steps_.push_back({s.after + s.length, s.mutex, false});
    }
    // Ends precede begins.
    std::stable_sort(steps_.begin(), steps_.end(),
                     [](const Step& a, const Step& b) { return a.at != b.at ? a.at < b.at : a.takes < b.takes; });
  }
  Ns next(Ns now) override {
    for (; step_ < steps_.size() && steps_[step_].at == at_; step_++) {
      const Step& step = steps_[step_];
      step.takes ? (void)mutexes_.take(thread_, step.mutex, now) : mutexes_.give(thread_, step.mutex, now);
    }
    const Ns until = step_ < steps_.size() ? steps_[step_].at : cost_;
    const Ns length = until - at_;
    at_ = until;
    if (length == 0) at_ = 0, step_ = 0;  // the job is done
    return length;
  }

 private:
  struct Step {
    Ns at;
    Mutexes::MutexId mutex;
    bool takes;
  };
  Ns cost_;
  Mutexes& mutexes_;
  Mutexes::MemberId thread_;
  std::vector<Step> steps_;
  Ns at_ = 0;  // CPU time of the job so far
  std::size_t step_ = 0;
};

}  // namespace offhook::hostsim
