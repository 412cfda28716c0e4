// SPDX-License-Identifier: MIT
//
// The loopback pumps in every context of the simulator and on the timer card: each plays the very samples that the pump
// gives when it is called directly.
#include "tests/loopback/loopback.h"

#include <gtest/gtest.h>

#include <memory>
#include <new>
#include <vector>

#include "driver/live/timer_card.h"
#include "hostsim/call/call.h"
#include "tests/unit/driver/manual_context.h"

namespace offhook {
namespace {

using namespace hostsim;

struct Memory {
  explicit Memory(const loopback& of) : kind(of), self(::operator new (of.size(), std::align_val_t{64})) {
    EXPECT_EQ(kind.init(self), 0);
  }
  ~Memory() { ::operator delete (self, std::align_val_t{64}); }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  loopback_result result() const { return kind.result(self); }
  const loopback& kind;
  void* self;
};

/// The pump and its line connected without a driver, with the lead as silence in between, for this many periods.
loopback_result directly(const loopback& kind, std::uint64_t periods) {
  Memory memory(kind);
  const oh_pump pump = kind.pump(memory.self);
  const oh_line_end line = kind.line(memory.self);
  const oh_ring rx = oh_ring_of(&kind.streams, &kind.streams.rx, nullptr);
  const oh_ring tx = oh_ring_of(&kind.streams, &kind.streams.tx, nullptr);
  std::vector<std::uint8_t> queue((kind.transmit_lead + periods + kind.block) * tx.period_octets, tx.silence);
  std::vector<std::uint8_t> captured(kind.block * rx.period_octets);
  for (std::uint64_t at = 0; at < periods;) {
    const auto n = static_cast<std::uint32_t>(std::min<std::uint64_t>(periods - at, kind.block));
    line.exchange(line.self, &queue[at * tx.period_octets], captured.data(), n);
    pump.process(pump.self, captured.data(), &queue[(at + kind.transmit_lead) * tx.period_octets], n);
    at += n;
  }
  return memory.result();
}

class Loopback : public testing::TestWithParam<int> {
 protected:
  const loopback& kind() const { return *loopback_at(GetParam()); }
};

TEST_P(Loopback, GivesBackWhatTheLineSent) {
  const loopback_result r = directly(kind(), 100 * kind().block);
  EXPECT_GT(r.checked, 5000u);
  EXPECT_EQ(r.wrong, 0u);
}

TEST_P(Loopback, PlaysTheSameSamplesInEverySimulatedContext) {
  Scenario s;
  SoftDevice& device = s.device;
  device.rate_hz = oh_streams_rate_hz(&kind().streams);
  device.block_plan = {kind().block};
  device.cost_ns = static_cast<Ns>(0.25e9 * kind().block / device.rate_hz);  // a quarter of the CPU
  device.isr_mean_ns = device.isr_max_ns = 5'000;
  device.transmit_lead_samples = kind().transmit_lead;
  device.buffers = (kind().transmit_lead + kind().block - 1) / kind().block;
  for (const oh_context_kind context :
       {OH_CONTEXT_INTERRUPT, OH_CONTEXT_DPC, OH_CONTEXT_THREAD, OH_CONTEXT_RESERVATION}) {
    SCOPED_TRACE(static_cast<int>(context));
    Memory memory(kind());
    s.context.kind = context;
    s.context.priority = 24;
    s.context.x_ticks = 1;
    s.context.y_ticks = 3;
    s.host.tick_hz = 1000;
    s.load.spinner = true;
    s.device_s = 1;
    const DeviceWork work = {kind().streams, kind().pump(memory.self), kind().line(memory.self)};
    const auto call = make_device_call(s, work, nullptr);
    while (call->advance(call->now() + 1'000'000'000)) {
    }
    const CallResult result = call->result();
    EXPECT_TRUE(result.completed);
    EXPECT_EQ(result.samples_late + result.card.underrun_samples + result.card.overrun_samples, 0u);
    const loopback_result got = memory.result(), expected = directly(kind(), got.periods);
    EXPECT_GT(got.checked, 5000u);
    EXPECT_EQ(got.wrong, 0u);
    EXPECT_EQ(got.hash, expected.hash);
  }
}

// The waiting thread serves immediately, however late it runs, so no sample is lost on the slowest machine.
TEST_P(Loopback, PlaysTheSameSamplesOnTheTimerCard) {
  Memory memory(kind());
  TimerCard card(kind().line(memory.self), kind().streams);
  oh_driver driver;
  oh_driver_config config{};
  config.card = card.card();
  std::vector<std::uint64_t> staging(oh_driver_staging_size(&config.card) / sizeof(std::uint64_t));
  config.staging = staging.data();
  config.pump = kind().pump(memory.self);
  test::ManualContext context;
  config.context = context.context();
  config.policy = OH_SERVICE_DRAIN_ALL;
  config.transmit_lead_samples = kind().transmit_lead;
  config.block_plan[0] = kind().block;
  config.block_plan_length = 1;
  ASSERT_EQ(oh_driver_init(&driver, &config), 0);
  card.start();
  for (int block = 0; block < 40; ++block) {
    ASSERT_EQ(card.wait(), LiveCard::Wait::kInterrupt);
    oh_driver_isr(&driver);
    oh_driver_service(&driver);
  }
  const loopback_result expected = directly(kind(), oh_card_position(&card.state())), got = memory.result();
  EXPECT_GT(got.checked, 1000u);
  EXPECT_EQ(got.wrong, 0u);
  EXPECT_EQ(got.hash, expected.hash);
}

// A pump that lost samples stays synchronised, and the gap is silence in its own encoding.
TEST_P(Loopback, FillsLostSamplesInAndGoesOnInStep) {
  Memory memory(kind());
  const oh_line_end line = kind().line(memory.self);
  const CardMemory shared(kind().streams);
  oh_card_engine engine;
  oh_card_engine_init(&engine, &shared.card(), nullptr);
  oh_driver driver;
  oh_driver_config config{};
  config.card = shared.card();
  std::vector<std::uint64_t> staging(oh_driver_staging_size(&config.card) / sizeof(std::uint64_t));
  config.staging = staging.data();
  config.pump = kind().pump(memory.self);
  test::ManualContext context;
  config.context = context.context();
  config.policy = OH_SERVICE_DRAIN_ALL;
  config.transmit_lead_samples = kind().transmit_lead;
  config.block_plan[0] = kind().block;
  config.block_plan_length = 1;
  ASSERT_EQ(oh_driver_init(&driver, &config), 0);
  oh_card_engine_start(&engine, 0);
  const auto pass = [&](int blocks, bool serve) {
    for (int i = 0; i < blocks; ++i) {
      ASSERT_EQ(oh_card_engine_run(&engine, &line, oh_card_engine_left(&engine), 0), 1u);
      oh_driver_isr(&driver);
      if (serve) oh_driver_service(&driver);
    }
  };
  pass(40, true);
  EXPECT_EQ(memory.result().wrong, 0u);
  pass(20, false);  // without service, both rings wrap around
  oh_driver_service(&driver);
  EXPECT_GT(driver.counters.samples_filled_in, 0u);
  EXPECT_EQ(oh_card_counts(&shared.state()).overrun_samples, driver.counters.samples_filled_in);
  pass(20, true);
  const loopback_result before = memory.result();
  pass(40, true);
  const loopback_result after = memory.result();
  EXPECT_GT(before.wrong, 0u);
  EXPECT_EQ(after.wrong, before.wrong);
  EXPECT_GT(after.checked, before.checked);
}

INSTANTIATE_TEST_SUITE_P(Pumps, Loopback, testing::Range(0, int{LOOPBACKS}),
                         [](const auto& param) { return std::string(loopback_at(param.param)->name); });

}  // namespace
}  // namespace offhook
