// SPDX-License-Identifier: MIT
//
// The analogue modem's echo changes in data mode: 9.6 lets it ask for silence in a renegotiation, to train its
// canceller.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/v90_call.h"

namespace offhook {
namespace {

/// Seconds of the longest silence of the digital modem.
double longest_silence(V90Call& call, double seconds) {
  unsigned longest = 0;
  for (const double end = call.seconds() + seconds; call.seconds() < end;) {
    call.step();
    longest = std::max(longest, call.digital_silence());
  }
  return longest / 8000.;
}

// A sound device queues samples: the analogue modem's echo is as late, and the digital modem's comes long before the
// round trip is over.
TEST(V90Echo, AnAnalogueModemMayQueueSamples) {
  for (const uint32_t queued : {0u, 450u, 1000u, 2000u, 3000u}) {
    SCOPED_TRACE(queued);
    V90Call::Options o = V90Call::from_phase2_on();
    o.queued = queued;
    V90Call call(o);
    ASSERT_TRUE(call.connect(25));
    call.run(5);
    EXPECT_EQ(call.analogue_status().rx_bit_rate, 56000u);
    EXPECT_EQ(call.analogue_status().tx_bit_rate, 33600u);
    EXPECT_EQ(call.down().errors() + call.up().errors(), 0u);
    EXPECT_EQ(call.analogue_status().retrains + call.digital_status().retrains, 0u);
  }
}

TEST(V90Echo, AChangeOfTheEchoIsLearntInASilentPeriodAndTheRateStays) {
  struct Case {
    double delay_ms, more_db;
    unsigned
        renegotiations;  // where decisions go wrong before the echo is found, the rate falls first, and rises later
  };
  for (const Case& k : {Case{5, -58, 1}, Case{5, -55, 1}, Case{5, -50, 3}, Case{150, -55, 1}}) {
    SCOPED_TRACE(testing::Message() << k.delay_ms << " " << k.more_db);
    V90Call::Options o = V90Call::from_phase2_on();
    o.trunk.delay_ms = k.delay_ms;
    V90Call call(o);
    ASSERT_TRUE(call.connect(20));
    call.run(1);
    call.added_echo_db(k.more_db);
    EXPECT_GT(longest_silence(call, 11), 0.74) << "the canceller needs 6000 samples";
    ASSERT_EQ(call.analogue_status().state, OH_PUMP_DATA);
    const uint64_t down = call.down().errors(), up = call.up().errors();
    call.run(10);
    EXPECT_EQ(call.down().errors(), down);
    EXPECT_EQ(call.up().errors(), up);
    EXPECT_EQ(call.analogue_status().rx_bit_rate, 56000u);
    EXPECT_LE(call.analogue_instruments().renegotiations, k.renegotiations);
    EXPECT_EQ(call.analogue_status().retrains + call.digital_status().retrains, 0u);
  }
}

TEST(V90Echo, NoiseThatIsNoEchoIsNoReasonForSilence) {
  V90Call call(V90Call::from_phase2_on());
  ASSERT_TRUE(call.connect(20));
  call.run(1);
  call.added_noise(15);
  EXPECT_LT(longest_silence(call, 5), 0.1);
  ASSERT_TRUE(call.connect(2));
  EXPECT_GE(call.analogue_instruments().renegotiations, 1u);
  EXPECT_LT(call.analogue_status().rx_bit_rate, 56000u);
  EXPECT_EQ(call.analogue_status().retrains + call.digital_status().retrains, 0u);
}

}  // namespace
}  // namespace offhook
