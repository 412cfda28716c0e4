// SPDX-License-Identifier: MIT
#include "hostsim/call/frame_model.h"

#include <gtest/gtest.h>

namespace offhook::hostsim {
namespace {

constexpr Ns kMs = 1'000'000;
using Line = std::deque<LineFrame>;
using Kind = LineFrame::Kind;

FrameModel end() {
  return FrameModel({.bps = 50'000, .frame_octets = 128, .window = 15, .t401 = 1'000 * kMs});
}

TEST(FrameModel, SendsFullFramesOneAfterTheOtherUpToTheWindow) {
  FrameModel far = end();
  far.put(20 * 128);
  Line line;
  far.transmit(10'000 * kMs, 7, &line);
  ASSERT_EQ(line.size(), 15u);
  EXPECT_EQ(line[0].from, 7);
  EXPECT_EQ(line[0].to - line[0].from, FrameModel::wire_time(128, 50'000));
  EXPECT_EQ(line[1].from, line[0].to);
  EXPECT_EQ(line[14].number, 14u);
}

TEST(FrameModel, AsksOnceForWhatIsMissingAndDeliversInOrder) {
  FrameModel far = end(), near = end();
  far.put(4 * 128);
  Line down, up;
  far.transmit(1'000 * kMs, 0, &down);
  ASSERT_EQ(down.size(), 4u);
  for (const int n : {0, 2, 3}) near.receive(down[static_cast<std::size_t>(n)]);
  EXPECT_EQ(near.received(), 128u);
  near.transmit(1'000 * kMs, 0, &up);
  ASSERT_EQ(up.size(), 2u);
  EXPECT_EQ(up[0].kind, Kind::kAskAgain);
  EXPECT_EQ(up[0].number, 1u);
  EXPECT_EQ(up[1].kind, Kind::kReady);
  EXPECT_EQ(up[1].acknowledges, 1u);
  EXPECT_EQ(far.receive(up[0]), 1u);
  far.receive(up[1]);
  Line again;
  far.transmit(1'100 * kMs, 0, &again);
  ASSERT_EQ(again.size(), 1u);
  EXPECT_EQ(again[0].number, 1u);
  near.receive(again[0]);
  EXPECT_EQ(near.received(), 4 * 128u);
  EXPECT_EQ(far.counters().sent_again, 1u);
}

TEST(FrameModel, ALostAcknowledgementIsMadeUpForByALaterOne) {
  FrameModel far = end(), near = end();
  far.put(3 * 128);
  Line down;
  far.transmit(100 * kMs, 0, &down);
  for (const LineFrame& frame : down) {
    Line up;
    near.receive(frame);
    near.transmit(frame.to, 0, &up);
    ASSERT_EQ(up.size(), 1u);
    if (frame.number == 2) far.receive(up[0]);
  }
  Line more;
  EXPECT_EQ(far.advance(10'000 * kMs), 0u);  // nothing is outstanding
  far.transmit(10'000 * kMs, 0, &more);
  EXPECT_TRUE(more.empty());
}

TEST(FrameModel, ALostAnswerIsLeftToT401AndGivenUpAfterN400) {
  FrameModel far = end();
  far.put(128);
  Line line;
  Ns now = 0;
  far.transmit(now, 0, &line);
  std::uint32_t expiries = 0;
  for (; !far.failed() && now < 100'000 * kMs; now += kMs) {
    expiries += far.advance(now);
    far.transmit(now, 0, &line);
  }
  EXPECT_EQ(expiries, FrameModel::kAttempts + 1);
  EXPECT_EQ(line.size(), 1u + FrameModel::kAttempts + 1);
  EXPECT_NEAR(static_cast<double>(now), 11.0 * 1'000 * kMs, 20.0 * kMs);
}

TEST(FrameModel, AnIFrameAcknowledgesAndARepetitionIsAnswered) {
  FrameModel far = end(), near = end();
  far.put(10);
  near.put(20);
  Line down, up;
  far.transmit(kMs, 0, &down);
  near.receive(down[0]);
  near.transmit(20 * kMs, 0, &up);
  ASSERT_EQ(up.size(), 1u);
  EXPECT_EQ(up[0].kind, Kind::kInformation);
  EXPECT_EQ(up[0].acknowledges, 1u);
  EXPECT_EQ(up[0].octets, 20u);
  near.receive(down[0]);  // once more
  up.clear();
  near.transmit(40 * kMs, 0, &up);
  ASSERT_EQ(up.size(), 1u);
  EXPECT_EQ(up[0].kind, Kind::kReady);
  EXPECT_EQ(near.received(), 10u);
}

}  // namespace
}  // namespace offhook::hostsim
