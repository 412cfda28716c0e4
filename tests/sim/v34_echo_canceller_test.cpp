// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <cmath>

#include "dsp/qam/echo_canceller.h"
#include "dsp/v34/coding/framing.h"
#include "tests/unit/dsp/v34/modem_line.h"

namespace offhook::v34 {
namespace {

struct Path {
  double near_db, far_db;
  int round_trip;
  double offset_hz;
};

std::vector<float> through(const std::vector<float>& x, std::vector<double> taps, int delay, double db) {
  double energy = 0;
  for (const double t : taps) energy += t * t;
  for (double& t : taps) t *= std::pow(10, -db / 20) / std::sqrt(energy);
  std::vector<float> y(x.size());
  for (size_t n = 0; n < x.size(); ++n) {
    double sum = 0;
    for (size_t k = 0; k < taps.size(); ++k) {
      const long at = static_cast<long>(n) - delay - static_cast<long>(k);
      if (at >= 0) sum += taps[k] * static_cast<double>(x[static_cast<size_t>(at)]);
    }
    y[n] = static_cast<float>(sum);
  }
  return y;
}

struct Result {
  double after_db, later_db, offset_hz;
};

// Trains for `train` samples while the far end is silent; then holds, while the far end talks if `far_talks`.
Result cancel(const Path& path, SymbolRate rate, int train, bool far_talks = false, const Kernels& k = best_kernels()) {
  Modulator m;
  m.init(band(rate, Carrier::kLow), kTestRms);
  TrainingSource source(kGpc, true, 10);
  const auto tx = modulate(m, static_cast<size_t>(train) + 24000, source);
  std::vector<float> rx = through(tx, {0.2, 1, -0.5, 0.3, -0.1, 0.05}, 9, path.near_db);
  // The shift's own delay is 127 samples.
  const auto far =
      shifted(through(tx, {0.3, 0.1, 0.8, 0.2, 0.4, -0.2, 0.1}, path.round_trip - 127, path.far_db), path.offset_hz);
  for (size_t n = 0; n < rx.size(); ++n) rx[n] += far[n];
  add_noise(&rx, 65, 3);
  qam::EchoCanceller canceller;
  canceller.init(band(rate, Carrier::kLow), 0, path.round_trip, k);
  canceller.set_training(true);
  Random random(4, 4);
  double after = 0, later = 0;
  for (size_t n = 0; n < tx.size(); ++n) {
    const auto at = static_cast<size_t>(train);
    if (n == at) canceller.set_training(false);
    const double talk = far_talks && n >= at ? kTestRms * random.gaussian() : 0;
    const double left = canceller.process(rx[n] + static_cast<float>(talk)) - talk;
    canceller.put(tx[n]);
    if (n >= at && n < at + 4000) after += left * left / 4000;
    if (n >= tx.size() - 4000) later += left * left / 4000;
  }
  const auto db = [](double p) { return -10 * std::log10(p / (kTestRms * kTestRms)); };
  return {db(after), db(later), canceller.far_offset_hz()};
}

// The conditions of the issue: near echo at -10 and far echo at -40 dB, -15 and -30, none and -25; within one second.
TEST(V34EchoCanceller, LeavesLessThanMinus42DbOfTheTransmittedSignal) {
  for (const Path& p : {Path{10, 40, 200, 0}, Path{15, 30, 800, 0}, Path{200, 25, 800, 0}, Path{15, 30, 9600, 0}}) {
    const Result r = cancel(p, SymbolRate::k3429, 8000 + p.round_trip);
    EXPECT_GT(r.after_db, 45) << p.near_db << ", " << p.far_db;
    EXPECT_GT(r.later_db, 45);
  }
  for (const SymbolRate s : {SymbolRate::k2400, SymbolRate::k2800, SymbolRate::k3200}) {
    EXPECT_GT(cancel({10, 40, 200, 0}, s, 8000).after_db, 38) << symbol_rate_hz(s);
  }
}

TEST(V34EchoCanceller, FollowsTheFarEchosFrequencyOffset) {
  for (const double hz : {-7.0, 1.0, 7.0}) {
    const Result r = cancel({15, 30, 800, hz}, SymbolRate::k3429, 12000);
    EXPECT_NEAR(r.offset_hz, hz, 0.1);
    EXPECT_GT(r.after_db, 45) << hz;
    EXPECT_GT(r.later_db, 40) << hz << ", three seconds later";
  }
}

TEST(V34EchoCanceller, DoubleTalkDoesNotMoveIt) {
  for (const double hz : {0.0, 3.0}) {
    const Result r = cancel({15, 30, 800, hz}, SymbolRate::k3200, 12000, true);
    EXPECT_GT(r.after_db, 40) << hz;
    EXPECT_GT(r.later_db, 33) << hz << ", the far end as loud as the near one for three seconds";
  }
}

TEST(V34EchoCanceller, InstructionSetsGiveTheSame) {
  const Path p{15, 30, 800, 1};
  for (const InstructionSet set : kInstructionSets) {
    if (!cpu_has(set)) continue;
    EXPECT_EQ(cancel(p, SymbolRate::k3200, 8000).after_db,
              cancel(p, SymbolRate::k3200, 8000, false, kernels_for(set)).after_db);
  }
}

}  // namespace
}  // namespace offhook::v34
