// SPDX-License-Identifier: MIT
#include "hostsim/host/recorded_load.h"

#include <algorithm>

namespace offhook::hostsim {

RecordedLoad::RecordedLoad(Engine& engine, Cpu& cpu, std::shared_ptr<const HostLoad> load,
                           const HostLoad::CpuLoad& recorded, int level, int priorities, Ns quantum,
                           const PolicyOf& policy)
    : engine_(engine), cpu_(cpu), load_(std::move(load)), recorded_(recorded), sources_(load_->sources.size()) {
  // Only sources that ran on this CPU, because a machine has hundreds of sources.
  std::vector<bool> ran(sources_.size());
  for (const HostLoad::Interval& i : recorded_.intervals) ran[i.source] = true;
  for (std::size_t i = 0; i < sources_.size(); ++i) {
    if (!ran[i]) continue;
    const HostLoad::Source& source = load_->sources[i];
    Stolen& stolen = sources_[i];
    if (std::optional<Policy> own = policy ? policy(source) : std::nullopt) {
      stolen.entity = cpu.add_thread(source.name, std::move(*own), stolen, kNever, 0);
      continue;
    }
    switch (source.kind) {
      case HostLoad::Kind::kInterrupt:
        stolen.entity = cpu.add_interrupt({source.name, level, kNoEntity}, stolen);
        break;
      case HostLoad::Kind::kSoftirq:
        stolen.entity = cpu.add_dpc({source.name}, stolen);
        break;
      case HostLoad::Kind::kThread: {
        const int priority = priority_on(source.priority, priorities);
        const bool shared = source.priority < 40;  // a normal thread, which is time-sliced
        stolen.entity = cpu.add_thread(source.name, FixedPriority{priority, shared ? quantum : 0}, stolen, kNever, 0);
        break;
      }
    }
  }
}

void RecordedLoad::start(Ns from) {
  if (recorded_.intervals.empty()) return;
  zero_ = engine_.now() - from;
  const auto first = std::lower_bound(recorded_.intervals.begin(), recorded_.intervals.end(), from,
                                      [](const HostLoad::Interval& i, Ns at) { return i.start < at; });
  next_ = static_cast<std::size_t>(first - recorded_.intervals.begin());
  await_next();
}

void RecordedLoad::await_next() {
  if (next_ == recorded_.intervals.size()) {
    next_ = 0;
    zero_ += load_->duration;
  }
  engine_.at(zero_ + recorded_.intervals[next_].start, *this);
}

void RecordedLoad::fire(Ns now) {
  const std::size_t first = next_;
  do {
    const HostLoad::Interval& interval = recorded_.intervals[next_];
    Stolen& stolen = sources_[interval.source];
    stolen.due += interval.cpu;
    if (cpu_.unfinished_jobs(stolen.entity) == 0) cpu_.release(stolen.entity);
    next_++;
  } while (next_ < recorded_.intervals.size() && zero_ + recorded_.intervals[next_].start == now && next_ != first);
  await_next();
}

}  // namespace offhook::hostsim
