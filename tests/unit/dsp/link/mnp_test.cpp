// SPDX-License-Identifier: MIT
// Two ends of which one or both permit MNP, over a line with errors and delay.
#include <gtest/gtest.h>

#include <vector>

#include "tests/unit/dsp/link/lapm_pair.h"

namespace offhook::test {
namespace {

using States = std::vector<oh_lapm_state>;
constexpr uint32_t kV42 = OH_PROTOCOL_V42, kMnp = OH_PROTOCOL_MNP, kBoth = kV42 | kMnp;

struct Ends {
  uint32_t caller, answerer;
  uint32_t caller_class = 4, answerer_class = 4;
};

std::function<void(oh_lapm_config&)> with(Ends ends) {
  return [ends](oh_lapm_config& c) {
    const bool call = c.role == OH_PUMP_CALL;
    c.link.protocols = call ? ends.caller : ends.answerer;
    c.link.mnp_class = call ? ends.caller_class : ends.answerer_class;
    c.t400_ms = 3000;
  };
}

TEST(Mnp, AnOriginatorWithV42SendsLinkRequestsAfterT400) {
  LapmPair pair({}, with({kBoth, kMnp}));
  ASSERT_TRUE(pair.connect());
  EXPECT_GT(pair.seconds(), 3.0);
  EXPECT_LT(pair.seconds(), 4.0);
  EXPECT_EQ(pair[0].events.states, (States{OH_LAPM_NEGOTIATION, OH_LAPM_CONNECTED}));
  EXPECT_EQ(pair[1].events.states, (States{OH_LAPM_ESTABLISHMENT, OH_LAPM_CONNECTED}));
  for (int i : {0, 1}) {
    EXPECT_EQ(pair[i].status().mnp_class, 4);
    EXPECT_EQ(pair[i].status().n401_tx, 256);
    EXPECT_EQ(pair[i].status().k_tx, 15);
  }
}

TEST(Mnp, AnAnswererTakesTheProtocolThatComesFirst) {
  LapmPair v42({}, with({kV42, kBoth}));
  ASSERT_TRUE(v42.connect());
  EXPECT_EQ(v42[1].status().mnp_class, 0);
  LapmPair mnp({}, with({kMnp, kBoth}));
  ASSERT_TRUE(mnp.connect());
  EXPECT_EQ(mnp[1].status().mnp_class, 4);
  EXPECT_LT(mnp.seconds(), 1) << "without a detection phase";
  LapmPair both({}, with({kBoth, kBoth}));
  ASSERT_TRUE(both.connect());
  EXPECT_EQ(both[0].status().mnp_class, 0) << "V.42 is preferred";
}

TEST(Mnp, TheLowerClassIsUsed) {
  for (uint32_t caller : {2u, 3u, 4u}) {
    for (uint32_t answerer : {2u, 3u, 4u}) {
      LapmPair pair({}, with({kMnp, kMnp, caller, answerer}));
      ASSERT_TRUE(pair.connect());
      for (int i : {0, 1}) {
        pair[i].to_send = random_bytes(2000, uint64_t(i) + 7);
        EXPECT_EQ(pair[i].status().mnp_class, std::min(caller, answerer));
        EXPECT_EQ(pair[i].status().n401_tx, std::min(caller, answerer) == 4 ? 256 : 64);
      }
      ASSERT_TRUE(pair.run_until([&] { return pair.complete(); }, 60));
      for (int i : {0, 1}) EXPECT_EQ(pair[i].received, pair[1 - i].to_send);
    }
  }
}

TEST(Mnp, DoesWithoutAFarEndThatHasIt) {
  for (int role : {0, 1}) {
    for (uint32_t protocols : {kBoth, kMnp}) {
      oh_lapm_config c = default_config(oh_pump_role(role), 2400);
      with({protocols, protocols})(c);
      End end(c);
      double s = 0;
      for (; s < 15 && end.status().state != OH_LAPM_UNSUPPORTED; s += 0.01) {
        for (int k = 0; k < 24; ++k) {
          oh_port_get_bit(&end.port);
          oh_port_put_bit(&end.port, 1);
        }
        oh_lapm_advance(end.lapm, 80);
      }
      EXPECT_EQ(end.status().state, OH_LAPM_UNSUPPORTED);
      EXPECT_NEAR(s, role == 1 ? (protocols == kBoth ? 3 : 6.5) : (protocols == kBoth ? 6.8 : 3.7), 0.3);
      for (int k = 0; k < 100; ++k) EXPECT_EQ(oh_port_get_bit(&end.port), 1) << "A.7.2.2: nothing is sent";
    }
  }
}

TEST(Mnp, AnOriginatorRepeatsTheDetectionForALateFarEnd) {
  for (uint32_t far_end : {kV42, kMnp}) {
    const auto change = [far_end](oh_lapm_config& c) {
      with({kBoth, far_end})(c);
      c.detections = 3;
      if (c.role == OH_PUMP_ANSWER) c.t400_ms = 21'000;
    };
    LapmPair pair({}, change);
    bool deaf = true;
    pair.filter = [&](int from, int bit) { return deaf && from == 0 ? 1 : bit; };
    pair.run(8);
    deaf = false;
    ASSERT_TRUE(pair.run_until([&] { return pair.connected(); }, 12)) << far_end;
    EXPECT_EQ(pair[0].status().mnp_class, far_end == kMnp ? 4 : 0);
  }
}

struct Line {
  Channel channel;
  uint32_t mnp_class;
};
class MnpOverLine : public testing::TestWithParam<Line> {};

TEST_P(MnpOverLine, EveryByteArrivesInOrder) {
  LapmPair pair(GetParam().channel, with({kMnp, kMnp, GetParam().mnp_class, GetParam().mnp_class}));
  ASSERT_TRUE(pair.run_until([&] { return pair.connected(); }, 60));
  for (int i : {0, 1}) pair[i].to_send = random_bytes(8000, uint64_t(i) + 3);
  ASSERT_TRUE(pair.run_until([&] { return pair.complete() || pair.failed(); }, 1200));
  for (int i : {0, 1}) {
    EXPECT_EQ(pair[i].received, pair[1 - i].to_send);
    EXPECT_EQ(pair[i].status().bytes_delivered, 8000u);
  }
  EXPECT_TRUE(
      pair.run_until([&] { return pair[0].status().bytes_sent == 8000 && pair[1].status().bytes_sent == 8000; }, 30));
  for (int i : {0, 1}) EXPECT_EQ(pair[i].status().unacknowledged, 0u);
}

INSTANTIATE_TEST_SUITE_P(
    Lines, MnpOverLine,
    testing::Values(Line{{.delay_s = 0.6}, 2}, Line{{.delay_s = 0.6}, 4}, Line{{.bit_rate = 14400, .delay_s = 0.6}, 3},
                    Line{{.bit_rate = 300}, 4}, Line{{.bit_error_rate = 1e-4, .seed = 2}, 2},
                    Line{{.bit_error_rate = 1e-4, .seed = 3}, 3}, Line{{.bit_error_rate = 5e-4, .seed = 4}, 4},
                    Line{{.burst_per_bit = 2e-4, .seed = 5}, 4}, Line{{.burst_per_bit = 2e-4, .seed = 6}, 2},
                    Line{{.slip_per_bit = 1e-4, .seed = 7}, 4}, Line{{.slip_per_bit = 1e-4, .seed = 8}, 2},
                    Line{{.bit_rate = 14400, .delay_s = 0.3, .bit_error_rate = 1e-4, .seed = 9}, 4}));

// The time of a transfer against the line's own.
TEST(Mnp, FillsTheLine) {
  for (uint32_t mnp_class : {2u, 3u, 4u}) {
    LapmPair pair({}, with({kMnp, kMnp, mnp_class, mnp_class}));
    ASSERT_TRUE(pair.connect());
    const double began = pair.seconds();
    pair[0].to_send = random_bytes(20'000, 1);
    ASSERT_TRUE(pair.run_until([&] { return pair.complete(); }, 150));
    const double efficiency = 20'000 * 10 / 2400.0 / (pair.seconds() - began);  // of start-stop characters without MNP
    EXPECT_NEAR(efficiency, mnp_class == 2 ? 0.82 : mnp_class == 3 ? 1.08 : 1.19, 0.01) << "class " << mnp_class;
    EXPECT_EQ(pair[0].status().retransmitted, 0u);
  }
}

TEST(Mnp, ALostConfirmationIsRepeated) {
  for (uint32_t mnp_class : {2u, 4u}) {
    LapmPair pair({}, with({kMnp, kMnp, mnp_class, mnp_class}));
    bool cut = false;
    pair.filter = [&](int from, int bit) { return cut && from == 0 ? 1 : bit; };
    ASSERT_TRUE(pair.run_until([&] { return pair[0].status().state == OH_LAPM_CONNECTED; }, 5));
    cut = true;
    pair.run(0.5);
    cut = false;
    EXPECT_EQ(pair[1].status().state, OH_LAPM_ESTABLISHMENT);
    ASSERT_TRUE(pair.run_until([&] { return pair.connected(); }, 5));
    for (int i : {0, 1}) pair[i].to_send = random_bytes(500, uint64_t(i));
    EXPECT_TRUE(pair.run_until([&] { return pair.complete(); }, 10));
  }
}

// A frame that follows the lost confirmation is as good.
TEST(Mnp, DataConfirmTheLinkToo) {
  LapmPair pair({}, with({kMnp, kMnp}));
  pair[0].to_send = random_bytes(100, 1);
  bool cut = false;
  pair.filter = [&](int from, int bit) { return cut && from == 0 ? 1 : bit; };
  ASSERT_TRUE(pair.run_until([&] { return pair[0].status().state == OH_LAPM_CONNECTED; }, 5));
  cut = true;
  pair.run(0.05);  // the start-stop frame is damaged, the one between flags is not
  cut = false;
  ASSERT_TRUE(pair.run_until([&] { return pair.complete(); }, 10));
  EXPECT_EQ(pair[1].received, pair[0].to_send);
}

TEST(Mnp, ARepeatedAcknowledgementRecoversALostFrameBeforeT401) {
  LapmPair pair({}, with({kMnp, kMnp}));
  ASSERT_TRUE(pair.connect());
  pair[0].to_send = random_bytes(6000, 1);
  pair.run(3);
  bool cut = true;
  pair.filter = [&](int from, int bit) { return cut && from == 0 ? 1 : bit; };
  pair.run(0.1);
  cut = false;
  ASSERT_TRUE(pair.run_until([&] { return pair.complete(); }, 40));
  EXPECT_EQ(pair[0].status().timeouts, 0u);
  EXPECT_GT(pair[0].status().retransmitted, 0u);
  EXPECT_LT(pair[0].status().retransmitted, 8u);
}

TEST(Mnp, AReaderThatStopsGivesNoCredit) {
  LapmPair pair({}, [](oh_lapm_config& c) {
    with({kMnp, kMnp})(c);
    c.buffer_bytes = 2048;
  });
  ASSERT_TRUE(pair.connect());
  pair[1].hold = true;
  pair[0].to_send = random_bytes(8000, 1);
  pair.run(20);
  EXPECT_TRUE(pair[0].status().far_busy);
  EXPECT_LE(pair[1].status().bytes_delivered, 2048u);
  pair[1].hold = false;
  ASSERT_TRUE(pair.run_until([&] { return pair.complete(); }, 60));
  EXPECT_EQ(pair[1].received, pair[0].to_send);
  EXPECT_EQ(pair[0].status().timeouts, 0u);
}

TEST(Mnp, ABusyUserLosesNothing) {
  LapmPair pair({}, with({kMnp, kMnp}));
  ASSERT_TRUE(pair.connect());
  pair[0].to_send = random_bytes(4000, 1);
  pair.run(3);
  oh_lapm_set_busy(pair[1].lapm, 1);
  pair.run(10);
  oh_lapm_set_busy(pair[1].lapm, 0);
  ASSERT_TRUE(pair.run_until([&] { return pair.complete(); }, 40));
  EXPECT_EQ(pair[1].received, pair[0].to_send);
}

TEST(Mnp, ADisconnectTellsTheFarEnd) {
  for (uint32_t mnp_class : {2u, 4u}) {
    LapmPair pair({}, with({kMnp, kMnp, mnp_class, mnp_class}));
    ASSERT_TRUE(pair.connect());
    oh_lapm_disconnect(pair[0].lapm);
    EXPECT_EQ(pair[0].status().state, OH_LAPM_RELEASE);
    pair.run(1);
    for (int i : {0, 1}) EXPECT_EQ(pair[i].status().state, OH_LAPM_DISCONNECTED);
  }
}

TEST(Mnp, AFarEndThatVanishesEndsTheLink) {
  LapmPair pair({}, with({kMnp, kMnp}));
  ASSERT_TRUE(pair.connect());
  pair[0].to_send = random_bytes(100, 1);
  pair.filter = [](int, int) { return 1; };
  ASSERT_TRUE(pair.run_until([&] { return pair[0].status().state == OH_LAPM_FAILED; }, 400));
  EXPECT_EQ(pair[0].status().cause, OH_LAPM_NO_ANSWER);
  EXPECT_EQ(pair[0].status().timeouts, 12u) << "A.7.5.5";
}

TEST(Mnp, BreaksArriveOnceAndAreAnswered) {
  for (const uint8_t handling : {uint8_t(0xC0), uint8_t(0x40), uint8_t(0)}) {
    LapmPair pair({.seed = handling + 1u}, with({kMnp, kMnp}));
    ASSERT_TRUE(pair.connect());
    pair.channel().bit_error_rate = 4e-4;
    pair[0].to_send = random_bytes(1000, 1);
    pair.run(1);
    ASSERT_EQ(oh_lapm_send_break(pair[0].lapm, handling, 0), 0);
    EXPECT_EQ(oh_lapm_send_break(pair[0].lapm, handling, 0), -EAGAIN);
    ASSERT_TRUE(pair.run_until([&] { return pair[0].events.breaks_done == 1 && pair.complete(); }, 120));
    EXPECT_EQ(pair[1].events.breaks, 1u);
    EXPECT_EQ(pair[1].events.last_break, uint32_t(handling) << 8);
    EXPECT_EQ(pair[1].received, pair[0].to_send);
  }
}

TEST(Mnp, FramesBecomeShorterOnABadLineAndGrowAgain) {
  LapmPair pair({.seed = 11}, with({kMnp, kMnp}));
  ASSERT_TRUE(pair.connect());
  pair.channel().bit_error_rate = 4e-4;
  pair[0].to_send = random_bytes(6000, 1);
  ASSERT_TRUE(pair.run_until([&] { return pair.complete(); }, 400));
  EXPECT_GT(pair[0].status().i_frames_sent, 6000u / 128);
  pair.channel().bit_error_rate = 0;
  const uint32_t before = pair[0].status().i_frames_sent;
  const auto more = random_bytes(16'000, 2);
  pair[0].to_send.insert(pair[0].to_send.end(), more.begin(), more.end());
  ASSERT_TRUE(pair.run_until([&] { return pair.complete(); }, 400));
  EXPECT_LT(pair[0].status().i_frames_sent - before, 16'000u / 128);
}

TEST(Mnp, ABlockLimitHolds) {
  LapmPair pair({}, [](oh_lapm_config& c) {
    with({kMnp, kMnp})(c);
    c.link.mnp_block = 100;
  });
  ASSERT_TRUE(pair.connect());
  pair[0].to_send = random_bytes(2000, 1);
  ASSERT_TRUE(pair.run_until([&] { return pair.complete(); }, 40));
  EXPECT_GE(pair[0].status().i_frames_sent, 20u);
}

TEST(Mnp, RefusesImpossibleSettings) {
  const auto size = [](auto change) {
    oh_lapm_config c = default_config(OH_PUMP_CALL, 2400);
    c.link.protocols = kBoth;
    change(c);
    return oh_lapm_size(&c);
  };
  EXPECT_GT(size([](auto&) {}), 0u);
  EXPECT_GT(size([](auto& c) { c.link.mnp_class = c.link.mnp_block = 0; }), 0u);
  EXPECT_EQ(size([](auto& c) { c.link.protocols = 4; }), 0u);
  EXPECT_EQ(size([](auto& c) { c.link.mnp_class = 1; }), 0u);
  EXPECT_EQ(size([](auto& c) { c.link.mnp_class = 6; }), 0u);
  EXPECT_EQ(size([](auto& c) { c.link.mnp_block = 63; }), 0u);
  EXPECT_EQ(size([](auto& c) { c.link.mnp_block = 257; }), 0u);
  EXPECT_EQ(size([](auto& c) { c.detections = 0; }), 0u);
  EXPECT_EQ(size([](auto& c) { c.buffer_bytes = 511; }), 0u);
}

}  // namespace
}  // namespace offhook::test
