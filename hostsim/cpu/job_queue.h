// SPDX-License-Identifier: MIT
//
// The release times of an entity's unfinished jobs, oldest first: a ring that grows with the backlog.
#pragma once

#include <cstddef>
#include <memory>
#include <utility>

#include "hostsim/engine/engine.h"

namespace offhook::hostsim {

class JobQueue {
 public:
  bool empty() const { return size_ == 0; }
  std::size_t size() const { return size_; }
  Ns front() const { return ring_[head_]; }
  Ns operator[](std::size_t i) const { return ring_[(head_ + i) & mask_]; }
  void push(Ns release) {
    if (size_ > mask_) grow();
    ring_[(head_ + size_++) & mask_] = release;
  }
  void pop() {
    head_ = (head_ + 1) & mask_;
    size_--;
  }

 private:
  void grow() {
    auto bigger = std::make_unique<Ns[]>(2 * (mask_ + 1));
    for (std::size_t i = 0; i < size_; i++) bigger[i] = (*this)[i];
    ring_ = std::move(bigger);
    mask_ = 2 * mask_ + 1;
    head_ = 0;
  }

  std::size_t mask_ = 3;  // capacity with room for one more, a power of two
  std::unique_ptr<Ns[]> ring_ = std::make_unique<Ns[]>(mask_ + 1);
  std::size_t head_ = 0, size_ = 0;
};

}  // namespace offhook::hostsim
