// SPDX-License-Identifier: MIT
//
// The menus of V.8 and the INFO sequences of V.34 in recordings that are made bit by bit: how often, and which are
// echoes.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <numbers>
#include <vector>

#include "dsp/v34/phase2/info.h"
#include "dsp/v8/menu.h"
#include "src/decode/start_up/answer_tone.h"
#include "src/decode/start_up/info.h"
#include "src/decode/start_up/v8.h"

namespace offhook::decode {
namespace {

constexpr double kTurn = 2 * std::numbers::pi;
using Bits = std::vector<std::uint8_t>;

/// V.21's lower channel at 300 bit/s: mark 980 Hz, space 1180 Hz.
std::vector<float> fsk(const Bits& bits) {
  std::vector<float> x(bits.size() * kRateHz / 300);
  double phase = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    phase += kTurn * (bits[i * 300 / kRateHz] != 0 ? 980. : 1180.) / kRateHz;
    x[i] = static_cast<float>(3000 * std::sin(phase));
  }
  return x;
}

/// One menu as V.8 sends it: ten ones, the synchronization octet, the categories. Source: V.8, 5.1
void append_menu(std::vector<std::uint8_t> octets, Bits& bits) {
  octets.insert(octets.begin(), v8::kSyncCm);
  bits.insert(bits.end(), 10, 1);
  for (const std::uint8_t octet : octets) {
    bits.push_back(0);
    for (int k = 0; k < 8; ++k) bits.push_back(octet >> k & 1);
    bits.push_back(1);
  }
}

TEST(DecodeStartUp, MenusThatAreAlikeAreCounted) {
  for (const int times : {1, 2, 5}) {
    Bits bits(100, 1);
    for (int k = 0; k < times; ++k) append_menu({0xC1, 0x05}, bits);
    if (times > 2) append_menu({0x81, 0x05}, bits);  // another, once
    bits.insert(bits.end(), 100, 1);
    Recording r;
    r.channel = {fsk(bits)};
    const V8Heard heard = find_v8(r);
    ASSERT_EQ(heard.cm.size(), 1u);
    EXPECT_EQ(heard.cm[0].octets, (std::vector<std::uint8_t>{0xC1, 0x05}));
    EXPECT_EQ(heard.cm[0].identical, times);
  }
}

// An echo 3 ms later takes no octet from a menu, and each octet has a confidence.
TEST(DecodeStartUp, AMenuWithAnEchoKeepsItsOctets) {
  const std::vector<std::uint8_t> menu = {0xC1, 0x65, 0x13, 0x94, 0x2A, 0x0D, 0x27};
  for (const float echo : {0.F, 0.5F, 0.6F}) {
    Bits bits(100, 1);
    for (int k = 0; k < 6; ++k) append_menu(menu, bits);
    bits.insert(bits.end(), 100, 1);
    std::vector<float> x = fsk(bits);
    for (std::size_t n = x.size(); n-- > 24;) x[n] += echo * x[n - 24];
    Recording r;
    r.channel = {x};
    const V8Heard heard = find_v8(r);
    ASSERT_EQ(heard.cm.size(), 1u) << echo;
    EXPECT_EQ(heard.cm[0].octets, menu) << echo;
    EXPECT_EQ(heard.cm[0].identical, 6) << echo;
    ASSERT_EQ(heard.cm[0].confidence.size(), menu.size());
    for (const double c : heard.cm[0].confidence) EXPECT_GT(c, 0.9);
  }
}

// Data of V.22 held these octets once.
TEST(DecodeStartUp, OneMenuWithoutACallFunctionIsNone) {
  Bits bits(100, 1);
  append_menu({0xAA, 0x8B, 0x2A, 0x85, 0xD9, 0x9E}, bits);
  bits.insert(bits.end(), 100, 1);
  Recording r;
  r.channel = {fsk(bits)};
  EXPECT_TRUE(find_v8(r).cm.empty());
}

// A recording may begin in it.
TEST(DecodeStartUp, AnAnswerToneFromTheFirstSampleOnIsHeard) {
  Recording r;
  r.channel.resize(1);
  for (std::size_t i = 0; i < 2 * kRateHz; ++i)
    r.channel[0].push_back(
        static_cast<float>(3000 * std::sin(kTurn * std::fmod(0.2625 * static_cast<double>(i), 1.0))));
  const auto tones = find_answer_tones(r, false);
  ASSERT_EQ(tones.size(), 1u);
  EXPECT_LT(tones[0].t0, 0.1);
}

/// An INFO0c at 600 bit/s, each one a turn by half of 1200 Hz, added at `at_s`. Source: V.34, 10.1.2.3.1
void add_info0(double at_s, float peak, std::vector<float>& x) {
  std::uint8_t bits[v34::Info0::kBits];
  v34::encode(v34::Info0{}, bits);
  constexpr double kBitS = 1. / 600;
  double sign = 1;
  auto i = static_cast<std::size_t>(at_s * kRateHz);
  const std::size_t from = i;
  const auto until = [&](double t) {
    for (; static_cast<double>(i - from) < t * kRateHz; ++i)
      x.at(i) += static_cast<float>(peak * sign * std::sin(kTurn * 1200 * static_cast<double>(i - from) / kRateHz));
  };
  until(0.05);  // the point before the first bit
  for (int k = 0; k < v34::Info0::kBits; ++k) {
    if (bits[k] != 0) sign = -sign;
    until(0.05 + (k + 1) * kBitS);
  }
}

/// INFO0 in either of two channels. @return the channels of those that are kept
std::vector<int> infos(double second_s, float second_peak) {
  Recording r;
  r.channel.assign(2, std::vector<float>(3 * kRateHz));
  add_info0(0.5, 3000, r.channel[0]);
  add_info0(second_s, second_peak, r.channel[1]);
  std::vector<int> kept;
  for (const InfoHeard& i : find_infos(r)) kept.push_back(i.channel);
  return kept;
}

TEST(DecodeStartUp, AnInfoIsAnEchoIfItIsSoonHeardInTheOtherChannelAtLessThanHalf) {
  EXPECT_EQ(infos(0.55, 600), std::vector<int>{0});
  EXPECT_EQ(infos(0.45, 600), std::vector<int>{0}) << "the channels need not be exactly in time";
  EXPECT_EQ(infos(1.5, 600), (std::vector<int>{0, 1})) << "an echo is not a second late";
  EXPECT_EQ(infos(0.55, 2000), (std::vector<int>{0, 1})) << "two thirds are no echo";
}

}  // namespace
}  // namespace offhook::decode
