// SPDX-License-Identifier: MIT
#include "src/program/command/kernel_run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>

#include "hostsim/call/random_file.h"
#include "tests/unit/driver/kernel/kernel_stand_in.h"

namespace offhook::command {
namespace {

using testing::HasSubstr;

hostsim::Scenario scenario() {
  hostsim::Scenario s;
  s.modem = OH_MODULATION_V34;
  s.context = ContextSpec::parse("FIFO 50");
  s.block_plan = {80};
  s.transmit_lead_samples = 160;
  s.bytes = 5000;
  s.seed = 7;
  return s;
}

std::string refusal(const hostsim::Scenario& s) {
  try {
    (void)kernel_call_of(s);
  } catch (const std::runtime_error& e) {
    return e.what();
  }
  return "";
}

TEST(KernelRun, TellsTheKernelWhatTheScenarioSays) {
  hostsim::Scenario s = scenario();
  s.role = OH_PUMP_ANSWER;
  s.link.compression = OH_LAPM_COMPRESS_SENT | OH_LAPM_COMPRESS_RECEIVED;
  s.link.codewords = 1024;
  const oh_kernel_call call = kernel_call_of(s);
  EXPECT_STREQ(call.pump, "v34");
  EXPECT_EQ(call.role, OH_PUMP_ANSWER);
  EXPECT_EQ(call.block_plan[0], 80u);
  EXPECT_EQ(call.transmit_lead_samples, 160u);
  EXPECT_EQ(call.link.compression, 3u);
  EXPECT_EQ(call.link.codewords, 1024u);
}

TEST(KernelRun, TakesV90AtEitherEndOfADigitalTrunk) {
  hostsim::Scenario s = scenario();
  s.modem = OH_MODULATION_V90;
  s.line_kind = hostsim::LineKind::kDigitalTrunk;
  for (const oh_pump_role role : {OH_PUMP_CALL, OH_PUMP_ANSWER}) {
    s.role = role;
    const oh_kernel_call call = kernel_call_of(s);
    EXPECT_STREQ(call.pump, "v90");
    EXPECT_EQ(call.role, role);
  }
}

TEST(KernelRun, RefusesByItsKeyWhatAKernelsModemHasNothingFor) {
  EXPECT_EQ(refusal(scenario()), "");
  hostsim::Scenario profile = scenario(), load = scenario(), loop = scenario(), far = scenario(), any = scenario();
  profile.pump = hostsim::PumpKind::kCostProfile;
  load.load.spinner = true;
  loop.line_kind = hostsim::LineKind::kSubscriberLoop;
  far.far_modem = OH_MODULATION_V32BIS;
  any.modem = OH_MODULATION_NONE;
  EXPECT_THAT(refusal(profile), HasSubstr("pump.kind"));
  EXPECT_THAT(refusal(load), HasSubstr("load"));
  EXPECT_THAT(refusal(loop), HasSubstr("line.kind"));
  EXPECT_THAT(refusal(far), HasSubstr("pump.far_modem"));
  EXPECT_THAT(refusal(any), HasSubstr("pump.modem"));
  EXPECT_THROW((void)open_kernel_host("solaris"), std::runtime_error);
}

TEST(KernelRun, TheFileThatTheScenarioNamesArrivesAndTakesTheLinesTime) {
  KernelStandIn device;
  device.to_give = hostsim::random_file(scenario());
  std::size_t headers = 0, events = 0, received = 0;
  CallSinks sinks;
  sinks.header = [&](const traces::LogHeader& header) {
    ++headers;
    EXPECT_EQ(header.scenario.host, "kernel");
  };
  sinks.events = [&](std::span<const oh_event> taken, std::uint64_t) { events += taken.size(); };
  sinks.received = [&](std::span<const std::uint8_t> octets) { received += octets.size(); };
  const CallOutcome outcome = run_kernel_call(device, scenario(), {}, sinks);
  EXPECT_TRUE(outcome.complete);
  EXPECT_FALSE(outcome.lost);
  EXPECT_EQ(outcome.bytes, 5000u);
  EXPECT_EQ(outcome.bytes_delivered, 5000u);
  EXPECT_EQ(received, 5000u);
  EXPECT_EQ(headers, 1u);
  EXPECT_GT(events, 0u);
  EXPECT_EQ(outcome.ending, "the file arrived");
  // The link is up at 4000 samples, with the first 1000 octets; after that 1000 more come every 800 samples.
  EXPECT_DOUBLE_EQ(outcome.transfer_s, 4 * 800 / 8000.0);
  EXPECT_DOUBLE_EQ(outcome.line_s.value_or(0), 0.9);
  ASSERT_TRUE(outcome.kernel.has_value());
  EXPECT_FALSE(device.running);
}

TEST(KernelRun, SaysWhyAFileDidNotArrive) {
  KernelStandIn other, cleared, failed, silent;
  other.to_give = hostsim::random_file(scenario());
  other.to_give[3000] ^= 1;
  EXPECT_EQ(run_kernel_call(other, scenario(), {}, {}).ending, "the received bytes differ from those expected");
  cleared.to_give = hostsim::random_file(scenario());
  cleared.cleared_at = 6000;
  const CallOutcome half = run_kernel_call(cleared, scenario(), {}, {});
  EXPECT_FALSE(half.complete);
  EXPECT_THAT(half.ending, HasSubstr("released the V.42 link"));
  EXPECT_GT(half.bytes_delivered, 0u);
  failed.fails_at = 2000;
  EXPECT_EQ(run_kernel_call(failed, scenario(), {}, {}).ending, "the card has failed");
  KernelStandIn suspended;
  suspended.suspended_at = 3000;
  EXPECT_EQ(run_kernel_call(suspended, scenario(), {}, {}).ending, "the machine was suspended");
  hostsim::Scenario short_one = scenario();
  short_one.time_limit_s = 2;
  silent.connected_at = 1'000'000;
  EXPECT_EQ(run_kernel_call(silent, short_one, {}, {}).ending, "time limit before data mode");
  CallSinks stop;
  stop.progress = [](const CallProgress&) { return false; };
  EXPECT_TRUE(run_kernel_call(silent, scenario(), {}, stop).stopped);
}

}  // namespace
}  // namespace offhook::command
