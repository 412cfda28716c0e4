// SPDX-License-Identifier: MIT
//
// Rez, Rez-C and Rez-FB as they were built into Windows 2000 (Regehr and Stankovic 2001, sections 2.2 and 3). rez.h
// is the ideal form. This one uses only the information that the kernel has:
//   - It decides at clock interrupts, and when a thread wakes or sleeps. A budget therefore ends up to a tick late.
//   - It charges the time for which a thread was scheduled, even if an interrupt or a DPC had the CPU.
//   - GetStolen() returns the time spent in DPCs; interrupt handlers are not instrumented.
// Rez ignores stolen time. Rez-C charges a budget only for time received. Rez-FB reserves C_t = C_(t-1) + G (R -
// P_(t-1)) in whole ticks, as far as the other reservations leave room. P is the time received in the previous
// period.
#pragma once

#include <algorithm>
#include <functional>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "hostsim/sched/clock_ticks.h"
#include "hostsim/sched/policy.h"

namespace offhook::hostsim {

enum class RezForm { kRez, kRezC, kRezFb };

/// The scheduler's measurements in one period.
struct RezPeriod {
  Ns begin;
  Ns reserved;  ///< C_t
  Ns received;  ///< P_t: scheduled less stolen
  Ns stolen;    ///< part of the scheduled time, by GetStolen()
};

/// The scheduler's state, which the threads of reserve() share. It must outlive the processor's runs.
class RezScheduler {
 public:
  /// @param get_stolen total CPU time spent in DPCs so far
  /// @param whole_ticks Rez-FB: round C up to whole ticks, which can be enforced; false: the equation as printed
  RezScheduler(RezForm form, int tick_hz, std::function<Ns()> get_stolen, double gain = 0.5, bool whole_ticks = true)
      : form_(form), ticks_(tick_hz), gain_(gain), whole_ticks_(whole_ticks), get_stolen_(std::move(get_stolen)) {}

  /// A policy for one thread: R = `amount` of every `period`. Without budget it waits.
  /// @param watch called at the end of each period; may be empty
  /// @throws std::invalid_argument unless 0 < R <= period and all reservations together fit into the CPU
  std::unique_ptr<ThreadPolicy> reserve(Ns amount, Ns period, std::function<void(const RezPeriod&)> watch = {}) {
    double sum = reserved_share("Rez", Rez{.budget = amount, .period = period});
    for (const Account& a : threads_) sum += static_cast<double>(a.amount) / static_cast<double>(a.period);
    if (sum > 1 + 1e-12) {
      throw std::invalid_argument("reservation cannot be admitted: all reservations together would take " +
                                  std::to_string(sum * 100) + " % of the CPU");
    }
    threads_.push_back({amount, period, std::move(watch)});
    Account& a = threads_.back();
    a.reserved = a.budget = amount;
    return std::make_unique<Thread>(*this, threads_.size() - 1);
  }

 private:
  struct Account {
    Ns amount, period;  // R, and its period
    std::function<void(const RezPeriod&)> watch;
    Ns reserved = 0, budget = 0;  // C_t, and its remaining part
    Ns received = 0, stolen = 0;  // in this period
    Ns begin = -1, end = 0;       // number of the period; -1: not begun
    bool awake = false;
    bool refilled = false;  // starting with nothing; to be reported
  };

  class Thread final : public ThreadPolicy {
   public:
    Thread(RezScheduler& s, std::size_t index) : s_(s), index_(index) {}
    void begin_job(Ns now, const CurrentJob&, bool woken) override {
      if (!woken) return;
      s_.charge(now);
      if (a().begin < 0) {
        a().begin = now;
        a().end = now + a().period;
      }
      a().awake = true;
      s_.choose(now);
    }
    void sleep(Ns now) override {
      s_.charge(now);
      a().awake = false;
      s_.choose(now);
    }
    Change update(Ns now) override {
      if (s_.ticks_.at(s_.ticks_.count(now)) > s_.charged_) {
        s_.charge(now);
        s_.choose(now);
      }
      return {.replenished = std::exchange(a().refilled, false)};
    }
    Migration migration() const override { return Migration::kPinned; }
    Standing standing(Ns) const override {
      return exhausted() ? Standing{Band::kCannotRun, 0} : Standing{Band::kReserved, a().end};
    }
    Ns next_change(Ns now) const override { return s_.ticks_.after(now); }
    bool exhausted() const override { return a().budget <= 0; }

   private:
    Account& a() const { return s_.threads_[index_]; }
    RezScheduler& s_;
    std::size_t index_;
  };

  static constexpr std::size_t kNobody = std::numeric_limits<std::size_t>::max();

  // The thread that was scheduled since the last decision is charged for the whole time.
  void charge(Ns now) {
    const Ns elapsed = now - charged_;
    charged_ = now;
    const Ns in_dpcs = get_stolen_();
    const Ns stolen = std::min(elapsed, in_dpcs - seen_stolen_);
    seen_stolen_ = in_dpcs;
    if (scheduled_ == kNobody) return;
    Account& a = threads_[scheduled_];
    a.received += elapsed - stolen;
    a.stolen += stolen;
    a.budget -= form_ == RezForm::kRezC ? elapsed - stolen : elapsed;
  }

  // Starts new periods, then selects the earliest deadline among the awake threads with a budget.
  void choose(Ns now) {
    for (Account& a : threads_) {
      if (a.begin < 0 || now < a.end) continue;
      if (a.watch) a.watch({a.begin, a.reserved, a.received, a.stolen});
      if (form_ == RezForm::kRezFb) a.reserved = next_reservation(a);
      a.begin = a.end + (now - a.end) / a.period * a.period;
      a.end = a.begin + a.period;
      a.refilled = a.awake && a.budget <= 0;
      a.budget = a.reserved;
      a.received = a.stolen = 0;
    }
    scheduled_ = kNobody;
    for (std::size_t i = 0; i < threads_.size(); ++i) {
      const Account& a = threads_[i];
      if (a.awake && a.budget > 0 && (scheduled_ == kNobody || a.end < threads_[scheduled_].end)) scheduled_ = i;
    }
  }

  // The result of the equation is rounded up to whole ticks, as budgets are, because only whole ticks can be enforced.
  // The admission test limits C, and C never falls below R, which the thread was promised. The paper has none of these
  // three rules. Without rounding, an integral controller makes the mean of P equal to R. At least half of the periods
  // then fall short, but its Figure 4 counts 22 of 50, and in its Figure 3 Rez-FB is close to Rez-C. With rounding, C
  // stays high after the load has ended; its Figure 4 shows it fall. `reproduce regehr.fig4` runs both.
  Ns next_reservation(const Account& a) const {
    const Ns wanted = a.reserved + static_cast<Ns>(gain_ * static_cast<double>(a.amount - a.received));
    double room = 1;
    for (const Account& other : threads_)
      if (&other != &a) room -= static_cast<double>(other.reserved) / static_cast<double>(other.period);
    const Ns enforceable = wanted <= 0 ? 0 : whole_ticks_ ? ticks_.after(wanted - 1) : wanted;
    return std::max(a.amount, std::min(enforceable, static_cast<Ns>(room * static_cast<double>(a.period))));
  }

  RezForm form_;
  ClockTicks ticks_;
  double gain_;
  bool whole_ticks_;
  std::function<Ns()> get_stolen_;
  std::vector<Account> threads_;
  std::size_t scheduled_ = kNobody;
  Ns charged_ = 0;      // up to when
  Ns seen_stolen_ = 0;  // total of get_stolen_ at that time
};

}  // namespace offhook::hostsim
