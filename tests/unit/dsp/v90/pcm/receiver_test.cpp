// SPDX-License-Identifier: MIT
//
// Sd, Sd-bar and a long TRN1d of the digital modem over a line that passes little of 4000 Hz and of the lowest
// frequencies, as a line card's filter and a transformer do; and the levels that the receiver makes of it.
#include "dsp/v90/pcm/receiver.h"

#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <numbers>
#include <vector>

#include "dsp/v90/pcm/downstream.h"

namespace offhook::v90 {
namespace {

constexpr uint8_t kUInfo = 67;
constexpr int kSymbols = 16'000;  // of TRN1d: some 5600 of them until the taps are found
constexpr int kBefore = kSdSymbols + kSdBarSymbols;
const float kLevel = static_cast<float>(linear_of(Law::kMu, kUInfo));

/// A raised cosine from 3420 to 4180 Hz: 4000 Hz, which Sd has, comes out 17 dB down. @param t  symbols
double pulse(double t) {
  constexpr double kRollOff = 0.1;
  t *= 3800. / 4000;
  const double near = 1 - 4 * kRollOff * kRollOff * t * t;
  if (std::abs(t) < 1e-9) return 1;
  if (std::abs(near) < 1e-6) return std::numbers::pi / 4 * std::sin(std::numbers::pi * t) / (std::numbers::pi * t);
  return std::sin(std::numbers::pi * t) / (std::numbers::pi * t) * std::cos(std::numbers::pi * kRollOff * t) / near;
}

/// The call, a sample at a time, and what came out of it.
class Call {
 public:
  /// @param ppm  by which the network's clock is faster than the receiver's
  explicit Call(double ppm) : symbol_time_(0.5 * (1 + ppm * 1e-6)), receiver_(std::make_unique<PcmReceiver>()) {
    Downstream tx(Law::kMu);
    tx.set_u_info(kUInfo);
    for (const auto signal : {Downstream::Signal::kSd, Downstream::Signal::kSdBar, Downstream::Signal::kTrn1d}) {
      tx.start(signal, signal == Downstream::Signal::kTrn1d ? kSymbols : 0);
      while (tx.ready({}, false)) sent_.push_back(static_cast<float>(linear_of(Law::kMu, tx.next())));
    }
    receiver_->init();
    receiver_->set_task(PcmReceiver::Task::kSeek, kLevel);
  }
  PcmReceiver& receiver() { return *receiver_; }
  float sent(int64_t position) const { return sent_.at(static_cast<size_t>(position + kBefore)); }

  /// @return whether there was a symbol
  bool step(bool lost = false) {
    constexpr double kDelay = 20;  // symbols
    const double t = n_++ * symbol_time_ - kDelay;
    double x = 0;
    for (int k = std::max(0, static_cast<int>(t) - 16); k < t + 16 && k < static_cast<int>(sent_.size()); ++k)
      x += static_cast<double>(sent_[static_cast<size_t>(k)]) * pulse(t - k);
    low_ += (x - low_) / 400;  // 6 Hz
    const auto y = static_cast<float>(0.5 * (x - low_));
    return lost ? receiver_->process_lost() : receiver_->process(y);
  }
  /// Follows for so many symbols. @return the mean squared error of the second half, in dB of a level
  double follow(int symbols) {
    double error = 0;
    for (int k = 0; k < symbols;) {
      if (!step()) continue;
      const float s = receiver_->symbol();
      wrong_ += (s > 0) != (sent(receiver_->position()) > 0);
      const double apart = static_cast<double>(s - sent(receiver_->position()));
      if (2 * k++ >= symbols) error += apart * apart / (symbols / 2.);
      receiver_->adapt(s > 0 ? kLevel : -kLevel);
    }
    return 10 * std::log10(error) - 20 * std::log10(static_cast<double>(kLevel));
  }
  bool train() {
    std::vector<PcmReceiver::Event> events;
    while (n_ < 2 * (kBefore + 7000) && !receiver_->trained()) {
      (void)step();
      if (const auto e = receiver_->take_event(); e != PcmReceiver::Event::kNone) events.push_back(e);
    }
    receiver_->set_task(PcmReceiver::Task::kFollow);
    return events == std::vector{PcmReceiver::Event::kSdBar, PcmReceiver::Event::kTrained};
  }
  int wrong() const { return wrong_; }

