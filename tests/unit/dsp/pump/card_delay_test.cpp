// SPDX-License-Identifier: MIT
//
// Cards that queue samples: what a pump sends reaches the line's terminals so much later, and so does its near echo
// reach the pump.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdlib>
#include <deque>
#include <memory>
#include <random>

#include "dsp/blocks/level.h"
#include "dsp/pump/pump_type.h"
#include "dsp/v22/pump.h"
#include "dsp/v32/pump.h"
#include "dsp/v34/session/pump.h"
#include "tests/unit/driver/user_modem/pump_pair.h"

namespace offhook {
namespace {

using test::BitTester;

struct Queue {
  explicit Queue(size_t samples) : held(samples, 0) {}
  double pass(double x) {
    held.push_back(x);
    const double oldest = held.front();
    held.pop_front();
    return oldest;
  }
  std::deque<double> held;
};

/// Two pumps on cards with queues, at the ends of a line with 20 ms and 45 dB of SNR. Hybrids return each end's signal
/// at -12 dB.
class Cards {
 public:
  Cards(const oh_pump_type* type, std::array<uint32_t, 2> queue_ms) : type_(type) {
    bits_[0].tx = 0x1234567, bits_[1].tx = 0x7654321;
    for (size_t i = 0; i < 2; ++i) {
      oh_pump_config config{};
      config.format = kLinear8000;
      config.role = static_cast<oh_pump_role>(i);
      config.tx_level_dbm0 = -12;
      config.port = bits_[i].port();
      config.io_delay_samples = 8 * queue_ms[i];
      const size_t size = type->size(&config);
      if (size == 0) continue;
      self_[i].reset(std::aligned_alloc(64, size));
      if (type->init(self_[i].get(), &config) != 0) self_[i].reset();
      cards_[i] = Queue(8 * queue_ms[i]);
    }
  }
  bool possible() const { return self_[0] && self_[1]; }
  void run(double seconds) {
    for (auto left = static_cast<int64_t>(8000 * seconds); left > 0; --left) {
      double arrives[2], leaves[2];
      for (size_t i = 0; i < 2; ++i) {
        const int16_t rx = static_cast<int16_t>(std::lrint(heard_[i]));
        int16_t tx = 0;
        type_->process(self_[i].get(), &rx, &tx, 1);
        leaves[i] = cards_[i].pass(tx);
      }
      for (size_t i = 0; i < 2; ++i) arrives[1 - i] = line_[i].pass(leaves[i]);
      for (size_t i = 0; i < 2; ++i) heard_[i] = arrives[i] + 0.25 * leaves[i] + noise_(random_);
    }
  }
  oh_pump_status status(size_t end) const {
    oh_pump_status s{};
    s.struct_size = sizeof s;
    type_->status(self_[end].get(), &s);
    return s;
  }
  bool data() const { return status(0).state == OH_PUMP_DATA && status(1).state == OH_PUMP_DATA; }
  BitTester& bits(size_t end) { return bits_[end]; }

 private:
  const oh_pump_type* type_;
  BitTester bits_[2];
  std::unique_ptr<void, decltype(&std::free)> self_[2] = {{nullptr, &std::free}, {nullptr, &std::free}};
  Queue cards_[2] = {Queue(0), Queue(0)}, line_[2] = {Queue(160), Queue(160)};
  double heard_[2] = {0, 0};
  std::mt19937 random_{1};
  std::normal_distribution<double> noise_{0, dbm0_to_rms(-12 - 45)};
};

void expect_full_rate(const oh_pump_type* type, std::array<uint32_t, 2> queue_ms, uint32_t bit_rate) {
  SCOPED_TRACE(testing::Message() << type->name << ", the caller's card queues " << queue_ms[0]
                                  << " ms, the answerer's " << queue_ms[1]);
  Cards cards(type, queue_ms);
  ASSERT_TRUE(cards.possible());
  for (int s = 0; s < 30 && !cards.data(); ++s) cards.run(1);
  ASSERT_TRUE(cards.data());
  cards.run(1);
  for (const size_t end : {0, 1}) cards.bits(end).good = cards.bits(end).bad = 0;
  cards.run(3);
  for (const size_t end : {0, 1}) {
    EXPECT_EQ(cards.status(end).rx_bit_rate, bit_rate) << "end " << end;
    EXPECT_EQ(cards.status(end).retrains, 0u) << "end " << end;
    EXPECT_EQ(cards.bits(end).bad, 0u) << "end " << end;
    EXPECT_NEAR(static_cast<double>(cards.bits(end).good), 3.0 * bit_rate, 200) << "end " << end;
  }
}

TEST(CardDelay, V34Has33600WhateverTheCardsQueue) {
  for (const uint32_t ms : {10u, 40u, 100u, 200u, 400u}) {
    expect_full_rate(oh_v34_type(), {ms, 0}, 33600);
    expect_full_rate(oh_v34_type(), {0, ms}, 33600);
    expect_full_rate(oh_v34_type(), {ms, ms}, 33600);
  }
}

TEST(CardDelay, V32bisHas14400WhateverTheCardsQueue) {
  for (const uint32_t ms : {10u, 40u, 100u, 200u, 400u}) {
    expect_full_rate(oh_v32bis_type(), {ms, 0}, 14400);
    expect_full_rate(oh_v32bis_type(), {0, ms}, 14400);
    expect_full_rate(oh_v32bis_type(), {ms, ms}, 14400);
  }
}

// An answering S1 is delayed by the queue; sixteen points come when the far end decides them.
TEST(CardDelay, V22bisHas2400WhateverTheCardsQueue) {
  for (const uint32_t ms : {10u, 40u, 60u, 80u, 100u, 200u, 400u}) {
    expect_full_rate(oh_v22bis_type(), {ms, 0}, 2400);
    expect_full_rate(oh_v22bis_type(), {0, ms}, 2400);
    expect_full_rate(oh_v22bis_type(), {ms, ms}, 2400);
  }
}

TEST(CardDelay, MoreThanTheEchoCancellersHoldIsRefused) {
  for (const oh_pump_type* type : {oh_v34_type(), oh_v32bis_type()}) {
    EXPECT_TRUE(Cards(type, {kMostIoDelay / 8, 0}).possible());
    EXPECT_FALSE(Cards(type, {kMostIoDelay / 8 + 1, 0}).possible());
  }
}

}  // namespace
}  // namespace offhook
