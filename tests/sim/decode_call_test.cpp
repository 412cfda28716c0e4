// SPDX-License-Identifier: MIT
//
// Our own V.34 calls over a line with echo, recorded at the near end's terminals, against what `offhook decode` makes
// of the recording.
#include <gtest/gtest.h>

#include "offhook/decode.h"
#include "src/decode/call/call.h"
#include "tests/sim/v34_call.h"

namespace offhook {
namespace {

using test::V34Call;

// As recorded at the near end's terminals: what it hears of itself is as loud as the far end. Every octet that is read
// is the right one, and those of both directions add up to all that arrived, or more.
void expect_read(const V34Call& call, const std::vector<float> (&sent)[2]) {
  constexpr std::size_t kEchoDelay = 8;
  constexpr float kLoss = 0.3f;
  decode::Recording r;
  r.channel = {sent[0], sent[1]};
  for (std::size_t n = 0; n < r.channel[1].size(); ++n) {
    r.channel[1][n] = kLoss * (r.channel[1][n] + (n < kEchoDelay ? 0 : sent[0][n - kEchoDelay]));
  }
  r.file_rate_hz = decode::kRateHz;
  r.duration_s = static_cast<double>(sent[0].size()) / decode::kRateHz;
  r.peak = r.clipped = {0, 0};
  std::size_t read = 0;
  const decode::Call heard = decode::analyse(std::move(r));
  for (const decode::Training& t : heard.trainings)
    for (const auto* side : {&t.from_1200, &t.from_2400})
      for (const decode::Link& link : side->links) EXPECT_EQ(link.gaps, 0);
  for (const auto& [name, octets] : decode::payloads(heard)) {
    if (name.ends_with(".bits")) continue;
    std::size_t right = 0;
    while (right < octets.size() && octets[right] == call.byte_to(name == "call.bin", right)) ++right;
    EXPECT_EQ(right, octets.size()) << name;
    read += right;
  }
  EXPECT_GE(read, call.arrived()) << decode::to_text(heard);
  EXPECT_GT(read, 50'000u);
}

TEST(DecodeCall, WithoutDataModeTheTrainingIsReadAndNoData) {
  V34Call call({}, 1);
  std::vector<float> sent[2];
  call.record(sent);
  ASSERT_TRUE(call.connect());
  call.run(1);
  decode::Recording r;
  r.channel = {sent[0], sent[1]};
  r.duration_s = static_cast<double>(sent[0].size()) / decode::kRateHz;
  const decode::Call heard = decode::analyse(std::move(r), {}, false);
  ASSERT_EQ(heard.trainings.size(), 1u);
  for (const auto* side : {&heard.trainings[0].from_1200, &heard.trainings[0].from_2400}) {
    EXPECT_NE(side->mp(), nullptr);
    EXPECT_TRUE(side->data.empty());
  }
}

TEST(DecodeCall, DataAreReadOnAfterARenegotiationOfEitherEnd) {
  for (const bool near : {true, false}) {
    SCOPED_TRACE(near ? "by the call modem" : "by the answer modem");
    V34Call call({}, 1);
    std::vector<float> sent[2];
    call.record(sent);
    ASSERT_TRUE(call.connect());
    call.run(4);
    oh_v34_renegotiate((near ? call.near() : call.far()).pump_memory());
    call.run(1);
    ASSERT_TRUE(call.data());
    call.run(6);
    ASSERT_EQ(call.near_instruments().renegotiations, 1u);
    expect_read(call, sent);
  }
}

// A frame that the modem received next to the hole is not sent again, so the decoder has to read it as well.
TEST(DecodeCall, ASignalThatGoesAwayForAWhileUndoesNoEqualizer) {
  for (const std::uint32_t samples : {160u, 320u, 480u, 1600u}) {
    SCOPED_TRACE(samples);
    V34Call call({}, 1);
    std::vector<float> sent[2];
    call.record(sent);
    ASSERT_TRUE(call.connect());
    call.run(4);
    call.run(1, samples);
    call.run(1);
    ASSERT_TRUE(call.data());
    call.run(8);
    expect_read(call, sent);
  }
}

}  // namespace
}  // namespace offhook
