// SPDX-License-Identifier: MIT
#include "src/lab/analysis/tally.h"

#include <gtest/gtest.h>

#include "dsp/link/lapm.h"
#include "offhook/pump.h"

using namespace offhook;

namespace {

constexpr std::uint64_t kMs = 1'000'000;

template <typename Tally>
void add(Tally& tally, std::uint64_t ms, oh_event_kind kind, std::uint32_t argument) {
  tally.add({ms * kMs, static_cast<std::uint8_t>(kind), 0, 0, argument});
}

}  // namespace

TEST(ServiceTally, EachLossIsCountedByItsOwnRecord) {
  ServiceTally t;
  EXPECT_FALSE(t.losses.any());
  for (const std::uint32_t late : {0, 3, 5}) add(t, 1, OH_EV_OUTPUT_READY, late);
  for (const std::uint32_t pending : {40, 70, 10}) add(t, 2, OH_EV_SERVICE_END, pending);
  add(t, 3, OH_EV_INTERRUPT, 105);
  EXPECT_EQ(t.losses.blocks_late, 2u);
  EXPECT_EQ(t.losses.samples_late, 8u);
  EXPECT_EQ(t.blocks, 3u);
  EXPECT_EQ(t.pending_max, 70u);
  EXPECT_EQ(t.interrupts, 1u);
  for (const oh_event_kind kind : {OH_EV_RX_OVERRUN, OH_EV_TX_UNDERRUN, OH_EV_FILL_IN, OH_EV_OUTPUT_READY}) {
    ServiceTally one;
    add(one, 1, kind, 7);
    EXPECT_TRUE(one.losses.any()) << kind;
    EXPECT_EQ(one.losses.overrun_samples + one.losses.underrun_samples + one.losses.samples_filled_in +
                  one.losses.samples_late,
              7u)
        << kind;
  }
}

TEST(ServiceTally, LateBlocksInARowAreOneBurst) {
  ServiceTally t;
  for (const std::uint32_t late : {0, 3, 5, 1, 0, 0, 7, 0, 2, 2}) add(t, 1, OH_EV_OUTPUT_READY, late);
  EXPECT_EQ(t.losses.blocks_late, 6u);
  EXPECT_EQ(t.late_bursts, 3u);
  EXPECT_EQ(t.longest_burst, 3u);
}

TEST(TransferTally, TimeIsFromTheLinkWhereThereIsOneElseFromTheFirstDataMode) {
  TransferTally direct;
  add(direct, 1000, OH_EV_PUMP_STATE, OH_PUMP_TRAINING);
  add(direct, 2000, OH_EV_PUMP_STATE, OH_PUMP_DATA);
  add(direct, 2200, OH_EV_PUMP_STATE, OH_PUMP_TRAINING);
  add(direct, 2500, OH_EV_PUMP_STATE, OH_PUMP_DATA);
  TransferTally v42 = direct;
  add(v42, 2600, OH_EV_LINK_STATE, OH_LAPM_ESTABLISHMENT);
  add(v42, 3000, OH_EV_LINK_STATE, OH_LAPM_CONNECTED);
  for (TransferTally* t : {&direct, &v42}) {
    add(*t, 3500, OH_EV_LINK_BYTES, 10);
    add(*t, 4000, OH_EV_LINK_BYTES, 20);
  }
  EXPECT_DOUBLE_EQ(direct.seconds(), 2) << "a retrain belongs to the transfer";
  EXPECT_DOUBLE_EQ(v42.seconds(), 1);
  EXPECT_DOUBLE_EQ(TransferTally{}.seconds(), 0);

  TransferTally noticed;
  add(noticed, 900, OH_EV_PHASE, 2);
  add(noticed, 1000, OH_EV_LINK_STATE, OH_LAPM_CONNECTED);
  add(noticed, 1010, OH_EV_PHASE, 3);
  add(noticed, 1500, OH_EV_PHASE, 4);
  add(noticed, 2010, OH_EV_LINK_BYTES, 10);
  EXPECT_DOUBLE_EQ(noticed.seconds(), 1) << "by the clock of the user at both ends";
}

TEST(TransferTally, IsOverWithTheLastByteAndNotWithAFrameThatCameTwice) {
  TransferTally t;
  add(t, 1000, OH_EV_PUMP_STATE, OH_PUMP_DATA);
  add(t, 2000, OH_EV_LINK_BYTES, 99);
  EXPECT_FALSE(t.outcome(100).complete);
  EXPECT_EQ(t.outcome(100).transfer_s, 0);
  add(t, 3000, OH_EV_LINK_BYTES, 100);
  add(t, 3500, OH_EV_LINK_BYTES, 100);
  EXPECT_TRUE(t.outcome(100).complete);
  EXPECT_DOUBLE_EQ(t.outcome(100).transfer_s, 2);
}
