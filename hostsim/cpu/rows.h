// SPDX-License-Identifier: MIT
//
// The observer's view of an instant: events are kept and reported in the order of section 9 when the instant is over.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "hostsim/cpu/cpu.h"

namespace offhook::hostsim {

class Rows {
 public:
  using Kind = CpuObserver::Kind;

  void set_observer(CpuObserver* observer) { observer_ = observer; }
  void note(EntityId id, Kind kind) {
    if (observer_ != nullptr) rows_.push_back({kOrder[static_cast<int>(kind)] << 16 | id, kind});
  }
  /// The only remaining row of its instant, or the next one in the order of section 9. @pre empty(),
  /// observed()
  void tell_alone(Ns now, EntityId id, Kind kind) { observer_->on_event(now, id, kind); }
  bool observed() const { return observer_ != nullptr; }
  bool empty() const { return rows_.empty(); }
  /// @pre not empty()  @param off_cpu  bool(EntityId): whether it has left the queue of a CPU
  template <typename OffCpu>
  void emit(Ns now, const OffCpu& off_cpu) {
    if (rows_.size() <= 2) {  // most instants have one or two, and no throttled thread that leaves
      Row first = rows_.front(), last = rows_.back();
      if (last.order < first.order) std::swap(first, last);
      if (first.kind != Kind::kThrottle) {
        const bool two = rows_.size() == 2;
        rows_.clear();
        if (two) observer_->on_event(now, static_cast<EntityId>(first.order), first.kind);
        return observer_->on_event(now, static_cast<EntityId>(last.order), last.kind);
      }
    }
    for (std::size_t i = 1; i < rows_.size(); i++) {  // insertion sort: they are few, and equal ones keep their order
      const Row row = rows_[i];
      std::size_t k = i;
      for (; k > 0 && row.order < rows_[k - 1].order; k--) rows_[k] = rows_[k - 1];
      rows_[k] = row;
    }
    for (const Row& row : rows_) {
      const auto id = static_cast<EntityId>(row.order);
      // A throttle in this instant already means that the thread left the CPU, unless it may continue in the
      // background.
      if (row.kind == Kind::kPreempt && off_cpu(id) && throttled(id)) continue;
      observer_->on_event(now, id, row.kind);
    }
    rows_.clear();
  }

 private:
  // section 9: the order of rows within an instant, for kStart, kResume, kPreempt, kFinish, kMiss, kThrottle,
  // kReplenish.
  static constexpr std::uint32_t kOrder[] = {5, 5, 4, 0, 1, 3, 2};
  struct Row {
    std::uint32_t order;  // kind's position in section 9, then declaration order
    Kind kind;
  };

  bool throttled(EntityId id) const {
    const std::uint32_t throttle = kOrder[static_cast<int>(Kind::kThrottle)] << 16 | id;
    return std::any_of(rows_.begin(), rows_.end(), [throttle](const Row& row) { return row.order == throttle; });
  }

  CpuObserver* observer_ = nullptr;
  std::vector<Row> rows_;
};

}  // namespace offhook::hostsim
