// SPDX-License-Identifier: MIT
// Claims that hold for every procedure that is a table, and the search in one.
#include "dsp/blocks/table_procedure.h"

#include <gtest/gtest.h>

#include <string>

#include "dsp/dmt/procedure.h"
#include "dsp/v34/phase2/phase2.h"
#include "dsp/v34/session/session.h"
#include "dsp/v90/session/analogue.h"
#include "dsp/v90/session/analogue_v92.h"
#include "dsp/v90/session/digital.h"
#include "dsp/v90/session/digital_v92.h"
#include "dsp/v90/session/hold.h"
#include "dsp/v90/session/short_phase1.h"

namespace offhook {
namespace {

template <class P>
class Tables : public testing::Test {};
using Procedures =
    testing::Types<v34::Phase2, v34::Session, v90::AnalogueProcedure, v90::AnalogueV92Procedure, v90::DigitalProcedure,
                   v90::DigitalV92Procedure, v90::Hold, v90::ShortPhase1, dmt::Procedure>;
TYPED_TEST_SUITE(Tables, Procedures);

TYPED_TEST(Tables, EveryRowHasAStateAndAClause) {
  const auto rows = TypeParam::transitions().rows;
  ASSERT_GT(rows.size(), 5u);
  ASSERT_LE(rows.size(), 64u) << "taken()";
  for (size_t k = 0; k < rows.size(); ++k) {
    EXPECT_NE(rows[k].from, 0u) << "row " << k;
    EXPECT_NE(std::string(rows[k].clause), "") << "row " << k;
  }
}

// A row that is covered by an earlier one could never be used.
TYPED_TEST(Tables, AnUnguardedRowIsTheLastForItsStateAndEvent) {
  const auto rows = TypeParam::transitions().rows;
  for (size_t later = 1; later < rows.size(); ++later) {
    uint64_t left = rows[later].from;
    for (size_t k = 0; k < later; ++k) {
      if (rows[k].event == rows[later].event && rows[k].guard == nullptr) left &= ~rows[k].from;
    }
    EXPECT_EQ(left, rows[later].from) << "row " << later;
  }
}

enum class Light : uint8_t { kRed, kGreen, kBroken };
enum class Happens : uint8_t { kSecond, kButton, kLamp, kNothingEver };

class TrafficLight : public TableProcedure<TrafficLight, Light, Happens> {
 public:
  TrafficLight() : TableProcedure(Light::kRed) {}
  static const Table& transitions() {
    using P = TrafficLight;
    static constexpr Transition kRows[] = {
        {in(Light::kRed), Happens::kButton, &P::waited, &P::count, Light::kGreen, "2"},
        {in(Light::kRed, Light::kGreen), Happens::kLamp, nullptr, nullptr, Light::kBroken, "4"},
        {in(Light::kGreen), Happens::kSecond, nullptr, &P::count, Light::kRed, "3"},
        {in(Light::kRed), Happens::kButton, nullptr, &P::count, Light::kRed, "1"},
    };
    return TransitionIndex<kRows>::kTable;
  }
  bool put(Happens event) { return handle(event); }
  bool waited() const { return waited_; }
  void count() { ++actions_; }
  void on_leave(Light light) { left_ = light; }
  using TableProcedure::age;
  using TableProcedure::now_;
  bool waited_ = false;
  int actions_ = 0;
  Light left_ = Light::kBroken;
};

TEST(TableProcedure, TakesTheFirstRowOfAStateWhoseGuardHolds) {
  TrafficLight light;
  EXPECT_TRUE(light.put(Happens::kButton));
  EXPECT_EQ(light.state(), Light::kRed);
  EXPECT_EQ(light.taken(), 0b1000u) << "the row without a guard";
  light.waited_ = true;
  EXPECT_TRUE(light.put(Happens::kButton));
  EXPECT_EQ(light.state(), Light::kGreen);
  EXPECT_EQ(light.taken(), 0b1001u);
  EXPECT_EQ(light.actions_, 2);
}

TEST(TableProcedure, IgnoresAnEventWithoutARow) {
  TrafficLight light;
  EXPECT_FALSE(light.put(Happens::kSecond)) << "not in this state";
  EXPECT_FALSE(light.put(Happens::kNothingEver)) << "higher than every event of a row";
  EXPECT_TRUE(light.put(Happens::kLamp));
  for (const auto event : {Happens::kSecond, Happens::kButton, Happens::kLamp}) EXPECT_FALSE(light.put(event));
  EXPECT_EQ(light.state(), Light::kBroken);
}

TEST(TableProcedure, CountsTheAgeOfAStateFromWhereItWasEntered) {
  TrafficLight light;
  light.now_ = 5;
  light.put(Happens::kButton);
  EXPECT_EQ(light.age(), 5) << "the state is the same";
  EXPECT_EQ(light.left_, Light::kBroken) << "and none was left";
  light.waited_ = true;
  light.put(Happens::kButton);
  EXPECT_EQ(light.left_, Light::kRed);
  light.now_ = 8;
  EXPECT_EQ(light.age(), 3);
}

}  // namespace
}  // namespace offhook
