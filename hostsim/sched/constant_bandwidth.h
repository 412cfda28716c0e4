// SPDX-License-Identifier: MIT
//
// Hard constant bandwidth server (Abeni and Buttazzo 1998; the hard form as in SCHED_DEADLINE). It has a budget Q
// for every period P, and competes with its own deadline d among the EDF threads. It never runs for more than Q
// before d (section 5).
#pragma once

#include "hostsim/engine/wide.h"
#include "hostsim/sched/thread_policy.h"

namespace offhook::hostsim {

struct ConstantBandwidth {
  Ns budget = 0;  ///< Q
  Ns period = 0;  ///< P
};

class ConstantBandwidthThread final : public ThreadPolicy {
 public:
  explicit ConstantBandwidthThread(const ConstantBandwidth& p) : p_(p) {}

  void begin_job(Ns now, const CurrentJob&, bool woken) override {
    // The wake-up rule: keep budget and deadline only if they need no more than the reserved bandwidth.
    if (!woken) return;
    if (deadline_ <= now || static_cast<Wide>(budget_) * p_.period >= static_cast<Wide>(deadline_ - now) * p_.budget) {
      deadline_ = now + p_.period;
      budget_ = p_.budget;
    }
  }
  void charge(Ns ran) override { budget_ -= ran; }
  Change update(Ns now) override {
    if (budget_ > 0 || now < deadline_) return {};
    deadline_ += p_.period;
    if (deadline_ < now) deadline_ = now + p_.period;
    budget_ = p_.budget;
    return {.requeue = true, .replenished = true};
  }
  Migration migration() const override { return Migration::kPush; }
  Standing standing(Ns) const override {
    return budget_ > 0 ? Standing{Band::kDeadline, deadline_} : Standing{Band::kCannotRun, 0};
  }
  Ns allowance() const override { return budget_; }
  Ns next_change(Ns) const override { return budget_ > 0 ? kNever : deadline_; }
  bool exhausted() const override { return budget_ == 0; }

 private:
  ConstantBandwidth p_;
  Ns budget_ = 0;    // c
  Ns deadline_ = 0;  // d
};

}  // namespace offhook::hostsim
