// SPDX-License-Identifier: MIT
//
// The rows of a procedure that is at one step at a time. A row has `from`, `event` and `guard`; Step::kAny, the last of
// the steps, stands for every step. Rows of a step stand together. Of those for an event the first counts whose guard
// holds.
#pragma once

#include <stddef.h>
#include <stdint.h>

namespace offhook {

template <class Row, const auto& kTable>
class StepTable {
  using Step = decltype(Row::from);
  static constexpr size_t kRows = sizeof kTable / sizeof kTable[0], kSteps = static_cast<size_t>(Step::kAny) + 1;

  /// For each step its events, a bit each, and its first row.
  struct Index {
    uint32_t events[kSteps]{};
    uint8_t first[kSteps]{};
  };
  static constexpr Index make_index() {
    Index index;
    for (size_t row = kRows; row-- > 0;) {
      const auto from = static_cast<size_t>(kTable[row].from);
      index.events[from] |= 1u << static_cast<int>(kTable[row].event);
      index.first[from] = static_cast<uint8_t>(row);
    }
    return index;
  }
  static constexpr bool rows_of_a_step_are_together() {
    for (size_t row = 1; row < kRows; ++row) {
      if (kTable[row].from == kTable[row - 1].from) continue;
      for (size_t before = 0; before < row; ++before) {
        if (kTable[before].from == kTable[row].from) return false;
      }
    }
    return true;
  }

 public:
  /// @return the row of `from` for the event; NULL: none whose guard holds.  Real-time: yes, O(rows of the step)
  template <class Subject>
  static const Row* find(const Subject& subject, Step from, decltype(Row::event) event) {
    static_assert(rows_of_a_step_are_together());
    static constexpr Index kIndex = make_index();
    const auto step = static_cast<size_t>(from);
    if ((kIndex.events[step] >> static_cast<int>(event) & 1) == 0) return nullptr;
    for (size_t row = kIndex.first[step]; row < kRows && kTable[row].from == from; ++row) {
      const Row& t = kTable[row];
      if (t.event == event && (t.guard == nullptr || t.guard(subject))) return &t;
    }
    return nullptr;
  }
};

}  // namespace offhook
