// SPDX-License-Identifier: MIT
//
// A device without a line in each context, against what its latency must be.
#include "hostsim/call/soft_device.h"

#include <gtest/gtest.h>

#include "hostsim/call/call.h"
#include "hostsim/call/call_events.h"

using namespace offhook::hostsim;

namespace {

// 4 ms blocks of 1 ms of work in three buffers, so 8 ms of slack; the output is ready when the work ends.
SoftDevice device() {
  SoftDevice d;
  d.name = "test";
  d.rate_hz = 48'000;
  d.block_plan = {192};
  d.buffers = 3;
  d.cost_ns = 1'000'000;
  d.output_fraction = 1;
  d.isr_mean_ns = d.isr_max_ns = 0;
  return d;
}

Scenario scenario(const SoftDevice& d, const ContextScenario& context, bool spinner, double seconds = 20,
                  std::vector<LoadDevice> load = {}) {
  Scenario s;
  s.context = context;
  s.load.spinner = spinner;
  s.load.devices = std::move(load);
  s.host.tick_hz = 1000;
  s.host.quantum_ns = 20'000'000;
  s.device = d;
  s.device_s = seconds;
  return s;
}

CallResult run(const SoftDevice& d, const ContextScenario& context, bool spinner, double seconds = 20,
               std::vector<LoadDevice> load = {}) {
  const Scenario s = scenario(d, context, spinner, seconds, std::move(load));
  const auto call = make_device_call(s, no_samples(d), nullptr);
  while (call->advance(call->now() + 1'000'000'000)) {
  }
  return call->result();
}

ContextScenario context(oh_context_kind kind, int priority = 24) {
  ContextScenario c;
  c.kind = kind;
  c.priority = priority;
  return c;
}
ContextScenario reservation(int x, int y) {
  ContextScenario c = context(OH_CONTEXT_RESERVATION);
  c.x_ticks = x;
  c.y_ticks = y;
  c.strict = true;
  return c;
}

}  // namespace

TEST(SoftDeviceCall, RunsForItsTimeAndLosesNothingInEveryContextThatSuffices) {
  for (const ContextScenario& c :
       {context(OH_CONTEXT_INTERRUPT), context(OH_CONTEXT_DPC), context(OH_CONTEXT_THREAD), reservation(2, 6)}) {
    const CallResult r = run(device(), c, true);
    EXPECT_TRUE(r.completed);
    EXPECT_EQ(r.transfer_s, 20);
    EXPECT_EQ(r.samples_late, 0U);
    EXPECT_NEAR(static_cast<double>(r.blocks), 20 / 0.004, 3);
    EXPECT_NEAR(r.pump_share, 0.25, 1e-3);
  }
}

TEST(SoftDeviceCall, AThreadBesideAnEqualSpinnerLosesSamplesAndSaysSo) {
  const CallResult r = run(device(), context(OH_CONTEXT_THREAD, 8), true);
  EXPECT_FALSE(r.completed);
  EXPECT_TRUE(r.transfer.failed);
  EXPECT_GT(r.samples_late, 0U);
  EXPECT_TRUE(run(device(), context(OH_CONTEXT_THREAD, 8), false).completed);
}

// 1 ms of every 4 is exactly the share, and the slots do not move against the blocks; 1 of 5 is too little.
TEST(SoftDeviceCall, AReservationBelowTheShareIsOverrun) {
  EXPECT_TRUE(run(device(), reservation(1, 3), false).completed);
  EXPECT_FALSE(run(device(), reservation(1, 5), false).completed);
}

// Gap 7 ms: 7 + 1 ms of work end exactly at the slack of 8 ms; gap 8 ms does not fit.
TEST(SoftDeviceCall, TheGapEndsWhereTheLawSays) {
  EXPECT_TRUE(run(device(), reservation(6, 13), false).completed);
  EXPECT_FALSE(run(device(), reservation(6, 14), false).completed);
}

// A routine that needs 5 ms of every 4: blocks that come in the meantime are merged, but must still be computed.
TEST(SoftDeviceCall, MoreWorkThanTimeSufficesInNoContext) {
  SoftDevice d = device();
  d.cost_ns = 5'000'000;
  for (const ContextScenario& c :
       {context(OH_CONTEXT_INTERRUPT), context(OH_CONTEXT_DPC), context(OH_CONTEXT_THREAD)}) {
    const CallResult r = run(d, c, false);
    EXPECT_FALSE(r.completed);
    EXPECT_GT(r.driver.samples_filled_in, 0U);
    EXPECT_NEAR(static_cast<double>(r.driver.samples_served), 20 / 0.005 * 192, 2 * 192);
  }
}

// Interrupts are held off for 11 ms ten times a second: merged blocks cost as much as separate ones.
TEST(SoftDeviceCall, BlocksThatMergedCostWhatTheyWouldHaveInParts) {
  SoftDevice d = device();
  d.buffers = 8;
  LoadDevice controller;
  controller.every_ns = 100'000'000;
  controller.isr_ns = 11'000'000;
  controller.level = 31;
  const CallResult r = run(d, context(OH_CONTEXT_INTERRUPT), false, 20, {controller});
  EXPECT_TRUE(r.completed);
  EXPECT_LT(r.blocks, 20 / 0.004 - 100);
  EXPECT_NEAR(r.pump_share, 0.25, 1e-3);
}

// Without a log the clock has no events, and the driver no samples and no records: all other results must be equal.
TEST(SoftDeviceCall, CountsWithoutALogWhatALogSays) {
  SoftDevice slow = device(), other = device();
  slow.cost_ns = 5'000'000;
  other.rate_hz = 44'100;
  other.cost_spread = 0.3;
  other.isr_mean_ns = 5'400;
  other.isr_max_ns = 16'000;
  LoadDevice disk;
  disk.every_ns = 900'000;
  disk.jitter = 0.5;
  disk.isr_ns = 30'000;
  disk.dpc_ns = 200'000;
  std::uint64_t late = 0;
  for (const SoftDevice& d : {device(), slow, other}) {
    for (const ContextScenario& c : {context(OH_CONTEXT_INTERRUPT), context(OH_CONTEXT_DPC), context(OH_CONTEXT_THREAD),
                                     context(OH_CONTEXT_THREAD, 8), reservation(6, 13), reservation(1, 5)}) {
      for (const bool spinner : {false, true}) {
        const CallResult alone = run(d, c, spinner, 5, {disk});
        CallEvents log;
        const auto call = make_device_call(scenario(d, c, spinner, 5, {disk}), no_samples(d), log.log());
        ServiceCounts counted;
        while (!log.over()) {
          for (const oh_event& event : log.advance(*call)) {
            counted.blocks += event.kind == OH_EV_SERVICE_END;
            counted.blocks_late += event.kind == OH_EV_OUTPUT_READY && event.argument > 0;
            if (event.kind == OH_EV_SERVICE_END) counted.pending_max = std::max(counted.pending_max, event.argument);
          }
        }
        ASSERT_EQ(log.lost(), 0U);
        const CallResult logged = call->result();
        EXPECT_EQ(alone.served.blocks, counted.blocks);
        EXPECT_EQ(alone.served.blocks_late, counted.blocks_late);
        EXPECT_EQ(alone.served.pending_max, counted.pending_max);
        EXPECT_EQ(alone.simulated_s, logged.simulated_s);
        EXPECT_EQ(alone.pump_share, logged.pump_share);
        EXPECT_EQ(alone.blocks, logged.blocks);
        EXPECT_EQ(alone.samples_late, logged.samples_late);
        EXPECT_EQ(alone.driver.samples_filled_in, logged.driver.samples_filled_in);
        EXPECT_EQ(alone.card.underrun_samples, logged.card.underrun_samples);
        EXPECT_EQ(alone.card.overrun_samples, logged.card.overrun_samples);
        EXPECT_EQ(alone.devices.at(0).first_loss_s, logged.devices.at(0).first_loss_s);
        late += alone.served.blocks_late;
      }
    }
  }
  EXPECT_GT(late, 1000U);
}
