// SPDX-License-Identifier: MIT
#include "hostsim/channel/line.h"

#include <gtest/gtest.h>

#include "dsp/blocks/level.h"
#include "hostsim/channel/g711.h"
#include "hostsim/channel/noise.h"
#include "tests/unit/hostsim/channel/tone.h"

namespace offhook::hostsim {
namespace {

using Samples = std::vector<std::int16_t>;

/// Plays the given samples, then silence; keeps its input.
struct Recorder : FarEnd {
  explicit Recorder(Samples to_send = {}) : sent(std::move(to_send)) {}
  void process(const std::int16_t* rx, std::int16_t* tx, std::size_t n) override {
    EXPECT_EQ(n, Line::kFarBlock);
    for (std::size_t i = 0; i < n; ++i, ++at) tx[i] = at < sent.size() ? sent[at] : std::int16_t{0};
    heard.insert(heard.end(), rx, rx + n);
  }
  Samples sent;
  Samples heard;
  std::size_t at = 0;
};

/// The channel alone: no echo, noise or codec.
LineConfig clean() {
  LineConfig c;
  c.loss_db = 0;
  c.near_echo_db = c.far_echo_db = 400;
  c.noise_dbm0 = -400;
  c.codec = "none";
  return c;
}

struct Ends {
  Samples near;
  Samples far;
};

Ends run(const LineConfig& config, const Samples& near_sends, const Samples& far_sends = {}, std::uint64_t seed = 1) {
  Recorder far(far_sends);
  Line line(config, seed, far);
  Samples heard(near_sends.size());
  line.exchange(near_sends.data(), heard.data(), heard.size());
  return {heard, far.heard};
}

TEST(Line, LossIsExactInBothDirections) {
  for (double loss : {0.0, 10.0, 27.5})
    for (double hz : {500.0, 1000.0, 1800.0, 3000.0}) {
      LineConfig c = clean();
      c.loss_db = loss;
      const auto x = test::sine(hz, 20'000, 16'000);
      const Ends e = run(c, x, x);
      EXPECT_NEAR(test::db(std::abs(test::cosine_in(e.far, hz, 4'000, 8'000)) / 20'000), -loss, 0.1) << hz;
      EXPECT_NEAR(test::db(std::abs(test::cosine_in(e.near, hz, 4'000, 8'000)) / 20'000), -loss, 0.1) << hz;
    }
}

// The line's memory wraps every half second: no sample may be lost there with any delay.
TEST(Line, ALongerDelayGivesTheSameSamplesLater) {
  const auto x = test::sine(1234, 20'000, 40'000);
  LineConfig c = clean();
  c.delay_ms = 12;
  const Ends shorter = run(c, x, x);
  for (const std::size_t more : {1u, 3u, 7u, 8u}) {
    c.delay_ms = 12 + static_cast<double>(more) / 8;
    const Ends longer = run(c, x, x);
    for (std::size_t i = 1000; i < longer.near.size(); ++i) {
      ASSERT_NEAR(longer.near[i], shorter.near[i - more], 1) << more << " samples more, at " << i;
    }
    for (std::size_t i = 1000; i < longer.far.size(); ++i) {
      ASSERT_NEAR(longer.far[i], shorter.far[i - more], 1) << more << " samples more, at " << i;
    }
  }
}

/// A pulse of 1800 Hz, 4 ms wide, its middle at sample `middle`: its centre of energy moves by the group delay.
Samples pulse(std::size_t middle, std::size_t n) {
  Samples x(n);
  for (std::size_t i = 0; i < n; ++i) {
    const double t = static_cast<double>(i) - static_cast<double>(middle);
    x[i] = static_cast<std::int16_t>(
        std::lrint(20'000 * std::exp(-t * t / (2 * 30 * 30)) * std::cos(test::kTwoPi * 1800 / 8000 * t)));
  }
  return x;
}

double energy(const Samples& x, std::size_t first, std::size_t n) {
  double e = 0;
  for (std::size_t i = first; i < first + n; ++i) e += static_cast<double>(x[i]) * x[i];
  return e;
}

double centre(const Samples& x, std::size_t first, std::size_t n) {
  double sum = 0;
  for (std::size_t i = first; i < first + n; ++i) sum += static_cast<double>(i) * x[i] * x[i];
  return sum / energy(x, first, n);
}

TEST(Line, DelayIsWhatItSaysInBothDirections) {
  for (double ms : {0.0, 9.0, 10.0, 62.5, 300.0}) {
    LineConfig c = clean();
    c.delay_ms = ms;
    Recorder far(pulse(500, 1'000));
    Line line(c, 1, far);
    const std::size_t delay = ms == 0 ? Line::least_delay() : static_cast<std::size_t>(ms * 8);
    EXPECT_EQ(line.delay_samples(), delay);
    const Samples x = pulse(500, 8'000);
    Samples heard(x.size());
    line.exchange(x.data(), heard.data(), x.size());
    EXPECT_NEAR(centre(far.heard, 0, 8'000), 500 + static_cast<double>(delay), 0.1);
    EXPECT_NEAR(centre(heard, 0, 8'000), 500 + static_cast<double>(delay), 0.1);
  }
}

/// Peak deviation of the phase of a tone from its mean over a second, in degrees.
double phase_deviation_deg(const Samples& heard, double hz, double jitter_hz) {
  // Blocks of a twentieth of the jitter's period show its sine nearly undamped.
  const auto span = static_cast<std::size_t>(8000 / jitter_hz / 20);
  double peak = 0;
  const double mean = std::arg(test::cosine_in(heard, hz, 8'000, 8'000));
  for (std::size_t at = 8'000; at + span <= 16'000; at += span) {
    const double off = std::arg(test::cosine_in(heard, hz, at, span)) - mean;
    peak = std::max(peak, std::abs(std::remainder(off, test::kTwoPi)));
  }
  return peak * 360 / test::kTwoPi;
}

TEST(Line, PhaseJitterIsASineOfItsPeakToPeakInBothDirections) {
  for (const double degrees : {10., 40.}) {
    LineConfig c = clean();
    c.phase_jitter_deg = degrees;
    c.phase_jitter_hz = 10;
    const Samples x = test::sine(2000, 20'000, 16'000);
    const Ends e = run(c, x, x);
    EXPECT_NEAR(phase_deviation_deg(e.far, 2000, 10), degrees / 2, 0.05 * degrees);
    EXPECT_NEAR(phase_deviation_deg(e.near, 2000, 10), degrees / 2, 0.05 * degrees);
  }
}

TEST(Line, AnInterruptionIsSilenceOfItsLengthAtItsTimeInBothDirections) {
  LineConfig c = clean();
  c.interruption_at_s = 0.5;
  c.interruption_ms = 100;
  const Samples x = test::sine(1000, 20'000, 8'000);
  const Ends e = run(c, x, x);
  for (const Samples& heard : {e.far, e.near}) {
    const double before = energy(heard, 3'000, 400);
    EXPECT_NEAR(energy(heard, 3'560, 400), before, 0.01 * before);
    EXPECT_LT(energy(heard, 4'050, 700), 1e-4 * before);
    EXPECT_NEAR(energy(heard, 4'900, 400), before, 0.01 * before);
  }
}

TEST(Line, ASlipHearsSamplesTwiceOrLosesThem) {
  for (const int samples : {40, -40}) {
    LineConfig c = clean();
    c.delay_ms = 20;
    const Samples x = test::sine(1234, 15'000, 8'000);
    const Ends a = run(c, x, x);
    c.slip_at_s = 0.5;
    c.slip_ms = samples / 8.;
    const Ends b = run(c, x, x);
    for (std::size_t i = 0; i < 3'900; ++i) {
      ASSERT_EQ(b.far[i], a.far[i]);
      ASSERT_EQ(b.near[i], a.near[i]);
    }
    for (std::size_t i = 4'300; i < 7'900; ++i) {  // the resamplers' taps after the slip
      ASSERT_EQ(b.far[i], a.far[i - static_cast<std::size_t>(samples)]) << samples << " at " << i;
      ASSERT_EQ(b.near[i], a.near[i - static_cast<std::size_t>(samples)]) << samples << " at " << i;
    }
  }
}

TEST(Line, ASlipLongerThanTheDelayIsRefused) {
  LineConfig c = clean();
  c.delay_ms = 12;
  c.slip_ms = -4;
  EXPECT_THROW(run(c, Samples(8)), std::invalid_argument);
  c.slip_ms = -3;
  EXPECT_NO_THROW(run(c, Samples(8)));
}

TEST(Line, OneSampleMoreDelayIsExactlyOneSampleLater) {
  LineConfig c = clean();
  c.delay_ms = 20;
  const Samples x = test::sine(1234, 15'000, 4'000);
  const Ends a = run(c, x, x);
  c.delay_ms += 0.125;
  const Ends b = run(c, x, x);
  for (std::size_t i = 1; i < 4'000; ++i) {
    ASSERT_EQ(b.far[i], a.far[i - 1]);
    ASSERT_EQ(b.near[i], a.near[i - 1]);
  }
}

TEST(Line, NearEchoComesBackAtItsLevelAndDelayAtBothEnds) {
  LineConfig c = clean();
  c.loss_db = 100;
  c.near_echo_db = 12;
  const Samples x = test::sine(700, 20'000, 4'000);
  const Ends e = run(c, x, x);
  for (std::size_t i = 0; i < 4'000; ++i) {
    const double expected = i < Line::kEchoDelay ? 0 : x[i - Line::kEchoDelay] * std::pow(10, -12.0 / 20);
    ASSERT_NEAR(e.near[i], expected, 1.5) << i;  // and the other end 100 dB lower
    ASSERT_NEAR(e.far[i], expected, 1.5) << i;
  }
}

TEST(Line, FarEchoComesBackAfterTheRoundTripAtTwiceTheLossPlusItsOwn) {
  LineConfig c = clean();
  c.loss_db = 4;
  c.far_echo_db = 15;
  c.delay_ms = 50;
  const Samples x = pulse(500, 4'000);
  const double sent = energy(x, 0, 1'000);
  Ends e = run(c, x);
  EXPECT_NEAR(centre(e.near, 900, 800), 500 + 800, 0.3);
  EXPECT_NEAR(10 * std::log10(energy(e.near, 900, 800) / sent), -(2 * 4 + 15), 0.1);
  e = run(c, Samples(4'000), x);
  EXPECT_NEAR(centre(e.far, 900, 800), 500 + 800, 0.3);
  EXPECT_NEAR(10 * std::log10(energy(e.far, 900, 800) / sent), -(2 * 4 + 15), 0.1);
  // The listener echo: the near end hears it again after three trips through the line and two hybrids.
  EXPECT_NEAR(centre(e.near, 1'300, 800), 500 + 1'200, 0.5);
  EXPECT_NEAR(10 * std::log10(energy(e.near, 1'300, 800) / sent), -(3 * 4 + 2 * 15), 0.1);
}

TEST(Line, NoiseHasItsLevelAndIsWhiteAtBothEnds) {
  LineConfig c = clean();
  c.noise_dbm0 = -40;
  const Ends e = run(c, Samples(200'000));
  for (const Samples& x : {e.near, e.far}) {
    const double n = static_cast<double>(x.size());
    const double variance = energy(x, 0, x.size()) / n;
    const double expected = dbm0_to_rms(-40) * dbm0_to_rms(-40) + 1.0 / 12;
    EXPECT_NEAR(variance / expected, 1, 4 * std::sqrt(2 / n));  // chi-square, four standard deviations
    for (std::size_t lag : {1u, 2u, 3u, 8u}) {
      double sum = 0;
      for (std::size_t i = lag; i < x.size(); ++i) sum += static_cast<double>(x[i]) * x[i - lag];
      EXPECT_LT(std::abs(sum / n / variance), 4 / std::sqrt(n)) << lag;
    }
  }
  double cross = 0;
  for (std::size_t i = 0; i < e.far.size(); ++i) cross += static_cast<double>(e.near[i]) * e.far[i];
  EXPECT_LT(std::abs(cross) / energy(e.near, 0, e.near.size()), 4 / std::sqrt(200'000.0));
}

TEST(Line, ImpulsesArePoissonAndHaveTheirPeak) {
  ImpulseNoise impulses(Random(3, 3), 2, -10);
  double peak = 0;
  for (int i = 0; i < 8'000'000; ++i) peak = std::max(peak, std::abs(static_cast<double>(impulses.next())));
  EXPECT_NEAR(static_cast<double>(impulses.impulses()), 2'000, 4 * std::sqrt(2'000.0));
  ImpulseNoise rare(Random(3, 4), 0.1, -10);
  peak = 0;
  while (rare.impulses() < 1) rare.next();
  ImpulseNoise again(Random(3, 4), 0.1, -10);
  for (float x = 0; again.impulses() < 1 || x != 0;) {
    x = again.next();
    peak = std::max(peak, std::abs(static_cast<double>(x)));
    if (again.impulses() == 1 && x == 0) break;
  }
  EXPECT_NEAR(peak, dbm0_to_peak(-10), 1e-2);
}

TEST(Line, FrequencyOffsetMovesAToneExactlyAndLeavesNoImage) {
  for (double offset : {7.0, -3.5}) {
    LineConfig c = clean();
    c.frequency_offset_hz = offset;
    const auto x = test::sine(1000, 20'000, 480'000);  // a minute
    const Ends e = run(c, x, x);
    for (const Samples& heard : {e.near, e.far}) {
      const auto early = test::cosine_in(heard, 1000 + offset, 8'000, 16'000);
      const auto late = test::cosine_in(heard, 1000 + offset, 456'000, 16'000);
      EXPECT_NEAR(test::db(std::abs(early) / 20'000), 0, 0.1);
      EXPECT_NEAR(std::arg(late / early), 0, 1e-4);  // 56 s: the error of the frequency is at most 3e-7 Hz
      EXPECT_LT(test::residue_db(heard, 1000 + offset, 8'000, 16'000), -55);
    }
  }
}

TEST(Line, ClockDifferenceIsExactOverMinutesInBothDirections) {
  LineConfig c = clean();
  c.clock_ppm = 87.654;
  const std::size_t n = 5 * 60 * 8'000;
  const auto x = test::sine(1000, 20'000, n);
  const auto y = test::sine(1000, 20'000, n + 1'000);
  const Ends e = run(c, x, y);
  const double ratio = 1 + 87.654e-6;
  EXPECT_NEAR(static_cast<double>(e.far.size()), static_cast<double>(n) * ratio, 9);
  const auto drift = [](const Samples& heard, double hz, std::size_t late) {
    return std::arg(test::cosine_in(heard, hz, late, 8'000) / test::cosine_in(heard, hz, 8'000, 8'000)) / test::kTwoPi *
           8;
  };
  EXPECT_NEAR(drift(e.far, 1000 / ratio, n - 8'000), 0, 1e-3);  // samples
  EXPECT_NEAR(drift(e.near, 1000 * ratio, n - 8'000), 0, 1e-3);
  EXPECT_LT(test::residue_db(e.far, 1000 / ratio, 8'000, 16'000), -70);
  EXPECT_LT(test::residue_db(e.near, 1000 * ratio, 8'000, 16'000), -70);
}

LineConfig everything() {
  LineConfig c;
  c.loss_db = 6;
  c.far_echo_db = 12;
  c.noise_dbm0 = -45;
  c.impulse_rate_hz = 20;
  c.frequency_offset_hz = 4;
  c.clock_ppm = -120;
  c.codec = "a-law";
  c.channel = "v56bis-ad8-edd3";
  c.robbed_bit = true;
  return c;
}

TEST(Line, AnyCutOfTheCallsGivesTheSameSamples) {
  const auto x = test::sine(1500, 9'000, 20'000);
  const auto y = test::sine(2100, 9'000, 20'000);
  const Ends whole = run(everything(), x, y, 5);
  const Random random(1, 0);
  for (std::uint64_t longest : {1u, 7u, 512u}) {
    Recorder far(y);
    Line line(everything(), 5, far);
    Samples heard(x.size());
    for (std::size_t i = 0, k = 0; i < x.size(); ++k) {
      const std::size_t n = std::min<std::size_t>(1 + random.word(k) % longest, x.size() - i);
      line.exchange(&x[i], &heard[i], n);
      i += n;
    }
    EXPECT_EQ(heard, whole.near);
    EXPECT_EQ(far.heard, whole.far);
  }
}

TEST(Line, SameSeedSameBytesAndAnotherSeedOthers) {
  const auto x = test::sine(1500, 9'000, 20'000);
  const Ends a = run(everything(), x, x, 5), b = run(everything(), x, x, 5), c = run(everything(), x, x, 6);
  EXPECT_EQ(a.near, b.near);
  EXPECT_EQ(a.far, b.far);
  EXPECT_NE(a.near, c.near);
  EXPECT_NE(a.far, c.far);
}

TEST(Line, NearSampleDependsOnNothingSentLater) {
  const auto x = test::sine(1500, 9'000, 4'000);
  Samples z = x;
  for (std::size_t i = 2'000; i < z.size(); ++i) z[i] = static_cast<std::int16_t>(-z[i]);
  const Ends a = run(everything(), x), b = run(everything(), z);
  for (std::size_t i = 0; i <= 2'000; ++i) ASSERT_EQ(a.near[i], b.near[i]);
}

TEST(Line, CodecGivesADigitalFarEndItsOwnValuesBothWays) {
  LineConfig c = clean();
  c.codec = "mu-law";
  c.far_digital = true;
  c.noise_dbm0 = -50;
  c.near_echo_db = 6;  // a digital end has no hybrid
  const Ends e = run(c, Samples(4'000), test::sine(1000, 20'000, 4'000));
  for (std::int16_t v : e.far) {
    ASSERT_EQ(mu_law_decode(mu_law_encode(v)), v);
    ASSERT_LT(std::abs(v), 6 * dbm0_to_rms(-50));
  }
  c.robbed_bit = true;
  const Ends robbed = run(c, test::sine(1000, 20'000, 4'000));
  for (std::size_t i = 5; i < robbed.far.size(); i += 6) ASSERT_EQ(mu_law_encode(robbed.far[i]) & 1, 1);
}

TEST(Line, CodecCostsItsQuantisingNoise) {
  LineConfig c = clean();
  for (const char* law : {"a-law", "mu-law"}) {
    c.codec = law;
    const auto x = test::sine(1020.3, dbm0_to_peak(-10), 40'000);
    const Ends e = run(c, x, x);
    EXPECT_NEAR(test::residue_db(e.far, 1020.3, 4'000, 32'000), -38, 1.5) << law;
    EXPECT_NEAR(test::residue_db(e.near, 1020.3, 4'000, 32'000), -38.5, 1.5) << law;  // filtered: a little less
  }
}

TEST(Line, BadConfigurationIsAnErrorThatNamesTheField) {
  const auto message = [](auto change) -> std::string {
    LineConfig c;
    change(c);
    Recorder far;
    try {
      Line line(c, 1, far);
    } catch (const std::invalid_argument& e) {
      return e.what();
    }
    return "accepted";
  };
  EXPECT_EQ(message([](LineConfig&) {}), "accepted");
  EXPECT_EQ(message([](LineConfig& c) { c.delay_ms = 3; }),
            "line.delay_ms = 3.000000: expected 0 (the least), or 9.000000 to 10000");
  EXPECT_EQ(message([](LineConfig& c) { c.loss_db = std::nan(""); }), "line.loss_db = nan: expected -20 to 100");
  EXPECT_EQ(message([](LineConfig& c) { c.codec = "g729"; }),
            "line.codec = \"g729\": expected \"none\", \"a-law\" or \"mu-law\"");
  EXPECT_NE(message([](LineConfig& c) { c.loss_db = c.far_echo_db = 0; }).find("oscillate"), std::string::npos);
  EXPECT_NE(message([](LineConfig& c) { c.clock_ppm = 5000; }).find("-1000 to 1000"), std::string::npos);
  EXPECT_NE(message([](LineConfig& c) { c.channel = "wet string"; }).find("\"wet string\": expected"),
            std::string::npos);
  EXPECT_NE(message([](LineConfig& c) { c.codec = "none", c.robbed_bit = true; }).find("a-law"), std::string::npos);
}

TEST(Line, EachNumberHasTheLimitsThatItsRefusalNames) {
  struct Limit {
    const char* field;
    double LineConfig::*value;
    double least, most;
  };
  using C = LineConfig;
  const auto refusal = [](const Limit& limit, double value) -> std::string {
    LineConfig c;
    c.delay_ms = 20;  // a slip may lose samples beyond the least delay: 11 ms
    c.*limit.value = value;
    Recorder far;
    try {
      Line line(c, 1, far);
    } catch (const std::invalid_argument& e) {
      return e.what();
    }
    return "";
  };
  for (const Limit& limit : {Limit{"loss_db", &C::loss_db, -20, 100},
                             {"near_echo_db", &C::near_echo_db, 0, 400},
                             {"far_echo_db", &C::far_echo_db, 0, 400},
                             {"delay_ms", &C::delay_ms, 9, 10'000},
                             {"noise_dbm0", &C::noise_dbm0, -400, 3},
                             {"impulse_rate_hz", &C::impulse_rate_hz, 0, 1000},
                             {"impulse_dbm0", &C::impulse_dbm0, -400, 3},
                             {"frequency_offset_hz", &C::frequency_offset_hz, -100, 100},
                             {"phase_jitter_deg", &C::phase_jitter_deg, 0, 90},
                             {"phase_jitter_hz", &C::phase_jitter_hz, 0, 300},
                             {"interruption_ms", &C::interruption_ms, 0, 60'000},
                             {"interruption_at_s", &C::interruption_at_s, 0, 1e6},
                             {"slip_ms", &C::slip_ms, -11, 1000},
                             {"slip_at_s", &C::slip_at_s, 0, 1e6},
                             {"upper_edge_hz", &C::upper_edge_hz, 1000, 3400},
                             {"steep_edge_hz", &C::steep_edge_hz, 0, 3800},
                             {"limit_dbm0", &C::limit_dbm0, -60, 20},
                             {"dc_percent", &C::dc_percent, -50, 50},
                             {"hum_dbm0", &C::hum_dbm0, -400, 3},
                             {"hum_hz", &C::hum_hz, 10, 500},
                             {"gain_hit_db", &C::gain_hit_db, -40, 20},
                             {"phase_hit_deg", &C::phase_hit_deg, -180, 180},
                             {"hit_at_s", &C::hit_at_s, 0, 1e6},
                             {"hit_ms", &C::hit_ms, 0, 1e6},
                             {"hit_period_s", &C::hit_period_s, 0, 1e6},
                             {"wander_ppm", &C::wander_ppm, -200, 200},
                             {"wander_hz", &C::wander_hz, 0.01, 10},
                             {"clock_ppm", &C::clock_ppm, -1000, 1000}}) {
    SCOPED_TRACE(limit.field);
    const std::string named = "line." + std::string(limit.field) + " = ";
    EXPECT_EQ(refusal(limit, limit.least), "");
    EXPECT_EQ(refusal(limit, limit.most), "");
    EXPECT_EQ(refusal(limit, std::nextafter(limit.least, -1e9)).substr(0, named.size()), named);
    EXPECT_EQ(refusal(limit, std::nextafter(limit.most, 1e9)).substr(0, named.size()), named);
  }
}

}  // namespace
}  // namespace offhook::hostsim
