// SPDX-License-Identifier: MIT
// Claims that hold for every procedure that is a table.
#include "dsp/blocks/transition_table.h"

#include <gtest/gtest.h>

#include <string>

#include "dsp/v34/phase2/phase2.h"
#include "dsp/v34/session/session.h"
#include "dsp/v90/session/analogue.h"
#include "dsp/v90/session/digital.h"

namespace offhook {
namespace {

template <class P>
class TransitionTable : public testing::Test {};
using Procedures = testing::Types<v34::Phase2, v34::Session, v90::AnalogueProcedure, v90::DigitalProcedure>;
TYPED_TEST_SUITE(TransitionTable, Procedures);

TYPED_TEST(TransitionTable, EveryRowHasAStateAndAClause) {
  int n = 0;
  const auto* rows = TypeParam::transitions(&n);
  ASSERT_GT(n, 0);
  for (int k = 0; k < n; ++k) {
    EXPECT_NE(rows[k].from, 0u) << "row " << k;
    EXPECT_NE(std::string(rows[k].clause), "") << "row " << k;
  }
}

// A row that an earlier one covers could never be taken.
TYPED_TEST(TransitionTable, AnUnguardedRowIsTheLastForItsStateAndEvent) {
  int n = 0;
  const auto* rows = TypeParam::transitions(&n);
  for (int later = 1; later < n; ++later) {
    uint32_t left = rows[later].from;
    for (int k = 0; k < later; ++k) {
      if (rows[k].event == rows[later].event && rows[k].guard == nullptr) left &= ~rows[k].from;
    }
    EXPECT_EQ(left, rows[later].from) << "row " << later;
  }
}

}  // namespace
}  // namespace offhook
