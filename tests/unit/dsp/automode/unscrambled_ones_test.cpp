// SPDX-License-Identifier: MIT
//
// A caller that hears an answerer's unscrambled binary ones (USB1), or a mark near to them.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <memory>

#include "driver/user_modem/automode.h"
#include "driver/user_modem/modulations.h"
#include "dsp/pump/pump_type.h"
#include "tests/unit/driver/user_modem/pump_pair.h"

namespace offhook {
namespace {

using test::BitTester;

// V.22bis has V.22, too.
constexpr uint32_t kV22bis = OH_MODULATION_V22BIS | OH_MODULATION_V22, kV32bis = OH_MODULATION_V32BIS;

/// A caller that hears an answerer's ones as a tone (USB1) from `begin_ms` for `length_ms`, after `ans_ms` of ANS that
/// end 75 ms earlier. @return when, in ms, its modulation begins, and which; -1: not within 8 s
struct Decision {
  int ms = -1;
  uint32_t modulation = OH_MODULATION_NONE;
};
Decision decide(uint32_t modulations, int begin_ms, int length_ms, int ans_ms = 0, int usb1_hz = 2250) {
  oh_pump_config config{};
  config.format = kLinear8000;
  config.role = OH_PUMP_CALL;
  config.tx_level_dbm0 = -12;
  config.modulations = modulations;
  BitTester bits;
  config.port = bits.port();
  const oh_pump_type* type = oh_automode_v22bis_type();
  const std::unique_ptr<void, decltype(&std::free)> self(std::aligned_alloc(64, type->size(&config)), &std::free);
  EXPECT_EQ(type->init(self.get(), &config), 0);
  Decision decided;
  const int ans_end = begin_ms - 75;
  for (int t = 0; t < 8000 && decided.ms < 0; ++t) {
    int16_t rx[8], tx[8];
    for (int i = 0; i < 8; ++i) {
      const double at = 2 * M_PI * (t * 8 + i) / 8000;
      const bool ans = t >= ans_end - ans_ms && t < ans_end, usb1 = t >= begin_ms && t < begin_ms + length_ms;
      rx[i] = ans ? int16_t(5000 * std::cos(2100 * at)) : usb1 ? int16_t(5000 * std::cos(usb1_hz * at)) : int16_t{0};
    }
    type->process(self.get(), rx, tx, 8);
    oh_pump_status s;
    type->status(self.get(), &s);
    if (s.modulation != OH_MODULATION_NONE) decided = {t, s.modulation};
  }
  type->release(self.get());
  return decided;
}
int decided_ms(uint32_t modulations, int begin_ms, int length_ms, int ans_ms = 0) {
  return decide(modulations, begin_ms, length_ms, ans_ms).ms;
}

// Both Bell 103's mark, 2225 Hz, and USB1, 2250 Hz, may be shifted by the line and by oscillators.
TEST(UnscrambledOnes, OfBell103sMarkAndUnscrambledOnesTheNearerIsHeard) {
  const uint32_t both = OH_MODULATION_BELL103 | kV22bis;
  for (const int hz : {2216, 2225, 2236}) {
    EXPECT_EQ(decide(both, 1000, 3000, 0, hz).modulation, OH_MODULATION_BELL103) << hz;
    EXPECT_EQ(decide(kV22bis, 1000, 3000, 0, hz).modulation, OH_MODULATION_NONE)
        << hz << ": an answerer of another kind";
  }
  for (const int hz : {2239, 2250, 2261})
    EXPECT_EQ(decide(both, 1000, 3000, 0, hz).modulation, OH_MODULATION_V22BIS) << hz;
}

// V.32bis A.2.1.2, A.2.1.3: USB1 must last 155 ms (+-10), and an answerer that began with ANS may still send AC for 3.1
// s or more. An answerer without ANS has no V.32bis, but the caller knows this only for the part that it received.
TEST(UnscrambledOnes, UnscrambledOnesCountOnceTheyHaveLastedAndThereWasTimeForAc) {
  const int kAfter = 3150;
  EXPECT_NEAR(decided_ms(kV32bis | kV22bis, 1000, 3000), 1155, 15) << "no ANS before it: at once";
  EXPECT_NEAR(decided_ms(kV32bis | kV22bis, 100, 6000), 100 + 155 + kAfter, 25) << "early: ANS may have gone by";
  EXPECT_NEAR(decided_ms(kV32bis | kV22bis, 1000, 6000, 600), 1000 + 155 + kAfter, 25) << "after ANS";
  EXPECT_NEAR(decided_ms(kV32bis | kV22bis, 3500, 4000, 2600), 3500 + 155, 15) << "AA was heard, for 1.6 s of ANS";
  EXPECT_NEAR(decided_ms(kV32bis | kV22bis, 2500, 5000, 1500), 2500 + 155 + kAfter, 25) << "AA, but for half a second";
  EXPECT_NEAR(decided_ms(kV22bis, 100, 3000), 255, 15) << "without V.32bis there is nothing to wait for";
  EXPECT_EQ(decided_ms(kV32bis | kV22bis, 1000, 135), -1) << "too short";
  EXPECT_NE(decided_ms(kV32bis | kV22bis, 1000, 185), -1);
  EXPECT_EQ(decided_ms(kV32bis | kV22bis, 100, 2000), -1) << "gone before AC was out of the question";
}

}  // namespace
}  // namespace offhook
