// SPDX-License-Identifier: MIT
// What LAPM answers to single frames, written by hand.
#include "tests/unit/dsp/link/by_hand.h"

namespace offhook::test {
namespace {

TEST_F(ByHand, SabmeIsAcceptedOnceMoreUntilDataHasCome) {
  connect();
  EXPECT_EQ(send({0x03, 0x7F}), (std::vector<Octets>{{0x03, 0x73}})) << "the UA may have been lost";
  send({0x03, 0x00, 0x00, 'x'});
  EXPECT_EQ(send({0x03, 0x7F}), (std::vector<Octets>{}));
  EXPECT_EQ(end_->status().cause, OH_LAPM_RESET);
}

TEST_F(ByHand, InformationIsDeliveredAndAcknowledged) {
  connect();
  EXPECT_EQ(send({0x03, 0x00, 0x00, 'h', 'i'}), (std::vector<Octets>{{0x03, 0x01, 0x02}})) << "RR, N(R) = 1";
  EXPECT_EQ(send({0x03, 0x02, 0x01, '!'}), (std::vector<Octets>{{0x03, 0x01, 0x05}})) << "P asks for F";
  end_->pump_bytes();
  EXPECT_EQ(end_->received, (Octets{'h', 'i', '!'}));
}

TEST_F(ByHand, AMissingFrameIsRejectedOnce) {
  connect();
  EXPECT_EQ(send({0x03, 0x02, 0x00, 'b'}), (std::vector<Octets>{{0x03, 0x09, 0x00}})) << "REJ, N(R) = 0";
  EXPECT_EQ(send({0x03, 0x04, 0x00, 'c'}), (std::vector<Octets>{{0x03, 0x01, 0x00}})) << "no second REJ: RR only";
  EXPECT_EQ(send({0x03, 0x02, 0x00, 'b'}), (std::vector<Octets>{{0x03, 0x09, 0x00}})) << "it went back, still missing";
  send({0x03, 0x00, 0x00, 'a'});
  send({0x03, 0x02, 0x00, 'b'});
  end_->pump_bytes();
  EXPECT_EQ(end_->received, (Octets{'a', 'b'}));
  EXPECT_EQ(end_->status().rej_sent, 2u);
}

TEST_F(ByHand, ARepeatedFrameIsDroppedAndAcknowledged) {
  connect();
  send({0x03, 0x00, 0x00, 'a'});
  EXPECT_EQ(send({0x03, 0x00, 0x00, 'a'}), (std::vector<Octets>{{0x03, 0x01, 0x02}}));
  end_->pump_bytes();
  EXPECT_EQ(end_->received, (Octets{'a'}));
  EXPECT_EQ(end_->status().duplicates, 1u);
}

TEST_F(ByHand, APollIsAnsweredByTheReceiversState) {
  connect();
  EXPECT_EQ(send({0x03, 0x01, 0x01}), (std::vector<Octets>{{0x03, 0x01, 0x01}})) << "RR with F";
  oh_lapm_set_busy(end_->lapm, 1);
  EXPECT_EQ(send({0x03, 0x01, 0x01}, 800), (std::vector<Octets>{{0x03, 0x05, 0x00}, {0x03, 0x05, 0x01}}))
      << "RNR, then with F";
  EXPECT_EQ(send({0x03, 0x00, 0x00, 'a'}), (std::vector<Octets>{{0x03, 0x05, 0x00}})) << "discarded while busy";
  oh_lapm_set_busy(end_->lapm, 0);
  EXPECT_EQ(send({0x03, 0x00, 0x00, 'a'}, 800).back(), (Octets{0x03, 0x01, 0x02}));
}

TEST_F(ByHand, DiscIsAnsweredByUaThenByDm) {
  connect();
  EXPECT_EQ(send({0x03, 0x53}), (std::vector<Octets>{{0x03, 0x73}}));
  EXPECT_EQ(end_->status().state, OH_LAPM_DISCONNECTED);
  EXPECT_EQ(send({0x03, 0x53}), (std::vector<Octets>{{0x03, 0x1F}}));
}

TEST_F(ByHand, XidIsAnsweredWithValuesBetweenTheOfferAndTheDefault) {
  Xid offer;
  offer.srej = offer.fcs32 = offer.test = true;
  offer.n401_tx = 512, offer.n401_rx = 64, offer.k_tx = 100, offer.k_rx = 3;
  Octets frame{0x03, 0xAF};
  frame.resize(2 + kXidSize);
  frame.resize(2 + write_xid(offer, false, frame.data() + 2));
  const auto answers = send(frame);
  ASSERT_EQ(answers.size(), 1u);
  ASSERT_EQ(answers[0][0], 0x03);
  ASSERT_EQ(answers[0][1], 0xAF);
  Xid answer;
  ASSERT_EQ(read_xid(answers[0].data() + 2, answers[0].size() - 2, &answer), 0u);
  EXPECT_TRUE(answer.srej);
  EXPECT_TRUE(answer.test);
  EXPECT_FALSE(answer.fcs32) << "not allowed by this end's configuration";
  EXPECT_EQ(answer.n401_rx, 128u);
  EXPECT_EQ(answer.n401_tx, 128u);
  EXPECT_EQ(answer.k_rx, 15u);
  EXPECT_EQ(answer.k_tx, 15u);
}

TEST_F(ByHand, AnOriginatorWhoseXidIsNotAnsweredEstablishesTheDefaults) {
  restart(OH_PUMP_CALL);
  const Octets rr{0x03, 0x01, 0x00};  // does not count before the SABME
  int xids = 0;
  std::vector<Octets> seen;
  for (int i = 0; i < 10; ++i) {
    seen = send(rr, 700);
    ASSERT_EQ(seen.size(), 1u) << i;
    EXPECT_EQ(seen[0][0], 0x03);
    xids += seen[0][1] == 0xAF;
    oh_lapm_advance(end_->lapm, 8000);
  }
  EXPECT_EQ(xids, 10) << "N400";
  EXPECT_EQ(send({0x03, 0xEF}, 600), (std::vector<Octets>{{0x03, 0x7F}})) << "SABME";
  EXPECT_EQ(end_->status().state, OH_LAPM_ESTABLISHMENT);
  send({0x03, 0x73});
  EXPECT_EQ(end_->status().state, OH_LAPM_CONNECTED);
  EXPECT_EQ(end_->status().n401_tx, 128u);
  EXPECT_EQ(end_->status().k_tx, 15u);
  EXPECT_FALSE(end_->status().srej || end_->status().fcs32);
}

TEST_F(ByHand, V42bisIsAnsweredWithTheSmallerValuesAndTheDirectionsThatBothWant) {
  compression = OH_LAPM_COMPRESS_SENT;
  restart();
  const auto answers = send(offer(3, 512, 250), 1000);
  ASSERT_EQ(answers.size(), 1u);
  Xid answer;
  ASSERT_EQ(read_xid(answers[0].data() + 2, answers[0].size() - 2, &answer), 0u);
  EXPECT_TRUE(answer.v42bis);
  EXPECT_EQ(answer.compress, kToInitiator);
  EXPECT_EQ(answer.codewords, 512u);
  EXPECT_EQ(answer.max_string, 32u);
  connect();
  EXPECT_EQ(end_->status().compression, OH_LAPM_COMPRESS_SENT);
}

TEST_F(ByHand, WithoutCompressionWantedNoneIsAnswered) {
  const auto answers = send(offer(3, 512, 250), 1000);
  ASSERT_EQ(answers.size(), 1u);
  Xid answer;
  ASSERT_EQ(read_xid(answers[0].data() + 2, answers[0].size() - 2, &answer), 0u);
  EXPECT_FALSE(answer.v42bis);
}

TEST_F(ByHand, AnOriginatorTakesNoMoreCompressionThanItAskedFor) {
  compression = OH_LAPM_COMPRESS_RECEIVED;
  restart(OH_PUMP_CALL);
  const auto asked = send({0x03, 0x01, 0x00}, 800);
  ASSERT_EQ(asked.size(), 1u);
  Xid wish;
  ASSERT_EQ(read_xid(asked[0].data() + 2, asked[0].size() - 2, &wish), 0u);
  EXPECT_EQ(wish.compress, kToInitiator);
  EXPECT_EQ(wish.codewords, 2048u);
  EXPECT_EQ(wish.max_string, 32u);
  send(offer(3, 4096, 250, true));
  send({0x03, 0x73});
  EXPECT_EQ(end_->status().state, OH_LAPM_CONNECTED);
  EXPECT_EQ(end_->status().compression, OH_LAPM_COMPRESS_RECEIVED);
  EXPECT_EQ(end_->status().codewords, 2048u);
}

// V.42bis 5.1: such values end the connection.
TEST_F(ByHand, ParametersThatV42bisDoesNotAllowEndTheConnection) {
  compression = 3;
  for (const Octets& bad : {offer(3, 511, 32), offer(3, 2048, 5), offer(3, 2048, 251)}) {
    restart();
    EXPECT_TRUE(send(bad).empty());
    EXPECT_EQ(end_->status().state, OH_LAPM_FAILED);
    EXPECT_EQ(end_->status().cause, OH_LAPM_BAD_COMPRESSION);
  }
}

TEST_F(ByHand, OctetsThatAreNoV42bisReleaseTheLink) {
  compression = 3;
  restart();
  send(offer(3, 2048, 32), 1000);
  connect();
  send({0x03, 0x00, 0x00, 'a', 'b', 0, 3, 'c'});  // a reserved command code
  end_->pump_bytes();
  EXPECT_EQ(end_->received, (Octets{'a', 'b'}));
  EXPECT_EQ(end_->status().state, OH_LAPM_RELEASE);
  EXPECT_EQ(send({0x03, 0x01, 0x00}).back(), (Octets{0x01, 0x53})) << "DISC";
  send({0x01, 0x73});
  EXPECT_EQ(end_->status().state, OH_LAPM_FAILED);
  EXPECT_EQ(end_->status().cause, OH_LAPM_BAD_COMPRESSION);
}

// V.44 7.3: one of the two, with its parameters from the sender's view.
TEST_F(ByHand, OfBothCompressionsV44IsAnsweredAlone) {
  compression = 3, v44 = OH_LAPM_COMPRESS_SENT;
  restart();
  Xid wish;
  wish.v42bis = wish.v44 = true, wish.compress = 3;
  wish.v44_tx = {300, 40, 600}, wish.v44_rx = {1000, 255, 65535};
  const auto answers = send(framed(wish), 1500);
  ASSERT_EQ(answers.size(), 1u);
  Xid answer;
  ASSERT_EQ(read_xid(answers[0].data() + 2, answers[0].size() - 2, &answer), 0u);
  EXPECT_TRUE(answer.v44);
  EXPECT_FALSE(answer.v42bis);
  EXPECT_EQ(answer.v44_directions, 1) << "the answerer transmits";
  EXPECT_EQ(answer.v44_tx.codewords, 1000u);
  EXPECT_EQ(answer.v44_tx.max_string, 255u);
  EXPECT_EQ(answer.v44_tx.history, 6144u);
  EXPECT_EQ(answer.v44_rx.codewords, 300u);
  EXPECT_EQ(answer.v44_rx.max_string, 40u);
  EXPECT_EQ(answer.v44_rx.history, 600u);
  connect();
  EXPECT_EQ(end_->status().compression, OH_LAPM_COMPRESS_SENT);
  EXPECT_TRUE(end_->status().v44);
}

TEST_F(ByHand, WhereV44HasNoDirectionInCommonV42bisIsAnswered) {
  compression = 3, v44 = OH_LAPM_COMPRESS_SENT;
  restart();
  Xid wish;
  wish.v42bis = wish.v44 = true, wish.compress = 3, wish.v44_directions = 1;
  const auto answers = send(framed(wish), 1500);
  ASSERT_EQ(answers.size(), 1u);
  Xid answer;
  ASSERT_EQ(read_xid(answers[0].data() + 2, answers[0].size() - 2, &answer), 0u);
  EXPECT_FALSE(answer.v44);
  EXPECT_TRUE(answer.v42bis);
  connect();
  EXPECT_EQ(end_->status().compression, 3);
  EXPECT_FALSE(end_->status().v44);
}

TEST_F(ByHand, AnOriginatorOffersBothCompressionsAndTakesTheOneThatIsAnswered) {
  for (const bool takes_v44 : {false, true}) {
    compression = v44 = 3;
    restart(OH_PUMP_CALL);
    const auto asked = send({0x03, 0x01, 0x00}, 1100);
    ASSERT_EQ(asked.size(), 1u);
    Xid wish;
    ASSERT_EQ(read_xid(asked[0].data() + 2, asked[0].size() - 2, &wish), 0u);
    EXPECT_TRUE(wish.v42bis && wish.v44);
    EXPECT_EQ(wish.v44_directions, 3);
    Xid answer;
    answer.v44 = takes_v44, answer.v44_directions = 2, answer.v42bis = !takes_v44, answer.compress = 3;
    send(framed(answer, true));
    send({0x03, 0x73});
    EXPECT_EQ(end_->status().state, OH_LAPM_CONNECTED);
    EXPECT_EQ(end_->status().v44, takes_v44);
    EXPECT_EQ(end_->status().compression, takes_v44 ? OH_LAPM_COMPRESS_SENT : 3);
    EXPECT_EQ(end_->status().v44_tx.codewords, takes_v44 ? 1024u : 0u) << "the responder's default";
  }
}

// V.44 7.4: a value below the minimum ends the connection.
TEST_F(ByHand, ParametersThatV44DoesNotAllowEndTheConnection) {
  v44 = 3;
  for (const v44::Parameters bad : {v44::Parameters{255, 255, 3072}, {1024, 31, 3072}, {1024, 255, 511}}) {
    for (const bool transmit : {false, true}) {
      restart();
      Xid wish;
      wish.v44 = true;
      (transmit ? wish.v44_tx : wish.v44_rx) = bad;
      EXPECT_TRUE(send(framed(wish), 1500).empty());
      EXPECT_EQ(end_->status().state, OH_LAPM_FAILED);
      EXPECT_EQ(end_->status().cause, OH_LAPM_BAD_COMPRESSION);
    }
  }
}

TEST_F(ByHand, OctetsThatAreNoV44ReleaseTheLink) {
  v44 = 3;
  restart();
  Xid wish;
  wish.v44 = true;
  send(framed(wish), 1500);
  connect();
  send({0x03, 0x00, 0x00, 'a' << 1 & 0xFF, 0x7F});  // an ordinal, and a codeword that does not exist
  end_->pump_bytes();
  EXPECT_EQ(end_->received, (Octets{'a'}));
  EXPECT_EQ(end_->status().state, OH_LAPM_RELEASE);
  EXPECT_EQ(end_->status().cause, OH_LAPM_BAD_COMPRESSION);
}

TEST_F(ByHand, DmRefusesASabmeOnlyWithF) {
  restart(OH_PUMP_CALL);
  send({0x03, 0x01, 0x00}, 700);
  Octets answer{0x03, 0xAF};
  Xid chosen;
  chosen.n401_tx = chosen.n401_rx = 128, chosen.k_tx = chosen.k_rx = 15;
  answer.resize(2 + kXidSize);
  answer.resize(2 + write_xid(chosen, true, answer.data() + 2));
  EXPECT_EQ(send(answer), (std::vector<Octets>{{0x03, 0x7F}})) << "SABME follows the XID response";
  send({0x03, 0x0F});
  EXPECT_EQ(end_->status().state, OH_LAPM_ESTABLISHMENT);
  send({0x03, 0x1F});
  EXPECT_EQ(end_->status().state, OH_LAPM_FAILED);
  EXPECT_EQ(end_->status().cause, OH_LAPM_REFUSED);
}

TEST_F(ByHand, ABreakOutsideOfTheLinkAndAnUnknownMessageAreIgnored) {
  EXPECT_TRUE(send({0x03, 0x03, 0x40, 0x80, 5}).empty());
  connect();
  EXPECT_EQ(send({0x03, 0x03, 0x40, 0x80, 5}), (std::vector<Octets>{{0x03, 0x03, 0xE0}})) << "BRKACK, next number";
  EXPECT_EQ(end_->events.last_break, 0x8005u);
  EXPECT_TRUE(send({0x03, 0x03, 0x11}).empty());
  EXPECT_EQ(end_->events.breaks, 1u);
  EXPECT_EQ(end_->status().violations, 1u);
}

struct Violation {
  const char* name;
  std::vector<uint8_t> frame;
  oh_lapm_cause cause;
};

TEST_F(ByHand, FramesThatEndTheLink) {
  Octets too_long(3 + 129, 0x55);
  too_long[0] = 0x03, too_long[1] = too_long[2] = 0;
  for (const Violation& v : {
           Violation{"N(R) of what was never sent", {0x03, 0x01, 0x02}, OH_LAPM_BAD_NR},
           Violation{"FRMR", {0x01, 0x87, 0, 0, 0, 0, 1}, OH_LAPM_FRAME_REJECTED},
           Violation{"unsolicited DM, F = 0", {0x01, 0x0F}, OH_LAPM_REFUSED},
           Violation{"information field in a DISC", {0x03, 0x53, 1}, OH_LAPM_FRAME_REJECTED},
           Violation{"information field in an RR", {0x03, 0x01, 0x00, 1}, OH_LAPM_FRAME_REJECTED},
           Violation{"SREJ without agreement", {0x01, 0x0D, 0x00}, OH_LAPM_FRAME_REJECTED},
           Violation{"undefined control field", {0x03, 0xEF}, OH_LAPM_FRAME_REJECTED},
           Violation{"more than N401 octets", too_long, OH_LAPM_FRAME_REJECTED},
       }) {
    restart();
    connect();
    send(v.frame, 1500);
    EXPECT_EQ(end_->status().state, OH_LAPM_FAILED) << v.name;
    EXPECT_EQ(end_->status().cause, v.cause) << v.name;
  }
}

TEST_F(ByHand, FramesThatAreIgnored) {
  connect();
  const auto good = end_->status().frames_received;
  EXPECT_TRUE(send({0x03, 0x00, 0x00, 'a'}, 600, true).empty());
  EXPECT_EQ(end_->status().bad_frames, 1u);
  EXPECT_TRUE(send({0x07, 0x00, 0x00, 'a'}).empty()) << "another DLCI";
  EXPECT_TRUE(send({0x02, 0x01, 0x00, 'a'}).empty()) << "an address of two octets";
  EXPECT_TRUE(send({0x03, 0x00}).empty()) << "too short";
  EXPECT_EQ(end_->status().frames_received, good);
  EXPECT_TRUE(send({0x01, 0x73}).empty()) << "an unsolicited UA";
  EXPECT_EQ(end_->status().violations, 1u);
  EXPECT_EQ(end_->status().state, OH_LAPM_CONNECTED);
}

}  // namespace
}  // namespace offhook::test
