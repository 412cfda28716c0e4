// SPDX-License-Identifier: MIT
#include "hostsim/channel/loop.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numbers>
#include <stdexcept>
#include <string>
#include <vector>

#include "hostsim/channel/gaussian_noise.h"
#include "hostsim/channel/path.h"

namespace offhook::hostsim {
namespace {

using C = std::complex<double>;
constexpr double kTwoPi = 2 * std::numbers::pi;

/// Amplitude and phase of exp(i 2 pi turns n) in y, samples from to from + n - 1, with a Hann window.
template <class T>
C tone_in(const std::vector<T>& y, double turns, std::size_t from, std::size_t n) {
  C sum = 0;
  for (std::size_t k = 0; k < n; ++k) {
    const double window = 1 - std::cos(kTwoPi * (static_cast<double>(k) + 0.5) / static_cast<double>(n));
    const double angle = kTwoPi * std::fmod(turns * static_cast<double>(from + k), 1.0);
    sum += window * static_cast<double>(y[from + k]) * C(std::cos(angle), -std::sin(angle));
  }
  return 2.0 * sum / static_cast<double>(n);
}

/// A far end that sends a cosine and keeps its input.
struct Cosine {
  std::size_t tx, rx;  // samples of a period
  double turns, amplitude;
  std::vector<std::int16_t> heard{};
  std::uint64_t sent = 0;

