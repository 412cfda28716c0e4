// SPDX-License-Identifier: MIT
#include "dsp/v34/session/receive_signals.h"

#include <gtest/gtest.h>

#include <vector>

#include "dsp/v34/session/transmit_signals.h"

namespace offhook::v34 {
namespace {

constexpr int kKnown = 512;
constexpr int kJudged = 48;  // number of symbols of TRN that show whether it is at the expected position

/// As in a receiver: in grid units.
Complex in_grid(Complex sent) {
  return 1 / training_scale(TrainingPoints::k4) * sent;
}

/// Number of symbols of TRN.
std::vector<Complex> trn(Scrambling s, int symbols) {
  TransmitSignals sender(s);
  sender.start_trn(TrainingPoints::k4, symbols);
  std::vector<Complex> sent;
  for (int n = 0; n < symbols; ++n) sent.push_back(in_grid(sender.next()));
  return sent;
}

/// Ready for the first symbol of TRN.
ReceiveSignals at_trn(Scrambling s) {
  ReceiveSignals receiver(s);
  receiver.start(kSBarSymbols, false, TrainingPoints::k4, kKnown);
  return receiver;
}

void expect_near(Complex a, Complex b, int n) {
  EXPECT_NEAR(a.re, b.re, 1e-5f) << n;
  EXPECT_NEAR(a.im, b.im, 1e-5f) << n;
}

TEST(V34ReceiveSignals, SBarPpAndTrnAreKnownBeforeTheyCome) {
  TransmitSignals sender(kGpa);
  ReceiveSignals receiver(kGpa);
  receiver.start(0, true, TrainingPoints::k4, kKnown);
  for (const Signal signal : {Signal::kSBar, Signal::kPp, Signal::kTrn}) {
    sender.start(signal, kKnown);
    for (int n = 0; !sender.ended(); ++n) {
      const Complex sent = in_grid(sender.next());
      expect_near(receiver.decide({}), sent, n);
      receiver.put(sent);
    }
  }
  EXPECT_EQ(receiver.trn_symbols(), kKnown);
  EXPECT_LT(receiver.error(), 1e-6f);
}

TEST(V34ReceiveSignals, ATrnThatIsAnotherThanExpectedIsDecidedPointByPoint) {
  ReceiveSignals receiver = at_trn(kGpa);
  const std::vector<Complex> sent = trn(kGpc, 200);
  for (int n = 0; n < 200; ++n) {
    const Complex y = sent[static_cast<size_t>(n)];
    if (n >= kJudged) expect_near(receiver.decide(y), y, n);
    receiver.put(y);
  }
}

TEST(V34ReceiveSignals, AFewWrongSymbolsAndABurstLaterLeaveTrnKnown) {
  ReceiveSignals receiver = at_trn(kGpa);
  const std::vector<Complex> sent = trn(kGpa, kKnown);
  for (int n = 0; n < kKnown; ++n) {
    const Complex y = sent[static_cast<size_t>(n)];
    const bool wrong = n < kJudged ? n % 8 == 3 : n >= 100 && n < 200;
    expect_near(receiver.decide({}), y, n);
    receiver.put(wrong ? -1.f * y : y);
  }
}

}  // namespace
}  // namespace offhook::v34
