// SPDX-License-Identifier: MIT
#include "dsp/v90/pcm/echo_canceller.h"

#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <random>
#include <vector>

namespace offhook::v90 {
namespace {

/// PCM of the digital modem, its echo at a delay, and the analogue modem so many dB above the echo.
class Line {
 public:
  explicit Line(const Kernels& kernels, double upstream_db, int delay = kDelay - 40, int round_trip = kDelay)
      : upstream_(1000 * std::pow(10., upstream_db / 20)), delay_(delay) {
    echo_.init(round_trip, kernels);
    echo_.set_training(true);
    for (int k = 0; k < 20'000; ++k) step(false);
    echo_.set_training(false);
  }
  /// @return what is left of the echo and of the analogue modem
  double step(bool upstream = true) {
    double received = upstream ? upstream_ * normal_(random_) : 0;
    constexpr double kResponse[] = {0.1, -0.3, 0.9, 0.25, -0.15};
    for (size_t k = 0; k < 5; ++k) {
      const size_t age = static_cast<size_t>(delay_) + k;
      if (age < sent_.size()) received += kResponse[k] * sent_[sent_.size() - 1 - age];
    }
    const double left = echo_.process(static_cast<float>(received));
    sent_.push_back(1000 * normal_(random_));
    echo_.put(static_cast<float>(sent_.back()));
    return left;
  }
  void move(int samples) { delay_ += samples; }
  /// @return whether the place was found within so many samples
  bool seek(int samples, int* moved) {
    echo_.seek(true);
    bool found = false;
    for (int k = 0; k < samples && !found; ++k) {
      step();
      found = echo_.found(moved);
    }
    echo_.seek(false);
    return found;
  }
  PcmEchoCanceller& echo() { return echo_; }

 private:
  static constexpr int kDelay = 700;
  double upstream_;
  int delay_;
  std::mt19937 random_{7};
  std::normal_distribution<double> normal_;
  std::vector<double> sent_;
  PcmEchoCanceller echo_;
};

TEST(V90EchoCanceller, FindsTheEchoWhereAPlayoutHasMovedItUnderTheOtherModemsSignal) {
  for (const InstructionSet set : kInstructionSets) {
    if (!cpu_has(set)) continue;
    for (const int samples : {1, -1, 80, -80, 160, -160, 255, -255}) {
      auto line = std::make_unique<Line>(kernels_for(set), 18);
      line->move(samples);
      int moved = 0;
      ASSERT_TRUE(line->seek(8192, &moved)) << samples;
      EXPECT_EQ(moved, samples);
      line->echo().move(moved);
      double power = 0;
      for (int k = 0; k < 2000; ++k) {
        const double left = line->step(false);
        power += left * left / 2000;
      }
      EXPECT_LT(power, 1e6 * 1e-4) << samples << ": 40 dB below what was sent";
    }
  }
}

// The analogue modem queues samples at a sound device: the round trip is longer than the echo's way.
TEST(V90EchoCanceller, TheEchoIsFoundAnywhereWithinTheRoundTrip) {
  struct Case {
    int delay, round_trip;
  };
  for (const Case& c :
       {Case{80, 600}, Case{0, 600}, Case{300, 900}, Case{508, 1400}, Case{80, 10'000}, Case{9000, 10'000}}) {
    Line line(best_kernels(), 18, c.delay, c.round_trip);
    double power = 0;
    for (int k = 0; k < 2000; ++k) {
      const double left = line.step(false);
      power += left * left / 2000;
    }
    EXPECT_LT(power, 1e6 * 1e-4) << c.delay << " of " << c.round_trip << ": 40 dB below what was sent";
  }
}

TEST(V90EchoCanceller, AnEchoThatHasNotMovedIsFoundWhereItWas) {
  auto line = std::make_unique<Line>(best_kernels(), 18);
  int moved = 1;
  ASSERT_TRUE(line->seek(8192, &moved));
  EXPECT_EQ(moved, 0);
}

TEST(V90EchoCanceller, FindsNoEchoFarBelowTheOtherModem) {
  auto line = std::make_unique<Line>(best_kernels(), 60);
  line->move(80);
  int moved = 0;
  EXPECT_FALSE(line->seek(8192, &moved));
}

}  // namespace
}  // namespace offhook::v90
