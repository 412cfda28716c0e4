// SPDX-License-Identifier: MIT
//
// Data mode read again: symbols of our own encoder with noise, and with the pulses that a clipped signal holds.
#include "src/decode/v34/second_reading.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "hostsim/engine/random.h"
#include "src/decode/v34/known_symbols.h"
#include "src/decode/v34/likely_sequence.h"

namespace offhook::decode {
namespace {

constexpr v34::SymbolRate kRate = v34::SymbolRate::k3200;
constexpr std::uint32_t kBitRate = 31200;
constexpr double kCarrierHz = 1920, kSamplesASymbol = 8000.0 / 3200;
constexpr int kFrames = 1500;

struct Sent {
  v34::DataParameters parameters;
  std::vector<v34::Point> points;
  std::vector<EqualisedSymbol> symbols;
};

Sent send(v34::TrellisCode trellis, const v34::EncoderStart& start, double variance) {
  Sent s;
  v34::PrecoderCoefficients precoder{};
  precoder.h[0] = {1700, 100};
  precoder.h[1] = {-640, 560};
  s.parameters = {{make_framing(kRate, kBitRate, false, false), kGpa, trellis, precoder}, true, kBitRate};
  v34::Encoder encoder(s.parameters.coding, start);
  const qam::NonlinearEncoder nonlinear(v34::kNonlinearTheta, s.parameters.mean_energy());
  const hostsim::Random bits(1, 1), noise(1, 2);
  std::uint64_t at = 0;
  for (int f = 0; f < kFrames; ++f) {
    std::uint8_t primary[v34::kMaxMappingFrameBits];
    for (int k = 0; k < encoder.primary_bits(); ++k) primary[k] = bits.normal(at++) > 0;
    v34::Encoder::Symbol symbols[v34::kSymbolsPerMappingFrame];
    encoder.frame(primary, 0, symbols);
    for (const auto& symbol : symbols) {
      float re = static_cast<float>(symbol.x.re) / 128, im = static_cast<float>(symbol.x.im) / 128;
      nonlinear.encode(&re, &im);
      const std::size_t k = s.symbols.size();
      const double sigma = std::sqrt(variance / 2);
      const Cf n(static_cast<float>(sigma * noise.normal(2 * k)), static_cast<float>(sigma * noise.normal(2 * k + 1)));
      s.points.push_back(symbol.y);
      s.symbols.push_back({kSamplesASymbol * static_cast<double>(k), 0.3, Cf(re, im) + n});
    }
  }
  return s;
}

// A real pulse at `t` symbols: bent as a line bends it, with most of its tail before the peak.
void add_pulse(Sent& s, double t, double height) {
  constexpr int kReach = 12;
  for (int k = static_cast<int>(t) - kReach; k <= static_cast<int>(t) + kReach; ++k) {
    const auto sinc = [](double x) { return x == 0 ? 1 : std::sin(std::numbers::pi * x) / (std::numbers::pi * x); };
    const double x = k - t;
    const double envelope =
        sinc(x) - 0.6 * sinc(x + 1.1) - 0.4 * sinc(x + 2.2) + 0.4 * sinc(x + 3.2) + 0.25 * sinc(x - 1);
    EqualisedSymbol& symbol = s.symbols[static_cast<std::size_t>(k)];
    const double phase = 2 * std::numbers::pi * kCarrierHz / 8000 * kSamplesASymbol * t + symbol.phase;
    symbol.out += Cf(std::polar(height * envelope, -phase));
  }
}

// The line's voltage at `t` symbols, of the signal alone.
double voltage(const std::vector<Cf>& sent, double phase, double t) {
  constexpr int kReach = 8;
  const int middle = static_cast<int>(t);
  Cd sum;
  for (int k = std::max(0, middle - kReach); k <= middle + kReach; ++k) {
    const double x = std::numbers::pi * (k - t);
    const double window = 0.5 + 0.5 * std::cos(x / (kReach + 1));
    sum += Cd(sent.at(static_cast<std::size_t>(k))) * (x == 0 ? 1 : std::sin(x) / x * window);
  }
  return (sum * std::polar(1.0, 2 * std::numbers::pi * kCarrierHz / 8000 * kSamplesASymbol * t + phase)).real();
}

// Peaks of one side above `level` are cut; what is cut comes as pulses. @return how many
int clip(Sent& s, double level) {
  std::vector<Cf> sent;
  for (const EqualisedSymbol& symbol : s.symbols) sent.push_back(symbol.out);
  int peaks = 0;
  constexpr double kStep = 1 / 16.0;
  for (double t = 100; t < static_cast<double>(sent.size()) - 100; t += kStep) {
    const double here = voltage(sent, s.symbols[0].phase, t);
    if (here < level || here < voltage(sent, s.symbols[0].phase, t - kStep) ||
        here < voltage(sent, s.symbols[0].phase, t + kStep))
      continue;
    add_pulse(s, t, -0.6 * (here - level));
    ++peaks;
  }
  return peaks;
}

std::size_t wrong_points(const Sent& s, const SecondReading& reading) {
  std::size_t wrong = 0;
  for (std::size_t k = 0; k < s.points.size(); ++k) wrong += !(reading.points.at(k) == s.points[k]);
  return wrong;
}

// What the memory of an hour needs.
TEST(DecodeSecondReading, InSegmentsThePointsAreThoseOfOneReading) {
  for (const auto trellis : {v34::TrellisCode::k16, v34::TrellisCode::k64}) {
    const v34::EncoderStart start{1, 9, 0};
    const Sent s = send(trellis, start, 0.55);
    const SecondReading plain = read_plainly(s.symbols, s.parameters, start);
    const SecondReading whole = read_without_pulses(s.symbols, s.parameters, start, kCarrierHz, plain);
    EXPECT_GT(wrong_points(s, whole), 0u);  // equal in the errors, too
    SegmentedReading segments(s.parameters, start, kCarrierHz, 2048);
    std::vector<v34::Point> points;
    std::span<const EqualisedSymbol> left = s.symbols;
    const auto take = [&](const SecondReading& r, std::size_t first, std::size_t last) {
      for (std::size_t k = first; k < last; ++k) points.push_back(r.points.at(k));
    };
    while (left.size() >= segments.last() + SegmentedReading::kBeside) {
      const SecondReading r = segments.read(left);
      take(r, segments.first(), segments.last());
      left = left.subspan(segments.go_on(r));
    }
    take(segments.read_without_pulses(left, segments.read_plainly(left)), segments.first(), left.size());
    EXPECT_EQ(points, whole.points);
  }
}

TEST(DecodeSecondReading, InNoiseEveryPointIsTheSenders) {
  for (const auto trellis : {v34::TrellisCode::k16, v34::TrellisCode::k32, v34::TrellisCode::k64}) {
    const v34::EncoderStart start{1, 9, trellis == v34::TrellisCode::k32 ? 1 : 0};
    const Sent s = send(trellis, start, 0.15);
    const SecondReading plain = read_plainly(s.symbols, s.parameters, start);
    EXPECT_EQ(wrong_points(s, plain), 0u) << v34::trellis_states(trellis);
    // Where there is no pulse none is found.
    const SecondReading again = read_without_pulses(s.symbols, s.parameters, start, kCarrierHz, plain);
    EXPECT_EQ(again.pulses, 0u);
    EXPECT_EQ(again.points, plain.points);
    double sum = 0;
    for (const float squared : again.squared) sum += squared;
    // The non-linear encoder's inverse takes noise down as it does the signal.
    const double expected = 0.15 * s.parameters.mean_energy() / s.parameters.transmitted_energy();
    EXPECT_NEAR(sum / static_cast<double>(again.squared.size()), expected, 0.005);
  }
}

TEST(DecodeSecondReading, PulsesOfOneShapeAreTakenOff) {
  Sent s = send(v34::TrellisCode::k16, {}, 0.15);
  const hostsim::Random random(1, 3);
  constexpr int kPulses = 30;
  for (int k = 0; k < kPulses; ++k) {
    const double excess = std::abs(random.normal(static_cast<std::uint64_t>(2 * k)));
    add_pulse(s, 300 + 380 * k + random.normal(static_cast<std::uint64_t>(2 * k + 1)), 2 + 0.7 * excess);
  }
  const SecondReading plain = read_plainly(s.symbols, s.parameters, {});
  const SecondReading again = read_without_pulses(s.symbols, s.parameters, {}, kCarrierHz, plain);
  EXPECT_GT(wrong_points(s, plain), 20u);
  EXPECT_LT(5 * wrong_points(s, again), wrong_points(s, plain)) << wrong_points(s, again);
  EXPECT_GT(again.pulses, kPulses * 3 / 4u);
  EXPECT_LE(again.pulses, kPulses + 1u);
}

// While the signal is away, points are guesses, and their errors no pulses: those next to a hole stay as they are. The
// equaliser blurs its edges.
TEST(DecodeSecondReading, AHoleHasNoPulses) {
  for (const std::size_t length : {20u, 60u, 140u, 600u}) {
    Sent s = send(v34::TrellisCode::k32, {}, 0.02);
    for (std::size_t k = 4000; k < 4000 + length; ++k) s.symbols[k].out = {};
    for (int k = 0; k < 20; ++k) {
      s.symbols[3999 - static_cast<std::size_t>(k)].out *= 1 - 0.3f * std::exp(-0.4f * static_cast<float>(k));
      s.symbols[4000 + length + static_cast<std::size_t>(k)].out *= 1 - 0.3f * std::exp(-0.4f * static_cast<float>(k));
    }
    const SecondReading plain = read_plainly(s.symbols, s.parameters, {});
    const SecondReading again = read_without_pulses(s.symbols, s.parameters, {}, kCarrierHz, plain);
    EXPECT_LE(wrong_points(s, again), wrong_points(s, plain)) << length;
    EXPECT_EQ(again.pulses, 0u) << length;
  }
}

// Where in the waveform pulses come is learnt, too, and tells places from others that would explain as much.
TEST(DecodeSecondReading, OfAClippedSignalMostDecisionsAreMended) {
  Sent s = send(v34::TrellisCode::k16, {}, 0.15);
  const int peaks = clip(s, 54);
  ASSERT_GT(peaks, 20);
  ASSERT_LT(peaks, 100);
  const SecondReading plain = read_plainly(s.symbols, s.parameters, {});
  const SecondReading again = read_without_pulses(s.symbols, s.parameters, {}, kCarrierHz, plain);
  EXPECT_GT(wrong_points(s, plain), 20u);
  EXPECT_LT(3 * wrong_points(s, again), wrong_points(s, plain))
      << wrong_points(s, again) << " of " << peaks << " peaks";
}

// The signal that ends data begins a few symbols early: the last decisions of the plain reading are made again.
TEST(DecodeSecondReading, WhatAPlainReadingOfMoreBeganIsGoneOnWith) {
  const Sent s = send(v34::TrellisCode::k64, {}, 0.35);
  const std::span<const EqualisedSymbol> fewer = std::span(s.symbols).first(s.symbols.size() - 48);
  const SecondReading of_fewer = read_plainly(fewer, s.parameters, {});
  const SecondReading begun =
      read_without_pulses(fewer, s.parameters, {}, kCarrierHz, read_plainly(s.symbols, s.parameters, {}));
  const SecondReading same = read_without_pulses(fewer, s.parameters, {}, kCarrierHz, of_fewer);
  EXPECT_EQ(begun.points, same.points);
  EXPECT_EQ(begun.states, same.states);
  EXPECT_EQ(begun.squared, same.squared);
}

// Above it more than one point in a hundred is wrong, whatever the trellis.
TEST(DecodeSecondReading, ErrorsAsLargeAsIsSaidLeaveOnePointInAHundredWrong) {
  for (const auto trellis : {v34::TrellisCode::k16, v34::TrellisCode::k32, v34::TrellisCode::k64}) {
    constexpr double kVariance = 0.6;  // before the non-linear encoder's inverse
    const Sent s = send(trellis, {}, kVariance);
    const SecondReading reading = read_plainly(s.symbols, s.parameters, {});
    double sum = 0;
    for (const float squared : reading.squared) sum += squared;
    EXPECT_NEAR(sum / static_cast<double>(reading.squared.size()), kUnsureSquared, 0.01);
    const double wrong = static_cast<double>(wrong_points(s, reading)) / static_cast<double>(s.points.size());
    EXPECT_GT(wrong, 0.01);
    EXPECT_LT(wrong, 0.03);
  }
}

// What errors come to where nothing is sent that belongs to the code: of this, and of the usual error, the middle tells
// data from what follows them.
TEST(DecodeSecondReading, GuessesAreAsFarOffAsIsSaid) {
  Sent s = send(v34::TrellisCode::k16, {}, 0.15);
  const hostsim::Random random(1, 4);
  for (std::size_t k = 0; k < s.symbols.size(); ++k)
    s.symbols[k].out = {static_cast<float>(18 * random.normal(2 * k)),
                        static_cast<float>(18 * random.normal(2 * k + 1))};
  double sum = 0;
  for (const float squared : read_plainly(s.symbols, s.parameters, {}).squared) sum += squared;
  EXPECT_NEAR(sum / static_cast<double>(s.symbols.size()), kGuessSquared, 0.05);
}

}  // namespace
}  // namespace offhook::decode
