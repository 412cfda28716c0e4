// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <memory>
#include <new>
#include <numbers>
#include <vector>

#include "dsp/blocks/level.h"
#include "dsp/radio/radio.h"
#include "hostsim/air/radio_channel.h"

namespace offhook::hostsim {
namespace {

constexpr double kLevel = -15;

/// Mean square of the output for a carrier at the channel's middle, in pieces of 1 ms, relative to the carrier's.
std::vector<double> powers(const RadioChannelConfig& config, std::uint64_t seed, unsigned direction, int pieces) {
  RadioChannel channel(config, seed, direction);
  const double peak = dbm0_to_peak(kLevel), carrier = peak * peak / 2;
  std::vector<double> all;
  std::uint64_t n = 0;
  for (int piece = 0; piece < pieces; ++piece) {
    double sum = 0;
    for (int k = 0; k < 2000; ++k, n += 2) {
      // a little off the middle, so that not every sample is zero
      const auto at = [&](std::uint64_t i) {
        return static_cast<float>(peak *
                                  std::cos(2 * std::numbers::pi * std::fmod(0.2600 * static_cast<double>(i), 1)));
      };
      std::array<float, 2> pair = {at(n), at(n + 1)};
      channel.step(pair);
      sum += static_cast<double>(pair[0]) * pair[0] + static_cast<double>(pair[1]) * pair[1];
    }
    all.push_back(sum / 4000 / carrier);
  }
  return all;
}

TEST(RadioChannel, WithoutFadingTheLevelStays) {
  for (const double p : powers({.snr_db = 100}, 1, 0, 20)) EXPECT_NEAR(p, 1, 0.03);
  for (const double p : powers({.paths = {{.loss_db = 20}}, .snr_db = 100}, 1, 0, 20)) EXPECT_NEAR(p, 0.01, 0.001);
}

TEST(RadioChannel, TheNoiseHasTheGivenLevel) {
  const auto noisy = powers({.paths = {{.loss_db = 200}}, .snr_db = 10}, 1, 0, 100);
  double mean = 0;
  for (const double p : noisy) mean += p / 100;
  EXPECT_NEAR(mean, 0.1, 0.01);
}

// Clarke's model: the power of the sum is exponential. With few waves its tail is short; a tenth of the mean is 9.5 %.
TEST(RadioChannel, AFadingPathHasRayleighsEnvelope) {
  int below = 0, all = 0;
  double mean = 0;
  for (std::uint64_t seed = 1; seed <= 16; ++seed) {
    for (const double p : powers({.paths = {{.doppler_hz = 200}}, .snr_db = 100}, seed, 0, 50)) {
      mean += p;
      below += p < 0.1;
      ++all;
    }
  }
  EXPECT_NEAR(mean / all, 1, 0.2);
  EXPECT_NEAR(static_cast<double>(below) / all, 1 - std::exp(-0.1), 0.04);
}

TEST(RadioChannel, ASteadyWaveFillsTheFades) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    for (const double p : powers({.paths = {{.doppler_hz = 60, .rice_db = 20}}, .snr_db = 100}, seed, 0, 50)) {
      EXPECT_GT(p, 0.4);
    }
  }
}

TEST(RadioChannel, BothDirectionsFadeAlikeAndASeedIsAlwaysTheSame) {
  const RadioChannelConfig config{.paths = {{.doppler_hz = 60}}, .snr_db = 100};
  const auto there = powers(config, 7, 0, 40), back = powers(config, 7, 1, 40), again = powers(config, 7, 0, 40);
  EXPECT_EQ(there, again);
  for (std::size_t k = 0; k < there.size(); ++k) EXPECT_NEAR(there[k], back[k], 0.02 + 0.02 * there[k]);
  EXPECT_NE(there, powers(config, 8, 0, 40));
}

struct End {
  End(const oh_pump_type* kind, oh_pump_role role) : type(kind) {
    oh_pump_config c{};
    c.format = type->formats[0];
    c.role = role;
    c.tx_level_dbm0 = kLevel;
    c.port.get_bits = [](void*, std::uint8_t* octets, std::size_t n) { std::fill_n(octets, n / 8, 0x5a); };
    c.port.put_bits = [](void* self, const std::uint8_t* octets, std::size_t n) {
      End& e = *static_cast<End*>(self);
      for (std::size_t k = 0; k < n / 8; ++k) ++(octets[k] == 0x5a ? e.right : e.wrong);
    };
    c.port.user = this;
    memory = ::operator new (type->size(&c), std::align_val_t{64});
    EXPECT_EQ(type->init(memory, &c), 0);
  }
  ~End() {
    type->release(memory);
    ::operator delete (memory, std::align_val_t{64});
  }
  End(const End&) = delete;
  End& operator=(const End&) = delete;
  const oh_pump_type* type;
  void* memory;
  std::uint64_t right = 0, wrong = 0;
};

struct CallOverAir {
  oh_pump_state state;
  double wrong_share, missed_share;
};

CallOverAir call(const oh_pump_type* type, const RadioChannelConfig& config, int ms) {
  End caller(type, OH_PUMP_CALL), answerer(type, OH_PUMP_ANSWER);
  RadioChannel there(config, 1, 0), back(config, 1, 1);
  constexpr std::size_t kBlock = 1000;
  std::vector<std::int16_t> to_caller(kBlock), to_answerer(kBlock), from_caller(kBlock), from_answerer(kBlock);
  const auto carry = [](RadioChannel& channel, const std::vector<std::int16_t>& sent,
                        std::vector<std::int16_t>& heard) {
    for (std::size_t k = 0; k < kBlock; k += 2) {
      std::array<float, 2> pair = {static_cast<float>(sent[k]), static_cast<float>(sent[k + 1])};
      channel.step(pair);
      heard[k] = clip(std::round(pair[0]));
      heard[k + 1] = clip(std::round(pair[1]));
    }
  };
  for (int k = 0; k < 4 * ms; ++k) {
    type->process(caller.memory, to_caller.data(), from_caller.data(), kBlock);
    type->process(answerer.memory, to_answerer.data(), from_answerer.data(), kBlock);
    carry(there, from_caller, to_answerer);
    carry(back, from_answerer, to_caller);
  }
  oh_pump_status status{};
  type->status(answerer.memory, &status);
  const oh_radio_slots slots = oh_radio_slot_counts(answerer.memory);
  return {status.state, static_cast<double>(answerer.wrong) / static_cast<double>(answerer.right + answerer.wrong),
          static_cast<double>(slots.missed + slots.broken) / static_cast<double>(slots.due)};
}

TEST(RadioChannel, BothRadiosHoldALinkOverFadesEchoesAndACarrierThatIsOff) {
  const RadioChannelConfig config{
      .paths = {{.doppler_hz = 20, .rice_db = 6}, {.delay_s = 1e-6, .loss_db = 12, .doppler_hz = 20}},
      .snr_db = 35,
      .offset_hz = 3000};
  for (const oh_pump_type* type : {oh_radio_burst_type(), oh_radio_ofdm_type()}) {
    SCOPED_TRACE(type->name);
    const CallOverAir r = call(type, config, 300);
    EXPECT_EQ(r.state, OH_PUMP_DATA);
    EXPECT_LT(r.missed_share, 0.2);
    EXPECT_LT(r.wrong_share, 0.2);
  }
}

}  // namespace
}  // namespace offhook::hostsim
