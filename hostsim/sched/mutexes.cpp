// SPDX-License-Identifier: MIT
#include "hostsim/sched/mutexes.h"

#include <algorithm>
#include <stdexcept>
#include <tuple>
#include <utility>

#include "hostsim/sched/thread_policy.h"

namespace offhook::hostsim {

/// It outlives the successive policies of its thread.
struct Mutexes::Member {
  std::string name;
  MutexThread* thread = nullptr;  // its current policy
  std::vector<Mutex*> holds;
  Mutex* waits_for = nullptr;
  bool asleep = false;      // only while it waits; otherwise it stays in its scheduler's queues
  Standing stood{};         // when it began to wait
  CurrentJob job{};         // of its policy, with which it is woken
  Ns queued = 0;            // beginning of its time among its equals
  Loan runs_by{};           // the reason why it has the CPU
  Change found_by_other{};  // result of update() of its policy while another thread ran in its place
  int cpu = 0;
};

class MutexThread final : public ThreadPolicy {
 public:
  MutexThread(Mutexes& all, Mutexes::Member& me, std::unique_ptr<ThreadPolicy> own)
      : all_(all), me_(me), own_(std::move(own)) {
    me_.thread = this;
  }
  ~MutexThread() override {
    if (me_.thread == this) me_.thread = nullptr;
  }

  void begin_job(Ns now, const CurrentJob& job, bool woken) override {
    me_.job = job;
    me_.queued = now;
    if (!me_.asleep) own_->begin_job(now, job, woken);
  }
  void sleep(Ns now) override {
    if (!me_.holds.empty()) throw std::logic_error(me_.name + " ends its job and still holds " + me_.holds[0]->name);
    own_->sleep(now);
  }
  void charge(Ns ran) override {
    if (Mutexes::Member* lender = me_.runs_by.lender) lender->thread->own_->charge(ran);
  }
  void stolen(Ns time) override {
    if (Mutexes::Member* lender = me_.runs_by.lender) lender->thread->own_->stolen(time);
  }
  void stopped() override {
    if (Mutexes::Member* lender = me_.runs_by.lender; lender != nullptr && lender != &me_)
      lender->thread->own_->stopped();
    own_->stopped();
  }
  bool replaced() override {
    Mutexes::Member* lender = me_.runs_by.lender;
    return lender != nullptr && lender->thread->own_->replaced();
  }
  Change update(Ns now) override {
    if (Mutexes::Member* lender = me_.runs_by.lender; lender != nullptr && lender != &me_) {
      Change& found = lender->found_by_other;
      found = merge(found, lender->thread->own_->update(now));
      if (found.requeue) lender->queued = now;
    }
    Change change = std::exchange(me_.found_by_other, {});
    if (!me_.asleep) change = merge(change, own_->update(now));
    if (change.requeue) me_.queued = now;
    return change;
  }
  Standing standing(Ns now) const override {
    me_.runs_by = all_.best(me_, now);
    return me_.waits_for != nullptr ? Standing{} : me_.runs_by.standing;
  }
  Ns queued(Ns) const override { return me_.runs_by.queued; }
  Ns allowance() const override {
    if (me_.waits_for != nullptr) return 0;  // its job began with waiting, so it leaves the CPU immediately
    const Mutexes::Member* lender = me_.runs_by.lender;
    return lender != nullptr ? lender->thread->own_->allowance() : kNever;
  }
  Ns next_change(Ns now) const override { return me_.asleep ? kNever : own_->next_change(now); }
  // Neither thread migrates while one runs in the place of the other.
  Migration migration() const override {
    const auto has_waiters = [](const Mutexes::Mutex* m) { return !m->waiters.empty(); };
    const bool stays = me_.waits_for != nullptr || std::any_of(me_.holds.begin(), me_.holds.end(), has_waiters);
    return stays ? Migration::kPinned : own_->migration();
  }
  void moved(int cpu) override {
    me_.cpu = cpu;
    own_->moved(cpu);
  }
  bool shares() const override { return true; }
  bool exhausted() const override { return own_->exhausted(); }

  ThreadPolicy& own() { return *own_; }

 private:
  static Change merge(const Change& a, const Change& b) {
    return {.requeue = a.requeue || b.requeue, .replenished = a.replenished || b.replenished};
  }

