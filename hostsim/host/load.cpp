// SPDX-License-Identifier: MIT
#include "hostsim/host/load.h"

#include <algorithm>
#include <utility>

namespace offhook::hostsim {

ClockInterrupt::ClockInterrupt(Engine& engine, Cpu& cpu, int hz, int level, Ns cost, int on, std::string name)
    : engine_(engine), cpu_(cpu), times_(hz), on_(on), cost_(cost) {
  if (on > 0) name.append(" ").append(std::to_string(on));
  entity_ = cpu.add_interrupt({std::move(name), level, kNoEntity, on}, *this);
}

void ClockInterrupt::start(Ns first) {
  times_.at = first;
  engine_.at(first, *this);
}

// All work ends before the next tick.
bool ClockInterrupt::is_planned(Ns now) {
  const Ns cost = cost_ + extra_;
  planned_.assign(1, {entity_, cost, true});
  if (cost <= 0 || (listener_ != nullptr && !listener_->plan(now + cost, planned_))) return false;
  Ns all = 0;
  for (const PlannedJob& job : planned_) all += job.cost;
  return all < times_.interval;
}

// The same jobs as those of the tick that fired.
bool ClockInterrupt::costs(Ns at, std::span<Ns> costs) {
  const Ns cost = cost_ + extra_;
  for (std::size_t i = 0; i < costs.size(); i++) costs[i] = planned_[i].cost;
  return cost == costs.front() && (listener_ == nullptr || listener_->repeats(at + cost, costs.size() > 1));
}

Ns ClockInterrupt::passed(Ns at) {
  const Ns end = at + cost_ + std::exchange(extra_, 0);
  if (listener_ != nullptr) listener_->passed(end);
  return times_.advance();
}

void ClockInterrupt::resume(const TickTimes& times) {
  times_ = times;
  engine_.at(times_.at, *this);
}

void ClockInterrupt::fire(Ns now) {
  if (listener_ == nullptr && extra_ == 0 && now == times_.at && cpu_.keep_ticking(entity_, cost_, times_, *this))
    return;
  const bool planned = is_planned(now);
  Ns next = planned ? cpu_.repeat_unbroken(planned_, *this) : now;
  if (next == now) {
    if (!planned || !cpu_.run_unbroken(planned_)) cpu_.release(entity_);
    next = times_.advance();
  }
  engine_.at(next, *this);
}

Ns ClockInterrupt::next(Ns now) {
  entered_ = !entered_;
  if (const Ns cost = cost_ + extra_; entered_ && cost > 0) {
    extra_ = 0;
    return cost;
  }
  entered_ = false;
  cpu_.clock_tick(on_);
  if (listener_ != nullptr) listener_->tick(now);
  return 0;
}

TimerCallback::TimerCallback(Cpu& cpu, oh_event_log* log, Ns period, Ns callback_cost, Ns dpc_cost, int on)
    : cpu_(cpu), log_(log), period_(period), callback_cost_(callback_cost), dpc_cost_(dpc_cost), due_(period) {
  callback_.timer = this;
  dpc_.timer = this;
  thread_ = cpu_.add_thread("timer callback", FixedPriority{31, 0}, callback_, kNever, on);
  if (dpc_cost_ >= 0) dpc_entity_ = cpu_.add_dpc({.name = "timer DPC"}, dpc_);
}

void TimerCallback::tick(Ns now) {
  if (now < due_) return;
  expire(now);
  if (dpc_entity_ == kNoEntity) {
    wake();
  } else if (cpu_.unfinished_jobs(dpc_entity_) == 0) {
    cpu_.release(dpc_entity_);
  }
}

// Missed expiries are not repeated: the next one is a period after the last one that was due by now.
void TimerCallback::expire(Ns now) {
  due_ += (now - due_) / period_ * period_ + period_;
}

bool TimerCallback::plan(Ns now, std::vector<PlannedJob>& jobs) const {
  if (now < due_) return true;
  if (dpc_entity_ != kNoEntity) jobs.push_back({dpc_entity_, dpc_cost_});
  jobs.push_back({thread_, callback_cost()});
  return true;
}

// The callback writes its log entries between those of its jobs.
bool TimerCallback::repeats(Ns now, bool releases) const {
  return (now >= due_) == releases && (!releases || log_ == nullptr);
}

void TimerCallback::passed(Ns now) {
  if (now < due_) return;
  expire(now);
  last_ = now + (dpc_entity_ != kNoEntity ? dpc_cost_ : 0);
}

void TimerCallback::wake() {
  if (cpu_.unfinished_jobs(thread_) == 0) cpu_.release(thread_);
}

Ns TimerCallback::TimerDpc::next(Ns) {
  entered = !entered;
  if (entered && timer->dpc_cost_ > 0) return timer->dpc_cost_;
  entered = false;
  timer->wake();
  return 0;
}

Ns TimerCallback::Callback::next(Ns now) {
  entered = !entered;
  if (!entered) return 0;
  if (timer->last_ >= 0) {
    oh_event_log_write(timer->log_, static_cast<std::uint64_t>(now), OH_EV_TIMER_CALLBACK, timer->thread_,
                       static_cast<std::uint32_t>(std::min<Ns>(now - timer->last_, UINT32_MAX)));
  }
  timer->last_ = now;
  return timer->callback_cost();
}

}  // namespace offhook::hostsim
