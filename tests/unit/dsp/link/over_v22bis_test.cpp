// SPDX-License-Identifier: MIT
// LAPM over the V.22bis pump: files both ways, byte for byte, whatever the line does.
#include <gtest/gtest.h>

#include "dsp/v22/pump.h"
#include "tests/unit/driver/user_modem/pump_pair.h"
#include "tests/unit/dsp/link/lapm_pair.h"

namespace offhook::test {
namespace {

class OverV22bis : public testing::Test {
 protected:
  void start(LineConfig line) {
    for (int i : {0, 1}) {
      ends_[i] = std::make_unique<End>(default_config(oh_pump_role(i), 2400));
      ends_[i]->to_send = random_bytes(2500, 5 + unsigned(i));
    }
    pair_ = std::make_unique<PumpPair>(oh_v22bis_type(), line, std::array{ends_[0]->port, ends_[1]->port});
  }
  /// Blocks of 100 samples; the links age only while their pump carries bits.
  void run(double seconds) {
    for (auto n = int(seconds * 80); n > 0 && !complete(); --n) {
      pair_->run(100);
      for (int i : {0, 1}) {
        if (pair_->status(i).state == OH_PUMP_DATA) oh_lapm_advance(ends_[i]->lapm, 100);
        ends_[i]->pump_bytes();
      }
    }
  }
  bool complete() const { return ends_[0]->received.size() >= 2500 && ends_[1]->received.size() >= 2500; }
  void expect_all_arrived() {
    for (int i : {0, 1}) {
      EXPECT_EQ(ends_[1 - i]->received, ends_[i]->to_send);
      EXPECT_EQ(ends_[i]->status().state, OH_LAPM_CONNECTED) << "cause " << ends_[i]->status().cause;
    }
  }
  std::unique_ptr<End> ends_[2];
  std::unique_ptr<PumpPair> pair_;
};

TEST_F(OverV22bis, CarriesFilesBothWaysOverACleanLine) {
  start({});
  run(40);
  expect_all_arrived();
  EXPECT_EQ(ends_[0]->status().retransmitted + ends_[1]->status().retransmitted, 0u);
}

TEST_F(OverV22bis, CarriesFilesBothWaysInNoiseOverALongDelay) {
  start({.delay_samples = 2400, .snr_db = 17});
  run(60);
  expect_all_arrived();
}

TEST_F(OverV22bis, SurvivesNoiseThatSpoilsFrames) {
  start({.snr_db = 17});
  ASSERT_TRUE(pair_->connect(10));  // the answer tone would not be recognised in the following signal
  pair_->set_snr(9);
  run(200);
  expect_all_arrived();
  EXPECT_GT(ends_[0]->status().bad_frames + ends_[1]->status().bad_frames, 0u);
  EXPECT_GT(ends_[0]->status().retransmitted + ends_[1]->status().retransmitted, 0u);
}

TEST_F(OverV22bis, GapsThatAreFilledInCostRetransmissionsNotBytes) {
  for (size_t gap : {105u, 400u}) {
    start({.snr_db = 25});
    run(10);
    for (int i = 0; i < 4; ++i) {
      pair_->lose(i & 1, gap);
      run(1.5);
    }
    run(60);
    expect_all_arrived();
    EXPECT_EQ(pair_->status(0).retrains + pair_->status(1).retrains, 0u);
    EXPECT_GT(ends_[0]->status().retransmitted + ends_[1]->status().retransmitted, 0u);
  }
}

TEST_F(OverV22bis, ASlipThatForcesARetrainLeavesTheLinkUp) {
  start({.snr_db = 25});
  run(10);
  pair_->lose(1, 7, false);  // half a symbol, without a report
  run(60);
  expect_all_arrived();
  EXPECT_GE(pair_->status(0).retrains, 1u);
}

}  // namespace
}  // namespace offhook::test
