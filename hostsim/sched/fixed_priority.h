// SPDX-License-Identifier: MIT
//
// Fixed priorities with round robin among equals, as Windows NT's 32 levels or POSIX SCHED_FIFO and SCHED_RR (section
// 4). The quantum counts running time, survives preemption, and is full again at each job.
#pragma once

#include "hostsim/sched/thread_policy.h"

namespace offhook::hostsim {

struct FixedPriority {
  int priority = 8;  ///< 0 to 31, high wins
  Ns quantum = 0;    ///< 0: none
};

class FixedPriorityThread final : public ThreadPolicy {
 public:
  explicit FixedPriorityThread(const FixedPriority& p) : p_(p), left_(p.quantum) {}

  void begin_job(Ns, const CurrentJob&, bool) override { left_ = p_.quantum; }
  void charge(Ns ran) override {
    if (p_.quantum > 0) left_ -= ran;
  }
  Change update(Ns) override {
    if (p_.quantum == 0 || left_ > 0) return {};
    left_ = p_.quantum;
    return {.requeue = true};
  }
  Standing standing(Ns) const override { return {Band::kPriority, -p_.priority}; }
  Ns allowance() const override { return p_.quantum > 0 ? left_ : kNever; }

 private:
  FixedPriority p_;
  Ns left_;
};

}  // namespace offhook::hostsim
