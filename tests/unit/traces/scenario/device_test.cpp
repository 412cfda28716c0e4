// SPDX-License-Identifier: MIT
#include "traces/scenario/device.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "traces/scenario/data.h"
#include "traces/scenario/profile.h"
#include "traces/scenario/scenario.h"

using namespace offhook;
using config::Document;

namespace {

constexpr const char* kAudio = R"(name = "audio"
[block]
rate_hz = 48000
plan_samples = [480]
[buffers]
count = 4
[work]
block_us = 500
phi = 0.9
)";

std::string error_of(const std::string& text) {
  try {
    (void)config::parse_device(Document::parse(text, "d.toml"));
  } catch (const config::Error& e) {
    return e.what();
  }
  return "";
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  text.replace(text.find(from), from.size(), to);
  return text;
}

}  // namespace

TEST(Device, EveryShippedOneLoadsAndReadsBackTheSame) {
  const auto names = config::data_names("devices");
  EXPECT_GE(names.size(), 5U);
  for (const std::string& name : names) {
    const std::string once = config::to_toml(config::load_device(name));
    EXPECT_EQ(once, config::to_toml(config::parse_device(Document::parse(once, "again")))) << name;
  }
}

TEST(Device, TheVendorModemIsTheOneOfTheCostProfile) {
  const hostsim::SoftDevice device = config::load_device("vendor-modem");
  const hostsim::CostProfile profile = config::load_profile("pentium2-450-vendor");
  const auto& connected = profile.phases[static_cast<int>(hostsim::Phase::kConnected)];
  const auto& connecting = profile.phases[static_cast<int>(hostsim::Phase::kConnecting)];
  EXPECT_EQ(device.rate_hz, connected.rate_hz);
  EXPECT_EQ(device.block_plan, connected.block_plan);
  EXPECT_LE(std::abs(device.cost_ns - connected.service_ns), 500);
  EXPECT_LE(std::abs(device.worst_cost_ns - connecting.worst_service_ns), 500);
  EXPECT_EQ(device.output_fraction, profile.phi);
  EXPECT_EQ(device.cost_spread, profile.service_spread);
  EXPECT_EQ(device.isr_mean_ns, profile.isr_mean_ns);
  EXPECT_EQ(device.isr_max_ns, profile.isr_max_ns);
  EXPECT_EQ(device.lead(), hostsim::Scenario{}.transmit_lead_samples);
}

TEST(Device, ItsRingsHoldItsBuffersAndItsBlocksCountItsOwnSamples) {
  const hostsim::SoftDevice device = config::load_device("g-lite");
  const auto& phase = device.profile().phases[static_cast<int>(hostsim::Phase::kConnected)];
  EXPECT_EQ(phase.rate_hz, device.rate_hz);
  EXPECT_EQ(phase.block_plan, device.block_plan);
  const oh_streams streams = device.streams();
  EXPECT_TRUE(oh_streams_are_valid(&streams));
  EXPECT_GE(streams.tx.ring_samples, device.buffers * device.buffer());
  EXPECT_GE(oh_streams_block_max(&streams), device.longest_block());
  EXPECT_EQ(config::load_device("vendor-modem").streams().rx.ring_samples, std::uint32_t{OH_MODEM_RING_SAMPLES});
}

TEST(Device, ErrorsNameFilePositionAndWhatWasExpected) {
  EXPECT_EQ(error_of(kAudio), "");
  EXPECT_THAT(error_of(replaced(kAudio, "block_us", "blok_us")),
              testing::HasSubstr("d.toml:8:1: unknown key \"work.blok_us\""));
  EXPECT_THAT(error_of(std::string(kAudio) + "\n[isr]\nblok = 3\n"),
              testing::HasSubstr("unknown key \"isr.blok\"; expected isr.max_us, isr.mean_us"));
  EXPECT_THAT(error_of(replaced(kAudio, "block_us = 500\n", "")),
              testing::HasSubstr("d.toml: work.block_us is missing"));
  EXPECT_THAT(error_of(replaced(kAudio, "[480]", "480")), testing::HasSubstr("d.toml:4:16: block.plan_samples"));
  EXPECT_THAT(error_of(replaced(kAudio, "0.9", "1.9")), testing::HasSubstr("expected a number, 0 to 1"));
  EXPECT_THAT(error_of(replaced(kAudio, "count = 4", "count = 4\nlead_samples = 1921")),
              testing::HasSubstr("at most the contents of the buffers, 1920"));
  EXPECT_THAT(error_of(replaced(kAudio, "count = 4", "count = 1\nsamples = 479")),
              testing::HasSubstr("expected at least the longest block, 480"));
  EXPECT_THROW((void)config::load_device("nobody"), config::Error);
}

TEST(Device, AScenarioTakesOneByNameAndWritesItOutInFull) {
  config::ScenarioBuilder builder;
  builder.set("device=g-lite");
  builder.set("device.buffers.count=2");
  const std::string toml = config::to_toml(builder.finish());
  config::ScenarioBuilder again;
  again.apply(Document::parse(toml, "again"));
  EXPECT_EQ(again.finish().pump, hostsim::PumpKind::kDevice);
  EXPECT_EQ(again.finish().device.buffers, 2U);
  EXPECT_EQ(again.finish().device.rate_hz, 1'104'000U);
  EXPECT_EQ(config::to_toml(again.finish()), toml);
}
