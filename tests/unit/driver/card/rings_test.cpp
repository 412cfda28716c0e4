// SPDX-License-Identifier: MIT
#include "driver/card/rings.h"

#include <gtest/gtest.h>

#include <numeric>
#include <thread>
#include <vector>

#include "driver/card/shared_card.h"
#include "driver/card/timer_card.h"

namespace offhook {
namespace {

/// Captures 0, 1, 2 ...; remembers what was played.
struct CountingLine final : LineEnd {
  void exchange(const std::int16_t* played, std::int16_t* captured, std::size_t n) override {
    heard.insert(heard.end(), played, played + n);
    for (std::size_t i = 0; i < n; ++i) captured[i] = next++;
  }
  std::int16_t next = 0;
  std::vector<std::int16_t> heard;
};

TEST(CardRings, BlocksEndWhereTheDriverAskedFromTheNextBlockOn) {
  CardRings rings;
  const oh_card card = rings.card();
  card.ops->set_block(card.self, 10);
  CardHardware hardware(rings);
  CountingLine line;
  hardware.start();
  card.ops->set_block(card.self, 4);
  EXPECT_FALSE(hardware.run(line, 9));
  EXPECT_TRUE(hardware.run(line, 1));
  EXPECT_EQ(card.ops->acknowledge(card.self), 10u);
  EXPECT_EQ(hardware.left(), 4u);
  EXPECT_TRUE(hardware.run(line, 4));
  EXPECT_EQ(card.ops->acknowledge(card.self), 14u);
  EXPECT_EQ(rings.counters().interrupts, 2u);
  EXPECT_EQ(card.ops->set_block(card.self, OH_RING_SAMPLES / 2 + 1), -EINVAL);
  EXPECT_EQ(card.ops->set_block(card.self, 0), -EINVAL);
}

TEST(CardRings, CountsEachSampleOverwrittenUnreadAndEachPlayedUnwritten) {
  CardRings rings;
  rings.block = 256;
  const oh_card card = rings.card();
  CardHardware hardware(rings);
  CountingLine line;
  hardware.start();
  card.ops->tx_written(card.self, 100);
  hardware.run(line, 128);
  EXPECT_EQ(rings.counters().underrun_samples, 28u);
  EXPECT_EQ(rings.counters().overrun_samples, 0u);
  card.ops->tx_written(card.self, 1000);
  card.ops->rx_read(card.self, 100);
  hardware.run(line, 128);
  hardware.run(line, 256);
  EXPECT_EQ(rings.counters().overrun_samples, 0u);
  hardware.run(line, 120);  // up to 632: slot of 119 overwritten, read up to 100
  EXPECT_EQ(rings.counters().overrun_samples, 20u);
  EXPECT_EQ(rings.counters().underrun_samples, 28u);
}

TEST(CardRings, PlayWhatStandsInTheSlotOfThePosition) {
  CardRings rings;
  std::iota(rings.tx, rings.tx + OH_RING_SAMPLES, std::int16_t{0});
  rings.block = 200;
  CardHardware hardware(rings);
  CountingLine line;
  hardware.start();
  for (int i = 0; i < 6; ++i) hardware.run(line, 100);
  ASSERT_EQ(line.heard.size(), 600u);
  for (std::size_t i = 0; i < 600; ++i) ASSERT_EQ(line.heard[i], static_cast<std::int16_t>(i % 512));
  EXPECT_EQ(rings.rx[599 % 512], 599);
}

TEST(TimerCard, NoSampleIsLostOrInventedHoweverLateItsThreadRuns) {
  CountingLine line;
  TimerCard card(line);
  card.rings().block = 100;
  card.start();
  ASSERT_EQ(card.wait(), LiveCard::Wait::kInterrupt);
  std::this_thread::sleep_for(std::chrono::milliseconds(60));  // four blocks and more fall due
  for (int i = 0; i < 5; ++i) ASSERT_EQ(card.wait(), LiveCard::Wait::kInterrupt);
  EXPECT_EQ(card.rings().position.load(), 600u);
  EXPECT_EQ(line.heard.size(), 600u);
  card.stop();
  EXPECT_EQ(card.wait(), LiveCard::Wait::kStopped);
}

TEST(SharedCard, CarriesSamplesAndInterruptsBetweenTwoSidesAndSeesTheOtherLeave) {
  const std::string path = "/tmp/offhook_card_test_" + std::to_string(getpid());
  CardServer server(path, 8000);
  std::thread serve([&] {
    while (!server.wait_for_modem(100)) {
    }
  });
  auto modem = std::make_unique<SharedCard>(path);
  modem->rings().block = 50;
  modem->start();
  serve.join();
  CountingLine line;
  CardHardware hardware(server.rings());
  hardware.start();
  ASSERT_TRUE(hardware.run(line, 50));
  server.raise_interrupt();
  ASSERT_EQ(modem->wait(), LiveCard::Wait::kInterrupt);
  EXPECT_EQ(modem->rings().position.load(), 50u);
  EXPECT_EQ(modem->rings().rx[49], 49);
  EXPECT_FALSE(server.modem_left());
  modem->stop();
  EXPECT_EQ(modem->wait(), LiveCard::Wait::kStopped);
  modem.reset();
  EXPECT_TRUE(server.modem_left());
}

TEST(SharedCard, OfAProcessThatEndsIsGoneWithAReason) {
  const std::string path = "/tmp/offhook_card_gone_" + std::to_string(getpid());
  EXPECT_THROW(SharedCard{path}, std::runtime_error);
  auto server = std::make_unique<CardServer>(path, 8000);
  std::thread serve([&] {
    while (!server->wait_for_modem(100)) {
    }
  });
  SharedCard modem(path);
  modem.start();
  serve.join();
  server.reset();
  EXPECT_EQ(modem.wait(), LiveCard::Wait::kGone);
  EXPECT_NE(modem.failure().find("its process ended"), std::string::npos);
}

}  // namespace
}  // namespace offhook
