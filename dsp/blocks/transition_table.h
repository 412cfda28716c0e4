// SPDX-License-Identifier: MIT
//
// A procedure as a table. Each row says which action and which next state an event causes, in which states, under which
// guard, and by which clause of the Recommendation. Of the rows for an event the first counts whose states and guard
// fit; an event without a row is ignored.
#pragma once

#include <stdint.h>

namespace offhook {

/// One row for a procedure P with enums State (32 states at the most) and Event.
template <class P>
struct Transition {
  uint32_t from;  ///< set of states: in()
  typename P::Event event;
  bool (P::*guard)() const;  ///< null: always
  void (P::*action)();       ///< in the new state; null: nothing
  typename P::State to;
  const char* clause;
};

template <class... States>
constexpr uint32_t in(States... states) {
  return (0u | ... | (1u << static_cast<unsigned>(states)));
}

/// The row of P::transitions() that counts; null: none. @param[in,out] taken  bit n: row n has counted, of 64 rows at
/// the most.  Real-time: yes, O(rows).
template <class P, class State, class Event>
const Transition<P>* find_transition(const P& procedure, State state, Event event, uint64_t* taken) {
  int n = 0;
  const Transition<P>* rows = P::transitions(&n);
  for (int k = 0; k < n; ++k) {
    if (rows[k].event != event || (rows[k].from & in(state)) == 0) continue;
    if (rows[k].guard != nullptr && !(procedure.*rows[k].guard)()) continue;
    *taken |= uint64_t{1} << k;
    return &rows[k];
  }
  return nullptr;
}

/// A time-out: whether `at` has come, and then it no longer runs. 0: it does not run.
template <class Time>
bool is_due(Time now, Time* at) {
  if (*at == 0 || now < *at) return false;
  *at = 0;
  return true;
}

}  // namespace offhook
