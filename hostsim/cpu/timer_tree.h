// SPDX-License-Identifier: MIT
//
// One time for each of n entities and the earliest of them: a winner tree. set() walks from a leaf to the root.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "hostsim/engine/engine.h"

namespace offhook::hostsim {

class TimerTree {
 public:
  /// Adds an entity, at kNever.
  void add() {
    if (++count_ <= size_) return;
    const std::vector<Ns> old(when_.begin(), when_.end());
    size_ *= 2;
    when_.assign(size_, kNever);
    winner_.assign(size_, 0);
    for (std::size_t i = 0; i < size_; i++) {
      if (i < old.size()) when_[i] = old[i];
      if (i % 2 == 0) winner_[(i + size_) / 2] = static_cast<std::uint16_t>(i);
    }
    for (std::size_t node = size_ / 2 - 1; node > 0; node--)
      winner_[node] = better(winner_[2 * node], winner_[2 * node + 1]);
    for (std::size_t i = 0; i < old.size(); i++) replay(i);
  }
  Ns first() const { return when_[winner_[1]]; }
  std::uint16_t first_id() const { return winner_[1]; }
  void set(std::size_t id, Ns when) {
    if (when_[id] == when) return;
    when_[id] = when;
    replay(id);
  }

 private:
  std::uint16_t better(std::uint16_t a, std::uint16_t b) const { return when_[b] < when_[a] ? b : a; }
  void replay(std::size_t id) {
    std::size_t node = (id + size_) / 2;
    winner_[node] = better(static_cast<std::uint16_t>(id & ~std::size_t{1}), static_cast<std::uint16_t>(id | 1));
    while (node > 1) {
      node /= 2;
      winner_[node] = better(winner_[2 * node], winner_[2 * node + 1]);
    }
  }

  std::size_t size_ = 2, count_ = 0;                                   // leaves, a power of two; leaves in use
  std::vector<Ns> when_ = std::vector<Ns>(2, kNever);                  // [size_]
  std::vector<std::uint16_t> winner_ = std::vector<std::uint16_t>(2);  // [size_], with the root at 1
};

}  // namespace offhook::hostsim