  oh_pump pump() {
    return {[](void* self, const void* in, void* out, std::size_t n) {
              auto& c = *static_cast<Cosine*>(self);
              const auto* samples = static_cast<const std::int16_t*>(in);
              c.heard.insert(c.heard.end(), samples, samples + n * c.rx);
              c.make(static_cast<std::int16_t*>(out), n);
            },
            [](void*, std::size_t) {}, this};
  }
  void make(std::int16_t* out, std::size_t n) {
    for (std::size_t k = 0; k < n * tx; ++k, ++sent)
      out[k] = static_cast<std::int16_t>(
          std::lrint(amplitude * std::cos(kTwoPi * std::fmod(turns * static_cast<double>(sent), 1.0))));
  }
};

LoopConfig quiet() {
  LoopConfig c;
  c.noise_dbm_hz = -250;
  c.front_end.hybrid_loss_db = 200;
  c.front_end.bits = 16;
  return c;
}

struct Heard {
  std::vector<std::int16_t> near;
  Cosine far;
};

/// The near end at the customer sends `up_hz`, the far end at the exchange `down_hz`; 0 Hz is silence.
Heard run(const LoopConfig& c, double up_hz, double down_hz, std::size_t periods, std::size_t cut = 64,
          double amplitude = 8000) {
  const std::size_t ratio = c.downstream_hz / kUpstreamHz;
  Heard r{{}, {ratio, 1, down_hz / c.downstream_hz, down_hz > 0 ? amplitude : 0}};
  Cosine near{1, ratio, up_hz / kUpstreamHz, up_hz > 0 ? amplitude : 0};
  Loop loop(c, 7, r.far.pump());
  std::vector<std::int16_t> played(cut), captured(cut * ratio);
  for (std::size_t at = 0; at < periods; at += cut) {
    near.make(played.data(), cut);
    loop.exchange(played.data(), captured.data(), cut);
    r.near.insert(r.near.end(), captured.begin(), captured.end());
  }
  return r;
}

TEST(Path, FollowsItsResponseBetweenTheClocks) {
  // A second-order low pass with a delay, at rates without a whole ratio.
  const auto response = [](double hz) {
    const C s(0, hz / 120e3);
    return std::exp(C(0, -kTwoPi * hz * 50e-6)) / (1.0 + 1.2 * s + s * s) / (1.0 + std::exp((hz - 500e3) / 10e3));
  };
  for (const std::uint64_t denominator : {1'000'000'000ull, 1'000'100'000ull, 999'950'000ull}) {
    Path path(response, 1e6, 512, 1'000'000'000, denominator);
    const double hz = 181.3e3, out_rate = 1e6 * static_cast<double>(denominator) / 1e9;
    std::vector<double> y;
    for (int k = 0; k < 40'000; ++k) {
      path.push(static_cast<float>(std::cos(kTwoPi * std::fmod(hz * k / 1e6, 1.0))));
      while (path.ready()) y.push_back(path.pull());
    }
    const C got = tone_in(y, hz / out_rate, 2000, 32'768);
    EXPECT_LT(std::abs(got - response(hz)), 1e-4) << denominator;
  }
}

TEST(Path, HasTheImagesOfItsTransmitter) {
  const auto response = [](double hz) { return C(1 / (1 + std::exp((hz - 540e3) / 10e3))); };
  Path path([&](double hz) { return response(hz) * std::exp(C(0, -kTwoPi * hz * 60e-6)); }, 276e3, 128, 1, 4);
  const double hz = 100e3;
  std::vector<double> y;
  for (int k = 0; k < 20'000; ++k) {
    path.push(static_cast<float>(std::cos(kTwoPi * std::fmod(hz * k / 276e3, 1.0))));
    while (path.ready()) y.push_back(path.pull());
  }
  for (const double image : {hz, 276e3 - hz, 276e3 + hz, 552e3 - hz})
    EXPECT_NEAR(std::abs(tone_in(y, image / 1104e3, 2000, 65'536)), std::abs(response(image)), 2e-4) << image;
}

TEST(GaussianNoise, HasThePowerSpectralDensityAskedFor) {
  const auto psd = [](double hz) { return 1e-3 * (1 + 9 * std::pow(std::sin(hz / 276e3 * 3.14159), 2)); };
  GaussianNoise noise(Random(3, 1), 276e3, psd);
  constexpr int kPoints = 256, kBlocks = 1500;
  for (const int bin : {10, 40, 64, 100, 120}) {
    GaussianNoise again(Random(3, 1), 276e3, psd);
    double power = 0;
    for (int b = 0; b < kBlocks; ++b) {
      C sum = 0;
      for (int t = 0; t < kPoints; ++t)
        sum += static_cast<double>(again.next()) * std::exp(C(0, -kTwoPi * bin * t / kPoints));
      power += std::norm(sum);
    }
    const double got = power / kBlocks * 2 / (276e3 * kPoints);  // one-sided
    EXPECT_NEAR(got / psd(bin * 276e3 / kPoints), 1, 4 / std::sqrt(kBlocks)) << bin;
  }
}

TEST(LoopImpulses, ComeAtTheirMeanRate) {
  LoopImpulses impulses(Random(5, 2), 276e3, 200, 1);
  double most = 0;
  for (int k = 0; k < 2'760'000; ++k) most = std::max(most, static_cast<double>(std::abs(impulses.next())));
  EXPECT_NEAR(static_cast<double>(impulses.impulses()), 2000, 4 * std::sqrt(2000));
  EXPECT_GE(most, 0.999);
}

TEST(Loop, PassesATonePerDirectionWithTheGainOfTheCable) {
  const LoopConfig c = quiet();
  const double up = 60e3, down = 300e3;
  const Heard r = run(c, up, down, 40'000);
  Cosine silent{4, 1, 0, 0};
  Loop loop(c, 7, silent.pump());
  EXPECT_NEAR(
      std::abs(tone_in(r.near, down / 1104e3, 40'000, 65'536)) / 8000 / std::abs(loop.gain(Direction::kDown, down)), 1,
      1e-3);
  EXPECT_NEAR(
      std::abs(tone_in(r.far.heard, up / 276e3, 4'000, 32'768)) / 8000 / std::abs(loop.gain(Direction::kUp, up)), 1,
      1e-3);
}

TEST(Loop, GainPutsWhatIsReceivedAtItsLevel) {
  // By definition all tones of the reference at their nominal power are -17 dB of full scale; one such tone is lower by
  // their weighted number. Half the level needs twice the gain.
  LoopConfig a = quiet(), b = quiet();
  b.front_end.receive_rms_dbfs = a.front_end.receive_rms_dbfs - 20;
  Cosine silent{4, 1, 0, 0};
  const Loop one(a, 7, silent.pump()), other(b, 7, silent.pump());
  EXPECT_NEAR(std::abs(one.gain(Direction::kDown, 2e5) / other.gain(Direction::kDown, 2e5)), 10, 1e-6);
  double power = 0;  // int16 units, of -40 dBm/Hz at the transmitter's scale of 12 V
  for (int k = 33; k <= 127; ++k) {
    const double rms = std::sqrt(4312.5 * 1e-4 * 0.1) / 12 * 32768;
    power += std::norm(one.gain(Direction::kDown, k * 4312.5) * rms);
  }
  EXPECT_NEAR(10 * std::log10(power / (32768. * 32768.)), -17, 0.15);
}

TEST(Loop, EchoComesThroughTheHybridAtItsLossWhereTheFiltersMeet) {
  LoopConfig c = quiet();
  c.front_end.hybrid_loss_db = 20;
  c.cable = cable_named("26:3");  // low gain at the receiver, so that the echo does not clip
  const Heard r = run(c, 130e3, 0, 40'000);
  Cosine silent{4, 1, 0, 0};
  Loop loop(c, 7, silent.pump());
  // A volt at the receiver: its gain at a frequency relative to the path's.
  const double units = std::abs(loop.gain(Direction::kDown, 3e5)) /
                       std::abs(insertion_gain(c.cable, 3e5) * std::pow(coupling(c.front_end, 3e5), 2));
  const auto through = [&](double f) {
    return split_filter(c.front_end, Direction::kUp, 1104e3, f) *
           split_filter(c.front_end, Direction::kDown, 1104e3, f) * std::abs(coupling(c.front_end, f)) / 10;
  };
  // The path's response lasts 0.5 ms and the filters ring a little longer: 1 % at their edge.
  for (const double f : {130e3, 276e3 - 130e3})
    EXPECT_NEAR(std::abs(tone_in(r.near, f / 1104e3, 40'000, 65'536)) / 8000 / (units * through(f)), 1, 0.02) << f;
}

TEST(Loop, NoiseAtTheReceiverIsThatOfItsConfiguration) {
  LoopConfig c = quiet();
  c.noise_dbm_hz = -120;
  c.disturbers = disturbers_named("24 ISDN");
  const Heard r = run(c, 0, 0, 100'000);
  Cosine silent{4, 1, 0, 0};
  Loop loop(c, 7, silent.pump());
  for (const double hz : {200e3, 250e3, 400e3}) {
    double power = 0;
    constexpr std::size_t kPoints = 256, kBlocks = 1500;
    for (std::size_t b = 0; b < kBlocks; ++b) {
      // From a Hann window's amplitude to the density, with its equivalent noise bandwidth of 1.5 bins.
      power += std::norm(tone_in(r.near, hz / 1104e3, 2000 + b * kPoints, kPoints)) / 4;
    }
    const double got = power / kBlocks * 2 * kPoints / 1104e3 / 1.5;
    EXPECT_NEAR(got / loop.noise_psd(Direction::kDown, hz), 1, 4 / std::sqrt(kBlocks)) << hz;
  }
}

TEST(Loop, DisturbersBeginAtTheirTimeAndACarrierHasItsLevel) {
  LoopConfig c = quiet();
  c.ingress = ingress_named("200:-50, 20:-50");  // the second one is outside the downstream band
  c.disturbers_from_s = 0.01;
  Cosine silent{4, 1, 0, 0};
  Loop loop(c, 1, silent.pump());
  constexpr std::size_t kPeriods = 276 * 40;
  const std::vector<std::int16_t> played(kPeriods);
  std::vector<std::int16_t> captured(4 * kPeriods);
  loop.exchange(played.data(), captured.data(), kPeriods);
  const std::size_t from = 11040;
  EXPECT_TRUE(std::all_of(captured.begin(), captured.begin() + from, [](int s) { return s == 0; }));
  // Volts of -50 dBm across 100 ohm times the receiver's gain: the amplification of a known tone of the far end.
  const double hz = 200e3;
  const double per_volt = std::abs(loop.gain(Direction::kDown, hz)) / std::abs(insertion_gain(c.cable, hz)) * 32768 /
                          c.front_end.full_scale_volts / std::norm(coupling(c.front_end, hz));
  const double expected = std::sqrt(2 * 1e-8 * 100) * per_volt;
  EXPECT_NEAR(std::abs(tone_in(captured, hz / 1.104e6, from, 4 * kPeriods - from)), expected, 0.02 * expected);
  EXPECT_LT(std::abs(tone_in(captured, 20e3 / 1.104e6, from, 4 * kPeriods - from)), 0.01 * expected);
  EXPECT_THROW(ingress_named("540:-60,,"), std::invalid_argument);
  EXPECT_THROW(ingress_named("540:nan"), std::invalid_argument);
}

TEST(Loop, FarClockMovesTheToneByItsDifference) {
  LoopConfig c = quiet();
  c.clock_ppm = 80;
  const double down = 250e3;
  const Heard r = run(c, 0, down, 80'000);
  // The phase of the nominal tone turns by 80 ppm of its frequency.
  const C a = tone_in(r.near, down / 1104e3, 20'000, 32'768), b = tone_in(r.near, down / 1104e3, 240'000, 32'768);
  const double turns = std::remainder(std::arg(b / a) / kTwoPi - down * 80e-6 * 220'000 / 1104e3, 1.0);
  EXPECT_NEAR(turns, 0, 2e-3);
  // And the far end has received the same number more.
  EXPECT_NEAR(static_cast<double>(r.far.heard.size()), 80'000 * (1 + 80e-6), 1.0 * Loop::kFarBlock);
}

TEST(Loop, GivesTheSameSamplesHoweverTheCallsAreCut) {
  LoopConfig c;
  c.clock_ppm = -50;
  c.impulse_rate_hz = 100;
  const Heard a = run(c, 60e3, 300e3, 12'800, 64), b = run(c, 60e3, 300e3, 12'800, 1),
              d = run(c, 60e3, 300e3, 12'800, 640);
  EXPECT_EQ(a.near, b.near);
  EXPECT_EQ(a.near, d.near);
  EXPECT_EQ(a.far.heard, b.far.heard);
}

TEST(Loop, RefusesAConfigurationByItsField) {
  Cosine silent{4, 1, 0, 0};
  const auto refuses = [&](const char* field, auto change) {
    LoopConfig c;
    change(c);
    try {
      const Loop loop(c, 1, silent.pump());
      ADD_FAILURE() << field;
    } catch (const std::invalid_argument& e) {
      EXPECT_NE(std::string(e.what()).find(field), std::string::npos) << e.what();
    }
  };
  refuses("downstream_hz", [](LoopConfig& c) { c.downstream_hz = 1'000'000; });
  refuses("noise_dbm_hz", [](LoopConfig& c) { c.noise_dbm_hz = 0; });
  refuses("clock_ppm", [](LoopConfig& c) { c.clock_ppm = 2000; });
  refuses("bits", [](LoopConfig& c) { c.front_end.bits = 17; });
  refuses("split_width_hz", [](LoopConfig& c) { c.front_end.split_width_hz = 0; });
}

}  // namespace
}  // namespace offhook::hostsim
