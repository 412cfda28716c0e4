// SPDX-License-Identifier: MIT
#include "hostsim/line/digital_trunk.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <stdexcept>
#include <vector>

#include "hostsim/line/g711.h"

namespace offhook::hostsim {
namespace {

// Sends a list of octets over and over, and keeps what it receives.
class Repeater : public DigitalEnd {
 public:
  explicit Repeater(std::vector<std::uint8_t> octets) : octets_(std::move(octets)) {}
  std::uint8_t process(std::uint8_t rx) override {
    received.push_back(rx);
    return octets_[at_++ % octets_.size()];
  }
  std::vector<std::uint8_t> received;

 private:
  std::vector<std::uint8_t> octets_;
  std::size_t at_ = 0;
};

DigitalTrunkConfig quiet() {
  DigitalTrunkConfig c;
  c.noise_dbm0 = -200;
  c.near_echo_db = c.card_echo_db = 200;
  c.high_pass_hz = 0;
  c.loss_db = 0;
  return c;
}

std::vector<double> listen(const DigitalTrunkConfig& c, DigitalEnd& end, int samples, int skip = 2000) {
  DigitalTrunk trunk(c, 1, end);
  std::vector<double> heard;
  for (int k = 0; k < samples + skip; ++k) {
    std::int16_t captured[DigitalTrunk::kReceivedRatio];
    trunk.exchange(0, captured);
    if (k >= skip) heard.insert(heard.end(), captured, captured + DigitalTrunk::kReceivedRatio);
  }
  return heard;
}

// Amplitude at `hz` of samples of 16000 Hz.
double amplitude(const std::vector<double>& x, double hz) {
  double re = 0, im = 0;
  for (std::size_t k = 0; k < x.size(); ++k) {
    const double angle = 2 * std::numbers::pi * hz * static_cast<double>(k) / 16000;
    re += x[k] * std::cos(angle);
    im += x[k] * std::sin(angle);
  }
  return 2 * std::hypot(re, im) / static_cast<double>(x.size());
}

std::vector<std::uint8_t> tone(double hz, int octets) {
  std::vector<std::uint8_t> out;
  for (int k = 0; k < octets; ++k) {
    out.push_back(mu_law_encode(static_cast<std::int16_t>(16000 * std::sin(2 * std::numbers::pi * hz * k / 8000))));
  }
  return out;
}

TEST(DigitalTrunk, TheLineCardsFilterIsFlatToThreeKilohertzAndFourteenDecibelsDownAtFour) {
  for (const double hz : {500., 1000., 2000., 3000.}) {
    Repeater end(tone(hz, 80));
    EXPECT_NEAR(amplitude(listen(quiet(), end, 8000), hz), 16000, 16000 * 0.01) << hz;
  }
  // Plus and minus in turn: 4000 Hz, whose two images, below and above, are one.
  Repeater end({mu_law_encode(16000), mu_law_encode(-16000)});
  const double at_4000 = amplitude(listen(quiet(), end, 8000), 4000);
  EXPECT_NEAR(20 * std::log10(at_4000 / (2 * mu_law_decode(mu_law_encode(16000)))), -14, 0.6)
      << "half a decibel is the pulse's window's";
}

TEST(DigitalTrunk, OctetsArriveAsTheirValuesOnceASymbol) {
  // Slow enough for the filter: thirty-two of each. In the middle of the plateau the level is the codec's.
  for (const bool a_law : {false, true}) {
    std::vector<std::uint8_t> octets;
    const std::uint8_t high = a_law ? a_law_encode(9000) : mu_law_encode(9000);
    const std::uint8_t low = a_law ? a_law_encode(-9000) : mu_law_encode(-9000);
    for (int k = 0; k < 128; ++k) octets.push_back(k < 64 ? high : low);
    Repeater end(octets);
    DigitalTrunkConfig c = quiet();
    c.law = c.codec = a_law ? "a-law" : "mu-law";
    double most = 0;
    const std::vector<double> heard = listen(c, end, 8000);
    for (std::size_t k = 0; k + 40 < heard.size(); ++k) {
      double least = 1e9;
      for (std::size_t i = k; i < k + 40; ++i) least = std::min(least, heard[i]);
      most = std::max(most, least);
    }
    const double level = a_law ? a_law_decode(high) : mu_law_decode(high);
    EXPECT_NEAR(most, level, 0.03 * level) << "overshoot of the filter only";
  }
}

TEST(DigitalTrunk, RobbedBitsTakeTheLastBitOfTheirIntervalsUpwards) {
  DigitalTrunkConfig c = quiet();
  c.robbed_bits = 0b000101;
  c.robbed_value = false;
  Repeater end({0xFF});
  listen(c, end, 600, 0);
  std::size_t taken[6] = {};
  for (std::size_t k = 60; k < 600; ++k) taken[k % 6] += (end.received[k] & 1) == 0;
  int intervals = 0;
  for (const std::size_t n : taken) {
    EXPECT_TRUE(n == 0 || n == 90u);
    intervals += n == 90u;
  }
  EXPECT_EQ(intervals, 2);
}

TEST(DigitalTrunk, TheNetworkRunsOnItsOwnClock) {
  for (const double ppm : {-100., 0., 100.}) {
    DigitalTrunkConfig c = quiet();
    c.clock_ppm = ppm;
    Repeater end({0xFF});
    listen(c, end, 200000, 0);
    EXPECT_NEAR(static_cast<double>(end.received.size()) - 200000, 0.2 * ppm, 26) << ppm;  // and the resampler's delay
  }
}

TEST(DigitalTrunk, SameSeedSameSamples) {
  DigitalTrunkConfig c;
  Repeater a(tone(700, 80)), b(tone(700, 80)), other(tone(700, 80));
  EXPECT_EQ(listen(c, a, 2000), listen(c, b, 2000));
  DigitalTrunk trunk(c, 2, other);
  std::int16_t captured[2];
  std::vector<double> heard;
  for (int k = 0; k < 4000; ++k) {
    trunk.exchange(0, captured);
    if (k >= 2000) heard.insert(heard.end(), captured, captured + 2);
  }
  Repeater again(tone(700, 80));
  EXPECT_NE(listen(c, again, 2000), heard);
}

TEST(DigitalTrunk, ACopyGoesOnWithWhatIsOnItsWayAndLeavesTheOriginalAlone) {
  DigitalTrunkConfig c;
  c.clock_ppm = 40;
  c.network.packet_ms = 10;
  c.network.packet_loss = 0.2;
  Repeater end({mu_law_encode(8000)});  // the same at any instant, so one end serves both
  DigitalTrunk original(c, 1, end);
  const auto goes_on = [](DigitalTrunk& trunk, std::size_t samples) {
    std::vector<std::int16_t> heard(samples * DigitalTrunk::kReceivedRatio);
    for (std::size_t k = 0; k < samples; ++k)
      trunk.exchange(static_cast<std::int16_t>(k * 100), &heard[k * DigitalTrunk::kReceivedRatio]);
    return heard;
  };
  goes_on(original, 333);
  DigitalTrunk copy(original);
  const auto heard = goes_on(copy, 500);
  EXPECT_EQ(goes_on(original, 500), heard);
  EXPECT_NE(goes_on(copy, 500), heard);  // noise and clock are not those of the beginning again
}

TEST(DigitalTrunk, RefusesWhatItCannotDoByName) {
  Repeater end({0xFF});
  const auto message = [&end](auto change) -> std::string {
    DigitalTrunkConfig c;
    change(c);
    try {
      DigitalTrunk(c, 1, end);
    } catch (const std::invalid_argument& e) {
      return e.what();
    }
    return "";
  };
  EXPECT_EQ(message([](DigitalTrunkConfig& c) { c.law = "b-law"; }),
            "trunk.law is \"b-law\"; expected mu-law or a-law");
  EXPECT_EQ(message([](DigitalTrunkConfig& c) { c.codec = ""; }), "trunk.codec is \"\"; expected mu-law or a-law");
  EXPECT_EQ(message([](DigitalTrunkConfig& c) { c.pad_db = 21; }), "trunk.pad_db: expected 0 to 20");
  EXPECT_EQ(message([](DigitalTrunkConfig& c) { c.robbed_bits = 64; }),
            "trunk.robbed_bits: expected a set of six intervals, 0 to 63");
  EXPECT_EQ(message([](DigitalTrunkConfig& c) { c.clock_ppm = 2000; }), "trunk.clock_ppm: expected -1000 to 1000");
}

}  // namespace
}  // namespace offhook::hostsim
