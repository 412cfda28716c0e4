// SPDX-License-Identifier: MIT
#include "src/decode/call/hypotheses.h"

#include <gtest/gtest.h>

namespace offhook::decode {
namespace {

using enum EvidenceKind;

TEST(DecodeHypotheses, TheMarginIsTheEvidenceThatTheNextBestLacks) {
  Scores scores;
  scores.add(kMessages, 48, {"A", "B", "C"});
  scores.add(kTraining, 20, {"A", "B"});
  scores.add(kTraining, 5, {"A"});
  scores.add(kTone, 2, {"B"});
  const Weight w = scores.weight_of("A");
  EXPECT_EQ(w.next_best, "B");
  EXPECT_DOUBLE_EQ(w.strength, 3);
  EXPECT_EQ(w.kind, kTraining);
  EXPECT_EQ(w.probability, probability_of(kTraining, 3));
  EXPECT_DOUBLE_EQ(scores.weight_of("B").strength, -3);
  EXPECT_EQ(scores.weight_of("B").next_best, "A");
}

TEST(DecodeHypotheses, EvidenceOfAllKindsIsAddedUp) {
  Scores scores;
  scores.add(kSymbolClock, 6, {"A"});
  scores.add(kMessages, 4, {"B"});
  scores.add(kTone, 4, {"B"});
  EXPECT_EQ(scores.weight_of("B").next_best, "A");
  EXPECT_DOUBLE_EQ(scores.weight_of("B").strength, 2);
}

TEST(DecodeHypotheses, WithoutEvidenceNothingIsNamed) {
  Scores scores;
  EXPECT_EQ(scores.weight_of("A").kind, kNone);
  scores.add(kTone, 3, {"A"});
  EXPECT_EQ(scores.weight_of("A").next_best, "an unidentified signal");
  EXPECT_EQ(scores.weight_of("B").kind, kNone);
  EXPECT_EQ(scores.weight_of("B").probability, 0);
}

TEST(DecodeHypotheses, OneHypothesisOfMany) {
  Scores scores;
  scores.add(kMessages, 8, {"A", "B"});
  scores.add(kTraining, 20, {"A"});
  EXPECT_DOUBLE_EQ(scores.sum_of("A"), 28);
  EXPECT_DOUBLE_EQ(scores.sum_of("C"), 0);
  Scores other;
  other.add(kTone, 3, {"B"});
  other.add(scores.only("A"));
  EXPECT_DOUBLE_EQ(other.sum_of("A"), 28);
  EXPECT_DOUBLE_EQ(other.sum_of("B"), 3);
  EXPECT_EQ(other.weight_of("A").kind, kTraining);
}

TEST(DecodeHypotheses, OfEqualOnesTheFirstIsTheNextBest) {
  Scores scores;
  scores.add(kMessages, 8, {"C", "B", "A"});
  scores.add(kTone, 1, {"A"});
  EXPECT_EQ(scores.weight_of("A").next_best, "C");
}

}  // namespace
}  // namespace offhook::decode
