// SPDX-License-Identifier: MIT
#include "src/measure/stages.h"

#include <algorithm>
#include <iterator>

namespace offhook::measure {

using traces::KernelEvent;
using Type = KernelEvent::Type;

namespace {

bool timer_interrupt(const KernelEvent& e) {
  return e.type == Type::kTimerEnter || (e.type == Type::kEnter && e.name == "local_timer");
}

}  // namespace

WakeupStages stages_of(const Wakeup& wakeup, std::span<const KernelEvent> events, int pid) {
  WakeupStages s;
  s.ran = wakeup.ran - wakeup.due;
  const auto from = std::lower_bound(events.begin(), events.end(), wakeup.due,
                                     [](const KernelEvent& e, std::int64_t t) { return e.time < t; });
  const auto to =
      std::upper_bound(from, events.end(), wakeup.ran, [](std::int64_t t, const KernelEvent& e) { return t < e.time; });
  const auto waking =
      std::find_if(from, to, [pid](const KernelEvent& e) { return e.type == Type::kWaking && e.thread.pid == pid; });
  if (waking == to) return s;
  s.waking = waking->time - wakeup.due;
  // The interrupt that woke the thread: the last previous timer interrupt on that CPU. If it began before the due time,
  // for another timer, there was no wait.
  for (auto e = waking; e != events.begin();) {
    --e;
    if (e->cpu != waking->cpu || !timer_interrupt(*e)) continue;
    // The expiry's own entry comes after that of the interrupt, if there are tracepoints of both.
    if (e->type == Type::kTimerEnter) {
      for (auto outer = e; outer != events.begin();) {
        --outer;
        if (outer->cpu != e->cpu) continue;
        if (outer->type == Type::kLeave) break;
        if (timer_interrupt(*outer)) e = outer;
        if (outer->type == Type::kEnter) break;
      }
    }
    s.interrupt = std::max<std::int64_t>(e->time - wakeup.due, 0);
    break;
  }
  const auto switched =
      std::find_if(waking, to, [pid](const KernelEvent& e) { return e.type == Type::kSwitch && e.next.pid == pid; });
  if (switched != to) {
    s.switched = switched->time - wakeup.due;
    s.cpu = switched->cpu;
  }
  return s;
}

void StageCollector::add(std::vector<KernelEvent> events, std::span<const Wakeup> wakeups) {
  waiting_.insert(waiting_.end(), wakeups.begin(), wakeups.end());
  for (const KernelEvent& e : events) {
    const auto waits = std::find_if(raised_.begin(), raised_.end(),
                                    [&](const auto& r) { return r.first.first == e.cpu && r.first.second == e.name; });
    if (e.type == Type::kSoftirqRaise && waits == raised_.end()) raised_.push_back({{e.cpu, e.name}, e.time});
    if (e.type == Type::kEnter && e.kind == hostsim::HostLoad::Kind::kSoftirq && waits != raised_.end()) {
      histograms_.softirq.add(static_cast<std::uint64_t>(e.time - waits->second));
      raised_.erase(waits);
    }
  }
  events_.insert(events_.end(), std::make_move_iterator(events.begin()), std::make_move_iterator(events.end()));
  std::stable_sort(events_.begin(), events_.end(),
                   [](const KernelEvent& a, const KernelEvent& b) { return a.time < b.time; });
  // The CPUs' rings are read one after the other, so only sufficiently old events have arrived from all of them.
  constexpr std::int64_t kSettled = 50'000'000;
  if (!events_.empty()) settle(events_.back().time - kSettled);
}

void StageCollector::settle(std::int64_t until) {
  std::size_t done = 0;
  for (; done < waiting_.size() && waiting_[done].ran <= until; ++done) {
    const WakeupStages s = stages_of(waiting_[done], events_, pid_);
    if (s.interrupt < 0 || s.switched < 0) {
      ++histograms_.unmatched;
      continue;
    }
    histograms_.interrupt.add(static_cast<std::uint64_t>(s.interrupt));
    histograms_.waking.add(static_cast<std::uint64_t>(s.waking));
    histograms_.switched.add(static_cast<std::uint64_t>(s.switched));
    histograms_.thread.add(static_cast<std::uint64_t>(s.ran));
  }
  waiting_.erase(waiting_.begin(), waiting_.begin() + static_cast<std::ptrdiff_t>(done));
  constexpr std::int64_t kBefore = 10'000'000;  // an interrupt that began before the due time
  const std::int64_t keep = (waiting_.empty() ? until : std::min(until, waiting_.front().due)) - kBefore;
  events_.erase(events_.begin(),
                std::find_if(events_.begin(), events_.end(), [keep](const KernelEvent& e) { return e.time >= keep; }));
}

void StageCollector::finish() {
  if (!waiting_.empty()) settle(waiting_.back().ran);
}

}  // namespace offhook::measure