  Mutexes& all_;
  Mutexes::Member& me_;
  std::unique_ptr<ThreadPolicy> own_;
};

namespace {

bool before(const Standing& a, Ns a_queued, const Standing& b, Ns b_queued) {
  return std::tuple(a.band, a.key, a_queued) < std::tuple(b.band, b.key, b_queued);
}

/// @return whether a thread lends its standing. Threads of Linux's fair class and of sched_ext, whose keys are
/// non-negative times, do not
bool has_priority(const ThreadPolicy& policy, const Standing& stood) {
  return policy.migration() != Migration::kBalance && (stood.band != Band::kPriority || stood.key < 0);
}

}  // namespace

Mutexes::Mutexes(LockProtocol protocol) : protocol_(protocol) {}
Mutexes::~Mutexes() = default;

Mutexes::MutexId Mutexes::mutex(std::string_view name) {
  const auto found = std::find_if(mutexes_.begin(), mutexes_.end(), [&](const Mutex& m) { return m.name == name; });
  if (found != mutexes_.end()) return static_cast<MutexId>(found - mutexes_.begin());
  mutexes_.push_back({.name = std::string(name)});
  return mutexes_.size() - 1;
}

Mutexes::MemberId Mutexes::member(std::string name) {
  members_.push_back(std::make_unique<Member>());
  members_.back()->name = std::move(name);
  return members_.size() - 1;
}

Policy Mutexes::policy(MemberId thread, Policy own) {
  return [this, thread, own = std::move(own)] {
    return std::make_unique<MutexThread>(*this, *members_.at(thread), make_thread_policy(own));
  };
}

bool Mutexes::lends(const Member& waiter, const Member& holder) const {
  switch (protocol_) {
    case LockProtocol::kPlain:
      return false;
    case LockProtocol::kInherit:
      return true;
    case LockProtocol::kProxy:
      return !waiter.asleep && waiter.cpu == holder.cpu;
  }
  return false;
}

// The best standing among its own and those of all direct and indirect waiters. There are no cycles.
Mutexes::Loan Mutexes::best(Member& holder, Ns now) const {
  Loan best{{}, holder.queued, nullptr, nullptr};
  if (holder.asleep) {
    if (has_priority(holder.thread->own(), holder.stood)) best.standing = holder.stood;
  } else {
    best.standing = holder.thread->own().standing(now);
    best.lender = best.standing.band == Band::kCannotRun ? nullptr : &holder;
  }
  Member* const own_time = best.lender;
  for (const Mutex* mutex : holder.holds) {
    for (Member* waiter : mutex->waiters) {
      if (!lends(*waiter, holder)) continue;
      const Loan theirs = this->best(*waiter, now);
      if (!before(theirs.standing, theirs.queued, best.standing, best.queued)) continue;
      best = {theirs.standing, theirs.queued, protocol_ == LockProtocol::kProxy ? theirs.lender : own_time, waiter};
    }
  }
  return best;
}

void Mutexes::sleep(Member& waiter, Ns now) const {
  waiter.asleep = true;
  waiter.thread->own().sleep(now);
}

bool Mutexes::take(MemberId thread, MutexId mutex, Ns now) {
  Member& me = *members_.at(thread);
  Mutex& wanted = mutexes_.at(mutex);
  if (wanted.holder == nullptr) {
    wanted.holder = &me;
    me.holds.push_back(&wanted);
    return true;
  }
  std::string chain = me.name;
  for (const Member* holder = wanted.holder; holder != nullptr;
       holder = holder->waits_for == nullptr ? nullptr : holder->waits_for->holder) {
    chain += " waits for " + holder->name;
    if (holder == &me) throw std::runtime_error("deadlock: " + chain + "; expected mutexes taken in a fixed order");
    chain += ", which";
  }
  me.stood = me.thread->own().standing(now);
  me.waits_for = &wanted;
  wanted.waiters.push_back(&me);
  if (protocol_ != LockProtocol::kProxy || wanted.holder->cpu != me.cpu) sleep(me, now);
  return false;
}

// Its position among the waiters.
std::size_t Mutexes::next_holder(const Mutex& mutex, const Member& holder, Ns now) const {
  const auto& waiters = mutex.waiters;
  std::size_t next = 0;
  if (protocol_ == LockProtocol::kProxy) {
    const auto donor = std::find(waiters.begin(), waiters.end(), holder.runs_by.waiter);
    return donor == waiters.end() ? 0 : static_cast<std::size_t>(donor - waiters.begin());
  }
  const auto stands = [&](std::size_t i) { return best(*waiters[i], now).standing; };
  for (std::size_t i = 1; protocol_ == LockProtocol::kInherit && i < waiters.size(); i++)
    if (before(stands(i), 0, stands(next), 0)) next = i;
  return next;
}

void Mutexes::give(MemberId thread, MutexId mutex, Ns now) {
  Member& me = *members_.at(thread);
  Mutex& given = mutexes_.at(mutex);
  if (given.holder != &me) throw std::logic_error(me.name + " does not hold " + given.name);
  std::erase(me.holds, &given);
  given.holder = nullptr;
  if (given.waiters.empty()) return;
  const auto place = given.waiters.begin() + static_cast<std::ptrdiff_t>(next_holder(given, me, now));
  Member& next = **place;
  given.waiters.erase(place);
  given.holder = &next;
  next.holds.push_back(&given);
  next.waits_for = nullptr;
  if (std::exchange(next.asleep, false)) {
    next.queued = now;
    next.thread->own().begin_job(now, next.job, true);
  }
  for (Member* waiter : given.waiters)
    if (!waiter->asleep && waiter->cpu != next.cpu) sleep(*waiter, now);
}

}  // namespace offhook::hostsim
