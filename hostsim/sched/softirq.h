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

class Softirq final : public DeferredWork {
 public:
  /// @param ksoftirqd the policy of the thread that takes over
  Softirq(const SoftirqLimit& limit, std::unique_ptr<ThreadPolicy> ksoftirqd)
      : limit_(limit), ksoftirqd_(std::move(ksoftirqd)) {}

  void begins(Ns now) override {
    if (began_ >= 0) return;
    began_ = now;
    passes_ = 0;
    in_pass_ = jobs();
  }

 private:
  bool queued(Ns, DpcImportance, bool) override { return true; }
  bool finished(Ns now) override {
    if (jobs() == 0) {
      began_ = -1;
      if (std::exchange(thread_, nullptr) != nullptr) ksoftirqd_->sleep(now);
      return false;
    }
    if (thread_ != nullptr || --in_pass_ > 0) return false;
    in_pass_ = jobs();
    if (++passes_ < limit_.passes && now - began_ < limit_.budget) return false;
    thread_ = ksoftirqd_.get();
    thread_->begin_job(now, {now, kNever}, true);
    return true;
  }

  SoftirqLimit limit_;
  std::unique_ptr<ThreadPolicy> ksoftirqd_;
  Ns began_ = -1;            // when the queue was empty no longer; -1: it is
  int passes_ = 0;           // that are over since
  std::size_t in_pass_ = 0;  // jobs that were there when the pass began and are not done
};

}  // namespace offhook::hostsim
