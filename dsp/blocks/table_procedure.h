// SPDX-License-Identifier: MIT
//
// A procedure as a table. Each row holds an event, the action and the next state that it causes, the states and the
// guard under which it applies, and the clause of the Recommendation. The first row for an event whose states and guard
// match is used. An event without a row is ignored. The compiler sorts the rows by state and event, so a search
// compares only rows that can match.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include <span>
#include <type_traits>

namespace offhook {

/// One row for a procedure P with enums State (64 states at most) and Event.
template <class P>
struct Transition {
  uint64_t from;  ///< set of states: in()
  typename P::Event event;
  bool (P::*guard)() const;  ///< null: always
  void (P::*action)();       ///< in the new state; null: nothing
  typename P::State to;
  const char* clause;
};

template <class... States>
constexpr uint64_t in(States... states) {
  return (uint64_t{0} | ... | (uint64_t{1} << static_cast<unsigned>(states)));
}

/// Rows of any type with `from`, `event` and `guard`, and an index of the rows for each state and event.
template <class Row>
struct TransitionTable {
  std::span<const Row> rows;
  const uint16_t* begin;  ///< [states * events + 1]  positions in order
  const uint8_t* order;   ///< numbers of rows
  unsigned events;        ///< 1 + the highest event that has a row
};

/// The index of kRows, an array of rows with static storage, made at compile time.
template <const auto& kRows>
class TransitionIndex {
  static constexpr size_t kCount = sizeof kRows / sizeof kRows[0];
  static constexpr unsigned kStates = 64;
  static_assert(kCount <= 256, "a row has a number of one octet");

  static constexpr unsigned count_events() {
    unsigned n = 0;
    for (const auto& row : kRows)
      n = n > static_cast<unsigned>(row.event) + 1 ? n : static_cast<unsigned>(row.event) + 1;
    return n;
  }
  static constexpr unsigned kEvents = count_events();
  static constexpr size_t count_entries() {
    size_t n = 0;
    for (const auto& row : kRows) n += static_cast<size_t>(__builtin_popcountll(row.from));
    return n;
  }

  struct Index {
    uint16_t begin[kStates * kEvents + 1]{};
    uint8_t order[count_entries()]{};
  };
  static constexpr Index make_index() {
    Index index;
    uint16_t at = 0;
    for (unsigned state = 0; state < kStates; ++state) {
      for (unsigned event = 0; event < kEvents; ++event) {
        for (size_t k = 0; k < kCount; ++k) {
          if (static_cast<unsigned>(kRows[k].event) == event && (kRows[k].from >> state & 1) != 0)
            index.order[at++] = static_cast<uint8_t>(k);
        }
        index.begin[state * kEvents + event + 1] = at;
      }
    }
    return index;
  }
  static constexpr Index kIndex = make_index();

 public:
  using Row = std::remove_cvref_t<decltype(kRows[0])>;
  static constexpr TransitionTable<Row> kTable{kRows, kIndex.begin, kIndex.order, kEvents};
};

template <class P>
bool holds(const P& subject, bool (P::*guard)() const) {
  return (subject.*guard)();
}
template <class P>
bool holds(const P& subject, bool (*guard)(const P&)) {
  return guard(subject);
}

/// The row that applies; null: none.  Real-time: yes, O(rows of this state and event).
template <class Row, class P, class State, class Event>
const Row* find_transition(const TransitionTable<Row>& table, const P& subject, State state, Event event) {
  if (static_cast<unsigned>(event) >= table.events) return nullptr;
  const uint16_t* at = table.begin + static_cast<unsigned>(state) * table.events + static_cast<unsigned>(event);
  for (unsigned k = at[0]; k < at[1]; ++k) {
    const Row& row = table.rows[table.order[k]];
    if (row.guard == nullptr || holds(subject, row.guard)) return &row;
  }
  return nullptr;
}

/// Whether the time-out `at` has expired; if so, it is cleared. 0: not running.
template <class Time>
bool is_due(Time now, Time* at) {
  if (*at == 0 || now < *at) return false;
  *at = 0;
  return true;
}

/// The common part of all procedures: the state, the clock and the time-outs. P gives `static const
/// TransitionTable<Transition<P>>& transitions()`. It may hide on_leave().
template <class P, class StateEnum, class EventEnum>
class TableProcedure {
 public:
  using State = StateEnum;
  using Event = EventEnum;
  using Transition = offhook::Transition<P>;
  using Table = TransitionTable<Transition>;

  State state() const { return state_; }
  /// Bit n: row n of transitions() was taken, of the first 64.
  uint64_t taken() const { return taken_; }

 protected:
  explicit TableProcedure(State first) : state_(first) {}

  /// @return whether a row applied
  bool handle(Event event) {
    const Table& table = P::transitions();
    const Transition* row = find_transition(table, *self(), state_, event);
    if (row == nullptr) return false;
    taken_ |= uint64_t{1} << ((row - table.rows.data()) & 63);
    if (row->to != state_) {
      self()->on_leave(state_);
      entered_ = now_;
      state_ = row->to;
    }
    if (row->action != nullptr) (self()->*row->action)();
    return true;
  }
  /// Called with the old state, before the state changes.
  void on_leave(State) {}
  /// Samples or symbols since the state was entered.
  int64_t age() const { return now_ - entered_; }

  State state_;
  uint64_t taken_ = 0;
  int64_t now_ = 0, entered_ = 0;
  int64_t wait_until_ = 0;  ///< for kWaitOver; 0: none. A state without a row for it ignores it
  int64_t deadline_ = 0;    ///< for kTimeout, likewise

 private:
  P* self() { return static_cast<P*>(this); }
};

}  // namespace offhook