 private:
  double symbol_time_;
  std::unique_ptr<PcmReceiver> receiver_;
  std::vector<float> sent_;
  double low_ = 0;
  int n_ = 0, wrong_ = 0;
};

TEST(V90Receiver, TrainsByTrn1dAndGivesItsLevelsInTheirPlacesAtTheNetworksClock) {
  for (const double ppm : {0., 100., -100.}) {
    SCOPED_TRACE(ppm);
    Call call(ppm);
    EXPECT_EQ(call.receiver().position(), -1) << "none so far";
    ASSERT_TRUE(call.train());
    (void)call.follow(4000);
    const double error_db = call.follow(4000);
    EXPECT_LT(error_db, -45);
    EXPECT_EQ(call.wrong(), 0);
    EXPECT_EQ(call.receiver().interval(), call.receiver().position() % 6);
    EXPECT_NEAR(static_cast<double>(call.receiver().clock_ppm()), ppm, 3);
    EXPECT_NEAR(10 * std::log10(call.receiver().error_power() / (kLevel * kLevel)), error_db, 6);
  }
}

TEST(V90Receiver, BeforeAnyTrainingItSaysNothing) {
  const auto receiver = std::make_unique<PcmReceiver>();
  receiver->init();
  for (int n = 0; n < 2000; ++n) EXPECT_FALSE(receiver->process(1000));
  EXPECT_FALSE(receiver->trained());
  EXPECT_EQ(receiver->position(), -1);
  EXPECT_EQ(receiver->clock_ppm(), 0);
  EXPECT_EQ(receiver->error_power(), 0);
}

TEST(V90Receiver, ARefitFindsTheTapsOfBothPartsAnew) {
  Call call(0);
  ASSERT_TRUE(call.train());
  const double before = call.follow(600);
  call.receiver().refit();
  int symbols = 0;
  for (; call.receiver().refitting() && symbols < 7500; ++symbols) (void)call.follow(1);
  EXPECT_GT(symbols, 2 * LeastSquares::kRows) << "all rows, and the steps of the fit";
  ASSERT_LT(symbols, 7500);
  EXPECT_LT(call.follow(400), before + 1);
  EXPECT_EQ(call.wrong(), 0);
}

TEST(V90Receiver, LostSamplesMoveNothingAndWhatFollowsIsKnownToBeDoubtful) {
  Call call(50);
  ASSERT_TRUE(call.train());
  (void)call.follow(2000);
  EXPECT_FALSE(call.receiver().erased());
  const int64_t position = call.receiver().position();
  int symbols = 0;
  for (int n = 0; n < 40; ++n) {
    if (!call.step(true)) continue;
    ++symbols;
    call.receiver().adapt(call.receiver().symbol());
  }
  EXPECT_NEAR(symbols, 20, 1);
  EXPECT_EQ(call.receiver().position(), position + symbols);
  EXPECT_TRUE(call.receiver().erased());
  (void)call.follow(300);  // until it has left the filters, and what was fed back
  EXPECT_FALSE(call.receiver().erased());
  const int wrong = call.wrong();
  EXPECT_LT(call.follow(300), -40);
  EXPECT_EQ(call.wrong(), wrong);
}

TEST(V90Receiver, FramesThatMovedAreCountedSoFromTheNextSymbolOn) {
  Call call(0);
  ASSERT_TRUE(call.train());
  (void)call.follow(100);
  const int64_t position = call.receiver().position();
  call.receiver().move(2);
  EXPECT_EQ(call.receiver().position(), position + 2);
  while (!call.step()) continue;
  EXPECT_EQ(call.receiver().position(), position + 3);
  EXPECT_EQ(call.receiver().interval(), (position + 3) % 6);
}

}  // namespace
}  // namespace offhook::v90
