// SPDX-License-Identifier: MIT
#include "src/measure/kernel_latency.h"

#include <gtest/gtest.h>

#include <stdexcept>

#include "tests/unit/driver/kernel/kernel_stand_in.h"

namespace offhook::measure {
namespace {

const auto kOn = [](const LatencyResult&) { return true; };

TEST(KernelLatency, IsWhatTheKernelsLogSays) {
  KernelStandIn device;
  KernelLatencyConfig config;
  config.context = ContextSpec::parse("SOFTIRQ");
  config.duration_ns = 1'000'000'000;
  const LatencyResult r = measure_kernel_latency(device, config, kOn);
  EXPECT_EQ(device.call.block_plan[0], 8u);
  EXPECT_EQ(device.contexts.at(0).kind, OH_CONTEXT_SOFTIRQ);
  EXPECT_EQ(r.latency.count(), 1000u);
  EXPECT_EQ(r.latency.min(), device.latency_ns);
  EXPECT_EQ(r.latency.max(), device.latency_ns);
  EXPECT_EQ(r.own_cost.max(), 3'000u);
  EXPECT_EQ(r.over_threshold_ns, 0);
  EXPECT_FALSE(device.running);
}

TEST(KernelLatency, EndsAtTheThreshold) {
  KernelStandIn device;
  device.slow_every = 25;
  KernelLatencyConfig config;
  config.threshold_ns = 50'000;
  const LatencyResult r = measure_kernel_latency(device, config, kOn);
  EXPECT_EQ(r.over_threshold_ns, 70'000);
  EXPECT_EQ(r.over_at_ns, 25 * 1'000'000 + 70'000);
  EXPECT_EQ(r.latency.count(), 30u);  // of the read that found it
}

TEST(KernelLatency, RefusesAnIntervalThatIsNoBlock) {
  KernelStandIn device;
  KernelLatencyConfig config;
  for (const std::int64_t ns : {100'000, 1'050'000, 20'000'000}) {
    config.interval_ns = ns;
    EXPECT_THROW((void)measure_kernel_latency(device, config, kOn), std::runtime_error) << ns;
  }
}

}  // namespace
}  // namespace offhook::measure
