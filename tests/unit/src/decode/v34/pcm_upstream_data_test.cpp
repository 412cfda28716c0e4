// SPDX-License-Identifier: MIT
//
// Data of V.92's PCM upstream by our own encoders, as the exchange gets them and as the modem sends them.
#include "src/decode/v34/pcm_upstream_data.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <memory>
#include <random>

#include "dsp/v90/pcm/upstream_design.h"
#include "dsp/v90/pcm/upstream_signals.h"
#include "src/decode/line/link.h"
#include "tests/unit/src/decode/frame_source.h"

namespace offhook::decode {
namespace {

constexpr int kChannel = v90::UpstreamReceiver::kChannel, kMain = v90::UpstreamReceiver::kChannelBefore;
constexpr int kBefore = 500, kDataFrames = 1000;
constexpr double kNoise = 8;  // RMS at the exchange, Table 1's units

// By delay: a lowpass that ends below 4000 Hz, and a transformer.
std::array<double, kChannel> exchange_channel() {
  std::array<double, kChannel> h{};
  double low = 0;
  for (int k = 0; k < kChannel; ++k) {
    const double t = k - kMain, window = std::abs(t) < 24 ? (1 + std::cos(M_PI * t / 24)) / 2 : 0;
    const double x = (t == 0 ? 0.92 : std::sin(M_PI * 0.92 * t) / (M_PI * t)) * window;
    low += 0.016 * (x - low);
    h[static_cast<std::size_t>(k)] = 2000 * (x - low);
  }
  return h;
}

v90::Cpd design() {
  const std::array<double, kChannel> h = exchange_channel();
  std::array<float, kChannel> latest_first;
  for (std::size_t k = 0; k < h.size(); ++k) latest_first[h.size() - 1 - k] = static_cast<float>(h[k]);
  v90::NoiseFit of_one;
  std::mt19937 random(1);
  std::normal_distribution<double> gaussian(0, kNoise);
  for (int n = 0; n < 8000; ++n) {
    const double error = gaussian(random);
    of_one.put(n % v90::kUchords, 64, static_cast<float>(error * error));
  }
  std::array<v90::NoiseFit, v90::UpstreamReceiver::kIntervals> noise;
  noise.fill(of_one);
  constexpr v90::UpstreamRates kAll = (v90::UpstreamRates{1} << v90::kMostUpstreamDrn) - 1;
  const auto designer = std::make_unique<v90::UpstreamDesign>();
  designer->begin({v90::Law::kMu, latest_first.data(), noise.data(), 1, 0}, kAll, v34::TrellisCode::k32,
                  v90::UpstreamDesign::kLeastDistance);
  while (!designer->work()) continue;
  return designer->cpd();
}

// Silence, B1u, data, through a channel. @param h  by delay
NetworkSamples sent(const v90::Cpd& cpd, std::span<const double> h, double noise_rms) {
  FrameSource frames;
  v90::UpstreamSignals tx;
  tx.set_data(cpd);
  tx.start(v90::UpstreamSignals::Signal::kB1u);
  std::mt19937 random(3);
  std::normal_distribution<double> gaussian;
  const std::size_t symbols = static_cast<std::size_t>(v90::kB1uFrames + kDataFrames) * v90::kUpstreamIntervals;
  std::vector<double> line(kBefore + symbols + 2 * h.size());
  for (std::size_t n = 0; n < symbols; ++n) {
    if (tx.ended()) tx.start(v90::UpstreamSignals::Signal::kData);
    const double v = tx.next(frames.port(), tx.signal() == v90::UpstreamSignals::Signal::kData);
    for (std::size_t k = 0; k < h.size(); ++k) line[kBefore + n + k] += v * h[k];
  }
  line.resize(kBefore + symbols + kMain);
  std::vector<float> x;
  for (const double v : line) x.push_back(static_cast<float>(v + noise_rms * gaussian(random)));
  return {x, 0, seconds(x.size()), 0};
}

V34DataHeard read(const NetworkSamples& samples, const v90::Cpd& cpd) {
  return read_pcm_upstream_data(samples, cpd, kBefore + kMain, static_cast<long>(samples.x.size()));
}

void expect_all_frames(const V34DataHeard& heard, const v90::Cpd& cpd) {
  const Link link = read_link(heard, nullptr);
  constexpr std::size_t kBitsOfFrame = 8 * (FrameSource::kOctets + 6) + 20;  // with inserted zeros, or more
  EXPECT_TRUE(heard.b1_found);
  EXPECT_GE(link.frames.size(), static_cast<std::size_t>(kDataFrames * cpd.bits()) / kBitsOfFrame);
  EXPECT_LE(link.bad_frames, 1) << "the last one is cut";
}

TEST(DecodePcmUpstream, ReadsDataAtTheExchange) {
  const v90::Cpd cpd = design();
  ASSERT_TRUE(is_usable(cpd));
  const V34DataHeard heard = read(sent(cpd, exchange_channel(), kNoise), cpd);
  EXPECT_EQ(heard.bit_rate, static_cast<std::uint32_t>((2 * cpd.rate_thirds() + 3) / 6));
  EXPECT_GT(heard.b1_match, 0.99);
  expect_all_frames(heard, cpd);
}

// The recorder's own path: a little echo of the line. The levels that arrive at the exchange are nowhere here.
TEST(DecodePcmUpstream, ReadsDataAtTheModemThatSendsThem) {
  const v90::Cpd cpd = design();
  std::array<double, kMain + 12> own{};
  own[kMain] = 3000;
  own[kMain + 1] = -600;
  own[kMain + 9] = 200;
  const V34DataHeard heard = read(sent(cpd, own, 0.5), cpd);
  EXPECT_GT(heard.snr_db, 40);
  expect_all_frames(heard, cpd);
}

TEST(DecodePcmUpstream, ReadsNothingWithParametersOfAnotherLine) {
  const v90::Cpd cpd = design();
  v90::Cpd other = cpd;
  for (int k = 0; k < other.p1.length; ++k) other.p1.tap[k] = static_cast<std::int16_t>(-other.p1.tap[k]);
  for (int s = 0; s < v90::kConstellationSets; ++s) {
    for (int n = 0; n < other.points[s]; ++n) other.point[s][n] = static_cast<std::uint16_t>(40 * n + 20);
  }
  ASSERT_TRUE(is_usable(other));
  const V34DataHeard heard = read(sent(cpd, exchange_channel(), kNoise), other);
  EXPECT_FALSE(heard.b1_found);
  EXPECT_TRUE(heard.bits.empty());
}

TEST(DecodePcmUpstream, StopsWhereTheSignalEnds) {
  const v90::Cpd cpd = design();
  NetworkSamples samples = sent(cpd, exchange_channel(), kNoise);
  const std::size_t end = samples.x.size() - 6000;
  for (std::size_t k = end; k < samples.x.size(); ++k) samples.x[k] = 0;
  const V34DataHeard heard = read(samples, cpd);
  EXPECT_TRUE(heard.silence_after);
  EXPECT_NEAR(heard.t1, seconds(end), 0.11);
  EXPECT_LE(read_link(heard, nullptr).bad_frames, 1);
}

}  // namespace
}  // namespace offhook::decode
