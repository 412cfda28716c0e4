// SPDX-License-Identifier: MIT
#include "src/lab/reproduce/call_log.h"

#include <gtest/gtest.h>

#include "src/lab/reproduce/constants.h"
#include "traces/scenario/profile.h"

using namespace offhook;
using namespace offhook::reproduce;

// The simulator knows its link; a reader of the log must get the same result, to the nanosecond.
TEST(CallLog, WhatTheLogSaysOfATransferIsWhatTheSimulatedLinkSays) {
  int complete = 0;
  for (const char* context : {"INT", "RES 2/8", "RES 2/14 strict", "RES 1/8 strict", "THR 8"}) {
    hostsim::Scenario s = call_scenario(context, true, 1);
    const reproduce::Setup setup{s, config::load_profile(s.cost_profile)};
    hostsim::Call call(s, setup.profile, hostsim::make_link_model_connection(s, setup.profile, nullptr), nullptr);
    while (call.advance(call.now() + 1'000'000'000)) {
    }
    const RunOutcome outcome = run_transfer(setup);
    EXPECT_EQ(outcome.complete, call.result().completed) << context;
    EXPECT_EQ(outcome.transfer_s, call.result().transfer_s) << context;
    complete += outcome.complete ? 1 : 0;
  }
  EXPECT_GT(complete, 0);
  EXPECT_LT(complete, 5);
}
