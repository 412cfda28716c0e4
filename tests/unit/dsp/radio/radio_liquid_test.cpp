// SPDX-License-Identifier: MIT
//
// Two radio pumps and the air between their cards.
#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <deque>
#include <memory>
#include <new>
#include <random>
#include <string>
#include <vector>

#include "dsp/blocks/level.h"
#include "dsp/radio/radio.h"
#include "tests/realtime/realtime_guard.h"

namespace offhook {
namespace {

constexpr float kLevel = -15;

std::uint8_t pattern(std::uint64_t n) {
  return static_cast<std::uint8_t>((n + 1) * 0x9e3779b97f4a7c15u >> 56);
}

struct End {
  End(const oh_pump_type* kind, oh_pump_role role, std::uint32_t io_delay = 0, std::uint32_t most = 0) : type(kind) {
    config.format = type->formats[0];
    config.role = role;
    config.tx_level_dbm0 = kLevel;
    config.io_delay_samples = io_delay;
    config.max_bit_rate = most;
    config.port.user = this;
    config.port.get_bits = [](void* self, std::uint8_t* octets, std::size_t n) {
      End& e = *static_cast<End*>(self);
      for (std::size_t k = 0; k < n / 8; ++k) octets[k] = pattern(e.sent++);
    };
    config.port.put_bits = [](void* self, const std::uint8_t* octets, std::size_t n) {
      End& e = *static_cast<End*>(self);
      for (std::size_t k = 0; k < n / 8; ++k) e.wrong += octets[k] != pattern(e.got++);
    };
    memory = ::operator new (type->size(&config), std::align_val_t{64});
    EXPECT_EQ(type->init(memory, &config), 0);
  }
  ~End() {
    type->release(memory);
    ::operator delete (memory, std::align_val_t{64});
  }
  End(const End&) = delete;
  End& operator=(const End&) = delete;

  oh_pump_status status() const {
    oh_pump_status s{};
    type->status(memory, &s);
    return s;
  }
  oh_radio_slots counts() const { return oh_radio_slot_counts(memory); }

  const oh_pump_type* type;
  oh_pump_config config{};
  void* memory = nullptr;
  std::uint64_t sent = 0, got = 0, wrong = 0;  // octets
};

/// Each end receives the other's samples `delay` samples later, with noise.
class Pair {
 public:
  Pair(const oh_pump_type* type, std::uint32_t io_delay = 0, std::size_t delay = 0, double snr_db = 40,
       std::uint32_t most = 0)
      : ends{std::make_unique<End>(type, OH_PUMP_CALL, io_delay, most),
             std::make_unique<End>(type, OH_PUMP_ANSWER, io_delay, most)},
        rms(dbm0_to_rms(kLevel - snr_db)) {
    for (auto& q : queue) q.assign(io_delay + delay + kBlock, 0);
  }

  void run_ms(double ms, std::size_t lost_at_answerer = 0) {
    for (double left = ms * 4000; left > 0; left -= kBlock) {
      std::vector<std::int16_t> in[2];
      for (int i : {0, 1}) {
        auto& q = queue[1 - i];
        in[i].assign(q.begin(), q.begin() + kBlock);
        q.erase(q.begin(), q.begin() + kBlock);
        for (std::int16_t& x : in[i]) {
          x = static_cast<std::int16_t>(
              std::clamp((on_air ? x : 0) + static_cast<float>(rms) * normal(random), -32768.0f, 32767.0f));
        }
      }
      for (int i : {0, 1}) {
        std::vector<std::int16_t> out(kBlock);
        if (i == 1 && lost_at_answerer > 0) {
          --lost_at_answerer;
          ends[1]->type->report_gap(ends[1]->memory, kBlock);
        } else {
          ends[i]->type->process(ends[i]->memory, in[i].data(), out.data(), kBlock);
        }
        queue[i].insert(queue[i].end(), out.begin(), out.end());
      }
    }
  }

  static constexpr std::size_t kBlock = 1250;
  std::unique_ptr<End> ends[2];
  bool on_air = true;

