// SPDX-License-Identifier: MIT
#include "traces/import/load_builder.h"

#include <algorithm>

namespace offhook::traces {

using hostsim::HostLoad;
using hostsim::Ns;
using Kind = HostLoad::Kind;

namespace {
constexpr std::string_view kTimer = "hrtimer";
}

LoadBuilder::PerCpu& LoadBuilder::at(int cpu, Ns& time) {
  if (events_++ == 0) first_ = last_ = time;
  const auto [found, fresh] = cpus_.try_emplace(cpu);
  PerCpu& c = found->second;
  if (fresh) {
    c.load.number = cpu;
    c.mark = c.thread.start = time;
  }
  time = std::max(time, c.mark);
  (c.over.empty() ? c.thread : c.over.back()).own += time - c.mark;
  c.mark = time;
  first_ = std::min(first_, time);
  last_ = std::max(last_, time);
  return c;
}

std::uint32_t LoadBuilder::source(Kind kind, int priority, std::string_view name) {
  key_.assign(1, static_cast<char>('0' + static_cast<int>(kind)));
  key_ += std::to_string(priority);
  key_ += ' ';
  key_ += name;
  const auto [found, fresh] = ids_.try_emplace(key_, static_cast<std::uint32_t>(sources_.size()));
  if (fresh) sources_.push_back({kind, priority, std::string(name)});
  return found->second;
}

std::uint32_t LoadBuilder::source(const Thread& thread) {
  if (thread.pid == 0 || !is_load(thread.name)) return kNobody;
  return source(Kind::kThread, hostsim::linux_priority(thread.prio), thread.name);
}

bool LoadBuilder::is_load(std::string_view name) const {
  return std::find(without_.begin(), without_.end(), name) == without_.end();
}

void LoadBuilder::close(PerCpu& cpu, const Frame& frame) const {
  if (frame.source == kNobody || frame.own == 0) return;
  if (is_load(sources_[frame.source].name)) cpu.load.intervals.push_back({frame.start, frame.own, frame.source});
}

void LoadBuilder::enter(Ns time, int cpu, Kind kind, std::string_view name) {
  PerCpu& c = at(cpu, time);
  c.over.push_back({source(kind, 0, name), time, 0});
}

void LoadBuilder::leave(Ns time, int cpu, Kind kind, std::string_view name) {
  PerCpu& c = at(cpu, time);
  const std::uint32_t id = source(kind, 0, name);
  const auto found = std::find_if(c.over.rbegin(), c.over.rend(), [id](const Frame& f) { return f.source == id; });
  if (found == c.over.rend()) {  // entered before the trace began, or its entry was lost
    c.load.lost++;
    return;
  }
  // The entities above it have no end: their exits were lost.
  while (c.over.back().source != id) {
    close(c, c.over.back());
    c.over.pop_back();
    c.load.lost++;
  }
  close(c, c.over.back());
  c.over.pop_back();
}

void LoadBuilder::enter_timer(Ns time, int cpu) {
  PerCpu& c = at(cpu, time);
  if (c.over.empty()) c.over.push_back({source(Kind::kInterrupt, 0, kTimer), time, 0});
}

void LoadBuilder::leave_timer(Ns time, int cpu) {
  PerCpu& c = at(cpu, time);
  if (c.over.empty() || sources_[c.over.back().source].name != kTimer) return;
  close(c, c.over.back());
  c.over.pop_back();
}

void LoadBuilder::switched(Ns time, int cpu, const Thread& from, const Thread& to) {
  PerCpu& c = at(cpu, time);
  c.load.lost += c.over.size();  // nothing switches in an interrupt
  c.over.clear();
  c.thread.source = source(from);
  close(c, c.thread);
  c.thread = {source(to), time, 0};
  c.known = true;
}

void LoadBuilder::lost(Ns time, int cpu, std::uint64_t events) {
  PerCpu& c = at(cpu, time);
  c.over.clear();
  c.load.lost += events;
  c.thread = {kNobody, time, 0};
  c.known = false;
}

HostLoad LoadBuilder::finish(std::string origin) {
  HostLoad load;
  load.origin = std::move(origin);
  load.duration = last_ - first_;
  for (auto& [number, cpu] : cpus_) {
    Ns end = last_;
    PerCpu& c = at(number, end);
    for (const Frame& frame : c.over) close(c, frame);
    if (c.known) close(c, c.thread);
    auto& intervals = c.load.intervals;
    for (HostLoad::Interval& i : intervals) i.start -= first_;
    std::stable_sort(intervals.begin(), intervals.end(),
                     [](const HostLoad::Interval& a, const HostLoad::Interval& b) { return a.start < b.start; });
    load.cpus.push_back(std::move(c.load));
  }
  load.sources = std::move(sources_);
  return load;
}

}  // namespace offhook::traces
