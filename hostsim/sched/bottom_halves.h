// SPDX-License-Identifier: MIT
//
// PREEMPT_RT's lock around softirqs, one per CPU. Each thread that runs softirqs holds it, and so does each threaded
// interrupt handler while it runs. A handler therefore cannot preempt another one, whatever its priority: the holder
// inherits the priority and runs to its end first. ksoftirqd holds the lock until its batch is done. Other threads
// do not take the lock here.
// Source: the commit "softirq: Allow to drop the softirq-BKL lock on PREEMPT_RT" (3253cb49cbad, 2025), which
// describes the lock and makes it optional. The released 6.12 has the lock.
#pragma once

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "hostsim/sched/deferred_work.h"
#include "hostsim/sched/softirq.h"
#include "hostsim/sched/thread_policy.h"

namespace offhook::hostsim {

class BottomHalfThread;

/// The lock of one CPU.
struct BottomHalfLock {
  const BottomHalfThread* holder = nullptr;
  std::vector<const BottomHalfThread*> ready;  ///< runnable threads, including the holder
};

/// All locks of a host.
using BottomHalfLocks = std::vector<BottomHalfLock>;

/// A thread whose jobs run with bottom halves disabled.
class BottomHalfThread final : public ThreadPolicy {
 public:
  BottomHalfThread(std::unique_ptr<ThreadPolicy> policy, std::shared_ptr<BottomHalfLocks> locks)
      : policy_(std::move(policy)), locks_(std::move(locks)) {}
  ~BottomHalfThread() override { forget(); }

  void begin_job(Ns now, const CurrentJob& job, bool woken) override {
    release();
    if (woken) lock().ready.push_back(this);
    policy_->begin_job(now, job, woken);
  }
  void sleep(Ns now) override {
    forget();
    policy_->sleep(now);
  }
  void charge(Ns ran) override {
    lock().holder = this;
    policy_->charge(ran);
  }
  void stolen(Ns time) override { policy_->stolen(time); }
  void stopped() override { policy_->stopped(); }
  Change update(Ns now) override { return policy_->update(now); }
  // A thread that holds the lock stays on its CPU (migrate_disable).
  Migration migration() const override { return Migration::kPinned; }
  void moved(int cpu) override {
    const bool ready = std::find(lock().ready.begin(), lock().ready.end(), this) != lock().ready.end();
    forget();
    cpu_ = static_cast<std::size_t>(cpu);
    if (ready) lock().ready.push_back(this);
    policy_->moved(cpu);
  }
  bool shares() const override { return true; }
  Standing standing(Ns now) const override {
    Standing own = policy_->standing(now);
    if (lock().holder == nullptr) return own;
    if (lock().holder != this) return {};
    for (const BottomHalfThread* waits : lock().ready) {
      const Standing theirs = waits->policy_->standing(now);
      if (std::pair(theirs.band, theirs.key) < std::pair(own.band, own.key)) own = theirs;
    }
    return own;
  }
  Ns allowance() const override { return policy_->allowance(); }
  Ns next_change(Ns now) const override { return policy_->next_change(now); }
  bool exhausted() const override { return policy_->exhausted(); }
  /// Releases the lock, so that another thread may take it.
  void release() {
    if (lock().holder == this) lock().holder = nullptr;
  }

 private:
  BottomHalfLock& lock() const { return (*locks_)[cpu_]; }
  void forget() {
    release();
    std::erase(lock().ready, this);
  }

  std::unique_ptr<ThreadPolicy> policy_;
  std::shared_ptr<BottomHalfLocks> locks_;
  std::size_t cpu_ = 0;
};

/// Work deferred by interrupts that are not threads: ksoftirqd runs it in batches, which end as in softirq.h.
class SoftirqThread final : public DeferredWork {
 public:
  /// @param ksoftirqd its policy  @param locked the same policy if it holds the lock while it runs a batch; else null
  SoftirqThread(const SoftirqLimit& limit, std::unique_ptr<ThreadPolicy> ksoftirqd, BottomHalfThread* locked)
      : batch_(limit), ksoftirqd_(std::move(ksoftirqd)), locked_(locked) {}

  void begins(Ns now) override { batch_.begins(now, jobs()); }

 private:
  bool queued(Ns now, DpcImportance, bool) override {
    if (thread_ != nullptr) return true;
    thread_ = ksoftirqd_.get();
    thread_->begin_job(now, {now, kNever}, true);
    return true;
  }
  bool finished(Ns now) override {
    if (jobs() == 0) {
      batch_.end();
      std::exchange(thread_, nullptr)->sleep(now);
      return false;
    }
    if (!batch_.over(now, jobs())) return false;
    batch_.end();
    if (locked_ != nullptr) locked_->release();
    return true;
  }

  SoftirqBatch batch_;
  std::unique_ptr<ThreadPolicy> ksoftirqd_;
  BottomHalfThread* locked_;
};

}  // namespace offhook::hostsim