 private:
  double rms;
  std::deque<std::int16_t> queue[2];
  std::mt19937 random{1};
  std::normal_distribution<float> normal;
};

class Radio : public testing::TestWithParam<const oh_pump_type* (*)()> {
 protected:
  const oh_pump_type* type() const { return GetParam()(); }
};

TEST_P(Radio, CarriesBothDirectionsWholeWhateverTheDelay) {
  for (const auto& [io_delay, delay] : {std::pair{0u, std::size_t{0}}, {2500u, 4000u}, {5000u, 123'457u}}) {
    SCOPED_TRACE(delay);
    Pair pair(type(), io_delay, delay);
    pair.run_ms(200);
    for (const auto& end : pair.ends) {
      EXPECT_EQ(end->status().state, OH_PUMP_DATA);
      EXPECT_GT(end->status().rx_bit_rate, 1'400'000u);
      EXPECT_EQ(end->wrong, 0u);
      EXPECT_GT(end->got, 10'000u);
      EXPECT_EQ(end->counts().missed + end->counts().broken, 0u);
      EXPECT_NEAR(end->status().rx_level_dbm0, kLevel, 1);
    }
  }
}

TEST_P(Radio, TheRateIsTheOneThatTheNoiseAllows) {
  std::uint32_t before = 0;
  for (const double snr : {9.0, 18.0, 27.0, 36.0}) {  // the margin for fading takes some dB of each
    Pair pair(type(), 0, 0, snr);
    pair.run_ms(300);
    const std::uint32_t rate = pair.ends[0]->status().rx_bit_rate;
    EXPECT_GT(rate, before) << snr;
    before = rate;
    EXPECT_LT(pair.ends[0]->wrong, pair.ends[0]->got / 50) << snr;
  }
}

TEST_P(Radio, NoRateAboveTheGivenIsUsed) {
  Pair pair(type(), 0, 0, 40, 500'000);
  pair.run_ms(100);
  EXPECT_EQ(pair.ends[0]->status().state, OH_PUMP_DATA);
  EXPECT_LE(pair.ends[0]->status().rx_bit_rate, 500'000u);
  EXPECT_LE(pair.ends[0]->status().tx_bit_rate, 500'000u);
  oh_pump_config c = pair.ends[0]->config;
  c.max_bit_rate = 1000;
  EXPECT_EQ(type()->size(&c), 0u);
}

TEST_P(Radio, LostBlocksCostTheirSlotsAndNothingElse) {
  Pair pair(type());
  pair.run_ms(100);
  const auto before = pair.ends[1]->counts();
  ASSERT_EQ(before.missed + before.broken, 0u);
  pair.run_ms(3.125, 10);  // ten blocks of 0.3125 ms
  pair.run_ms(100);
  const End& end = *pair.ends[1];
  EXPECT_EQ(end.status().filled_in, 10 * Pair::kBlock);
  EXPECT_EQ(end.status().state, OH_PUMP_DATA);
  EXPECT_EQ(end.status().retrains, 0u);
  const auto after = end.counts();
  const std::uint64_t lost = after.missed + after.broken;
  EXPECT_GE(lost, 2u);
  EXPECT_LE(lost, 5u);
  EXPECT_EQ(pair.ends[0]->wrong > 0, pair.ends[0]->counts().missed > 0);
  const std::uint64_t wrong = end.wrong;
  EXPECT_GT(wrong, 0u);
  pair.run_ms(100);
  EXPECT_EQ(end.wrong, wrong);  // the octets keep their positions
}

TEST_P(Radio, AfterASecondWithoutSignalItComesBack) {
  Pair pair(type());
  pair.run_ms(100);
  pair.on_air = false;
  pair.run_ms(1000);
  for (const auto& end : pair.ends) EXPECT_EQ(end->status().state, OH_PUMP_TRAINING);
  pair.on_air = true;
  pair.run_ms(100);
  for (const auto& end : pair.ends) {
    EXPECT_EQ(end->status().state, OH_PUMP_DATA);
    EXPECT_EQ(end->status().retrains, 1u);
  }
}

TEST_P(Radio, WithoutAFarEndItFailsInTheEnd) {
  End alone(type(), OH_PUMP_ANSWER);
  std::vector<std::int16_t> silence(40'000), out(40'000);
  for (int k = 0; k < 501; ++k) type()->process(alone.memory, silence.data(), out.data(), silence.size());
  EXPECT_EQ(alone.status().state, OH_PUMP_FAILED);
}

TEST_P(Radio, HangingUpEndsBothSides) {
  Pair pair(type());
  pair.run_ms(100);
  type()->hang_up(pair.ends[0]->memory);
  pair.run_ms(30);
  for (const auto& end : pair.ends) {
    EXPECT_EQ(end->status().state, OH_PUMP_IDLE);
    EXPECT_EQ(end->wrong, 0u);
  }
}

TEST_P(Radio, AnEchoOfItselfIsNoFarEnd) {
  End alone(type(), OH_PUMP_CALL);
  std::vector<std::int16_t> block(2500);
  for (int k = 0; k < 400; ++k) type()->process(alone.memory, block.data(), block.data(), block.size());
  EXPECT_EQ(alone.status().state, OH_PUMP_CONNECTING);
}

TEST_P(Radio, EveryBlockLengthGivesTheSameSamples) {
  End whole(type(), OH_PUMP_CALL), parts(type(), OH_PUMP_CALL);
  std::mt19937 random(3);
  std::vector<std::int16_t> in(20'000), a(in.size()), b(in.size());
  for (std::int16_t& x : in) x = static_cast<std::int16_t>(random() % 200);
  type()->process(whole.memory, in.data(), a.data(), in.size());
  for (std::size_t at = 0; at < in.size();) {
    const std::size_t n = std::min<std::size_t>(random() % 700 + 1, in.size() - at);
    type()->process(parts.memory, &in[at], &b[at], n);
    at += n;
  }
  EXPECT_EQ(a, b);
}

TEST_P(Radio, AllocatesAndLocksNothingInACall) {
  Pair pair(type());
  pair.run_ms(50);
  std::vector<std::int16_t> to_answerer(1250), to_caller(1250);
  const auto run = test::run_realtime([&] {
    for (int k = 0; k < 800; ++k) {
      type()->process(pair.ends[0]->memory, to_caller.data(), to_answerer.data(), 1250);
      type()->process(pair.ends[1]->memory, to_answerer.data(), to_caller.data(), 1250);
    }
    type()->report_gap(pair.ends[1]->memory, 1250);
    return pair.ends[1]->got;
  });
  if (!run.skipped.empty()) GTEST_SKIP() << run.skipped;
  EXPECT_EQ(run.violation, "");
  EXPECT_GT(run.value, pair.ends[1]->got);
}

TEST_P(Radio, RefusesWhatItCannotBe) {
  const auto possible = [this](auto change) {
    End end(type(), OH_PUMP_CALL);
    oh_pump_config c = end.config;
    change(c);
    return type()->size(&c) > 0;
  };
  EXPECT_TRUE(possible([](oh_pump_config&) {}));
  EXPECT_FALSE(possible([](oh_pump_config& c) { c.format.rx.rate_hz = 8000; }));
  EXPECT_FALSE(possible([](oh_pump_config& c) { c.tx_level_dbm0 = 0; }));
  EXPECT_FALSE(possible([](oh_pump_config& c) { c.tx_level_dbm0 = NAN; }));
  EXPECT_FALSE(possible([](oh_pump_config& c) { c.port.get_bits = nullptr; }));
  EXPECT_FALSE(possible([](oh_pump_config& c) { c.struct_size = 4; }));
}

TEST_P(Radio, ABurstOfAnotherPairIsNotTaken) {
  Pair pair(type());
  ASSERT_EQ(oh_radio_set_address(pair.ends[0]->memory, 4095), 0);
  ASSERT_EQ(oh_radio_set_address(pair.ends[1]->memory, 15), 0);
  EXPECT_EQ(oh_radio_set_address(pair.ends[1]->memory, 4096), -EINVAL);
  pair.run_ms(100);
  EXPECT_EQ(pair.ends[1]->status().state, OH_PUMP_CONNECTING);
  EXPECT_GT(pair.ends[1]->counts().foreign, 20u);
  EXPECT_EQ(pair.ends[1]->counts().sent, 0u);
  // It is received as soon as its address matches.
  ASSERT_EQ(oh_radio_set_address(pair.ends[1]->memory, 4095), 0);
  pair.run_ms(100);
  for (const auto& end : pair.ends) {
    EXPECT_EQ(end->status().state, OH_PUMP_DATA);
    EXPECT_GT(end->got, 0u);
    EXPECT_EQ(end->wrong, 0u);
  }
  // An established link neither follows another caller nor ends with it; its burst counts only as a missing one.
  ASSERT_EQ(oh_radio_set_address(pair.ends[0]->memory, 7), 0);
  pair.ends[0]->type->hang_up(pair.ends[0]->memory);
  pair.run_ms(50);
  EXPECT_EQ(pair.ends[1]->status().state, OH_PUMP_DATA);
  EXPECT_GT(pair.ends[1]->counts().missed, 0u);
}

INSTANTIATE_TEST_SUITE_P(Waveforms, Radio, testing::Values(&oh_radio_burst_type, &oh_radio_ofdm_type),
                         [](const auto& param) { return param.index == 0 ? "burst" : "ofdm"; });

}  // namespace
}  // namespace offhook
