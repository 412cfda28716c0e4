// SPDX-License-Identifier: MIT
//
// The confirming experiments on the vendor's modem, few and short: law against simulation.
#include "src/lab/advice/experiment.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <optional>

#include "src/program/command/call_run.h"
#include "traces/scenario/device.h"

using namespace offhook;
namespace fs = std::filesystem;

namespace {

class LawExperiment : public testing::Test {
 protected:
  LawExperiment() {
    std::string name = (fs::temp_directory_path() / "offhook-law-XXXXXX").string();
    folder_ = mkdtemp(name.data());
    output_.emplace(folder_);
    options_.folder = &*output_;
    options_.phases = 6;
    options_.seconds = 20;
    options_.run = command::run_row;
    setting_.device = config::load_device("vendor-modem");
  }
  ~LawExperiment() override { fs::remove_all(folder_); }

  law::ExperimentResult run(const std::string& id) {
    for (const law::Experiment& experiment : law::experiments(setting_)) {
      if (experiment.id != id) continue;
      law::ExperimentResult result;
      EXPECT_TRUE(run_experiment(experiment, options_, result));
      return result;
    }
    ADD_FAILURE() << id;
    return {};
  }

  fs::path folder_;
  std::optional<OutputFolder> output_;
  law::Options options_;
  law::Setting setting_;
};

}  // namespace

// The share-limited row stays; gap-limited ones gain the 13.125 ms of one block: 13 and a half ticks. Six phases do not
// include every worst case, and the clock's interrupts take a little of every slot: within a tick of the law.
TEST_F(LawExperiment, OneMoreBlockOfLeadMovesTheGapAndNotTheShare) {
  const law::ExperimentResult as_it_is = run("as-it-is"), more = run("more-lead");
  for (std::size_t i = 0; i < 8; i++) {
    EXPECT_LE(std::abs(as_it_is.simulated_limit[i] - as_it_is.law_limit[i]), 1) << i + 1;
    EXPECT_LE(std::abs(more.simulated_limit[i] - more.law_limit[i]), 1) << i + 1;
  }
  EXPECT_EQ(more.simulated_limit[0], as_it_is.simulated_limit[0]);
  for (const std::size_t i : {5, 6, 7}) {
    EXPECT_GE(more.simulated_limit[i], as_it_is.simulated_limit[i] + 13);
    EXPECT_LE(more.simulated_limit[i], as_it_is.simulated_limit[i] + 14);
    EXPECT_GT(more.simulated_limit[i], more.authors_limit[i] + 10);
  }
}

TEST_F(LawExperiment, ShortBlocksAloneLeaveTheGapWhereItWas) {
  const law::ExperimentResult r = run("short-blocks");
  EXPECT_EQ(r.simulated_limit, r.law_limit);
  for (const std::size_t i : {3, 4, 5, 6, 7}) EXPECT_EQ(r.simulated_limit[i], r.authors_limit[i] + 1);
}

// 16 ticks of 1/1024 s are 125 samples: 3/16 depends on the phase of the slots, and 2/13 does not.
TEST_F(LawExperiment, WhatTheLawGrantsSucceedsFromEveryPhaseAndPhaseLockDecidesBeyond) {
  std::vector<law::PhaseResult> results;
  ASSERT_TRUE(run_phases(setting_, options_, 24, results));
  bool partly = false;
  for (const law::PhaseResult& r : results) {
    const auto ok = std::count_if(r.success.begin(), r.success.end(), [](const auto& p) { return p.second; });
    if (r.law) {
      EXPECT_EQ(ok, 24) << r.reservation.x << "/" << r.reservation.y;
    }
    if (r.reservation.x == 3 && r.reservation.y == 16) partly = ok > 0 && ok < 24;
  }
  EXPECT_TRUE(partly);
}

TEST_F(LawExperiment, GoesOnWhereItWasStoppedWithTheSameResult) {
  options_.x_max = 2;
  const law::Experiment experiment = law::experiments(setting_).front();
  law::ExperimentResult whole, resumed;
  ASSERT_TRUE(run_experiment(experiment, options_, whole));
  fs::remove_all(folder_ / "as-it-is");
  int asked = 0;
  options_.stop = [&] { return ++asked > 20; };
  ASSERT_FALSE(run_experiment(experiment, options_, resumed));
  std::size_t again = 0;
  options_.stop = {};
  options_.run = [&](const hostsim::Scenario& s) {
    ++again;
    return command::run_row(s);
  };
  ASSERT_TRUE(run_experiment(experiment, options_, resumed));
  EXPECT_GT(again, 0U);
  EXPECT_LT(again, whole.cells.size() * options_.phases);
  EXPECT_EQ(resumed.simulated_limit, whole.simulated_limit);
}
