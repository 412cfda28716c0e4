// SPDX-License-Identifier: MIT
//
// A radio as the device of a simulated host: what the host loses and what the air loses are told apart.
#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "hostsim/air/air.h"
#include "hostsim/call/call.h"
#include "hostsim/call/radio_call.h"
#include "offhook/event_log.h"
#include "tests/unit/hostsim/call/device_run.h"

namespace offhook {
namespace {

using namespace hostsim;
using test::held_off;
using test::run_device;

[[maybe_unused]] const bool registered = (register_air(), true);

/// Blocks of half a slot of radio-burst, two buffers, a quarter of the CPU.
Scenario radio(double seconds, const char* context = "INT") {
  Scenario s;
  s.context = ContextSpec::parse(context);
  s.host.tick_hz = 8192;
  s.pump = PumpKind::kDevice;
  s.line_kind = LineKind::kAir;
  s.device.rate_hz = 4'000'000;
  s.device.block_plan = {1250};
  s.device.buffers = 2;
  s.device.cost_ns = 78'125;
  s.device.isr_mean_ns = s.device.isr_max_ns = 2'000;
  s.device_s = seconds;
  return s;
}

TEST(Air, EitherWaveformAtEitherEndLosesNothingInTheInterrupt) {
  for (const char* waveform : {"radio-burst", "radio-ofdm"}) {
    for (const oh_pump_role role : {OH_PUMP_CALL, OH_PUMP_ANSWER}) {
      SCOPED_TRACE(std::string(waveform) + (role == OH_PUMP_CALL ? ", calls" : ", answers"));
      Scenario s = radio(0.2);
      s.air.waveform = waveform;
      s.role = role;
      const CallResult r = run_device(s);
      EXPECT_TRUE(r.completed) << r.transfer.failure;
      ASSERT_NE(r.radio, nullptr);
      EXPECT_TRUE(r.radio->in_time());
      EXPECT_GT(r.radio->connected_s, 0);
      EXPECT_LT(r.radio->connected_s, 0.05);
      EXPECT_DOUBLE_EQ(r.radio->slot_s, s.air.waveform == "radio-burst" ? 0.625e-3 : 0.5e-3);
      for (const RadioDirection& d : {r.radio->received, r.radio->sent}) {
        EXPECT_GT(d.due, 100u);
        EXPECT_EQ(d.lost(), 0u);
        EXPECT_GT(d.bits, 80'000u);
        EXPECT_EQ(d.wrong_bits, 0u);
        EXPECT_GT(d.bit_rate, 900'000u);
        EXPECT_GT(d.snr_db, 20);
      }
    }
  }
}

TEST(Air, OfdmHasSlotsOfAQuarterToOneMillisecond) {
  for (const auto& [rate_hz, slot_s] : {std::pair{8'000'000u, 0.25e-3}, {4'000'000u, 0.5e-3}, {2'000'000u, 1e-3}}) {
    SCOPED_TRACE(rate_hz);
    Scenario s = radio(0.1);
    s.air.waveform = "radio-ofdm";
    s.device.rate_hz = rate_hz;
    s.device.block_plan = {1000};
    s.device.cost_ns = 10'000;
    s.air.offset_hz = 500;
    const CallResult r = run_device(s);
    EXPECT_TRUE(r.completed) << r.transfer.failure;
    ASSERT_NE(r.radio, nullptr);
    EXPECT_DOUBLE_EQ(r.radio->slot_s, slot_s);
    for (const RadioDirection& d : {r.radio->received, r.radio->sent}) {
      EXPECT_GE(d.due, static_cast<std::uint64_t>(0.08 / (2 * slot_s)));
      EXPECT_EQ(d.lost(), 0u);
      EXPECT_EQ(d.wrong_bits, 0u);
    }
  }
}

TEST(Air, AHoldOffBeyondTheBuffersCostsBurstsAndTheHostIsToBlame) {
  const CallResult r = run_device(held_off(radio(0.3), 50'000'000, 3'000'000));
  EXPECT_FALSE(r.completed);
  EXPECT_NE(r.transfer.failure.find("samples were lost"), std::string::npos) << r.transfer.failure;
  ASSERT_NE(r.radio, nullptr);
  EXPECT_TRUE(r.radio->in_data);
  EXPECT_EQ(r.radio->retrains, 0u);
  // Five times 3 ms, less the contents of the buffers: one to four slots of a direction, which come every 1.25 ms.
  for (const RadioDirection& d : {r.radio->received, r.radio->sent}) {
    EXPECT_GE(d.late, 5u);
    EXPECT_LE(d.late, 20u);
    EXPECT_EQ(d.late, d.lost());
    EXPECT_LT(d.lost(), d.due / 5);
  }
}

TEST(Air, NoiseLosesBurstsAndTheHostIsNotToBlame) {
  Scenario s = radio(0.3);
  s.air.snr_db = 5;
  const CallResult r = run_device(s);
  ASSERT_NE(r.radio, nullptr);
  EXPECT_GT(r.radio->received.lost() + r.radio->sent.lost(), 0u);
  EXPECT_EQ(r.radio->received.late + r.radio->sent.late, 0u);
  EXPECT_EQ(r.blocks_late, 0u);
  EXPECT_TRUE(r.completed) << r.transfer.failure;
}

TEST(Air, TheFirstLossEndsTheRunWhereItIsToldTo) {
  Scenario s = held_off(radio(0.3), 50'000'000, 3'000'000);
  s.stop_at_loss = true;
  const CallResult r = run_device(s);
  EXPECT_FALSE(r.completed);
  EXPECT_LT(r.simulated_s, 0.15);
  EXPECT_EQ(r.transfer.failure, "samples were lost");
}

TEST(Air, StatesRatesAndLostBurstsAreInTheLog) {
  std::vector<oh_event> ring(1 << 16), events(1 << 16);
  oh_event_log log{};
  ASSERT_EQ(oh_event_log_init(&log, ring.data(), ring.size(), 0), 0);
  const CallResult r = run_device(held_off(radio(0.12), 50'000'000, 3'000'000), &log);
  events.resize(oh_event_log_read(&log, events.data(), events.size()));
  ASSERT_EQ(oh_event_log_lost(&log), 0u);
  std::uint32_t lost[2]{}, states[2]{}, rates = 0;
  for (const oh_event& e : events) {
    if (e.kind == OH_EV_LINK_BAD_FRAME) lost[e.id] = e.argument;
    if (e.kind == OH_EV_PUMP_STATE) states[e.id] = e.argument;
    if (e.kind == OH_EV_PUMP_RATES && e.id == 0) rates = e.argument;
  }
  EXPECT_GT(r.radio->received.lost(), 0u);
  EXPECT_EQ(lost[0], r.radio->received.lost());
  EXPECT_EQ(lost[1], r.radio->sent.lost());
  EXPECT_EQ(states[0], std::uint32_t{OH_PUMP_DATA});
  EXPECT_EQ(states[1], std::uint32_t{OH_PUMP_DATA});
  EXPECT_EQ(rates >> 16, r.radio->received.bit_rate / 100);
}

// A sweep starts many threads. If FFTW's planner ran in two of them, it would damage the heap.
TEST(Air, RadiosOnSeveralThreadsAreMadeAndGivenBackAtOnce) {
  const auto sent = [] {
    std::uint64_t sum = 0;
    for (int k = 0; k < 20; ++k) {
      Scenario s = radio(0.005);
      s.air.waveform = k % 2 == 0 ? "radio-burst" : "radio-ofdm";
      sum += run_device(s).driver.blocks_served;
    }
    return sum;
  };
  std::uint64_t other = 0;
  std::thread thread([&] { other = sent(); });
  const std::uint64_t one = sent();
  thread.join();
  EXPECT_GT(one, 0u);
  EXPECT_EQ(one, other);
}

TEST(Air, ADeviceOfAnotherRateIsRefusedByItsRate) {
  Scenario s = radio(1);
  s.device.rate_hz = 8000;
  try {
    (void)make_device_call(s, nullptr);
    FAIL();
  } catch (const std::invalid_argument& e) {
    EXPECT_STREQ(e.what(), "a card of 8000 samples/s; expected 4000000 for radio-burst");
  }
}

}  // namespace
}  // namespace offhook
