// SPDX-License-Identifier: MIT
#include "hostsim/host/card.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <memory>
#include <random>
#include <stdexcept>
#include <vector>

#include "driver/core/line_end.h"
#include "dsp/pump/pump_type.h"
#include "hostsim/engine/wide.h"
#include "offhook/driver.h"
#include "tests/unit/driver/manual_context.h"

namespace offhook::hostsim {
namespace {

constexpr Ns kMs = 1'000'000;
constexpr Ns kSecond = 1'000'000'000;

/// Sends a counter and keeps the played samples.
struct CountingLine : LineEnd {
  std::vector<std::int16_t> played;
  static std::int16_t sample(std::uint64_t position) { return static_cast<std::int16_t>(1 + position % 32003); }
  void exchange(const std::int16_t* tx, std::int16_t* rx, std::size_t n) override {
    for (std::size_t i = 0; i < n; ++i) {
      rx[i] = sample(played.size());
      played.push_back(tx[i]);
    }
  }
};

std::vector<oh_event> drain(oh_event_log& log) {
  std::vector<oh_event> out(1 << 12);
  out.resize(oh_event_log_read(&log, out.data(), out.size()));
  return out;
}

struct LoggedCard {
  CountingLine line;
  std::vector<oh_event> slots = std::vector<oh_event>(1 << 12);
  oh_event_log log{};
  std::unique_ptr<SimulatedCard> sim;
  std::vector<Ns> interrupts;
  oh_card ports{};
  explicit LoggedCard(CardConfig config = {}) {
    oh_event_log_init(&log, slots.data(), slots.size(), 0);
    config.log = &log;
    sim = std::make_unique<SimulatedCard>(config, line.handle());
    sim->on_interrupt([this](Ns now) { interrupts.push_back(now); });
    ports = sim->card();
  }
  void keep_up() {  // a perfect driver
    ports.ops->rx_read(ports.self, ports.ops->rx_position(ports.self));
    ports.ops->tx_written(ports.self, ports.ops->tx_position(ports.self) + OH_MODEM_RING_SAMPLES);
  }
};

TEST(SampleClock, IsTheFloorOfTheExactTimeForADay) {
  const SampleClock clock(5, 7200, 0);  // 138888.8... ns
  EXPECT_EQ(clock.time_of(0), 5);
  EXPECT_EQ(clock.time_of(1), 5 + 138'888);
  EXPECT_EQ(clock.time_of(9), 5 + 1'250'000);
  EXPECT_EQ(clock.time_of(std::uint64_t{7200} * 86'400), 5 + 86'400 * kSecond);
  const SampleClock fast(0, 8000, 100'000);  // +100 ppm: 8000.8 Hz
  EXPECT_EQ(fast.time_of(8'000'800), 1000 * kSecond);
  EXPECT_EQ(fast.time_of(8'000'801), 1000 * kSecond + 124'987);
}

TEST(SampleClock, CountsASampleFromItsInstantOn) {
  std::mt19937_64 random(1);
  for (const std::uint32_t rate : {1u, 7200u, 8000u, 9600u, 44'100u, 1'000'000u}) {
    for (const std::int64_t ppb : {0l, 100'000l, -57'123l}) {
      const SampleClock clock(17, rate, ppb);
      EXPECT_EQ(clock.samples_at(0), 0u);
      for (int i = 0; i < 1000; ++i) {
        const std::uint64_t k = 1 + random() % (rate * 100'000ull);
        EXPECT_EQ(clock.samples_at(clock.time_of(k)), k);
        EXPECT_EQ(clock.samples_at(clock.time_of(k) - 1), k - 1);
      }
    }
  }
}

TEST(SampleClock, IsTheQuotientOfWholeNumbersAtAnyTime) {
  constexpr Wide kGigaSquared = Wide{1'000'000'000} * 1'000'000'000;
  std::mt19937_64 random(2);
  for (int i = 0; i < 200'000; ++i) {
    const auto rate = static_cast<std::uint32_t>(1 + random() % (random() % 2 == 0 ? 50'000 : 20'000'000));
    const std::int64_t ppb = random() % 3 == 0 ? 0 : static_cast<std::int64_t>(random() % 20'000'001) - 10'000'000;
    const Ns start = static_cast<Ns>(random() % 1'000'000'000),
             time = start + static_cast<Ns>(random() >> random() % 64 >> 15);
    const Wide rate_nano = Wide{rate} * (1'000'000'000 + ppb);
    const SampleClock clock(start, rate, ppb);
    const Wide samples = (Wide{time - start + 1} * rate_nano + kGigaSquared - 1) / kGigaSquared - 1;
    ASSERT_EQ(clock.samples_at(time), static_cast<std::uint64_t>(samples)) << rate << " Hz " << ppb << " at " << time;
    ASSERT_EQ(clock.time_of(static_cast<std::uint64_t>(samples)),
              start + static_cast<Ns>(samples * kGigaSquared / rate_nano));
  }
}

TEST(SimulatedCard, InterruptsAtTheExactEndOfEachBlock) {
  LoggedCard card({.streams = oh_modem_streams(7200), .block = 18});
  card.sim->start(1000);
  card.sim->advance_to(1000 + 2 * kSecond);
  ASSERT_EQ(card.interrupts.size(), 800u);  // 2.5 ms each
  for (std::size_t i = 0; i < 800; ++i) EXPECT_EQ(card.interrupts[i], 1000 + static_cast<Ns>(i + 1) * 2'500'000);
}

TEST(SimulatedCard, LatchesABlockLengthForTheBlockAfterTheOneUnderWay) {
  LoggedCard card({.block = 8});
  card.sim->start(0);
  card.sim->advance_to(1'500'000);
  EXPECT_EQ(card.ports.ops->set_block(card.ports.self, 16), 0);
  card.sim->advance_to(6 * kMs);
  EXPECT_EQ(card.interrupts, (std::vector<Ns>{1 * kMs, 2 * kMs, 4 * kMs, 6 * kMs}));
  EXPECT_EQ(card.ports.ops->set_block(card.ports.self, 0), -EINVAL);
  EXPECT_EQ(card.ports.ops->set_block(card.ports.self, 257), -EINVAL);
}

TEST(SimulatedCard, ChangesItsRateWithoutLosingASample) {
  LoggedCard card({.streams = oh_modem_streams(7200), .block = 90});
  card.sim->start(0);
  card.sim->advance_to(6'250'000);  // 45 samples
  card.sim->set_rate(6'250'000, 8000);
  EXPECT_EQ(card.sim->position(), 45u);
  card.sim->advance_to(6'250'000 + 45 * 125'000 - 1);
  EXPECT_TRUE(card.interrupts.empty());
  card.sim->advance_to(6'250'000 + 45 * 125'000);
  EXPECT_EQ(card.interrupts.size(), 1u);
  EXPECT_EQ(card.sim->position(), 90u);
  std::vector<std::uint32_t> rates;
  for (const oh_event& e : drain(card.log)) {
    if (e.kind == OH_EV_CARD_RATE) rates.push_back(e.argument);
  }
  EXPECT_EQ(rates, (std::vector<std::uint32_t>{7200, 8000}));
}

TEST(SimulatedCard, CountsWhatNobodyReadAndWhatNobodyWrote) {
  LoggedCard card({.block = 100});
  card.sim->start(0);
  card.ports.ops->tx_written(card.ports.self, 204);
  card.sim->advance_to(600 * 125'000);
  EXPECT_EQ(card.sim->counters().overrun_samples, 88u);
  EXPECT_EQ(card.sim->counters().underrun_samples, 396u);
  card.keep_up();
  card.sim->advance_to(1000 * 125'000);
  EXPECT_EQ(card.sim->counters().overrun_samples, 88u);
  EXPECT_EQ(card.sim->counters().underrun_samples, 396u);
  std::uint64_t overruns = 0;
  std::uint64_t underruns = 0;
  std::uint64_t last = 0;
  for (const oh_event& e : drain(card.log)) {
    if (e.kind == OH_EV_RX_OVERRUN) overruns += e.argument;
    if (e.kind == OH_EV_TX_UNDERRUN) underruns += e.argument;
    EXPECT_GE(e.time_ns, last);
    last = e.time_ns;
  }
  EXPECT_EQ(overruns, 88u);
  EXPECT_EQ(underruns, 396u);
}

TEST(SimulatedCard, AnUnderrunRepeatsWhatTheSlotHeld) {
  LoggedCard card({.block = 128});
  card.sim->start(0);
  for (int i = 0; i < OH_MODEM_RING_SAMPLES; ++i)
    static_cast<std::int16_t*>(card.ports.tx_ring)[i] = static_cast<std::int16_t>(1000 + i);
  card.sim->advance_to(2 * OH_MODEM_RING_SAMPLES * 125'000);
  for (std::size_t p = 0; p < 2 * OH_MODEM_RING_SAMPLES; ++p) {
    ASSERT_EQ(card.line.played[p], 1000 + static_cast<int>(p % OH_MODEM_RING_SAMPLES));
  }
}

TEST(SimulatedCard, AcknowledgeCoversCoalescedInterrupts) {
  LoggedCard card({.block = 100});
  card.sim->start(0);
  card.sim->advance_to(350 * 125'000);
  EXPECT_EQ(card.ports.ops->acknowledge(card.ports.self), 300u);
  EXPECT_EQ(card.ports.ops->rx_position(card.ports.self), 350u);
}

TEST(SimulatedCard, AskingForAPositionRaisesNoInterruptBeforeItsTime) {
  LoggedCard card({.block = 100});
  Ns now = 0;
  card.sim->use_clock([&] { return now; });
  card.sim->start(0);
  now = 100 * 125'000;
  EXPECT_EQ(card.ports.ops->rx_position(card.ports.self), 100u);
  EXPECT_TRUE(card.interrupts.empty());  // the engine has not reached it yet
  card.sim->advance_to(now);
  EXPECT_EQ(card.interrupts, std::vector<Ns>{now});
}

TEST(SimulatedCard, RefusesWhatNoCodecHas) {
  CountingLine line;
  EXPECT_THROW(SimulatedCard({.streams = oh_modem_streams(0)}, line.handle()), std::invalid_argument);
  EXPECT_THROW(SimulatedCard({.block = 0}, line.handle()), std::invalid_argument);
  EXPECT_THROW(SimulatedCard({.block = 257}, line.handle()), std::invalid_argument);
  EXPECT_THROW(SimulatedCard({.clock_ppm = 1e9}, line.handle()), std::invalid_argument);
}

/// A driver and an echoing pump on the card: the line's signal does not depend on the times at which the card is read,
/// and the card's counts are the driver's.
struct Loop {
  CountingLine line;
  SimulatedCard card;
  test::ManualContext context;
  oh_driver driver{};
  std::vector<std::uint64_t> staging;
  std::uint64_t pump_clock = 0;
  std::uint64_t pump_lost = 0;
  Ns now = 0;
  explicit Loop(const CardConfig& config) : card(config, line.handle()) {
    oh_driver_config c{};
    c.card = card.card();
    staging.resize(oh_driver_staging_size(&c.card) / sizeof staging[0]);
    c.staging = staging.data();
    c.pump = pump_of(*this);
    c.context = context.context();
    c.transmit_lead_samples = 204;
    c.policy = OH_SERVICE_DRAIN_ALL;
    const std::uint32_t plan[] = {105, 105, 90};
    std::copy(plan, plan + 3, c.block_plan);
    c.block_plan_length = 3;
    card.use_clock([this] { return now; });
    card.on_interrupt([this](Ns) { oh_driver_isr(&driver); });
    EXPECT_EQ(oh_driver_init(&driver, &c), 0);
    card.start(0);
  }
  void process(const std::int16_t* rx, std::int16_t* tx, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) {
      EXPECT_EQ(rx[i], CountingLine::sample(pump_clock + i));
      tx[i] = rx[i];
    }
    pump_clock += n;
  }
  void report_gap(std::size_t n) {
    pump_clock += n;
    pump_lost += n;
  }
  void to(Ns time) {
    while (card.next_interrupt() <= time) {
      now = card.next_interrupt();
      card.advance_to(now);
    }
    now = time;
  }
};

TEST(SimulatedCard, SamplesDoNotDependOnWhenAnybodyLooks) {
  Loop plain({.clock_ppm = 57.125});
  Loop watched({.clock_ppm = 57.125});
  std::mt19937_64 random(3);
  for (Ns t = 0; t < 60 * kSecond; t += static_cast<Ns>(random() % (90 * kMs))) {  // up to 90 ms: both kinds of loss
    for (Loop* loop : {&plain, &watched}) {
      loop->to(t);
      oh_driver_service(&loop->driver);
    }
    for (Ns look = t; look < t + kMs; look += static_cast<Ns>(random() % 300'000)) {
      watched.to(look);
      (void)oh_driver_pending(&watched.driver);
    }
  }
  plain.to(61 * kSecond);
  watched.to(61 * kSecond);
  plain.card.advance_to(61 * kSecond);
  watched.card.advance_to(61 * kSecond);
  EXPECT_EQ(plain.line.played.size(), 61u * 8000 + 27);  // +57.125 ppm of 488000
  EXPECT_EQ(plain.line.played, watched.line.played);
  EXPECT_EQ(plain.card.counters().underrun_samples, watched.card.counters().underrun_samples);
  EXPECT_EQ(plain.pump_lost, watched.pump_lost);
  EXPECT_GT(plain.pump_lost, 1000u);
  EXPECT_GT(plain.card.counters().underrun_samples, 1000u);
  // The overflow equals the loss reported to the pump, except the samples not yet owed.
  const std::uint64_t position = plain.card.position();
  const std::uint64_t oldest = position - OH_MODEM_RING_SAMPLES;
  EXPECT_EQ(plain.card.counters().overrun_samples,
            plain.pump_lost + (oldest > plain.pump_clock ? oldest - plain.pump_clock : 0));
}

TEST(SimulatedCard, AnswersAtOnceNothingIsLost) {
  Loop loop({});
  while (loop.now < 100 * kSecond) {
    loop.to(loop.card.next_interrupt());
    oh_driver_service(&loop.driver);
  }
  EXPECT_EQ(loop.card.counters().overrun_samples, 0u);
  EXPECT_EQ(loop.card.counters().underrun_samples, 0u);
  EXPECT_EQ(loop.driver.counters.pending_max, 0u);
  EXPECT_NEAR(static_cast<double>(loop.card.counters().interrupts), 100.0 * 8000 / 100, 1);
}

}  // namespace
}  // namespace offhook::hostsim
