// SPDX-License-Identifier: MIT
//
// Pending events, those of one time in the order of insertion: an array, the earliest one last. A host has a dozen,
// most of them periodic, so that one which puts itself back passes a few others: cheaper than a walk through a heap.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "hostsim/engine/engine.h"

namespace offhook::hostsim {

class EventQueue {
 public:
  /// Time of the first event; kNever when there is none.
  Ns first() const { return entries_.back().when; }
  /// @pre first() is not kNever
  Event* take() {
    Event* const event = entries_.back().event;
    entries_.pop_back();
    return event;
  }
  /// O(n) in the pending events, but fast. Allocates only if more events are pending than ever before.
  void put(Ns when, Event& event) {
    std::size_t i = entries_.size();
    if (i > kMany) return put_among_many(when, event);
    entries_.emplace_back();
    for (; i > 0 && entries_[i - 1].when <= when; i--) entries_[i] = entries_[i - 1];
    entries_[i] = {when, &event};
  }

 private:
  static constexpr std::size_t kMany = 64;
  struct Entry {
    Ns when = 0;
    Event* event = nullptr;
  };

  void put_among_many(Ns when, Event& event) {
    const auto place = std::partition_point(entries_.begin(), entries_.end(),
                                            [when](const Entry& entry) { return entry.when > when; });
    entries_.insert(place, {when, &event});
  }

  std::vector<Entry> entries_ = std::vector<Entry>{{kNever, nullptr}};  // the first one is never removed
};

}  // namespace offhook::hostsim
