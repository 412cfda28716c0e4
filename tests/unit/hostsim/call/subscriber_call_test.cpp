// SPDX-License-Identifier: MIT
//
// What a late block does to a DMT pump, in the interrupt and under a reservation (docs/dmt.md has the figures): 4 ms
// blocks, three buffers, a quarter of the CPU, as the literature has G.lite.
#include "hostsim/call/subscriber_call.h"

#include <gtest/gtest.h>
#include <pthread.h>

#include <cstring>
#include <memory>

#include "hostsim/call/call.h"
#include "hostsim/call/connection.h"
#include "offhook/event_log.h"
#include "tests/unit/hostsim/call/device_run.h"

namespace offhook {
namespace {

using namespace hostsim;
using test::held_off;
using test::run_device;

Scenario g_lite(double seconds) {
  Scenario s;
  s.context.kind = OH_CONTEXT_INTERRUPT;
  s.host.tick_hz = 1000;
  s.pump = PumpKind::kDevice;
  s.line_kind = LineKind::kSubscriberLoop;
  s.loop.cable = "CSA 6";
  s.device.rate_hz = 1'104'000;
  s.device.block_plan = {4416};
  s.device.buffers = 3;
  s.device.cost_ns = 1'000'000;
  s.device.isr_mean_ns = s.device.isr_max_ns = 5'000;
  s.device_s = seconds;
  return s;
}

Scenario reserved(int x_ticks, int y_ticks, double seconds) {
  Scenario s = g_lite(seconds);
  s.context.kind = OH_CONTEXT_RESERVATION;
  s.context.x_ticks = x_ticks;
  s.context.y_ticks = y_ticks;
  s.load.spinner = true;
  return s;
}

TEST(SubscriberCall, NothingIsLostInTheInterruptNorUnderAThirdOfTheCpu) {
  for (const Scenario& s : {g_lite(2), reserved(1, 3, 2)}) {
    const CallResult r = run_device(s);
    EXPECT_TRUE(r.completed) << r.transfer.failure;
    EXPECT_EQ(r.blocks_late, 0u);
    ASSERT_NE(r.dmt, nullptr);
    EXPECT_TRUE(r.dmt->intact());
    EXPECT_GT(r.dmt->trained_s, 1);
    EXPECT_GT(r.dmt->down.bits, 500'000u);
    EXPECT_GT(r.dmt->up.bits, 100'000u);
    EXPECT_EQ(r.dmt->down.pump.spoiled_symbols + r.dmt->up.pump.spoiled_symbols, 0u);
    EXPECT_GE(r.dmt->down.margin_db, 6);
    EXPECT_LT(r.dmt->down.margin_db, 6 + 3.1);  // one more bit would not fit on the tone with the least margin
  }
}

// More is lost than the interleaver's 16 ms can spread: CRCs are wrong, and the next bits stay in their places.
TEST(SubscriberCall, AHoldOffBeyondTheBuffersCostsSuperframesAndNoTraining) {
  const CallResult r = run_device(held_off(g_lite(3), 1'700'000'000, 30'000'000));
  EXPECT_FALSE(r.completed);
  EXPECT_GT(r.driver.samples_filled_in + r.card.underrun_samples, 0u);
  EXPECT_GT(r.dmt->down.pump.spoiled_symbols, 0u);
  EXPECT_GT(r.dmt->down.pump.lost_words, 0u);
  EXPECT_GT(r.dmt->down.pump.crc_errors, 0u);
  EXPECT_LT(r.dmt->down.pump.crc_errors, 8u);
  EXPECT_GT(r.dmt->up.pump.crc_errors, 0u);
  EXPECT_EQ(r.dmt->trainings, 1u);
  EXPECT_TRUE(r.dmt->in_data);
  // Half of the data mode came after the loss; if the bits were out of place, the pattern would be lost.
  EXPECT_EQ(r.dmt->down.pattern_losses + r.dmt->up.pattern_losses, 0u);
  EXPECT_LT(r.dmt->down.wrong_bits, r.dmt->down.bits / 100);
  EXPECT_NE(r.transfer.failure.find("samples were lost"), std::string::npos) << r.transfer.failure;
}

TEST(SubscriberCall, AReservationOfLessThanTheWorkNeverGetsThroughTheStartUp) {
  const CallResult r = run_device(reserved(1, 5, 2));
  EXPECT_FALSE(r.completed);
  EXPECT_GT(r.driver.samples_filled_in, 0u);
  EXPECT_LT(r.dmt->trained_s, 0);
}

TEST(SubscriberCall, TheFirstLossEndsTheRunWhereItIsToldTo) {
  Scenario s = reserved(1, 5, 2);
  s.stop_at_loss = true;
  const CallResult r = run_device(s);
  EXPECT_FALSE(r.completed);
  EXPECT_LT(r.simulated_s, 0.5);
  EXPECT_EQ(r.transfer.failure, "samples were lost");
}

TEST(SubscriberCall, TheExchangesEndCanBeTheSoftOne) {
  Scenario s = g_lite(2);
  s.role = OH_PUMP_ANSWER;
  const CallResult r = run_device(s);
  EXPECT_TRUE(r.completed) << r.transfer.failure;
  EXPECT_GT(r.dmt->down.gross_bit_rate, 2 * r.dmt->up.gross_bit_rate);
}

TEST(SubscriberCall, CellsFillWhatThePumpCarriesAndTheirHecIsRight) {
  Scenario s = g_lite(2);
  s.protocol = TransferProtocol::kAtm;
  const CallResult r = run_device(s);
  EXPECT_TRUE(r.completed) << r.transfer.failure;
  for (const DmtDirection& d : {r.dmt->down, r.dmt->up}) {
    ASSERT_TRUE(d.cells);
    EXPECT_EQ(d.cells->hec_errors + d.cells->losses + d.wrong_bits, 0u);
    // All except the bits that find the pattern's place, and the current cell.
    EXPECT_GT(d.cells->received, 500u);
    EXPECT_GE(d.bits + std::uint64_t{3} * 8 * 48, d.cells->received * 8 * 48);
  }
  // A symbol carries the same octets, independent of their meaning.
  EXPECT_EQ(r.dmt->down.gross_bit_rate, run_device(g_lite(2)).dmt->down.gross_bit_rate);
}

TEST(SubscriberCall, CellsThatALateBlockBrokeAreDroppedAndCounted) {
  Scenario s = held_off(g_lite(3), 1'700'000'000, 30'000'000);
  s.protocol = TransferProtocol::kAtm;
  const CallResult r = run_device(s);
  EXPECT_FALSE(r.completed);
  ASSERT_TRUE(r.dmt->down.cells);
  EXPECT_GT(r.dmt->down.cells->hec_errors, 0u);
  // The cells after it are whole: each piece of the pattern is compared from its own place.
  EXPECT_LT(r.dmt->down.wrong_bits, r.dmt->down.bits / 100);
  EXPECT_EQ(r.dmt->down.pattern_losses, 0u);
}

TEST(SubscriberCall, StatesRatesAndWrongSuperframesAreInTheLog) {
  std::vector<oh_event> ring(1 << 16), events(1 << 16);
  oh_event_log log{};
  ASSERT_EQ(oh_event_log_init(&log, ring.data(), ring.size(), 0), 0);
  const CallResult r = run_device(held_off(g_lite(2.4), 1'700'000'000, 30'000'000), &log);
  events.resize(oh_event_log_read(&log, events.data(), events.size()));
  ASSERT_EQ(oh_event_log_lost(&log), 0u);
  std::uint32_t wrong[2]{}, states[2]{}, rates = 0;
  for (const oh_event& e : events) {
    if (e.kind == OH_EV_LINK_BAD_FRAME) wrong[e.id] = e.argument;
    if (e.kind == OH_EV_PUMP_STATE) states[e.id] = e.argument;
    if (e.kind == OH_EV_PUMP_RATES && e.id == 0) rates = e.argument;
  }
  EXPECT_GT(r.dmt->down.pump.crc_errors, 0u);
  EXPECT_EQ(wrong[0], r.dmt->down.pump.crc_errors);
  EXPECT_EQ(wrong[1], r.dmt->up.pump.crc_errors);
  EXPECT_EQ(states[0], std::uint32_t{OH_PUMP_DATA});
  EXPECT_EQ(states[1], std::uint32_t{OH_PUMP_DATA});
  EXPECT_EQ(100 * (rates >> 16), r.dmt->down.net_bit_rate);
  EXPECT_EQ(100 * (rates & 0xffff), r.dmt->up.net_bit_rate);
}

/// One block of a pump on a thread with a painted stack.
struct PaintedStack {
  static constexpr std::size_t kOctets = 1 << 18;
  static constexpr unsigned char kPaint = 0xa5;
  PaintedStack() { std::memset(stack, kPaint, kOctets); }
  void run(void* (*function)(void*), void* argument) {
    pthread_attr_t attributes;
    pthread_t thread;
    pthread_attr_init(&attributes);
    ASSERT_EQ(pthread_attr_setstack(&attributes, stack, kOctets), 0);
    ASSERT_EQ(pthread_create(&thread, &attributes, function, argument), 0);
    ASSERT_EQ(pthread_join(thread, nullptr), 0);
    pthread_attr_destroy(&attributes);
  }
  std::size_t used() const {
    std::size_t untouched = 0;
    while (untouched < kOctets && stack[untouched] == kPaint) ++untouched;
    return kOctets - untouched;
  }
  alignas(4096) unsigned char stack[kOctets];
};

// A kernel thread has 16 KiB, of which other code needs 6 (tests/live/kernel/user.c).
TEST(SubscriberCall, ThePumpsNeedNoMoreStackThanAKernelLeavesThem) {
#if !defined(NDEBUG) || defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "nothing is inlined, and all is larger";
#endif
  for (const oh_pump_role role : {OH_PUMP_CALL, OH_PUMP_ANSWER}) {
    Scenario s = g_lite(2);
    s.role = role;
    s.device.rate_hz = 2'208'000;
    const auto connection = make_device_connection(s, nullptr);
    struct Block {
      oh_pump pump;
      std::vector<std::int16_t> rx = std::vector<std::int16_t>(8 * 1104), tx = rx;
    } block{connection->near_pump()};
    const oh_line_end line = connection->line();
    const auto stack = std::make_unique<PaintedStack>();
    stack->run([](void* unused) { return unused; }, nullptr);
    const std::size_t none = stack->used();
    connection->start(0);
    for (int k = 0; k < 450; ++k) {
      line.exchange(line.self, block.tx.data(), block.rx.data(), 1104);
      stack->run(
          [](void* self) {
            auto& b = *static_cast<Block*>(self);
            b.pump.process(b.pump.self, b.rx.data(), b.tx.data(), 1104);
            return self;
          },
          &block);
      connection->exchange_user_data(4'000'000 * (k + 1));
    }
    EXPECT_TRUE(connection->in_data());
    EXPECT_LE(stack->used() - none, 16384u - 6144u);
  }
}

TEST(SubscriberCall, ADeviceOfAnotherRateIsRefusedByItsRate) {
  Scenario s = g_lite(1);
  s.device.rate_hz = 8000;
  EXPECT_THROW((void)make_device_call(s, nullptr), std::invalid_argument);
  s.device.rate_hz = 1'104'000;
  s.device.block_plan = {4417};
  EXPECT_THROW((void)make_device_call(s, nullptr), std::invalid_argument);
}

}  // namespace
}  // namespace offhook
