// SPDX-License-Identifier: MIT
#include "dsp/v90/pcm/near_echo.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <memory>
#include <random>
#include <vector>

namespace offhook::v90 {
namespace {

using Taps = std::array<double, 40>;

Taps random_taps(std::mt19937& random) {
  std::normal_distribution<double> normal;
  Taps taps;
  for (double& t : taps) t = 0.05 * normal(random);
  return taps;
}

/// A hybrid whose echo, at the samples and half way between them, is a filter of what was sent.
class Hybrid {
 public:
  explicit Hybrid(int delay) : delay_(delay) { echo_->init(delay); }
  /// @return power received and left
  std::array<double, 2> step() {
    std::array<int16_t, NearEcho::kReceived> received{};
    std::array<double, 2> power{};
    for (size_t k = 0; k < received.size(); ++k) {
      double sum = 0;
      for (size_t j = 0; j < taps_[k].size(); ++j) {
        const size_t age = static_cast<size_t>(delay_) + j;
        if (age <= sent_.size()) sum += taps_[k][j] * sent_[sent_.size() - age];
      }
      received[k] = static_cast<int16_t>(std::lrint(sum));
      power[0] += received[k] * received[k];
    }
    std::array<float, NearEcho::kReceived> left{};
    echo_->process(received.data(), left.data());
    for (const float v : left) power[1] += static_cast<double>(v) * v;
    sent_.push_back(std::round(8000 * normal_(random_)));
    echo_->put(static_cast<float>(sent_.back()));
    return power;
  }
  double loss_db(int samples) {
    double received = 0, left = 0;
    for (int n = 0; n < samples; ++n) {
      const auto power = step();
      received += power[0];
      left += power[1];
    }
    return 10 * std::log10(received / left);
  }
  NearEcho& echo() { return *echo_; }

 private:
  int delay_;
  std::mt19937 random_{5};
  std::normal_distribution<double> normal_;
  std::array<Taps, NearEcho::kReceived> taps_{random_taps(random_), random_taps(random_)};
  std::vector<double> sent_;
  std::unique_ptr<NearEcho> echo_ = std::make_unique<NearEcho>();
};

TEST(V90NearEcho, TrainedForItsTimeItTakesTheEchoOffToTheRounding) {
  for (const int delay : {0, 5, 60, 700}) {
    SCOPED_TRACE(delay);
    Hybrid line(delay + 1);
    EXPECT_NEAR(line.loss_db(1500), 0, 1e-9) << "nothing is taken off before";
    EXPECT_EQ(line.echo().return_loss(), 0);
    line.echo().set_training(true);
    EXPECT_TRUE(line.echo().training());
    line.loss_db(9600);  // 1.2 s
    EXPECT_GT(line.loss_db(2000), 60);
    line.loss_db(8192);
    EXPECT_GT(line.echo().return_loss(), 1e6f);
    line.echo().set_training(false);
    EXPECT_GT(line.loss_db(2000), 60) << "the taps stay";
  }
}

TEST(V90NearEcho, TrainingThatEndsTooEarlyTakesNothingOff) {
  Hybrid line(60);
  line.echo().set_training(true);
  line.loss_db(1000);
  line.echo().set_training(false);
  EXPECT_NEAR(line.loss_db(2000), 0, 1e-9);
}

}  // namespace
}  // namespace offhook::v90
