// SPDX-License-Identifier: MIT
// Phase 2 of a retrain, where both ends know the line already.
#include <gtest/gtest.h>

#include <cmath>
#include <memory>

#include "dsp/v34/phase2/phase2.h"
#include "tests/unit/dsp/v34/phase2_pair.h"

namespace offhook::v34 {
namespace {

// An answer modem that has lost the line waits meanwhile, and a live one gives up 2.8 s after its retrain began.
TEST(Phase2, InARetrainTheCallModemsToneComesEarlyInL2) {
  for (const bool by_answer : {true, false}) {
    auto p = std::make_unique<Phase2Pair>();
    p->start();
    ASSERT_TRUE(p->run_to_end());
    const uint8_t rates[2] = {p->call.outcome().tx_projected_rate, p->call.outcome().rx_projected_rate};
    (by_answer ? p->answer : p->call).retrain();
    ASSERT_TRUE(p->run(1, [&] { return (by_answer ? p->sent_answer : p->sent_call).back() != 0; }));
    (by_answer ? p->call : p->answer).retrain();  // the pumps wait for that tone, not Phase 2
    ASSERT_TRUE(p->run(20, [&] { return p->answer.state() == Phase2::State::kProbe; }));
    const double l2_heard = p->seconds() * 1000 + 160 + p->round_trip_ms() / 2;
    ASSERT_TRUE(p->run(20, [&] { return p->call.state() == Phase2::State::kSecondTone; }));
    const double tone = p->seconds() * 1000 - l2_heard;
    EXPECT_GT(tone, 128 + 64) << "two windows, the second half over the first";
    EXPECT_LT(tone, 128 + 64 + 40);
    ASSERT_TRUE(p->run_to_end());
    EXPECT_EQ(p->call.outcome().tx_projected_rate, rates[0]);
    EXPECT_EQ(p->call.outcome().rx_projected_rate, rates[1]) << "no worse for it";
  }
}

// Checklist V34-RT-1 to -4: silence of 70 +- 5 ms, then only this end's tone, whichever end begins.
TEST(Phase2, V34_RT_1_4_ARetrainBeginsWith70MsOfSilenceAndTheOwnTone) {
  for (const bool by_answer : {true, false}) {
    auto p = std::make_unique<Phase2Pair>();
    p->start();
    ASSERT_TRUE(p->run_to_end());
    constexpr float kSilent = 10;  // of a tone of 5000
    auto& sent = by_answer ? p->sent_answer : p->sent_call;
    const size_t begun = sent.size();
    (by_answer ? p->answer : p->call).retrain();
    p->run(0.3, [] { return false; });
    constexpr size_t kTail = 40;  // of the previous INFO sequence
    size_t first = begun + kTail;
    while (first < sent.size() && std::abs(sent[first]) < kSilent) ++first;
    EXPECT_NEAR(static_cast<double>(first - begun) / 8, 70, 5);
    ToneDetector own(by_answer ? 2400 : 1200), other(by_answer ? 1200 : 2400);  // tones A and B, 10.1.2
    for (size_t n = first; n < sent.size(); ++n) own.put(sent[n]), other.put(sent[n]);
    EXPECT_TRUE(own.present()) << by_answer;
    EXPECT_FALSE(other.present()) << by_answer;
  }
}

}  // namespace
}  // namespace offhook::v34
