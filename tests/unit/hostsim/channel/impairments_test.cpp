// SPDX-License-Identifier: MIT
#include "hostsim/channel/impairments.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "dsp/blocks/level.h"
#include "hostsim/channel/channel.h"
#include "hostsim/channel/line.h"
#include "tests/unit/hostsim/channel/tone.h"

namespace offhook::hostsim {
namespace {

using Samples = std::vector<std::int16_t>;

LineConfig quiet() {
  LineConfig c;
  c.loss_db = 0;
  c.near_echo_db = c.far_echo_db = 400;
  c.noise_dbm0 = -400;
  c.codec = "none";
  return c;
}

/// The signals that both ends receive for one input.
struct Heard : FarEnd {
  Heard(const LineConfig& c, const Samples& sent) : sent_(sent), near(sent.size()) {
    Line line(c, 1, *this);
    line.exchange(sent.data(), near.data(), sent.size());
  }
  void process(const std::int16_t* rx, std::int16_t* tx, std::size_t n) override {
    for (std::size_t i = 0; i < n; ++i) {
      tx[i] = far.size() < sent_.size() ? sent_[far.size()] : std::int16_t{0};
      far.push_back(rx[i]);
    }
  }
  const Samples sent_;
  Samples near, far;
};

double size_of(const Samples& x, double hz, std::size_t at) {
  return std::abs(test::cosine_in(x, hz, at, 800));
}
double degrees_of(const Samples& x, double hz, std::size_t at) {
  return std::arg(test::cosine_in(x, hz, at, 800)) * 360 / test::kTwoPi;
}

TEST(LineImpairments, ALimitCutsThePeaksAndLeavesWhatIsBelow) {
  LineConfig c = quiet();
  c.limit_dbm0 = -10;
  const auto limit = dbm0_to_peak(-10);
  for (const double peak : {0.9 * limit, 2 * limit}) {
    const Heard h(c, test::sine(1010, peak, 8'000));
    for (const Samples& x : {h.near, h.far}) {
      const auto most = *std::max_element(x.begin() + 2'000, x.end());
      EXPECT_NEAR(most, std::min(peak, limit), 0.01 * limit);
    }
  }
}

TEST(LineImpairments, GainOverloadsTheConverterAtFullScale) {
  LineConfig c = quiet();
  c.loss_db = -12;
  const Heard h(c, test::sine(1000, 16'000, 8'000));
  for (const Samples& x : {h.near, h.far}) EXPECT_EQ(*std::max_element(x.begin() + 2'000, x.end()), 32'767);
}

TEST(LineImpairments, DcAndHumAreAddedAtBothReceivers) {
  LineConfig c = quiet();
  c.dc_percent = 1.5;
  c.hum_dbm0 = -20;
  c.hum_hz = 60;
  const Heard h(c, Samples(16'000));
  const double peak = dbm0_to_peak(-20);
  for (const Samples& x : {h.near, h.far}) {
    double mean = 0;
    for (std::size_t i = 8'000; i < 16'000; ++i) mean += x[i] / 8'000.;
    EXPECT_NEAR(mean, 0.015 * 32'767, 0.5);
    EXPECT_NEAR(std::abs(test::cosine_in(x, 60, 8'000, 8'000)), peak, 0.01 * peak);
    EXPECT_NEAR(std::abs(test::cosine_in(x, 180, 8'000, 8'000)), peak / 2, 0.01 * peak);
    EXPECT_NEAR(std::abs(test::cosine_in(x, 300, 8'000, 8'000)), peak / 4, 0.01 * peak);
  }
}

TEST(LineImpairments, HitsComeAtTheirTimesInBothDirections) {
  LineConfig c = quiet();
  c.gain_hit_db = -3;
  c.phase_hit_deg = 20;
  c.hit_at_s = 0.5;
  c.hit_ms = 250;
  c.hit_period_s = 0.75;
  const Heard h(c, test::sine(1000, 10'000, 16'000));
  for (const Samples& x : {h.near, h.far}) {
    for (const std::size_t at : {4'500u, 10'500u}) {
      EXPECT_NEAR(test::db(size_of(x, 1000, at) / size_of(x, 1000, 2'500)), -3, 0.05) << at;
      EXPECT_NEAR(std::remainder(degrees_of(x, 1000, at) - degrees_of(x, 1000, 2'500), 360), 20, 0.5) << at;
      EXPECT_NEAR(size_of(x, 1000, at + 3'000), size_of(x, 1000, 2'500), 20) << at;
    }
  }
  c.hit_ms = c.hit_period_s = 0;
  const Heard lasting(c, test::sine(1000, 10'000, 16'000));
  EXPECT_NEAR(test::db(size_of(lasting.far, 1000, 15'000) / 10'000), -3, 0.1);
}

TEST(LineImpairments, WanderIsASineOfTheFarClocksRate) {
  LineConfig c = quiet();
  c.wander_ppm = 50;
  c.wander_hz = 1;
  const Heard h(c, test::sine(2000, 20'000, 24'000));
  for (const Samples& x : {h.near, h.far}) {
    // The phase swings by +-50e-6 / (2 pi) seconds: 5.73 degrees of 2000 Hz.
    double least = 360, most = -360, middle = degrees_of(x, 2000, 8'000);
    for (std::size_t at = 8'000; at + 800 < 16'800; at += 100) {
      const double off = std::remainder(degrees_of(x, 2000, at) - middle, 360);
      least = std::min(least, off), most = std::max(most, off);
    }
    EXPECT_NEAR(most - least, 11.46, 0.3);
    EXPECT_LT(test::residue_db(x, 2000, 8'000, 200), -45);
  }
}

TEST(LineImpairments, ASteepEdgeFallsBy40DbIn250Hz) {
  LineConfig c = quiet();
  c.steep_edge_hz = 3350;
  for (const auto [hz, least, most] : {std::array{3300., -0.5, 0.5}, {3450., -10, -5}, {3600., -90, -40}}) {
    const Heard h(c, test::sine(hz, 20'000, 16'000));
    const double db = test::db(std::abs(test::cosine_in(h.far, hz, 8'000, 8'000)) / 20'000);
    EXPECT_GE(db, least) << hz;
    EXPECT_LE(db, most) << hz;
  }
}

}  // namespace
}  // namespace offhook::hostsim
