// SPDX-License-Identifier: MIT
//
// SCHED_DEADLINE with SCHED_FLAG_RECLAIM: Linux's GRUB (Documentation/scheduler/sched-deadline.rst, 2.2, as of 6.6),
// on top of linux_deadline.h. A budget shrinks by less than the time that ran if other threads leave theirs unused:
//
//     dq = -max(Ui, Umax - Uinact - Uextra) / Umax dt
//
// All values are of one CPU. Ui is the thread's own share, and Umax the share that all threads may have (95 %,
// sched_rt_runtime_us). Uextra is the unreserved share. Uinact is the share of the threads that sleep and whose
// 0-lag time, deadline - left * period / budget, has passed. Time of interrupts shrinks the budget as running does:
// grub_reclaim() gets the sum of both (kernel/sched/deadline.c, update_curr_dl).
#pragma once

#include <algorithm>
#include <cmath>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "hostsim/sched/linux_deadline.h"

namespace offhook::hostsim {

/// State shared by the deadline threads of one CPU.
class LinuxReclaimGroup {
 public:
  /// @param most Umax, 0 to 1
  explicit LinuxReclaimGroup(double most = 0.95) : most_(most) {}

  /// @return the member's number @throws std::invalid_argument if all members together would exceed Umax
  std::size_t add(double share) {
    double sum = share;
    for (const Member& m : members_) sum += m.share;
    if (sum > most_ + 1e-12) {
      throw std::invalid_argument("reservation cannot be admitted: all reservations together would take " +
                                  std::to_string(sum * 100) + " % of the CPU, of which " + std::to_string(most_ * 100) +
                                  " % can be reserved");
    }
    members_.push_back({share, 0, kNever});
    extra_ = most_ - sum;
    return members_.size() - 1;
  }
  void wakes(std::size_t i, Ns now) {
    Member& m = members_[i];
    if (m.until == kNever) m.until = std::max(now, m.inactive);
  }
  void sleeps(std::size_t i, Ns zero_lag) { members_[i] = {members_[i].share, zero_lag, kNever}; }
  /// Used budget of member i, which ran from `from` to `to`. @pre all changes in between were reported
  double used(std::size_t i, Ns from, Ns to) const {
    double used = 0;
    while (from < to) {  // until the next change of Uinact
      Ns end = to;
      double inactive = 0;
      for (const Member& m : members_) {
        if (m.inactive <= from && from < m.until) inactive += m.share;
        for (const Ns change : {m.inactive, m.until})
          if (change > from) end = std::min(end, change);
      }
      used += static_cast<double>(end - from) * std::max(members_[i].share, most_ - inactive - extra_) / most_;
      from = end;
    }
    return used;
  }

 private:
  struct Member {
    double share;
    Ns inactive, until;  // its last interval without bandwidth; it has none before it first wakes
  };
  double most_, extra_ = 0;
  std::vector<Member> members_;
};

class LinuxReclaimThread final : public LinuxDeadlineThread {
 public:
  /// @throws as LinuxReclaimGroup::add()
  LinuxReclaimThread(const LinuxDeadline& p, std::shared_ptr<LinuxReclaimGroup> group)
      : LinuxDeadlineThread(p),
        group_(std::move(group)),
        member_(group_->add(static_cast<double>(p.budget) / static_cast<double>(p.period))) {}

  void begin_job(Ns now, const CurrentJob& job, bool woken) override {
    if (woken) group_->wakes(member_, now);
    LinuxDeadlineThread::begin_job(now, job, woken);
  }
  void sleep(Ns now) override {
    account(now);
    const double lag = static_cast<double>(left_) * static_cast<double>(p_.period) / static_cast<double>(p_.budget);
    group_->sleeps(member_, std::max(now, deadline_ - static_cast<Ns>(std::llround(lag))));
  }
  void charge(Ns ran) override {
    LinuxDeadlineThread::charge(0);  // it ran; account() computes the used part of the budget
    ran_ += ran;
  }
  // Stolen time counts from the last accounting of the thread, whichever thread has the CPU afterwards.
  void stolen(Ns time) override { take(accounted_, accounted_ + time); }
  Change update(Ns now) override {
    account(now);
    return LinuxDeadlineThread::update(now);
  }
  Migration migration() const override { return Migration::kPinned; }

 private:
  // The interval that has just ended: the processor first reports the time that ran, then the clock time.
  void account(Ns now) {
    take(now - ran_, now);
    ran_ = 0;
  }
  void take(Ns from, Ns to) {
    used_ += group_->used(member_, from, to);
    accounted_ = to;
    const auto whole = static_cast<Ns>(std::llround(used_));
    left_ -= whole;
    used_ -= static_cast<double>(whole);
  }

  std::shared_ptr<LinuxReclaimGroup> group_;
  std::size_t member_;
  Ns accounted_ = 0;  // until when
  Ns ran_ = 0;        // since then
  double used_ = 0;   // fraction of a ns of the budget that was not subtracted yet
};

}  // namespace offhook::hostsim
