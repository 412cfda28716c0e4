// SPDX-License-Identifier: MIT
//
// Slips in data mode of V.34: calls of our own pumps, from whose recordings samples are cut, or in which some are heard
// twice.
#include "src/decode/v34/slip.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <string>
#include <vector>

#include "hostsim/engine/random.h"
#include "src/decode/call/call.h"
#include "src/decode/call/verdict.h"
#include "tests/unit/src/decode/recorded_call.h"

namespace offhook::decode {
namespace {

constexpr double kDataS = 4;

/// A call with four seconds of data at its end, and white noise at 40 dB.
Recording recorded_call(std::uint32_t bit_rate) {
  RecordedCall call(oh_v34_type(), bit_rate);
  EXPECT_TRUE(call.connect());
  call.run(kDataS);
  Recording r = call.recording();
  const hostsim::Random random(3, 7);
  for (std::size_t c = 0; c < 2; ++c) {
    double power = 0;
    for (const float v : r.channel[c]) power += static_cast<double>(v) * v / static_cast<double>(r.channel[c].size());
    for (std::size_t i = 0; i < r.channel[c].size(); ++i)
      r.channel[c][i] += static_cast<float>(0.01 * std::sqrt(power) * random.normal(2 * i + c));
  }
  return r;
}
const Recording& call_of(std::uint32_t bit_rate) {
  static std::map<std::uint32_t, Recording> calls;
  if (!calls.contains(bit_rate)) calls.emplace(bit_rate, recorded_call(bit_rate));
  return calls.at(bit_rate);
}

/// @param samples  put in two seconds before the end: what came last is heard again; less than 0: cut
void slip(std::vector<float>& x, int samples) {
  const auto at = x.end() - static_cast<long>(kDataS / 2 * kRateHz);
  if (samples < 0) {
    x.erase(at, at - samples);
  } else {
    const std::vector<float> again(at - samples, at);
    x.insert(at, again.begin(), again.end());
  }
}

// The longer channel is cut at its end.
void even_out(Recording& r) {
  const std::size_t n = std::min(r.channel[0].size(), r.channel[1].size());
  for (std::vector<float>& x : r.channel) x.resize(n);
  r.duration_s = static_cast<double>(n) / kRateHz;
}

std::vector<const Training::Side*> sides_of(const Call& call) {
  return {&call.trainings.back().from_1200, &call.trainings.back().from_2400};
}

std::size_t good_frames(const Recording& r) {
  std::size_t n = 0;
  for (const Verdict::Direction& way : verdict_of(analyse(r)).directions) n += way.good_frames;
  return n;
}

class DecodeSlips : public testing::TestWithParam<int> {};

TEST_P(DecodeSlips, OfBothChannelsAreFoundToTheSampleAndDataGoOn) {
  for (const std::uint32_t bit_rate : {33600u, 19200u}) {
    SCOPED_TRACE(bit_rate);
    Recording r = call_of(bit_rate);
    for (std::vector<float>& x : r.channel) slip(x, GetParam());
    even_out(r);
    const double t = r.duration_s - kDataS / 2 - std::max(GetParam(), 0) / 8000.;
    const Call heard = analyse(r);
    ASSERT_EQ(heard.trainings.size(), 1u);
    for (const Training::Side* side : sides_of(heard)) {
      ASSERT_EQ(side->data.size(), 1u);
      ASSERT_EQ(side->data[0].slips.size(), 1u);
      EXPECT_EQ(side->data[0].slips[0].second, GetParam());
      EXPECT_NEAR(side->data[0].slips[0].first, t, 0.03 + std::abs(GetParam()) / 8000.);
    }
    const Verdict v = verdict_of(heard);
    std::size_t good = 0;
    for (const Verdict::Direction& way : v.directions) {
      EXPECT_TRUE(way.to_the_end) << way.name << way.reason;
      good += way.good_frames;
    }
    const auto all = static_cast<double>(good_frames(call_of(bit_rate)));
    EXPECT_GT(static_cast<double>(good), 0.85 * all);
  }
}

TEST_P(DecodeSlips, OfOneChannelAreNotTheOthers) {
  Recording r = call_of(33600);
  slip(r.channel[1], GetParam());
  even_out(r);
  const Call heard = analyse(r);
  ASSERT_EQ(heard.trainings.size(), 1u);
  for (const Training::Side* side : sides_of(heard)) {
    ASSERT_EQ(side->data.size(), 1u);
    EXPECT_EQ(side->data[0].slips.size(), side->direction.channel == 1 ? 1u : 0u);
  }
}

INSTANTIATE_TEST_SUITE_P(Samples, DecodeSlips, testing::Values(-160, -1, 1, 80, 333));

// 50 ms of noise in its place: no sample too few or too many.
TEST(DecodeSlip, ADropOutIsNone) {
  Recording r = call_of(33600);
  const hostsim::Random random(5, 1);
  for (std::vector<float>& x : r.channel) {
    for (std::size_t k = 0; k < 400; ++k) x[x.size() - 16000 + k] = static_cast<float>(2000 * random.normal(k));
  }
  const Call heard = analyse(r);
  for (const Training::Side* side : sides_of(heard)) EXPECT_TRUE(side->data.at(0).slips.empty());
}

}  // namespace
}  // namespace offhook::decode
