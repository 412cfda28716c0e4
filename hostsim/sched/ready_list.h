// SPDX-License-Identifier: MIT
//
// The entities that can run, in the order of section 2. Few are ready at a time, so a sorted array beats any tree.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "hostsim/engine/engine.h"

namespace offhook::hostsim {

struct Rank {
  int band;          ///< class of section 2
  Ns key;            ///< within the class
  Ns queued;         ///< next criterion: the first in the queue
  std::uint16_t id;  ///< last criterion: the first declared

  /// Compares field by field, so that the other's fields stay in registers. If it were copied as a whole, the compiler
  /// would store it in memory first, and the wide loads would wait for the narrow stores (docs/speed.md).
  void set(const Rank& other) {
    band = other.band;
    key = other.key;
    queued = other.queued;
    id = other.id;
  }
  bool operator==(const Rank&) const = default;
  bool operator<(const Rank& o) const {
    if (band != o.band) return band < o.band;
    if (key != o.key) return key < o.key;
    if (queued != o.queued) return queued < o.queued;
    return id < o.id;
  }
};

class ReadyList {
 public:
  bool empty() const { return ranks_.empty(); }
  std::span<const Rank> best_last() const { return ranks_; }
  /// The thread that runs. @pre not empty
  std::uint16_t best() const { return ranks_.back().id; }

  void insert(const Rank& rank) {
    std::size_t i = ranks_.size();
    ranks_.emplace_back();
    for (; i > 0 && ranks_[i - 1] < rank; i--) ranks_[i] = ranks_[i - 1];
    ranks_[i].set(rank);
  }
  /// @pre it is in the list
  void remove(std::uint16_t id) {
    std::size_t i = ranks_.size() - 1;
    while (ranks_[i].id != id) i--;
    for (; i + 1 < ranks_.size(); i++) ranks_[i] = ranks_[i + 1];
    ranks_.pop_back();
  }

 private:
  std::vector<Rank> ranks_;  // with the best one last
};

}  // namespace offhook::hostsim
