// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <thread>

#include "dsp/pump/pump_type.h"
#include "offhook/driver.h"
#include "offhook/modem_card.h"
#include "tests/unit/driver/manual_context.h"

namespace offhook {
namespace {

/// A card that another thread advances. Slot s of its ring always contains s, so a sample shows its position modulo the
/// ring, and only the positions are shared memory.
struct ThreadedCard {
  std::int16_t rx_ring[OH_MODEM_RING_SAMPLES];
  std::int16_t tx_ring[OH_MODEM_RING_SAMPLES] = {};
  std::atomic<std::uint64_t> position{0};
  std::atomic<std::uint32_t> block{1};
  ThreadedCard() {
    for (int i = 0; i < OH_MODEM_RING_SAMPLES; ++i) rx_ring[i] = static_cast<std::int16_t>(i);
  }
  oh_card card() {
    static const oh_card_ops ops = {
        [](void* self) { return static_cast<ThreadedCard*>(self)->position.load(); },
        [](void* self) { return static_cast<ThreadedCard*>(self)->position.load(); },
        [](void* self) { return static_cast<ThreadedCard*>(self)->position.load(); },
        [](void* self, std::uint32_t samples) {
          static_cast<ThreadedCard*>(self)->block = samples;
          return 0;
        },
        [](void*, std::uint64_t) {},
        [](void*, std::uint64_t) {},
        [](void*) { return std::uint64_t{0}; },
    };
    return {&ops, this, oh_modem_streams(OH_MODEM_RATE_HZ), rx_ring, tx_ring};
  }
};

struct CountingPump {
  std::uint64_t clock = 0;
  std::uint64_t filled_in = 0;
  std::uint64_t wrong = 0;
  void process(const std::int16_t* rx, std::int16_t* tx, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) {
      wrong += rx[i] != static_cast<int>((clock + i) % OH_MODEM_RING_SAMPLES);
      tx[i] = rx[i];
    }
    clock += n;
  }
  void report_gap(std::size_t n) {
    clock += n;
    filled_in += n;
  }
  oh_pump pump() { return pump_of(*this); }
};

/// The interrupt on one CPU and service on another, connected only by the driver. Also run under tsan.
TEST(DriverThreads, AnIsrOnAnotherCpuLosesNoSampleFromTheCount) {
  constexpr std::uint64_t kInterrupts = 100'000;
  ThreadedCard card;
  CountingPump pump;
  std::vector<oh_event> slots(1 << 10);
  oh_event_log log;
  ASSERT_EQ(oh_event_log_init(&log, slots.data(), slots.size(), 0), 0);
  auto driver = std::make_unique<oh_driver>();
  test::ManualContext context;
  oh_driver_config config{};
  config.card = card.card();
  std::vector<std::uint64_t> staging(oh_driver_staging_size(&config.card) / sizeof(std::uint64_t));
  config.staging = staging.data();
  config.pump = pump.pump();
  config.context = context.context();
  config.now_ns = [](void*) { return std::uint64_t{0}; };
  config.log = &log;
  config.policy = OH_SERVICE_ONE_BLOCK;
  config.transmit_lead_samples = 256;
  config.block_plan[0] = 5;
  config.block_plan_length = 1;
  ASSERT_EQ(oh_driver_init(driver.get(), &config), 0);

  std::atomic<bool> running{true};
  std::atomic<std::uint64_t> odd_blocks{0};
  std::thread interrupts([&] {
    for (std::uint64_t i = 0; i < kInterrupts; ++i) {
      const std::uint32_t block = card.block;
      odd_blocks += block != 5 && block != 7 && block != 11 && block != 13;
      card.position += block;
      oh_driver_isr(driver.get());
      if (i % 8 == 0) std::this_thread::yield();
    }
    running = false;
  });
  const std::uint32_t plans[2][2] = {{5, 7}, {11, 13}};
  std::uint64_t events = 0;
  oh_event out[64];
  for (std::uint64_t i = 0; running; ++i) {
    oh_driver_service(driver.get());
    events += oh_event_log_read(&log, out, 64);
    if (i % 16 == 0) oh_driver_set_block_plan(driver.get(), plans[i / 16 % 2], 2);
    if (i % 8 == 0) std::this_thread::yield();
  }
  interrupts.join();
  for (int i = 0; i < 2; ++i) {
    while (oh_driver_owed(driver.get()) > 0) oh_driver_service(driver.get());
    if (i == 0) oh_driver_isr(driver.get());  // if the queue was full at the end, this one takes the rest
  }
  while (const std::size_t n = oh_event_log_read(&log, out, 64)) events += n;

  EXPECT_EQ(pump.clock, card.position);
  EXPECT_EQ(pump.wrong, 0u);
  EXPECT_EQ(driver->counters.samples_served + driver->counters.samples_filled_in, pump.clock);
  EXPECT_EQ(driver->counters.interrupts, kInterrupts + 1);
  EXPECT_EQ(context.requests, kInterrupts + 1);
  EXPECT_EQ(odd_blocks, 0u);
  EXPECT_GE(events + oh_event_log_lost(&log), 3 * kInterrupts);  // three from each isr, plus those of service
}

}  // namespace
}  // namespace offhook
