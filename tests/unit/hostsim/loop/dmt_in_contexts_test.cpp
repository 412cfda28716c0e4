// SPDX-License-Identifier: MIT
//
// What a late block does to a DMT call, in the interrupt and under a reservation (docs/dmt.md has the figures).
#include "tests/unit/hostsim/loop/dmt_in_contexts.h"

#include <gtest/gtest.h>

namespace offhook {
namespace {

using namespace hostsim;
using test::DmtInContext;

LoopConfig loop() {
  LoopConfig c;
  c.cable = cable_named("CSA 6");
  return c;
}

Scenario in_interrupt() {
  Scenario s;
  s.context.kind = OH_CONTEXT_INTERRUPT;
  s.host.tick_hz = 1000;
  return s;
}

Scenario reserved(int x_ticks, int y_ticks) {
  Scenario s = in_interrupt();
  s.context.kind = OH_CONTEXT_RESERVATION;
  s.context.x_ticks = x_ticks;
  s.context.y_ticks = y_ticks;
  s.load.spinner = true;
  return s;
}

/// Something keeps interrupts off for so long, again and again.
Scenario held_off(Ns every_ns, Ns for_ns) {
  Scenario s = in_interrupt();
  LoadDevice holder;
  holder.name = "holder";
  holder.every_ns = every_ns;
  holder.isr_ns = for_ns;
  holder.level = 31;
  s.load.devices = {holder};
  return s;
}

TEST(DmtInContexts, NothingIsLostInTheInterruptNorUnderAThirdOfTheCpu) {
  for (const Scenario& s : {in_interrupt(), reserved(1, 3)}) {
    DmtInContext d(s, 2, loop());
    const CallResult r = d.run();
    EXPECT_TRUE(r.completed);
    EXPECT_GT(d.connected_s, 0);
    EXPECT_GT(d.call.remote.received + d.call.central.received, 500'000u);
    EXPECT_EQ(d.call.remote.wrong + d.call.central.wrong, 0u);
    EXPECT_EQ(d.call.remote_instruments().spoiled_symbols, 0u);
  }
}

// More is lost than the interleaver's 16 ms can spread: CRCs are wrong, and the bits go on in their places.
TEST(DmtInContexts, AHoldOffBeyondTheBuffersCostsSuperframesAndNoTraining) {
  DmtInContext d(held_off(1'700'000'000, 30'000'000), 3, loop());
  const CallResult r = d.run();
  const auto i = d.call.remote_instruments();
  EXPECT_FALSE(r.completed);
  EXPECT_GT(r.driver.samples_filled_in + r.card.underrun_samples, 0u);
  EXPECT_GT(i.spoiled_symbols, 0u);
  EXPECT_GT(i.lost_words, 0u);
  EXPECT_GT(i.crc_errors, 0u);
  EXPECT_LT(i.crc_errors, 8u);
  EXPECT_EQ(i.trainings, 1u);
  EXPECT_TRUE(d.call.in_data());
  // Half of the data mode came after the loss, and would be wrong if it were out of place.
  EXPECT_LT(d.call.remote.wrong, d.call.remote.received / 100);
  EXPECT_LT(d.call.central.wrong, d.call.central.received / 20);
  EXPECT_GT(d.call.central_instruments().crc_errors, 0u);
}

TEST(DmtInContexts, AReservationOfLessThanTheWorkNeverGetsThroughTheStartUp) {
  DmtInContext d(reserved(1, 5), 2, loop());
  const CallResult r = d.run();
  EXPECT_FALSE(r.completed);
  EXPECT_GT(r.driver.samples_filled_in, 0u);
  EXPECT_LT(d.connected_s, 0);
}

}  // namespace
}  // namespace offhook
