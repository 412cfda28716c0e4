// SPDX-License-Identifier: MIT
#include "src/decode/v34/training.h"

#include <gtest/gtest.h>

namespace offhook::decode {
namespace {

// Source: V.34, 11.7
TEST(DecodeTraining, ACleardownAsksForNoRateInEitherDirection) {
  for (const int to_answer : {0, 1, 14}) {
    for (const int to_call : {0, 1, 14}) {
      MpHeard heard;
      heard.mp = {};
      heard.mp.max_call_to_answer = static_cast<std::uint8_t>(to_answer);
      heard.mp.max_answer_to_call = static_cast<std::uint8_t>(to_call);
      EXPECT_EQ(heard.is_cleardown(), to_answer == 0 && to_call == 0) << to_answer << ", " << to_call;
      Segment segment;
      EXPECT_FALSE(segment.is_cleardown()) << "nothing was heard";
      segment.mp = {heard};
      EXPECT_EQ(segment.is_cleardown(), heard.is_cleardown());
    }
  }
}

}  // namespace
}  // namespace offhook::decode
