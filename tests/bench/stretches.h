// SPDX-License-Identifier: MIT
//
// How long a pump runs from one preemption point to the next: the same run several times, and of each stretch the
// least, for everything that is not the pump's own comes at other places each time.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <vector>

#include "dsp/blocks/preemption_point.h"

namespace offhook::test {

struct Stretch {
  double ns;
  double at_s;  ///< negative: belongs to the set-up
};

/// For the current run.
class Stretches {
 public:
  static void begin(double at_s) {
    at_s_ = at_s;
    began_ns_ = thread_ns();
  }
  static void end() {
    all.push_back({thread_ns() - began_ns_, at_s_});
    began_ns_ = thread_ns();
  }
  static inline std::vector<Stretch> all;

 private:
  static double thread_ns() {
    timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return static_cast<double>(t.tv_sec) * 1e9 + static_cast<double>(t.tv_nsec);
  }
  static inline double at_s_ = 0, began_ns_ = 0;
};

/// @param run  does the same each time; calls Stretches::begin() and end() around each call of a pump
template <typename Run>
std::vector<Stretch> least_stretches(int runs, Run run) {
  std::vector<Stretch> least;
  oh_set_preemption_point(Stretches::end);
  for (int k = 0; k < runs; ++k) {
    Stretches::all.clear();
    run();
    if (k == 0) least = Stretches::all;
    if (Stretches::all.size() != least.size()) std::abort();
    for (std::size_t i = 0; i < least.size(); ++i) least[i].ns = std::min(least[i].ns, Stretches::all[i].ns);
  }
  oh_set_preemption_point(nullptr);
  return least;
}

inline Stretch longest(const std::vector<Stretch>& stretches) {
  return *std::ranges::max_element(stretches, {}, &Stretch::ns);
}

}  // namespace offhook::test
