// SPDX-License-Identifier: MIT
#include "hostsim/channel/digital_trunk.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "dsp/blocks/level.h"
#include "hostsim/channel/g711.h"

namespace offhook::hostsim {
namespace {

// Sends a list of octets repeatedly, and keeps the received ones.
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
  // Plus and minus alternately: 4000 Hz, whose images below and above coincide.
  Repeater end({mu_law_encode(16000), mu_law_encode(-16000)});
  const double at_4000 = amplitude(listen(quiet(), end, 8000), 4000);
  EXPECT_NEAR(20 * std::log10(at_4000 / (2 * mu_law_decode(mu_law_encode(16000)))), -14, 0.6)
      << "half a decibel is the pulse's window's";
}

TEST(DigitalTrunk, OctetsArriveAsTheirValuesOnceASymbol) {
  // Slow enough for the filter: 32 of each. In the middle of the plateau the level is the codec's.
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
    EXPECT_NEAR(static_cast<double>(end.received.size()) - 200000, 0.2 * ppm, 26) << ppm;  // the resampler's delay too
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
  Repeater end({mu_law_encode(8000)});  // the same at any time, so one end serves both
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
  EXPECT_NE(goes_on(copy, 500), heard);  // noise and clock do not start again
}

double db(double gain) {
  return 20 * std::log10(gain);
}

/// For a tone from the digital end, relative to the flat line.
double loss_db(const DigitalTrunkConfig& c, double hz) {
  Repeater end(tone(hz, 80)), flat(tone(hz, 80));
  return db(amplitude(listen(quiet(), flat, 8000), hz) / amplitude(listen(c, end, 8000), hz));
}

TEST(DigitalTrunk, PadLoopSlopeTransformerAndConvertersLoseWhatTheySay) {
  DigitalTrunkConfig c = quiet();
  c.loss_db = 7;
  EXPECT_NEAR(loss_db(c, 1000), 7, 0.05);
  c = quiet();
  c.pad_db = 6;
  EXPECT_NEAR(loss_db(c, 1000), 6, 0.15);  // and the rounding of the law
  c = quiet();
  c.slope_db = 12;
  EXPECT_NEAR(loss_db(c, 1700), 6, 0.1);
  EXPECT_NEAR(loss_db(c, 3000), 12 * 3000. / 3400, 0.1);
  c = quiet();
  c.high_pass_hz = 100;
  EXPECT_NEAR(loss_db(c, 100), 3, 0.4);  // a first order's
  EXPECT_NEAR(loss_db(c, 2000), 0, 0.25);
  c = quiet();
  c.converters = true;  // the filter for a cosine squared: half at 2000 Hz, at most an eighth from 3000 Hz
  EXPECT_NEAR(loss_db(c, 2000), db(2), 0.1);
  EXPECT_GT(loss_db(c, 3000), 16);
}

TEST(DigitalTrunk, NoiseAtEitherReceiverHasItsLevelOver4000Hz) {
  DigitalTrunkConfig c = quiet();
  c.noise_dbm0 = -40;
  Repeater end({mu_law_encode(0)});
  const auto dbm0 = [](const auto& x) {
    double sum = 0;
    for (const double v : x) sum += v * v;
    return mean_square_to_dbm0(sum / static_cast<double>(x.size()));
  };
  const std::vector<double> heard = listen(c, end, 40'000);
  EXPECT_NEAR(dbm0(heard), -40 + db(std::sqrt(2)), 0.1) << "16000 samples/s: over 8000 Hz";
  std::vector<double> card;
  for (const std::uint8_t octet : end.received) card.push_back(mu_law_decode(octet));
  EXPECT_NEAR(dbm0(card), -40, 0.1);
}

TEST(DigitalTrunk, EachDirectionIsLaterByItsDelay) {
  const auto first_heard = [](double delay_ms) {
    DigitalTrunkConfig c = quiet();
    c.delay_ms = delay_ms;
    Repeater end({mu_law_encode(8000)});
    DigitalTrunk trunk(c, 1, end);
    int down = -1;
    for (int k = 0; k < 2000; ++k) {
      std::int16_t captured[DigitalTrunk::kReceivedRatio];
      trunk.exchange(8000, captured);
      if (down < 0 && captured[0] > 4000) down = k;
    }
    std::size_t up = 0;
    while (up < end.received.size() && mu_law_decode(end.received[up]) < 4000) ++up;
    return std::pair(down, static_cast<int>(up));
  };
  const auto [down, up] = first_heard(10);
  const auto [later_down, later_up] = first_heard(22.5);
  EXPECT_EQ(later_down - down, 100);
  EXPECT_EQ(later_up - up, 100);
}

/// Mean over the band of a hybrid's return of tones.
template <class Echo>
double mean_gain_db(double from_hz, double to_hz, Echo echo) {
  double power = 0;
  int tones = 0;
  for (double hz = from_hz; hz <= to_hz; hz += 400, ++tones) power += std::pow(echo(hz), 2);
  return 10 * std::log10(power / tones);
}

TEST(DigitalTrunk, TheHybridsGiveBackWhatTheirTranshybridLossSays) {
  DigitalTrunkConfig c = quiet();
  c.near_echo_db = 14;
  const double near = mean_gain_db(400, 2800, [&](double hz) {
    Repeater end({0xFF});
    DigitalTrunk trunk(c, 1, end);
    std::vector<double> heard;
    for (int k = 0; k < 4000; ++k) {
      std::int16_t captured[DigitalTrunk::kReceivedRatio];
      trunk.exchange(static_cast<std::int16_t>(std::lrint(10'000 * std::sin(2 * std::numbers::pi * hz * k / 8000))),
                     captured);
      if (k >= 800) heard.insert(heard.end(), captured, captured + DigitalTrunk::kReceivedRatio);
    }
    return amplitude(heard, hz) / 10'000;
  });
  EXPECT_NEAR(near, -14 + 10 * std::log10(1 + 0.3 * 0.3), 0.2) << "and a second reflection of three tenths";
  c = quiet();
  c.card_echo_db = 24;
  const double card = mean_gain_db(200, 3800, [&](double hz) {
    Repeater end(tone(hz, 80));
    listen(c, end, 4000, 0);
    std::vector<double> twice;  // with 16000 samples/s, as amplitude() expects
    for (std::size_t k = 800; k < end.received.size(); ++k) {
      twice.push_back(mu_law_decode(end.received[k]));
      twice.push_back(0);
    }
    return 2 * amplitude(twice, hz) / 16'000;
  });
  EXPECT_NEAR(card, -24 + 10 * std::log10(0.8 * 0.8 + 0.45 * 0.45), 0.2) << "two taps";
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
  EXPECT_EQ(message([](DigitalTrunkConfig& c) { c.robbed_bits = 64; }),
            "trunk.robbed_bits: expected a set of six intervals, 0 to 63");
  struct Limit {
    double DigitalTrunkConfig::*value;
    double least, most;
    std::string message;
  };
  using C = DigitalTrunkConfig;
  for (const Limit& limit : {Limit{&C::pad_db, 0, 20, "trunk.pad_db: expected 0 to 20"},
                             {&C::loss_db, 0, 40, "trunk.loss_db: expected 0 to 40"},
                             {&C::slope_db, 0, 30, "trunk.slope_db: expected 0 to 30"},
                             {&C::high_pass_hz, 0, 300, "trunk.high_pass_hz: expected 0 to 300"},
                             {&C::delay_ms, 0, 1000, "trunk.delay_ms: expected 0 to 1000"},
                             {&C::clock_ppm, -1000, 1000, "trunk.clock_ppm: expected -1000 to 1000"}}) {
    const auto with = [&](double value) { return message([&](C& c) { c.*limit.value = value; }); };
    EXPECT_EQ(with(limit.least), "") << limit.message;
    EXPECT_EQ(with(limit.most), "") << limit.message;
    EXPECT_EQ(with(std::nextafter(limit.least, -1e9)), limit.message);
    EXPECT_EQ(with(std::nextafter(limit.most, 1e9)), limit.message);
  }
}

}  // namespace
}  // namespace offhook::hostsim
