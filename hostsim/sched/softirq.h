// SPDX-License-Identifier: MIT
//
// Linux's deferred work (kernel/softirq.c): it runs before all threads as DPCs do, but after so many passes over the
// queue, or when a pass ends after so long, what is left goes on in the thread ksoftirqd until the queue is empty.
#pragma once

#include <memory>

#include "hostsim/sched/deferred_work.h"

namespace offhook::hostsim {

struct SoftirqLimit {
  Ns budget = 2'000'000;
  int passes = 10;
};

/// A batch begins with the first job of an empty queue and is over after so many passes, or with a pass that ends late.
class SoftirqBatch {
 public:
  explicit SoftirqBatch(const SoftirqLimit& limit) : limit_(limit) {}
  /// There are jobs. @param jobs the queue's; one that has begun goes on
  void begins(Ns now, std::size_t jobs) {
    if (began_ >= 0) return;
    began_ = now;
    passes_ = 0;
    in_pass_ = jobs;
  }
  /// A job is done. @param jobs what is left  @return whether the batch is over with it
  bool over(Ns now, std::size_t jobs) {
    if (--in_pass_ > 0) return false;
    in_pass_ = jobs;
    return ++passes_ >= limit_.passes || now - began_ >= limit_.budget;
  }
  void end() { began_ = -1; }

 private:
  SoftirqLimit limit_;
  Ns began_ = -1;            // -1: none is under way
  int passes_ = 0;           // that are over since
  std::size_t in_pass_ = 0;  // jobs that were there when the pass began and are not done
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
