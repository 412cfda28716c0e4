// SPDX-License-Identifier: MIT
// One end with MNP, and frames for it that are written by hand; and every transition of Annex A.
#include <gtest/gtest.h>

#include <algorithm>
#include <deque>

#include "dsp/link/v42_link.h"
#include "tests/unit/dsp/link/lapm_pair.h"

namespace offhook::v42 {
namespace {

using test::End;
using Octets = std::vector<uint8_t>;
using Frames = std::vector<Octets>;

class MnpByHand : public testing::Test {
 protected:
  MnpByHand() { restart(OH_PUMP_ANSWER); }
  void restart(oh_pump_role role, uint32_t mnp_class = 2, uint32_t protocols = OH_PROTOCOL_MNP) {
    oh_lapm_config c = test::default_config(role, 2400);
    c.link.protocols = protocols;
    c.link.mnp_class = mnp_class;
    c.buffer_bytes = 1024;
    end_ = std::make_unique<End>(c);
    sender_.init(tx_);
    receiver_.init(rx_, sizeof rx_);
    flags_.init(flags_rx_, sizeof flags_rx_);
  }
  /// Sends frames in start-stop characters, then ones. @return the frames that came meanwhile, in either framing
  Frames send(const Frames& frames, double seconds = 0.5, bool damaged = false) {
    Frames answers;
    std::deque<Octets> waiting(frames.begin(), frames.end());
    double samples = 0;
    for (auto bits = long(seconds * 2400); bits > 0 || !waiting.empty() || !sender_.ready(); --bits) {
      if (sender_.ready() && !waiting.empty()) {
        std::copy(waiting.front().begin(), waiting.front().end(), tx_);
        sender_.load(waiting.front().size());
        if (damaged) tx_[waiting.front().size() - 1] ^= 1;
        if (damaged) spoil_ = 50;
        waiting.pop_front();
      }
      int sent = sender_.next();
      if (spoil_ > 0 && --spoil_ == 0) sent ^= 1;
      oh_port_put_bit(&end_->port, sent);
      const int bit = oh_port_get_bit(&end_->port);
      if (receiver_.put(bit) == OctetFrameReceiver::kFrame)
        answers.emplace_back(receiver_.data(), receiver_.data() + receiver_.size());
      if (flags_.put(bit) == HdlcReceiver::kFrame && flags_.fcs16())
        answers.emplace_back(flags_.data(), flags_.data() + flags_.size() - 2);
      samples += 8000 / 2400.0;
      oh_lapm_advance(end_->lapm, uint32_t(samples));
      samples -= uint32_t(samples);
    }
    return answers;
  }
  static Octets request(uint8_t level = 2, uint8_t framing = 2, uint8_t k = 8) {
    return {20, 1, level, 1, 6, 1, 0, 0, 0, 0, 255, 2, 1, framing, 3, 1, k, 4, 2, 64, 0};
  }
  static Octets la(uint8_t nr, uint8_t nk) { return {7, 5, 1, 1, nr, 2, 1, nk}; }
  static Octets lt(uint8_t ns, const Octets& info) {
    Octets frame{4, 4, 1, 1, ns};
    frame.insert(frame.end(), info.begin(), info.end());
    return frame;
  }
  static size_t transfers(const Frames& frames) {
    return size_t(std::count_if(frames.begin(), frames.end(), [](const Octets& f) { return f[1] == 4; }));
  }
  static Octets ld(uint8_t reason) { return {4, 2, 1, 1, reason}; }
  oh_lapm_status status() { return end_->status(); }
  void connect() {
    ASSERT_EQ(send({request()}), (Frames{request()}));
    ASSERT_EQ(send({la(0, 8)}), Frames{});
    ASSERT_EQ(status().state, OH_LAPM_CONNECTED);
  }
  Octets read() {
    Octets bytes(2000);
    bytes.resize(oh_lapm_read(end_->lapm, bytes.data(), bytes.size()));
    return bytes;
  }
  std::unique_ptr<End> end_;
  OctetFrameSender sender_;
  OctetFrameReceiver receiver_;
  HdlcReceiver flags_;
  int spoil_ = 0;
  uint8_t tx_[400], rx_[400], flags_rx_[400];
};

TEST_F(MnpByHand, AnAnswererOffersTheLowerParametersAndOnlyThoseThatItReceived) {
  restart(OH_PUMP_ANSWER, 4);
  const Frames answers = send({request(2, 3, 4)});
  EXPECT_EQ(answers, (Frames{request(2, 3, 4)})) << "no parameter 8";
  send({la(0, 8)});
  EXPECT_EQ(status().mnp_class, 3);
  EXPECT_EQ(status().k_tx, 4);
}

TEST_F(MnpByHand, LinkRequestsThatCannotBeAreRefused) {
  EXPECT_EQ(send({request(3)}), (Frames{ld(2)})) << "A.7.1.5.1";
  EXPECT_EQ(status().cause, OH_LAPM_REFUSED);
  restart(OH_PUMP_ANSWER);
  EXPECT_EQ(send({request(2, 1)}), (Frames{ld(3)})) << "half duplex";
  restart(OH_PUMP_ANSWER);
  EXPECT_EQ(send({request(2, 2, 0)}), (Frames{ld(3)}));
}

TEST_F(MnpByHand, AnAnswererRepeatsItsRequestForAnotherOneAndForADamagedFrame) {
  EXPECT_EQ(send({request()}), (Frames{request()}));
  EXPECT_EQ(send({request()}), (Frames{request()})) << "A.7.1.3 c)";
  EXPECT_EQ(send({la(0, 8)}, 0.5, true), (Frames{request()})) << "A.7.1.3 b)";
  EXPECT_EQ(status().bad_frames, 1u);
  EXPECT_EQ(send({}, 2), (Frames{request()})) << "A.7.1.3 a): T401";
}

TEST_F(MnpByHand, AnOriginatorSendsTwoRequestsToSilence) {
  restart(OH_PUMP_CALL);
  EXPECT_EQ(send({}, 10), (Frames{request(2, 2, 15), request(2, 2, 15)}));
  EXPECT_EQ(status().state, OH_LAPM_UNSUPPORTED);
}

TEST_F(MnpByHand, AnOriginatorSaysGoodbyeIfItHeardSomething) {
  restart(OH_PUMP_CALL);
  Frames answers = send({lt(1, {1})}, 40);
  EXPECT_EQ(answers.size(), 13u);
  EXPECT_EQ(answers.back(), ld(1)) << "A.7.1.4";
  EXPECT_EQ(status().state, OH_LAPM_FAILED);
}

TEST_F(MnpByHand, AnOriginatorConfirmsAndObeysTheAnswer) {
  restart(OH_PUMP_CALL, 4);
  Octets own{23, 1, 2, 1, 6, 1, 0, 0, 0, 0, 255, 2, 1, 3, 3, 1, 15, 4, 2, 64, 0, 8, 1, 3};
  EXPECT_EQ(send({}, 0.3), (Frames{own}));
  EXPECT_EQ(send({{23, 1, 2, 1, 6, 7, 1, 247, 0, 0, 1, 2, 1, 2, 3, 1, 8, 4, 2, 64, 0, 8, 1, 2}}),
            (Frames{{3, 5, 0, 8}}))
      << "fixed fields";
  EXPECT_EQ(status().mnp_class, 4);
  EXPECT_EQ(status().n401_tx, 64);
  EXPECT_EQ(status().k_rx, 8);
}

TEST_F(MnpByHand, AFarEndThatAsksForShortFieldsGetsThemInClass4) {
  restart(OH_PUMP_ANSWER, 4);
  send({{23, 1, 2, 1, 6, 1, 0, 0, 0, 0, 255, 2, 1, 2, 3, 1, 7, 4, 2, 16, 0, 8, 1, 3}});
  send({{3, 5, 0, 7}});
  EXPECT_EQ(status().n401_tx, 16);
}

TEST_F(MnpByHand, EachFrameIsAcknowledgedAndTheFirstRepetitionIsNot) {
  connect();
  EXPECT_EQ(send({lt(1, {'a', 'b'})}), (Frames{la(1, 8)}));
  EXPECT_EQ(send({lt(1, {'a', 'b'})}), Frames{}) << "A.7.3.2.2";
  EXPECT_EQ(send({lt(1, {'a', 'b'})}), (Frames{la(1, 8)}));
  EXPECT_EQ(send({lt(3, {'d'})}), (Frames{la(1, 8)}));
  EXPECT_EQ(send({lt(2, {'c'})}), (Frames{la(2, 8)}));
  EXPECT_EQ(read(), (Octets{'a', 'b', 'c'}));
  EXPECT_EQ(status().duplicates, 2u);
}

TEST_F(MnpByHand, EmptyLongAndDamagedFramesAreDiscarded) {
  connect();
  EXPECT_EQ(send({lt(1, {})}), Frames{});
  EXPECT_EQ(send({lt(1, Octets(65, 1))}), Frames{});
  EXPECT_EQ(send({lt(1, {1, 2})}, 0.5, true), Frames{});
  EXPECT_EQ(status().bad_frames, 1u);
  EXPECT_EQ(send({lt(1, Octets(64, 1))}), (Frames{la(1, 8)}));
}

TEST_F(MnpByHand, ARepeatedAcknowledgementRepeatsTheFrames) {
  connect();
  const Octets bytes(130, 'x');
  oh_lapm_write(end_->lapm, bytes.data(), bytes.size());
  Frames three = send({}, 1);
  ASSERT_EQ(three.size(), 3u);
  EXPECT_EQ(send({la(1, 8)}), Frames{});
  EXPECT_EQ(status().bytes_sent, 64u);
  EXPECT_EQ(send({la(1, 8)}), (Frames{three[1], three[2]})) << "A.7.3.5";
  EXPECT_EQ(send({la(9, 8)}), Frames{}) << "a frame that was never sent";
  EXPECT_EQ(status().violations, 1u);
  send({la(3, 8)});
  EXPECT_EQ(status().bytes_sent, 130u);
}

TEST_F(MnpByHand, CreditLimitsTheFrames) {
  restart(OH_PUMP_ANSWER);
  connect();
  EXPECT_EQ(send({la(0, 0)}), Frames{});
  EXPECT_TRUE(status().far_busy);
  const Octets bytes(200, 'x');
  oh_lapm_write(end_->lapm, bytes.data(), bytes.size());
  EXPECT_EQ(send({}), Frames{});
  EXPECT_EQ(transfers(send({la(0, 2)}, 2)), 2u);
  EXPECT_EQ(transfers(send({la(1, 2)}, 2)), 1u);
  const Octets more(1000, 'x');
  oh_lapm_write(end_->lapm, more.data(), more.size());
  EXPECT_EQ(transfers(send({la(3, 200)}, 3.5)), 8u) << "k still holds";
}

TEST_F(MnpByHand, AFullBufferTakesTheCreditAndReadingGivesItBack) {
  connect();
  uint8_t ns = 0;
  Octets newest;
  for (; ns < 16; ++ns) newest = send({lt(uint8_t(ns + 1), Octets(64, ns))}).back();
  EXPECT_EQ(newest, la(16, 0));
  EXPECT_EQ(send({lt(17, {1})}), (Frames{la(16, 0)})) << "A.7.3.2.3";
  EXPECT_EQ(read().size(), 1024u);
  EXPECT_EQ(send({}, 0.1), (Frames{la(16, 8)}));
}

TEST_F(MnpByHand, AnIdleLinkIsAcknowledgedWhenT404Expires) {
  connect();
  EXPECT_EQ(send({}, 7), (Frames{la(0, 8), la(0, 8)}));
}

TEST_F(MnpByHand, AttentionsAreAnsweredAndDeliveredOnce) {
  connect();
  for (const auto& [type, expected] : {std::pair{1, 0xC000u}, {2, 0x4000u}, {3, 0u}}) {
    const Octets attention{7, 6, 1, 1, uint8_t(type), 2, 1, uint8_t(type)};  // numbers 1, 2, 3
    for (int twice = 0; twice < 2; ++twice) EXPECT_EQ(send({attention}, 0.2), (Frames{{4, 7, 1, 1, uint8_t(type)}}));
    EXPECT_EQ(end_->events.breaks, uint64_t(type));
    EXPECT_EQ(end_->events.last_break, expected);
  }
}

TEST_F(MnpByHand, ALinkRequestInTheDataPhaseDoesNotConfuseAnAnswerer) {
  connect();
  EXPECT_EQ(send({request()}), Frames{});
  EXPECT_EQ(status().state, OH_LAPM_CONNECTED);
}

TEST_F(MnpByHand, ADisconnectEndsTheLinkInEveryPhase) {
  connect();
  send({ld(255)});
  EXPECT_EQ(status().state, OH_LAPM_DISCONNECTED);
  restart(OH_PUMP_ANSWER);
  send({request(), ld(3)});
  EXPECT_EQ(status().state, OH_LAPM_FAILED);
  restart(OH_PUMP_ANSWER);
  send({ld(3)});
  EXPECT_EQ(status().state, OH_LAPM_DETECTION) << "nothing exists that could end";
}

TEST_F(MnpByHand, WithoutThePermissionNothingIsAnswered) {
  restart(OH_PUMP_ANSWER, 4, OH_PROTOCOL_V42);
  EXPECT_EQ(send({request()}), Frames{});
  EXPECT_EQ(status().state, OH_LAPM_DETECTION);
}

}  // namespace
}  // namespace offhook::v42
