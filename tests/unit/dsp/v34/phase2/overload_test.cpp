// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "dsp/v34/phase2/line_probe.h"
#include "dsp/v34/phase2/overload_detector.h"
#include "tests/unit/dsp/v34/random.h"

namespace offhook::v34 {
namespace {

constexpr double kRms = 2000;  // of L2, which equals that of data

/// @param limit  relative to the RMS of L2  @return the requested reduction
int reduction_db(double limit, double snr_db) {
  Random random(1, 0);
  OverloadDetector detector;
  const auto sample = [&](int n, double gain) {
    const double x = gain * kRms * static_cast<double>(kProbingTable.sample[n % kProbingSamples]);
    const double clipped = std::clamp(x, -limit * kRms, limit * kRms);
    return static_cast<float>(clipped + kRms * std::pow(10, -snr_db / 20) * random.gaussian());
  };
  for (int n = -50; n < 1280; ++n) detector.put_l1(n < 0 ? 0 : sample(n, 1.99526));
  for (int n = 0; n < 3000; ++n) detector.put_l2(sample(n + 77, 1));
  return detector.reduction_db();
}

// The peaks of data must be 3.5 times their RMS, or 11 dB, below the limit.
TEST(V34Overload, APowerReductionMakesRoomForThePeaksOfData) {
  EXPECT_EQ(reduction_db(2, 40), 5);
  EXPECT_EQ(reduction_db(2.5, 40), 3);
  EXPECT_EQ(reduction_db(1.7, 40), 7);
  EXPECT_EQ(reduction_db(1, 40), 7);
}

TEST(V34Overload, ALineWithRoomIsNotTouchedWhateverItsNoise) {
  for (const double limit : {3.3, 4., 16.}) {
    for (const double snr : {60., 30., 15., 10.}) EXPECT_EQ(reduction_db(limit, snr), 0) << limit << ", " << snr;
  }
}

/// @param hum_db  of 50 Hz below L2; 200: none
bool hum_found(double hum_db, double dc, double snr_db) {
  Random random(1, 0);
  LineProbe probe;
  probe.start();
  for (int n = 0; n < 3072; ++n) {
    const double hum = std::sqrt(2) * kRms * std::pow(10, -hum_db / 20) * std::sin(2 * 3.14159265358979 * n / 160);
    const double noise = kRms * std::pow(10, -snr_db / 20) * random.gaussian();
    probe.put(
        static_cast<float>(kRms * static_cast<double>(kProbingTable.sample[n % kProbingSamples]) + hum + dc + noise));
  }
  probe.analyse();
  return probe.hum();
}

TEST(V34Overload, ProbingSeesHumAndDcAndTakesNoNoiseForThem) {
  EXPECT_TRUE(hum_found(2, 0, 40));
  EXPECT_TRUE(hum_found(30, 0, 40));
  EXPECT_TRUE(hum_found(200, 500, 40));
  EXPECT_FALSE(hum_found(60, 0, 60));
  for (const double snr : {60., 40., 25., 10., 3.}) EXPECT_FALSE(hum_found(200, 0, snr)) << snr;
}

}  // namespace
}  // namespace offhook::v34
