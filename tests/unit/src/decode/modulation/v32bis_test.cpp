// SPDX-License-Identifier: MIT
//
// V.32bis made from the Recommendation's coding: one direction, from S to data, with noise, offset and another clock.
#include "src/decode/modulation/v32bis.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "dsp/blocks/scrambler.h"
#include "dsp/qam/modulator.h"
#include "dsp/v32/coding.h"
#include "hostsim/engine/random.h"
#include "src/decode/call/call.h"

namespace offhook::decode {
namespace {

constexpr int kSymbols = 2400 * 6;

class Transmitter {
 public:
  Transmitter(bool answer, const v32::Rate& rate) : rate_(rate), scrambler_(answer ? kGpa : kGpc), encoder_(rate) {
    for (int i = 0; i < 256; ++i) training(i % 2 == 0 ? 0 : 1);  // S: A, B
    for (int i = 0; i < 16; ++i) training(i % 2 == 0 ? 3 : 2);   // C, D
    for (int i = 0; i < 1500; ++i) {
      const int first = scrambler_.scramble(1), second = scrambler_.scramble(1);
      training(i < 256 ? 3 * first : 2 * first + second);
    }
    v32::RateSignal r;
    r.rates = static_cast<std::uint8_t>(1 << (&rate - v32::kRates));
    for (int i = 0; i < 20; ++i) sequence(r.encode());
    r.end = true;
    sequence(r.encode());
    encoder_.start(last_);
    const hostsim::Random random(rate.bit_rate, 3);
    while (symbols.size() < kSymbols) {
      int value = 0;
      for (int b = 0; b < rate.bits; ++b) {
        const int bit =
            sent.size() < 128u * static_cast<unsigned>(rate.bits) ? 1 : static_cast<int>(random.word(sent.size()) & 1);
        sent.push_back(static_cast<std::uint8_t>(bit));
        value = value << 1 | scrambler_.scramble(bit);
      }
      symbols.push_back(v32::complex(rate.points[encoder_.label(value)]));
    }
  }
  std::vector<Complex> symbols;
  std::vector<std::uint8_t> sent;

 private:
  void training(int label) {
    last_ = label;
    symbols.push_back(Complex{rate_.scale, 0} * v32::complex(v32::kPoints4800[label]));
  }
  void sequence(std::uint16_t bits) {
    for (int k = 0; k < 16; k += 2) {
      const int first = scrambler_.scramble(bits >> k & 1), second = scrambler_.scramble(bits >> (k + 1) & 1);
      training(v32::differential_4800(2 * first + second, last_));
    }
  }
  const v32::Rate& rate_;
  Scrambler scrambler_;
  v32::Encoder encoder_;
  int last_ = 0;
};

std::vector<float> modulated(const std::vector<Complex>& symbols, float power, double noise_db) {
  qam::Modulator modulator;
  modulator.init({{1, 1}, {3, 4}}, 2000);
  std::vector<float> x(4000, 0.f);
  const hostsim::Random random(7, 1);
  const float scale = std::sqrt(1 / power);
  for (std::size_t next = 0; next < symbols.size();) {
    if (modulator.wants_symbol()) modulator.put(Complex{scale, 0} * symbols[next++]);
    x.push_back(modulator.next());
  }
  const double noise = 2000 * std::pow(10.0, -noise_db / 20);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] += static_cast<float>(noise * random.normal(i));
  return x;
}

TEST(DecodeV32bis, EveryRateIsReadInNoise) {
  constexpr double kSnrDb[] = {18, 20, 22, 26, 30};
  for (std::size_t k = 0; k < 5; ++k) {
    const bool answer = k % 2 == 1;
    const v32::Rate& rate = v32::kRates[k];
    const Transmitter transmitter(answer, rate);
    Recording recording;
    recording.channel.push_back(modulated(transmitter.symbols, 10 * rate.scale * rate.scale, kSnrDb[k]));
    const Connection found = find_v32bis(recording);
    ASSERT_STREQ(found.modulation, "V.32bis") << rate.bit_rate;
    const Connection::Side& side = answer ? found.answer : found.call;
    EXPECT_EQ((answer ? found.call : found.answer).channel, -1);
    ASSERT_EQ(side.data.size(), 1u) << rate.bit_rate;
    EXPECT_EQ(side.data[0].bit_rate, rate.bit_rate);
    const auto& bits = side.data[0].bits;
    const auto b1 = 128L * rate.bits;
    ASSERT_GT(bits.size(), transmitter.sent.size() - 600u - 128u * static_cast<unsigned>(rate.bits));
    EXPECT_EQ(side.data[0].b1_errors, 0);
    const std::size_t n = std::min(bits.size(), transmitter.sent.size() - static_cast<std::size_t>(b1)) - 400;
    EXPECT_TRUE(std::equal(bits.begin(), bits.begin() + static_cast<long>(n), transmitter.sent.begin() + b1))
        << rate.bit_rate;
  }
}

TEST(DecodeV32bis, NoiseIsNone) {
  Recording noise;
  noise.channel.resize(1);
  const hostsim::Random random(5, 0);
  for (std::size_t i = 0; i < 10 * kRateHz; ++i)
    noise.channel[0].push_back(static_cast<float>(1000 * random.normal(i)));
  EXPECT_EQ(find_v32bis(noise).modulation, nullptr);
}

}  // namespace
}  // namespace offhook::decode
