// SPDX-License-Identifier: MIT
#include "dsp/v8/pcm_side.h"

#include <gtest/gtest.h>

#include <vector>

namespace offhook::v8 {
namespace {

constexpr uint8_t kBoth = kPcmAnalogue | kPcmDigital;

Menu says(uint8_t pcm, bool on_digital) {
  Menu m;
  m.has_pcm = m.has_access = true;
  m.pcm = pcm;
  m.access = on_digital ? kAccessDigital : 0;
  return m;
}

// V.90 9.1.1, sentence by sentence.
TEST(V90Side, IsThatOfTheText) {
  for (const bool calls : {true, false}) {
    for (const uint8_t own : {kPcmAnalogue, kPcmDigital, kBoth}) {
      for (const uint8_t far : {kPcmAnalogue, kPcmDigital, kBoth}) {
        EXPECT_EQ(pcm_side(says(own, false), says(far, false), calls), 0) << "both over analogue connections";
      }
    }
    for (const bool own_digital : {true, false}) {
      for (const bool far_digital : {true, false}) {
        for (const uint8_t same : {kPcmAnalogue, kPcmDigital}) {
          EXPECT_EQ(pcm_side(says(same, own_digital), says(same, far_digital), calls), 0) << "no pair";
        }
      }
    }
    EXPECT_EQ(pcm_side(says(kBoth, true), says(kBoth, true), calls), calls ? kPcmAnalogue : kPcmDigital);
    EXPECT_EQ(pcm_side(says(kPcmAnalogue, false), says(kPcmDigital, true), calls), kPcmAnalogue);
    EXPECT_EQ(pcm_side(says(kPcmDigital, true), says(kPcmAnalogue, false), calls), kPcmDigital);
    EXPECT_EQ(pcm_side(says(kBoth, true), says(kBoth, false), calls), kPcmDigital) << "the one that has the connection";
    EXPECT_EQ(pcm_side(says(kBoth, true), says(kPcmDigital, true), calls), kPcmAnalogue);
    EXPECT_EQ(pcm_side(says(kBoth, true), says(kPcmAnalogue, true), calls), kPcmDigital);
  }
}

TEST(V90Side, BothEndsComeToThePairOrToNone) {
  std::vector<Menu> menus{Menu{}};
  for (const uint8_t pcm : {uint8_t{0}, uint8_t{kPcmAnalogue}, uint8_t{kPcmDigital}, kBoth}) {
    for (const bool digital : {true, false}) menus.push_back(says(pcm, digital));
  }
  for (const Menu& caller : menus) {
    for (const Menu& answerer : menus) {
      const uint8_t one = pcm_side(caller, answerer, true), other = pcm_side(answerer, caller, false);
      EXPECT_TRUE((one == 0 && other == 0) || (one | other) == kBoth);
      EXPECT_EQ(one & other, 0);
      if (one != 0) {
        EXPECT_EQ(caller.pcm & one, one);
        EXPECT_TRUE(((caller.access | answerer.access) & kAccessDigital) != 0);
      }
    }
  }
}

}  // namespace
}  // namespace offhook::v8
