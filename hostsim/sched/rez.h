// SPDX-License-Identifier: MIT
//
// Rez (Regehr and Stankovic 2001): EDF among budgets that are filled at the start of each period, whether they were
// used or not. After its budget is spent, the thread continues at a background priority, or waits (section 6).
#pragma once

#include "hostsim/sched/thread_policy.h"

namespace offhook::hostsim {

struct Rez {
  Ns budget = 0;        ///< Q
  Ns period = 0;        ///< P
  Ns offset = 0;        ///< s, start of the first period
  int background = -1;  ///< priority without budget; -1: waits
};

class RezThread final : public ThreadPolicy {
 public:
  explicit RezThread(const Rez& p) : p_(p), end_(p.offset) {}

  void begin_job(Ns now, const CurrentJob&, bool woken) override {
    ran_out_ = false;              // in the same job as before
    if (woken) begin_period(now);  // periods that passed while it slept have no effect
  }
  void charge(Ns ran) override {
    if (budget_ == 0) return;  // in the background
    budget_ -= ran;
    ran_out_ = budget_ == 0;
  }
  Change update(Ns now) override {
    Change change{.requeue = ran_out_};
    ran_out_ = false;
    const bool empty = budget_ == 0;
    if (begin_period(now)) change = {.requeue = true, .replenished = empty};
    return change;
  }
  Migration migration() const override { return Migration::kPinned; }
  Standing standing(Ns) const override {
    if (budget_ > 0) return {Band::kReserved, end_};
    return p_.background < 0 ? Standing{Band::kCannotRun, 0} : Standing{Band::kPriority, -p_.background};
  }
  Ns allowance() const override { return budget_ > 0 ? budget_ : kNever; }
  Ns next_change(Ns) const override { return end_; }
  bool exhausted() const override { return budget_ == 0; }

 private:
  bool begin_period(Ns now) {
    if (now < end_) return false;
    end_ = p_.offset + ((now - p_.offset) / p_.period + 1) * p_.period;
    budget_ = p_.budget;
    return true;
  }

  Rez p_;
  Ns budget_ = 0;  // c
  Ns end_;         // d, the end of the current period; before the first one, its start
  bool ran_out_ = false;
};

}  // namespace offhook::hostsim
