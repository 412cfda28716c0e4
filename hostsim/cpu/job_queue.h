// SPDX-License-Identifier: MIT
//
// The release times of an entity's unfinished jobs, oldest first: a ring that grows when the backlog does.
#pragma once

#include <cstddef>
#include <vector>

#include "hostsim/engine/engine.h"

namespace offhook::hostsim {

class JobQueue {
 public:
  bool empty() const { return size_ == 0; }
  std::size_t size() const { return size_; }
  Ns front() const { return ring_[head_]; }
  Ns operator[](std::size_t i) const { return ring_[(head_ + i) & (ring_.size() - 1)]; }
  void push(Ns release) {
    if (size_ == ring_.size()) grow();
    ring_[(head_ + size_++) & (ring_.size() - 1)] = release;
  }
  void pop() {
    head_ = (head_ + 1) & (ring_.size() - 1);
    size_--;
  }

 private:
  void grow() {
    std::vector<Ns> bigger(ring_.size() * 2);
    for (std::size_t i = 0; i < size_; i++) bigger[i] = (*this)[i];
    ring_.swap(bigger);
    head_ = 0;
  }

  std::vector<Ns> ring_ = std::vector<Ns>(4);  // its size is a power of two
  std::size_t head_ = 0, size_ = 0;
};

}  // namespace offhook::hostsim
