// SPDX-License-Identifier: MIT
//
// Pending events, earliest first, those of one time in the order of insertion: a 4-ary heap. Most events are periodic
// and put themselves back while they fire, so taking the first one leaves a hole at the root that the next insertion
// fills with a single walk down the heap.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "hostsim/engine/engine.h"

namespace offhook::hostsim {

class EventQueue {
 public:
  /// Time of the first event; kNever when there is none.
  Ns first() {
    close_hole();
    return heap_.empty() ? kNever : heap_.front().when;
  }
  /// The same while what was taken may still be put back.
  Ns first_of_rest() const {
    if (!hole_) return heap_.empty() ? kNever : heap_.front().when;
    Ns first = kNever;
    for (std::size_t i = 1; i < heap_.size() && i <= 4; i++) first = std::min(first, heap_[i].when);
    return first;
  }
  /// @pre first() is not kNever
  Event* take() {
    close_hole();
    hole_ = true;
    return heap_.front().event;
  }
  /// O(log n); allocates only when more events are pending than ever before.
  void put(Ns when, Event& event) {
    const Entry entry{when, sequence_++, &event};
    if (hole_) {
      hole_ = false;
      sift_down(entry);
    } else {
      heap_.push_back(entry);
      sift_up(entry);
    }
  }

 private:
  struct Entry {
    Ns when;
    std::uint64_t sequence;
    Event* event;
    bool operator<(const Entry& other) const {
      return when != other.when ? when < other.when : sequence < other.sequence;
    }
  };

  void close_hole() {
    if (!hole_) return;
    hole_ = false;
    const Entry last = heap_.back();
    heap_.pop_back();
    if (!heap_.empty()) sift_down(last);
  }
  void sift_up(const Entry& entry) {
    std::size_t i = heap_.size() - 1;
    while (i > 0) {
      const std::size_t parent = (i - 1) / 4;
      if (!(entry < heap_[parent])) break;
      heap_[i] = heap_[parent];
      i = parent;
    }
    heap_[i] = entry;
  }
  // Put `entry` where the root is.
  void sift_down(const Entry& entry) {
    const std::size_t n = heap_.size();
    std::size_t i = 0;
    while (4 * i + 1 < n) {
      const std::size_t begin = 4 * i + 1;
      const std::size_t end = begin + 4 < n ? begin + 4 : n;
      std::size_t least = begin;
      for (std::size_t child = begin + 1; child < end; child++)
        if (heap_[child] < heap_[least]) least = child;
      if (!(heap_[least] < entry)) break;
      heap_[i] = heap_[least];
      i = least;
    }
    heap_[i] = entry;
  }

  std::vector<Entry> heap_;
  std::uint64_t sequence_ = 0;
  bool hole_ = false;  // the root has been taken and not yet replaced
};

}  // namespace offhook::hostsim
