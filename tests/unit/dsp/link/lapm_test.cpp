// SPDX-License-Identifier: MIT
#include "dsp/link/lapm.h"

#include <algorithm>
#include <cerrno>
#include <utility>

#include "dsp/link/detection.h"
#include "tests/unit/dsp/link/lapm_pair.h"

namespace offhook::test {
namespace {

using States = std::vector<oh_lapm_state>;

TEST(Lapm, GoesThroughDetectionNegotiationAndEstablishment) {
  LapmPair pair;
  ASSERT_TRUE(pair.connect());
  EXPECT_LT(pair.seconds(), 1.0);
  EXPECT_EQ(pair[0].events.states, (States{OH_LAPM_NEGOTIATION, OH_LAPM_ESTABLISHMENT, OH_LAPM_CONNECTED}));
  EXPECT_EQ(pair[1].events.states, (States{OH_LAPM_ESTABLISHMENT, OH_LAPM_CONNECTED}));
}

// III.1: ten patterns take an eighth of a second; an end that misses them may still have been detected.
TEST(Lapm, TheAnswererRepeatsItsPatternUntilItIsUnderstood) {
  constexpr int kBitRate = 2400, kDeafBits = kBitRate, kBits = 3 * kBitRate;
  for (const bool ever_heard : {true, false}) {
    const auto end = [](oh_pump_role role) {
      oh_lapm_config c = default_config(role, kBitRate);
      c.t400_ms = 2000;
      return std::make_unique<End>(c);
    };
    const auto caller = end(OH_PUMP_CALL), answerer = end(OH_PUMP_ANSWER);
    for (int i = 0; i < kBits; ++i) {
      const int up = oh_port_get_bit(&caller->port), down = oh_port_get_bit(&answerer->port);
      oh_port_put_bit(&answerer->port, up);
      oh_port_put_bit(&caller->port, i < kDeafBits || !ever_heard ? 1 : down);
      if (i % 3 != 0) continue;
      for (End* e : {caller.get(), answerer.get()}) oh_lapm_advance(e->lapm, 10);
    }
    EXPECT_EQ(caller->status().state, ever_heard ? OH_LAPM_CONNECTED : OH_LAPM_UNSUPPORTED);
    EXPECT_EQ(answerer->status().state, ever_heard ? OH_LAPM_CONNECTED : OH_LAPM_ESTABLISHMENT) << "T400 ends it";
  }
}

// 9.1.1: T400 limits the wait; an originator that begins near its end is answered as long as any other.
TEST(Lapm, AnOriginatorThatBeginsLateIsAnsweredForAWholeT400) {
  LapmPair pair({}, [](oh_lapm_config& c) {
    if (c.role == OH_PUMP_CALL) c.t400_ms = 3000;
  });
  // Its pattern begins at 0.6 s of the answerer's 0.75 s; the answer is received from 1 s on.
  pair.filter = [&](int from, int bit) { return pair.seconds() < (from == 0 ? 0.6 : 1.0) ? 1 : bit; };
  EXPECT_TRUE(pair.connect());
}

// 7.2.1.3: at least ten times.
TEST(Lapm, TheAnswererSendsTenWholePatternsHoweverShortT400Is) {
  LapmPair pair({}, [](oh_lapm_config& c) { c.t400_ms = c.role == OH_PUMP_ANSWER ? 100 : 3000; });
  v42::PatternReceiver receiver;
  int characters = 0;
  pair.filter = [&](int from, int bit) {
    if (from == 0) return bit;
    characters += receiver.put(bit) == v42::PatternReceiver::kAnswerer;
    return 1;
  };
  pair.run(1);
  EXPECT_GE(characters, 2 * 10 - 3) << "it takes four to tell";
}

TEST(Lapm, SkipsDetectionWhenTold) {
  LapmPair pair({}, [](oh_lapm_config& c) { c.link.skip_detection = 1; });
  ASSERT_TRUE(pair.connect());
}

TEST(Lapm, AnswererThatDetectsTakesAnOriginatorThatDoesNot) {
  LapmPair pair({}, [](oh_lapm_config& c) { c.link.skip_detection = c.role == OH_PUMP_CALL; });
  ASSERT_TRUE(pair.connect());
}

TEST(Lapm, FindsOutWithinT400ThatTheFarEndHasNoV42) {
  for (int end : {0, 1}) {
    LapmPair pair;
    pair.filter = [&](int from, int bit) { return from == end ? bit : 1; };  // it receives only marks
    pair.run(0.74);
    EXPECT_EQ(pair[end].status().state, OH_LAPM_DETECTION);
    pair.run(0.02);
    EXPECT_EQ(pair[end].status().state, OH_LAPM_UNSUPPORTED);
    EXPECT_EQ(oh_lapm_writable(pair[end].lapm), 0u);
  }
}

TEST(Lapm, TransfersBothWaysAtOnceWithoutErrors) {
  LapmPair pair;
  for (int i : {0, 1}) pair[i].to_send = random_bytes(5000, 7 + unsigned(i));
  ASSERT_TRUE(pair.run_until([&] { return pair.complete(); }, 60));
  for (int i : {0, 1}) {
    EXPECT_EQ(pair[1 - i].received, pair[i].to_send);
    EXPECT_EQ(pair[i].status().retransmitted, 0u);
    EXPECT_EQ(pair[i].status().timeouts, 0u);
    EXPECT_EQ(pair[i].status().bytes_delivered, 5000u);
  }
  pair.run(2);
  EXPECT_EQ(pair[0].status().unacknowledged, 0u);
  EXPECT_EQ(pair[0].status().bytes_sent, 5000u);
}

// Share of the line for user data in one direction, after the connection.
double efficiency(uint32_t bit_rate, double delay_s, size_t bytes) {
  LapmPair pair({.bit_rate = bit_rate, .delay_s = delay_s});
  EXPECT_TRUE(pair.connect());
  const double start = pair.seconds();
  pair[0].to_send = random_bytes(bytes, 3);
  EXPECT_TRUE(pair.run_until([&] { return pair.complete(); }, 20.0 * double(bytes) * 8 / bit_rate));
  return double(bytes) * 8 / bit_rate / (pair.seconds() - start);
}

TEST(Lapm, OneWayDataUsesOver90PercentOfA2400BitLine) {
  EXPECT_GT(efficiency(2400, 0.02, 20000), 0.9);
}
TEST(Lapm, OneWayDataUsesOver90PercentAt300MsDelay) {
  EXPECT_GT(efficiency(2400, 0.3, 40000), 0.9);
}
TEST(Lapm, OneWayDataUsesOver90PercentAt50600BitsAnd40MsRoundTrip) {
  EXPECT_GT(efficiency(50600, 0.02, 200000), 0.9);
}

struct Harm {
  const char* name;
  Channel channel;
};

class LapmIntegrity : public testing::TestWithParam<Harm> {};

// The main property: data arrive as written, in order; otherwise the link reports that it failed.
TEST_P(LapmIntegrity, DeliversExactlyWhatWasWrittenOrReportsFailure) {
  for (int variant = 0; variant < 24; ++variant) {
    Channel channel = GetParam().channel;
    channel.seed = unsigned(100 + variant);
    const bool srej = variant & 1, two_way = variant & 2, fcs32 = variant & 4, compress = variant >= 8,
               v44 = variant >= 16;
    LapmPair pair(channel, [&](oh_lapm_config& c) {
      c.srej = srej, c.fcs32 = fcs32, c.t400_ms = 3000;
      (v44 ? c.link.v44 : c.link.compression) = compress ? 3 : 0;
    });
    const size_t times = compress ? 5 : 1;
    pair[0].to_send = random_bytes(6000 * times, unsigned(variant));
    if (two_way) pair[1].to_send = random_bytes(4000 * times, unsigned(50 + variant));
    for (int i = 0; compress && i < 2; ++i) {
      for (auto& b : pair[i].to_send) b &= 0x41;  // needs a fifth to a third of the octets
    }
    const bool done = pair.run_until([&] { return pair.complete() || pair.failed(); }, 600);
    ASSERT_TRUE(done) << "neither complete nor failed, variant " << variant;
    for (int i : {0, 1}) {
      const auto &got = pair[1 - i].received, &sent = pair[i].to_send;
      ASSERT_LE(got.size(), sent.size());
      ASSERT_TRUE(std::equal(got.begin(), got.end(), sent.begin())) << "variant " << variant << " from end " << i;
    }
    EXPECT_FALSE(pair.failed()) << "variant " << variant << " cause " << pair[0].status().cause
                                << pair[1].status().cause;
    if (fcs32) {
      EXPECT_TRUE(pair[0].status().fcs32 && pair[1].status().fcs32);
    }
    if (channel.bit_error_rate + channel.burst_per_bit + channel.slip_per_bit > 0) {
      EXPECT_GT(pair[0].status().bad_frames + pair[1].status().bad_frames, 0u);
      EXPECT_GT(pair[0].status().retransmitted, 0u);
      EXPECT_GT(pair[0].events.retransmit, 0u);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Channels, LapmIntegrity,
                         testing::Values(Harm{"Clean", {}}, Harm{"Ber1e4", {.bit_error_rate = 1e-4}},
                                         Harm{"Ber1e3", {.bit_error_rate = 5e-4}},
                                         Harm{"Bursts", {.burst_per_bit = 2e-4}}, Harm{"Slips", {.slip_per_bit = 2e-4}},
                                         Harm{"LongDelayAndErrors", {.delay_s = 0.3, .bit_error_rate = 1e-4}},
                                         Harm{"FastLineAndErrors",
                                              {.bit_rate = 50600, .delay_s = 0.02, .bit_error_rate = 1e-4}}),
                         [](const auto& p) { return p.param.name; });

// If most frames are damaged the link may end; earlier data are still correct, and the end is reported.
TEST(Lapm, OnAHopelessLineDeliversAPrefixAndReportsFailure) {
  int ended = 0;
  for (unsigned seed = 1; seed <= 8; ++seed) {
    LapmPair pair({.seed = seed}, [&](oh_lapm_config& c) { c.srej = seed & 1; });
    ASSERT_TRUE(pair.connect());
    for (int i : {0, 1}) pair[i].to_send = random_bytes(20000, seed + unsigned(i));
    pair.run(10);
    pair.channel().bit_error_rate = 0.02;
    ASSERT_TRUE(pair.run_until([&] { return pair.failed(); }, 3600)) << "seed " << seed;
    for (int i : {0, 1}) {
      const auto &got = pair[1 - i].received, &sent = pair[i].to_send;
      EXPECT_GT(got.size(), 0u);
      ASSERT_LT(got.size(), sent.size());
      ASSERT_TRUE(std::equal(got.begin(), got.end(), sent.begin())) << "seed " << seed << " from end " << i;
      const auto status = pair[i].status();
      ended += status.state == OH_LAPM_FAILED;
      EXPECT_NE(status.cause == OH_LAPM_NO_CAUSE, status.state == OH_LAPM_FAILED);
    }
  }
  EXPECT_GE(ended, 8);
}

// A large window, room for all of it, and frames that arrive again after a timeout.
TEST(Lapm, LargeWindowsKeepTheirOrder) {
  for (int srej : {0, 1}) {
    for (unsigned seed = 1; seed <= 6; ++seed) {
      LapmPair pair({.bit_rate = 50600, .delay_s = 0.3, .bit_error_rate = 5e-5, .seed = seed}, [&](oh_lapm_config& c) {
        c.srej = uint8_t(srej), c.link.window = 127, c.buffer_bytes = 65536, c.t400_ms = 3000;
      });
      pair[0].to_send = random_bytes(150000, seed);
      ASSERT_TRUE(pair.run_until([&] { return pair.complete() || pair.failed(); }, 600));
      ASSERT_FALSE(pair.failed()) << "srej " << srej << " seed " << seed << " cause " << pair[0].status().cause;
      EXPECT_EQ(pair[0].status().k_tx, srej ? 64 : 127) << "selective retransmission: half the modulus";
      ASSERT_TRUE(pair[1].received == pair[0].to_send) << "srej " << srej << " seed " << seed;
    }
  }
}

TEST(Lapm, SilentLineFailsAfterN400Attempts) {
  LapmPair pair;
  ASSERT_TRUE(pair.connect());
  pair.filter = [](int, int) { return 1; };
  pair[0].to_send = random_bytes(100, 1);
  pair.run(60);
  EXPECT_EQ(pair[0].status().state, OH_LAPM_FAILED);
  EXPECT_EQ(pair[0].status().cause, OH_LAPM_NO_ANSWER);
  EXPECT_EQ(pair[1].status().state, OH_LAPM_FAILED) << "the idle end asks when T403 expires";
  EXPECT_EQ(pair[0].status().timeouts, 11u) << "the first starts the timer recovery, ten attempts follow";
}

TEST(Lapm, IdleLinkStaysUpByT403) {
  LapmPair pair;
  ASSERT_TRUE(pair.connect());
  const uint32_t before = pair[0].status().frames_sent;
  pair.run(65);
  EXPECT_TRUE(pair.connected());
  EXPECT_GE(pair[0].status().frames_sent - before, 5u);
  EXPECT_EQ(pair[0].status().timeouts, 0u);
}

/// Line time until T401 expires for an unanswered frame; the rates become known or change after `changed_s`.
double t401_s(uint32_t before, double changed_s, uint32_t tx, uint32_t rx, uint32_t given_ms = 0) {
  oh_lapm_config c = default_config(OH_PUMP_CALL, before);
  c.link.skip_detection = 1;
  c.t401_ms = given_ms;
  End end(c);
  while (end.status().frames_sent == 0) oh_port_get_bit(&end.port);
  uint32_t samples = 0;
  for (; end.status().timeouts == 0; ++samples) {
    if (samples == uint32_t(changed_s * 8000)) oh_lapm_set_bit_rates(end.lapm, tx, rx);
    oh_lapm_advance(end.lapm, 1);
  }
  return samples / 8000.;
}

TEST(Lapm, T401TakesTheFramesOfBothDirectionsAtTheirRatesAndALongRoundTrip) {
  const auto expected = [](double tx, double rx) {
    const double bits = (3 + 128 + 4) * 8 * 1.2;  // address, control, N401, a 32-bit check sequence; inserted zeros
    return bits / tx + bits / rx + 1.5;
  };
  for (const auto& [tx, rx] : {std::pair{33600u, 33600u}, {1200u, 1200u}, {75u, 1200u}, {31200u, 4800u}}) {
    EXPECT_NEAR(t401_s(2400, 0, tx, rx), expected(tx, rx), 0.003) << tx << " " << rx;
    EXPECT_NEAR(t401_s(2400, 1, tx, rx), expected(tx, rx), 0.003) << "one that is running ends as if begun so";
  }
  EXPECT_NEAR(t401_s(75, 10, 33600, 33600), 10, 0.001) << "at once where the new one would be over";
  EXPECT_NEAR(t401_s(2400, 0, 0, 1200), expected(2400, 2400), 0.003) << "0 is no rate";
  EXPECT_NEAR(t401_s(2400, 0, 1200, 1200, 700), 0.7, 0.001) << "the configuration has the last word";
}

TEST(Lapm, ALostLastFrameIsFoundByT401) {
  LapmPair pair;
  ASSERT_TRUE(pair.connect());
  pair[0].to_send = random_bytes(100, 1);
  pair.filter = [](int from, int bit) { return from == 0 ? 1 : bit; };
  pair.run(0.6);  // the duration of the frame
  pair.filter = nullptr;
  ASSERT_TRUE(pair.run_until([&] { return pair.complete(); }, 10));
  EXPECT_EQ(pair[1].received, pair[0].to_send);
  EXPECT_EQ(pair[0].status().timeouts, 1u);
  EXPECT_EQ(pair[0].status().retransmitted, 1u);
}

// Loss of one of many frames: REJ repeats all later frames, SREJ only that one.
TEST(Lapm, SrejRepeatsOneFrameWhereRejRepeatsAll) {
  uint32_t repeated[2];
  for (int srej : {0, 1}) {
    LapmPair pair({.delay_s = 0.3}, [&](oh_lapm_config& c) { c.srej = uint8_t(srej); });
    ASSERT_TRUE(pair.connect());
    pair[0].to_send = random_bytes(4000, 1);
    pair.run(2);
    pair.filter = [](int from, int bit) { return from == 0 ? 1 : bit; };
    pair.run(0.1);
    pair.filter = nullptr;
    ASSERT_TRUE(pair.run_until([&] { return pair.complete(); }, 60));
    EXPECT_EQ(pair[1].received, pair[0].to_send);
    EXPECT_EQ(pair[0].status().timeouts, 0u);
    EXPECT_EQ(pair[1].status().srej_sent > 0, srej != 0);
    EXPECT_EQ(pair[1].status().rej_sent > 0, srej == 0);
    repeated[srej] = pair[0].status().retransmitted;
  }
  EXPECT_LE(repeated[1], 2u);
  EXPECT_GT(repeated[0], repeated[1]);
}

TEST(Lapm, SelectiveRetransmissionCutsWindowsBeyondHalfTheModulusAndNoOthers) {
  for (const auto& [k, taken] : {std::pair{50, 50}, {64, 64}, {65, 64}, {127, 64}}) {
    LapmPair pair({}, [k = k](oh_lapm_config& c) { c.srej = 1, c.link.window = uint8_t(k); });
    ASSERT_TRUE(pair.connect());
    for (int i : {0, 1}) EXPECT_EQ(pair[i].status().k_tx, taken) << k;
  }
}

TEST(Lapm, NegotiatesLargerFramesAndWindow) {
  LapmPair pair({}, [](oh_lapm_config& c) {
    c.n401 = c.role == OH_PUMP_CALL ? 512 : 256, c.link.window = c.role == OH_PUMP_CALL ? 127 : 30;
  });
  ASSERT_TRUE(pair.connect());
  for (int i : {0, 1}) {
    EXPECT_EQ(pair[i].status().n401_tx, 256u);
    EXPECT_EQ(pair[i].status().n401_rx, 256u);
    EXPECT_EQ(pair[i].status().k_tx, 30u);
    EXPECT_EQ(pair[i].status().k_rx, 30u);
  }
  pair[0].to_send = random_bytes(20000, 1);
  ASSERT_TRUE(pair.run_until([&] { return pair.complete(); }, 100));
  EXPECT_EQ(pair[1].received, pair[0].to_send);
  EXPECT_LT(pair[0].status().i_frames_sent, 90u);
}

TEST(Lapm, OffersThatOnlyOneEndMakesAreNotUsed) {
  for (int which : {0, 1}) {
    LapmPair pair({}, [&](oh_lapm_config& c) {
      c.fcs32 = c.role == which;
      c.srej = c.role == which;
    });
    ASSERT_TRUE(pair.connect());
    for (int i : {0, 1}) EXPECT_FALSE(pair[i].status().srej || pair[i].status().fcs32);
  }
}

TEST(Lapm, AReceiverThatDoesNotReadStopsTheSender) {
  LapmPair pair;
  ASSERT_TRUE(pair.connect());
  pair[1].hold = true;
  pair[0].to_send = random_bytes(20000, 1);
  pair.run(60);
  EXPECT_TRUE(pair[1].status().busy);
  EXPECT_TRUE(pair[0].status().far_busy);
  EXPECT_GT(pair[1].status().rnr_sent, 0u);
  EXPECT_LE(pair[1].status().bytes_delivered, 8192u);
  EXPECT_TRUE(pair.connected()) << "a busy far end is asked, not given up";
  pair[1].hold = false;
  ASSERT_TRUE(pair.run_until([&] { return pair.complete(); }, 100));
  EXPECT_EQ(pair[1].received, pair[0].to_send);
}

TEST(Lapm, BusyByTheUsersWishCanBeginAndEndAtAnyTime) {
  LapmPair pair({.delay_s = 0.1, .bit_error_rate = 5e-5});
  pair[0].to_send = random_bytes(8000, 1);
  pair[1].to_send = random_bytes(8000, 2);
  for (int i = 0; i < 40 && !pair.complete(); ++i) {
    oh_lapm_set_busy(pair[i % 3 == 0].lapm, i & 1);
    pair.run(0.7);
  }
  for (int i : {0, 1}) oh_lapm_set_busy(pair[i].lapm, 0);
  ASSERT_TRUE(pair.run_until([&] { return pair.complete(); }, 200));
  for (int i : {0, 1}) EXPECT_EQ(pair[1 - i].received, pair[i].to_send);
}

TEST(Lapm, DisconnectsInOrderFromEitherEnd) {
  for (int end : {0, 1}) {
    LapmPair pair;
    ASSERT_TRUE(pair.connect());
    oh_lapm_disconnect(pair[end].lapm);
    EXPECT_EQ(pair[end].status().state, OH_LAPM_RELEASE);
    pair.run(1);
    EXPECT_EQ(pair[0].status().state, OH_LAPM_DISCONNECTED);
    EXPECT_EQ(pair[1].status().state, OH_LAPM_DISCONNECTED);
  }
}

TEST(Lapm, DisconnectsWhenBothEndsDoSoAtOnceOrNobodyAnswers) {
  LapmPair both;
  ASSERT_TRUE(both.connect());
  for (int i : {0, 1}) oh_lapm_disconnect(both[i].lapm);
  both.run(1);
  for (int i : {0, 1}) EXPECT_EQ(both[i].status().state, OH_LAPM_DISCONNECTED);

  LapmPair alone;
  ASSERT_TRUE(alone.connect());
  alone.filter = [](int, int) { return 1; };
  oh_lapm_disconnect(alone[0].lapm);
  alone.run(60);
  EXPECT_EQ(alone[0].status().state, OH_LAPM_DISCONNECTED);
}

TEST(Lapm, BreakArrivesOnceAndIsAcknowledged) {
  LapmPair pair;
  EXPECT_EQ(oh_lapm_send_break(pair[0].lapm, 0x40, 30), -ENOTCONN);
  ASSERT_TRUE(pair.connect());
  EXPECT_EQ(oh_lapm_send_break(pair[0].lapm, 0x40, 30), 0);
  EXPECT_EQ(oh_lapm_send_break(pair[0].lapm, 0x40, 30), -EAGAIN);
  pair.filter = [](int from, int bit) { return from == 1 ? 1 : bit; };  // the acknowledgement is lost
  pair.run(1);
  EXPECT_EQ(pair[1].events.breaks, 1u);
  EXPECT_EQ(pair[0].events.breaks_done, 0u);
  pair.filter = nullptr;
  pair.run(5);
  EXPECT_EQ(pair[1].events.breaks, 1u) << "the repeated message is known by its number";
  EXPECT_EQ(pair[1].events.last_break, 0x401Eu);
  EXPECT_EQ(pair[0].events.breaks_done, 1u);
  EXPECT_EQ(oh_lapm_send_break(pair[0].lapm, 0, 0), 0);
  pair.run(2);
  EXPECT_EQ(pair[1].events.breaks, 2u);
}

TEST(Lapm, TestFrameComesBack) {
  LapmPair pair;
  ASSERT_TRUE(pair.connect());
  EXPECT_EQ(oh_lapm_send_test(pair[1].lapm, "offhook", 7), 0);
  pair.run(1);
  EXPECT_EQ(pair[1].events.tests_done, 1u);
  EXPECT_EQ(pair[0].events.tests_done, 0u);
}

TEST(Lapm, RefusesConfigurationsOutOfRange) {
  const oh_lapm_config good = default_config(OH_PUMP_CALL, 2400);
  EXPECT_GT(oh_lapm_size(&good), 0u);
  std::vector<oh_lapm_config> bad(20, good);
  bad[0].link.window = 14;
  bad[1].link.window = 128;
  bad[2].n401 = 127;
  bad[3].n401 = 1025;
  bad[4].bit_rate = 0;
  bad[5].n400 = 0;
  bad[6].buffer_bytes = 255;
  bad[7].sample_rate_hz = 0;
  bad[8].link.compression = 4;
  bad[9].link.compression = 1, bad[9].link.codewords = 511;
  bad[10].link.compression = 2, bad[10].link.max_string = 5;
  bad[11].link.compression = 3, bad[11].link.max_string = 251;
  bad[12].link.v44 = 4;
  bad[13].link.v44 = 1, bad[13].link.v44_tx.codewords = 255;
  bad[14].link.v44 = 1, bad[14].link.v44_rx.history = 511;
  bad[15].link.v44 = 2, bad[15].link.v44_tx.max_string = 31;
  bad[16].link.compression = 3, bad[16].link.codewords = 65536 + 2048;
  bad[17].link.v44 = 3, bad[17].link.v44_rx.codewords = 65536 + 2048;
  bad[18].link.v44 = 3, bad[18].link.v44_tx.history = 65536 + 6144;
  bad[19].link.v44 = 3, bad[19].link.v44_rx.max_string = 256 + 64;
  uint64_t nothing;
  for (const auto& c : bad) {
    EXPECT_EQ(oh_lapm_size(&c), 0u);
    EXPECT_EQ(oh_lapm_init(&nothing, &c), nullptr);
  }
}

}  // namespace
}  // namespace offhook::test
