// SPDX-License-Identifier: MIT
// Recovery from busy receivers and missing frames, frame by frame.
#include <algorithm>

#include "tests/unit/dsp/link/by_hand.h"

namespace offhook::test {
namespace {

using Octets = std::vector<uint8_t>;
using Frames = std::vector<Octets>;

/// Frames of the end under test, which is the answerer. nr is N(R) in the far end's frames, which is the frame that it
/// awaits.
Octets data(uint8_t ns, uint8_t nr, const Octets& info) {
  Octets frame(3 + info.size());
  frame[0] = 0x01, frame[1] = uint8_t(ns << 1), frame[2] = uint8_t(nr << 1);
  std::copy(info.begin(), info.end(), frame.begin() + 3);
  return frame;
}
Octets poll(uint8_t nr) {
  return {0x01, 0x01, uint8_t(nr << 1 | 1)};
}
Octets says(uint8_t supervisory, uint8_t nr, bool f = false) {
  return {0x03, supervisory, uint8_t(nr << 1 | f)};
}
/// Frames of its far end, the originator.
Octets far_data(uint8_t ns, const Octets& info, uint8_t nr = 0) {
  Octets frame = data(ns, nr, info);
  frame[0] = 0x03;
  return frame;
}
Octets far_says(uint8_t supervisory, uint8_t nr, bool f = false) {
  return {0x01, supervisory, uint8_t(nr << 1 | f)};
}
constexpr uint8_t kRrFrame = 0x01, kRnrFrame = 0x05, kRejFrame = 0x09, kSrejFrame = 0x0D;

class Recovery : public ByHand {
 protected:
  /// T401, one second, expires. @return the frames that are then sent
  Frames wait() {
    oh_lapm_advance(end_->lapm, 8000);
    return flags();
  }
  /// Two frames are on their way; the far end has the first one and is busy.
  void far_end_gets_busy() {
    connect();
    ASSERT_EQ(write('a'), (Frames{data(0, 0, {'a'})}));
    ASSERT_EQ(write('b'), (Frames{data(1, 0, {'b'})}));
    EXPECT_TRUE(send(far_says(kRnrFrame, 1)).empty());
    EXPECT_TRUE(end_->status().far_busy);
    EXPECT_EQ(end_->status().rnr_received, 1u);
    EXPECT_EQ(end_->status().bytes_sent, 1u) << "RNR acknowledges too";
    EXPECT_TRUE(write('c').empty());
  }
};

// 8.4.6
TEST_F(Recovery, AfterRrABusyFarEndGetsAllFromItsNumberOn) {
  far_end_gets_busy();
  EXPECT_EQ(send(far_says(kRrFrame, 1)), (Frames{data(1, 0, {'b'}), data(2, 0, {'c'})}));
  EXPECT_FALSE(end_->status().far_busy);
  EXPECT_EQ(end_->status().retransmitted, 1u);
  EXPECT_EQ(end_->events.retransmit, 1u);
}

TEST_F(Recovery, AfterRejABusyFarEndGetsAllFromItsNumberOn) {
  far_end_gets_busy();
  EXPECT_EQ(send(far_says(kRejFrame, 1)), (Frames{data(1, 0, {'b'}), data(2, 0, {'c'})}));
  EXPECT_FALSE(end_->status().far_busy);
  EXPECT_EQ(end_->status().rej_received, 1u);
  EXPECT_EQ(end_->events.retransmit, 1u);
}

TEST_F(Recovery, AFarEndThatIsBusyForLongIsAskedAndNotGivenUp) {
  far_end_gets_busy();
  for (uint32_t i = 0; i < 25; ++i) {  // more than N400
    EXPECT_EQ(wait(), (Frames{poll(0)})) << i;
    EXPECT_EQ(end_->status().timeouts, i + 1);
    EXPECT_TRUE(send(far_says(kRnrFrame, 1, true)).empty()) << i;
    EXPECT_TRUE(end_->status().far_busy);
  }
  EXPECT_EQ(end_->status().state, OH_LAPM_CONNECTED);
  wait();
  EXPECT_EQ(send(far_says(kRrFrame, 1, true)), (Frames{data(1, 0, {'b'}), data(2, 0, {'c'})}));
  EXPECT_EQ(end_->status().violations, 0u);
}

TEST_F(Recovery, ABusyFarEndThatDoesNotAnswerIsGivenUpAfterN400Polls) {
  far_end_gets_busy();
  for (int i = 0; i < 10; ++i) EXPECT_EQ(wait(), (Frames{poll(0)})) << i;
  EXPECT_TRUE(wait().empty());
  EXPECT_EQ(end_->status().state, OH_LAPM_FAILED);
  EXPECT_EQ(end_->status().cause, OH_LAPM_NO_ANSWER);
}

// 8.4.8: within timer recovery, only the enquiry is sent, and only its answer ends the recovery.
TEST_F(Recovery, WithinTimerRecoveryOnlyTheAnswerCounts) {
  connect();
  write('a');
  EXPECT_EQ(wait(), (Frames{poll(0)}));
  EXPECT_TRUE(write('b').empty());
  EXPECT_TRUE(send(far_says(kRejFrame, 0)).empty()) << "no answer";
  EXPECT_EQ(wait(), (Frames{poll(0)})) << "asked again";
  EXPECT_EQ(send(far_says(kRrFrame, 0, true)), (Frames{data(0, 0, {'a'}), data(1, 0, {'b'})}));
  EXPECT_TRUE(send(far_says(kRrFrame, 2)).empty());
  EXPECT_EQ(end_->status().unacknowledged, 0u);
  EXPECT_TRUE(wait().empty()) << "T401 is stopped where everything is acknowledged";
  EXPECT_EQ(end_->status().timeouts, 2u);
  EXPECT_EQ(end_->status().violations, 0u);
  EXPECT_TRUE(send(far_says(kRrFrame, 2, true)).empty());
  EXPECT_EQ(end_->status().violations, 1u) << "Table 9: an answer to no question, borne with";
  EXPECT_EQ(end_->status().state, OH_LAPM_CONNECTED);
}

TEST_F(Recovery, AnAcknowledgementOfSomeStartsT401Again) {
  connect();
  write('a');
  write('b');
  oh_lapm_advance(end_->lapm, 7000);
  EXPECT_TRUE(send(far_says(kRrFrame, 1)).empty());
  oh_lapm_advance(end_->lapm, 7999);
  EXPECT_EQ(end_->status().timeouts, 0u);
  oh_lapm_advance(end_->lapm, 1);
  EXPECT_EQ(end_->status().timeouts, 1u);
}

TEST_F(Recovery, ADataFrameWithinGoBackAcknowledgesAndIsNotSentAgain) {
  connect();
  for (const uint8_t octet : {'a', 'b', 'c'}) write(octet);
  // All three must be sent again, but two have arrived meanwhile.
  send(far_says(kRejFrame, 0), 0);
  EXPECT_EQ(send(far_says(kRrFrame, 2), 600).back(), data(2, 0, {'c'}));
  EXPECT_EQ(end_->status().bytes_sent, 2u);
}

// 8.4.7
TEST_F(Recovery, ABusyEndAcknowledgesNothingAndTakesTheFarEndsAcknowledgements) {
  connect();
  write('x');
  oh_lapm_set_busy(end_->lapm, 1);
  EXPECT_EQ(flags(), (Frames{says(kRnrFrame, 0)}));
  EXPECT_EQ(send(far_data(0, {'a'}, 1)), (Frames{says(kRnrFrame, 0)}));
  EXPECT_EQ(end_->status().bytes_sent, 1u);
  Octets asks = far_data(0, {'a'}, 1);
  asks[2] |= 1;
  EXPECT_EQ(send(asks), (Frames{says(kRnrFrame, 0, true)}));
  EXPECT_EQ(end_->status().rnr_sent, 3u);
  EXPECT_EQ(write('y'), (Frames{data(1, 0, {'y'})})) << "busy is the receiver";
  oh_lapm_set_busy(end_->lapm, 0);
  EXPECT_EQ(flags(), (Frames{says(kRrFrame, 0)}));
  EXPECT_EQ(send(far_data(0, {'a'}, 1)), (Frames{says(kRrFrame, 1)}));
  end_->pump_bytes();
  EXPECT_EQ(end_->received, (Octets{'a'}));
}

TEST_F(Recovery, ARejectConditionEndsWithTheBusyOne) {
  connect();
  EXPECT_EQ(send(far_data(1, {'b'})), (Frames{says(kRejFrame, 0)}));
  oh_lapm_set_busy(end_->lapm, 1);
  oh_lapm_set_busy(end_->lapm, 0);
  flags();
  EXPECT_EQ(send(far_data(2, {'c'})), (Frames{says(kRejFrame, 0)})) << "asked for again";
}

TEST_F(Recovery, WhatWasHeldIsAskedForAgainAfterBusy) {
  connect_with_srej();
  EXPECT_EQ(send(far_data(1, {'b'})).front(), says(kSrejFrame, 0));
  oh_lapm_set_busy(end_->lapm, 1);
  oh_lapm_set_busy(end_->lapm, 0);
  flags();
  EXPECT_EQ(send(far_data(0, {'a'})).back(), says(kRrFrame, 1)) << "not 2";
  EXPECT_EQ(send(far_data(2, {'c'})).front(), says(kSrejFrame, 1));
  send(far_data(1, {'b'}));
  end_->pump_bytes();
  EXPECT_EQ(end_->received, (Octets{'a', 'b', 'c'}));
}

// 8.4.5
TEST_F(Recovery, EachMissingFrameIsAskedForOnceAndHeldFramesComeInOrder) {
  connect_with_srej();
  EXPECT_EQ(send(far_data(3, {'d'})),
            (Frames{says(kSrejFrame, 0), says(kSrejFrame, 1), says(kSrejFrame, 2), says(kRrFrame, 0)}));
  EXPECT_EQ(send(far_data(4, {'e'})), (Frames{says(kRrFrame, 0)}));
  EXPECT_EQ(send(far_data(3, {'D'})), (Frames{says(kRrFrame, 0)})) << "it is here already";
  EXPECT_EQ(end_->status().duplicates, 1u);
  EXPECT_EQ(send(far_data(0, {'a'})), (Frames{says(kRrFrame, 1)}));
  EXPECT_EQ(send(far_data(1, {'b'})), (Frames{says(kRrFrame, 2)}));
  end_->pump_bytes();
  EXPECT_EQ(end_->received, (Octets{'a', 'b'}));
  EXPECT_EQ(send(far_data(2, {'c'})), (Frames{says(kRrFrame, 5)}));
  end_->pump_bytes();
  EXPECT_EQ(end_->received, (Octets{'a', 'b', 'c', 'd', 'e'}));
  EXPECT_EQ(end_->status().srej_sent, 3u);
}

// 8.5.1: requested frames come in the order of the requests.
TEST_F(Recovery, AFrameThatIsLostAgainIsAskedForAgain) {
  connect_with_srej();
  EXPECT_EQ(send(far_data(1, {'b'})).front(), says(kSrejFrame, 0));
  EXPECT_EQ(send(far_data(2, {'c'})), (Frames{says(kRrFrame, 0)}));
  EXPECT_EQ(send(far_data(4, {'e'})).front(), says(kSrejFrame, 3));
  EXPECT_EQ(send(far_data(3, {'d'})), (Frames{says(kSrejFrame, 0), says(kRrFrame, 0)}));
  EXPECT_EQ(send(far_data(6, {'g'})).front(), says(kSrejFrame, 5));
  EXPECT_EQ(send(far_data(8, {'i'})).front(), says(kSrejFrame, 7));
  EXPECT_EQ(send(far_data(0, {'a'})), (Frames{says(kRrFrame, 5)})) << "5 and 7 were asked for later";
  EXPECT_EQ(send(far_data(7, {'h'})), (Frames{says(kSrejFrame, 5), says(kRrFrame, 5)}));
  EXPECT_EQ(send(far_data(5, {'f'})), (Frames{says(kRrFrame, 9)}));
  end_->pump_bytes();
  EXPECT_EQ(end_->received, (Octets{'a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i'}));
}

TEST_F(Recovery, FramesBeyondTheWindowAreNotHeld) {
  connect_with_srej();
  EXPECT_EQ(send(far_data(15, {'p'})), (Frames{says(kRrFrame, 0)})) << "k = 15";
  EXPECT_EQ(end_->status().duplicates, 1u);
  EXPECT_EQ(send(far_data(14, {'o'}), 2000).size(), 15u) << "14 SREJ and an RR";
}

// Held frames are delivered later without checking for room, so they are held only if there will be room.
TEST_F(Recovery, ASelectivelyRepeatedFrameIsHeldOnlyWhereItsPredecessorsFitToo) {
  const Octets a(128, 'a'), b(128, 'b');
  for (const size_t unread : {size_t{0}, size_t{1}}) {
    SCOPED_TRACE(unread);
    buffer_bytes = 256;
    restart();
    connect_with_srej();
    uint8_t next = 0;
    if (unread == 1) send(far_data(next++, {'x'}));
    const uint8_t first = next;
    EXPECT_EQ(send(far_data(uint8_t(first + 1), b), 1600).front(), says(kSrejFrame, first));
    const Frames answers = send(far_data(first, a), 1600);
    if (unread == 0) {
      EXPECT_EQ(answers, (Frames{says(kRnrFrame, 2)})) << "both fit, to the octet";
    } else {
      EXPECT_EQ(answers, (Frames{says(kRnrFrame, 2)}))
          << "one fits: 127 octets are left, and the second has to come again";
    }
    end_->pump_bytes();
    Octets expected(unread, 'x');
    expected.insert(expected.end(), a.begin(), a.end());
    if (unread == 0) expected.insert(expected.end(), b.begin(), b.end());
    EXPECT_EQ(end_->received, expected);
    EXPECT_EQ(flags(), (Frames{says(kRrFrame, 2)})) << "no longer busy";
  }
}

TEST_F(Recovery, SrejRepeatsThatFrameAndNothingElse) {
  connect_with_srej();
  for (const uint8_t octet : {'a', 'b', 'c'}) write(octet);
  EXPECT_EQ(send(far_says(kSrejFrame, 1)), (Frames{data(1, 0, {'b'})}));
  EXPECT_EQ(end_->status().retransmitted, 1u);
  EXPECT_EQ(end_->status().srej_received, 1u);
  EXPECT_EQ(end_->events.retransmit, 1u);
  EXPECT_EQ(end_->status().bytes_sent, 0u) << "an SREJ acknowledges nothing here";
  EXPECT_TRUE(send(far_says(kSrejFrame, 3)).empty()) << "never sent";
  EXPECT_EQ(end_->status().violations, 1u);
  send(far_says(kRrFrame, 1));
  EXPECT_TRUE(send(far_says(kSrejFrame, 0)).empty()) << "acknowledged";
  EXPECT_EQ(end_->status().violations, 2u);
  EXPECT_EQ(end_->status().state, OH_LAPM_CONNECTED);
  send(far_says(kSrejFrame, 1, true));
  EXPECT_EQ(end_->status().cause, OH_LAPM_FRAME_REJECTED) << "Table 9: no SREJ is final";
}

TEST_F(Recovery, SrejEndsTheFarEndsBusyCondition) {
  connect_with_srej();
  write('a');
  write('b');
  send(far_says(kRnrFrame, 1));
  EXPECT_TRUE(end_->status().far_busy);
  EXPECT_EQ(send(far_says(kSrejFrame, 1)), (Frames{data(1, 0, {'b'})}));
  EXPECT_FALSE(end_->status().far_busy);
}

}  // namespace
}  // namespace offhook::test
