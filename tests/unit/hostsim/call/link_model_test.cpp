// SPDX-License-Identifier: MIT
#include "hostsim/call/link_model.h"

#include <gtest/gtest.h>

#include <cmath>

namespace offhook::hostsim {
namespace {

constexpr Ns kMs = 1'000'000;
constexpr Ns kConnect = 2'000 * kMs;
constexpr Ns kLead = 25 * kMs;

LinkProfile profile() {
  LinkProfile p;
  p.sync_loss_samples = 1e9;  // holes cost only frames
  return p;
}

/// Serves the link every 12.5 ms until it is done, fails, or reaches `limit`; calls `disturb` before each service.
template <typename Disturb>
void serve(LinkModel& link, Ns limit, Disturb disturb) {
  for (Ns now = 0; now < limit && !link.done() && link.state() != LinkModel::State::kFailed; now += 12'500'000) {
    disturb(now);
    link.serve(now, now);
  }
}

TEST(LinkModel, CleanLineCarriesTheFileAtTheLineRateLessTheFrames) {
  LinkModel link(profile(), 200'000, kConnect, kLead, 1, nullptr);
  link.start(0);
  serve(link, 100'000 * kMs, [](Ns) {});
  ASSERT_TRUE(link.done());
  // 1563 frames of 128 + 6 octets, with one zero inserted in 62 bits.
  const double expected_s = 1563 * 134 * 8 * 63.0 / 62 / 50'600;
  EXPECT_NEAR(static_cast<double>(link.done_at() - link.connected_at()) / 1e9, expected_s, 0.05);
  EXPECT_EQ(link.counters().frames_retransmitted, 0u);
}

TEST(LinkModel, ReceiveHolesCostExactlyTheFramesTheyHitAndWhatFollowsUntilTheReject) {
  LinkModel link(profile(), 50'000, kConnect, kLead, 1, nullptr);
  link.start(0);
  serve(link, 100'000 * kMs, [&](Ns now) {
    if (now == 4'000 * kMs) link.receive_hole(now - 20 * kMs, 8, 8000);
  });
  ASSERT_TRUE(link.done());
  EXPECT_GE(link.counters().frames_lost, 1u);
  EXPECT_LE(link.counters().frames_lost, 2u);
  EXPECT_GT(link.counters().frames_retransmitted, 0u);
  EXPECT_EQ(link.counters().timeouts, 0u);
}

TEST(LinkModel, SynchronisationIsLostOnceInU0SamplesOnAverage) {
  LinkProfile p;
  p.sync_loss_samples = 50;
  p.training_ms = 10;
  p.give_up_ms = 1e6;
  p.t401_ms = 1e6;  // the link itself never gives up
  LinkModel link(p, 1'000'000'000, 10 * kMs, kLead, 7, nullptr);
  link.start(0);
  double lost = 0;
  serve(link, 2'000'000 * kMs, [&](Ns now) {
    if (link.state() == LinkModel::State::kData) {
      link.transmit_hole(now, 1, 8000);
      lost++;
    }
  });
  ASSERT_GT(link.counters().retrains, 500u);
  // A hole of one sample: probability 1 - exp(-1/50).
  EXPECT_NEAR(lost / link.counters().retrains, 1 / (1 - std::exp(-1.0 / 50)), 5);
}

TEST(LinkModel, ReceiveHolesSpareWhatIsSentAndTransmitHolesSpoilBothDirections) {
  std::uint32_t lost[2] = {};  // frames, of both directions
  for (const bool transmit : {false, true}) {
    LinkModel link(profile(), 50'000, kConnect, kLead, 1, nullptr);
    link.start(0);
    serve(link, 100'000 * kMs, [&](Ns now) {
      if (now % (200 * kMs) != 0 || now < 3'000 * kMs) return;
      transmit ? link.transmit_hole(now, 4, 8000) : link.receive_hole(now, 4, 8000);
    });
    ASSERT_TRUE(link.done());
    EXPECT_GT(link.counters().frames_retransmitted, 0u) << transmit;  // data: towards us
    lost[transmit] = static_cast<std::uint32_t>(link.counters().frames_lost);
  }
  EXPECT_GT(lost[true], lost[false]);
}

TEST(LinkModel, TrainingBeginsAnewWithEachLossOfSynchronisationAndGivesUp) {
  LinkProfile p = profile();
  p.sync_loss_samples = 0.001;  // any hole
  LinkModel link(p, 1000, kConnect, kLead, 1, nullptr);
  link.start(0);
  serve(link, 100'000 * kMs, [&](Ns now) { link.transmit_hole(now, 1, 8000); });
  EXPECT_EQ(link.state(), LinkModel::State::kFailed);
  EXPECT_EQ(link.connected_at(), -1);
  EXPECT_STREQ(link.failure(), "the modems never connected");
}

TEST(LinkModel, TrainingSurvivesHolesThatSynchronisationSurvives) {
  LinkModel link(profile(), 1000, kConnect, kLead, 1, nullptr);
  link.start(0);
  serve(link, 100'000 * kMs, [&](Ns now) {
    if (now < kConnect) link.transmit_hole(now, 1, 8000);
  });
  EXPECT_TRUE(link.done());
  EXPECT_EQ(link.connected_at(), kConnect);
}

LinkProfile with_packets() {
  LinkProfile p = profile();
  p.packet_bytes = 1460;
  p.packet_header_octets = 47;
  return p;
}

TEST(LinkModel, TcpOnACleanLineKeepsItBusy) {
  LinkModel link(with_packets(), 200'000, kConnect, kLead, 1, nullptr);
  link.start(0);
  serve(link, 100'000 * kMs, [](Ns) {});
  ASSERT_TRUE(link.done());
  const double octets = 200'000 + 137 * 47;  // in frames of 128 + 6 octets, one zero inserted in 62 bits
  EXPECT_NEAR(static_cast<double>(link.done_at() - link.connected_at()) / 1e9,
              octets / 128 * 134 * 8 * 63.0 / 62 / 50'600, 0.1);
  EXPECT_EQ(link.counters().frames_retransmitted, 0u);
}

TEST(LinkModel, HolesInWhatWeSendMakeTheTransferSlow) {
  double seconds[2];
  for (const bool holes : {false, true}) {
    LinkProfile p = with_packets();
    p.settling_ms = 30;
    LinkModel link(p, 200'000, kConnect, kLead, 1, nullptr);
    link.start(0);
    serve(link, 1'000'000 * kMs, [&](Ns now) {
      if (holes && now > 3'000 * kMs && now % 137'500'000 == 0) link.transmit_hole(now, 4, 8000);
    });
    ASSERT_TRUE(link.done());
    seconds[holes] = static_cast<double>(link.done_at() - link.connected_at()) / 1e9;
  }
  EXPECT_GT(seconds[1], 1.1 * seconds[0]);
}

TEST(LinkModel, AConnectionThroughWhichNothingComesIsGivenUpByErrorControl) {
  LinkModel link(with_packets(), 200'000, kConnect, kLead, 1, nullptr);
  link.start(0);
  serve(link, 1'000'000 * kMs, [&](Ns now) {
    if (now > 3'000 * kMs) link.receive_hole(now, 100, 8000);
  });
  EXPECT_EQ(link.state(), LinkModel::State::kFailed);
  EXPECT_STREQ(link.failure(), "error control gave up: no frame was acknowledged");
}

}  // namespace
}  // namespace offhook::hostsim
