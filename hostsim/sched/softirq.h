// SPDX-License-Identifier: MIT
//
// Linux's deferred work (kernel/softirq.c). It runs before all threads, as DPCs do. After a limited number of passes
// over the queue, or of time at the end of a pass, the thread ksoftirqd takes over until the queue is empty.
#pragma once

#include <memory>

#include "hostsim/sched/deferred_work.h"

namespace offhook::hostsim {

struct SoftirqLimit {
  Ns budget = 2'000'000;
  int passes = 10;
};

/// A batch begins with the first job in an empty queue. It ends after a limited number of passes or a limited time.
class SoftirqBatch {
 public:
  explicit SoftirqBatch(const SoftirqLimit& limit) : limit_(limit) {}
  /// The queue has jobs. @param jobs number of jobs in the queue, including one that has begun
  void begins(Ns now, std::size_t jobs) {
    if (began_ >= 0) return;
    began_ = now;
    passes_ = 0;
    in_pass_ = jobs;
  }
  /// A job is done. @param jobs number of remaining jobs  @return whether this ends the batch
  bool over(Ns now, std::size_t jobs) {
    if (--in_pass_ > 0) return false;
    in_pass_ = jobs;
    return ++passes_ >= limit_.passes || now - began_ >= limit_.budget;
  }
  void end() { began_ = -1; }

 private:
  SoftirqLimit limit_;
  Ns began_ = -1;            // -1: no batch
  int passes_ = 0;           // completed since then
  std::size_t in_pass_ = 0;  // unfinished jobs of this pass
};

class Softirq final : public DeferredWork {
 public:
  /// @param ksoftirqd the policy of the thread that takes over
  Softirq(const SoftirqLimit& limit, std::unique_ptr<ThreadPolicy> ksoftirqd)
      : batch_(limit), ksoftirqd_(std::move(ksoftirqd)) {}

  void begins(Ns now) override { batch_.begins(now, jobs()); }

 private:
  bool queued(Ns, DpcImportance, bool) override { return true; }
  bool finished(Ns now) override {
    if (jobs() == 0) {
      batch_.end();
      if (std::exchange(thread_, nullptr) != nullptr) ksoftirqd_->sleep(now);
      return false;
    }
    if (thread_ != nullptr || !batch_.over(now, jobs())) return false;
    thread_ = ksoftirqd_.get();
    thread_->begin_job(now, {now, kNever}, true);
    return true;
  }

  SoftirqBatch batch_;
  std::unique_ptr<ThreadPolicy> ksoftirqd_;
};

}  // namespace offhook::hostsim
