// SPDX-License-Identifier: MIT
#include "src/measure/host_profile.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "traces/scenario/document.h"
#include "traces/scenario/host_source.h"
#include "traces/scenario/latency.h"

namespace offhook::measure {
namespace {

/// 100,000 wake-ups: nine in ten at 10 us, the rest at 100 us, one at 5 ms.
HostProfile profile() {
  HostProfile p;
  p.threads = {{ContextSpec::parse("FIFO 80")}};
  p.threads[0].thread.add(10'000, 90'000);
  p.threads[0].thread.add(100'000, 9'999);
  p.threads[0].thread.add(5'000'000, 1);
  p.seconds = 100;
  p.loads = {"cpu", "network"};
  return p;
}

HostDescription host(const char* kernel, const char* real_time) {
  HostDescription h;
  h.cpu = "a CPU";
  h.kernel = kernel;
  h.real_time_kernel = real_time;
  h.tick_hz = 1000;
  return h;
}
const HostDescription kHost = host("Linux 6.12.1 #1 SMP PREEMPT_RT", "yes");

hostsim::HostLatencies latencies(const std::string& text) {
  config::Document document = config::Document::parse(text, "mine.toml");
  return config::read_latencies(*document.take_table("latency"), false);
}

TEST(HostProfile, AHostThatIsReadBackHasTheMeasuredDistribution) {
  const std::string text = to_host_file(profile(), kHost);
  const hostsim::HostLatencies h = latencies(text);
  EXPECT_NEAR(h.thread.latency_ms(0.01), 0.1, 0.1 * 0.01);
  EXPECT_NEAR(h.thread.latency_ms(1.0 / 1000), 0.1, 0.1 * 0.01);
  EXPECT_NEAR(h.thread.worst_ms(), 5, 1e-9);
  EXPECT_NEAR(1 / h.thread.rarest(), 100'000, 0.5) << "rarer than the whole measurement nothing is known";
  EXPECT_NEAR(h.waits_per_s, 1000, 1e-9);
  EXPECT_EQ(h.interrupt.latency_ms(0.01), h.thread.latency_ms(0.01)) << "not measured: as late as the thread";
  EXPECT_FALSE(h.dpc);
}

TEST(HostProfile, SaysItsGradeItsCommandAndWhatIsAssumed) {
  config::Document document = config::Document::parse(to_host_file(profile(), kHost), "mine.toml");
  const config::HostSource source = config::take_host_source(document);
  EXPECT_EQ(source.grade, config::HostGrade::kMeasured);
  EXPECT_EQ(source.what, "offhook measure host-profile, 100 s, 100000 wake-ups of FIFO 80, beside cpu, network");
  EXPECT_EQ(source.assumed, "clock_isr_us, clock_ppm_spread, the latency of an interrupt");
  EXPECT_THAT(to_host_file(profile(), kHost), testing::HasSubstr("threaded_interrupts = true\n"));
}

TEST(HostProfile, AMachineThatDoesNotTellItsTickHasItAssumed) {
  HostDescription untold;
  untold.cpu = "quoted \"CPU\"";
  const std::string text = to_host_file(profile(), untold);
  config::Document document = config::Document::parse(text, "mine.toml");
  EXPECT_THAT(config::take_host_source(document).assumed, testing::StartsWith("tick_hz, "));
  EXPECT_THAT(text, testing::HasSubstr("threaded_interrupts = false\n"));
}

TEST(HostProfile, HasTheSchedulerOfItsKernel) {
  const auto with = [](const char* kernel, const char* real_time) {
    return to_host_file(profile(), host(kernel, real_time));
  };
  EXPECT_THAT(with("Linux 6.1.0-31-amd64 #1", "no"), testing::HasSubstr("scheduler = \"linux\"\n"));
  EXPECT_THAT(with("Linux 6.6.1 #1", "no"), testing::HasSubstr("scheduler = \"linux-6.6\"\n"));
  EXPECT_THAT(with("Linux 6.18.44 #1", "no"), testing::HasSubstr("scheduler = \"linux-6.12\"\n"));
  EXPECT_THAT(with("Linux 6.12.1 #1", "yes"), testing::HasSubstr("scheduler = \"linux-6.12-rt\"\n"));
  EXPECT_THAT(with("Linux 7.0.1 #1", "yes"), testing::HasSubstr("scheduler = \"linux-6.18-rt\"\n"));
  EXPECT_THAT(with("unknown", "no"), testing::HasSubstr("scheduler = \"linux\"\n"));
}

// FIFO 25 waits 3 ms where FIFO 80 waits 5 us; SCHED_DEADLINE and SCHED_OTHER have their own waits.
TEST(HostProfile, EachPriorityAndClassHasItsOwnDistribution) {
  HostProfile p = profile();
  p.threads = {{ContextSpec::parse("OTHER")},
               {ContextSpec::parse("FIFO 80")},
               {ContextSpec::parse("RES 0.1ms/1ms")},
               {ContextSpec::parse("FIFO 25")},
               {ContextSpec::parse("FIFO 51")}};
  const std::uint64_t worst_us[] = {90'000, 5, 2, 3'000, 40};
  for (std::size_t i = 0; i < p.threads.size(); ++i) {
    p.threads[i].thread.add(1'000, 9'999);
    p.threads[i].thread.add(1'000 * worst_us[i], 1);
  }
  const std::string text = to_host_file(p, kHost);
  const hostsim::HostLatencies h = latencies(text);
  EXPECT_EQ(h.measured_priority, 25);
  using hostsim::ThreadKind;
  const auto worst = [&](ThreadKind kind, int priority) { return h.to_thread(kind, priority).worst_ms(); };
  EXPECT_NEAR(worst(ThreadKind::kRealTime, 25), 3, 0.02);
  EXPECT_NEAR(worst(ThreadKind::kRealTime, 50), 3, 0.02) << "of 49 and less: the one below";
  EXPECT_NEAR(worst(ThreadKind::kRealTime, 51), 0.04, 0.001);
  EXPECT_NEAR(worst(ThreadKind::kRealTime, 99), 0.005, 0.0001);
  EXPECT_NEAR(worst(ThreadKind::kDeadline, 0), 0.002, 0.0001);
  EXPECT_NEAR(worst(ThreadKind::kNormal, 0), 90, 0.5);
  EXPECT_TRUE(h.knows(ThreadKind::kDeadline) && h.knows(ThreadKind::kNormal));
  EXPECT_FALSE(latencies(to_host_file(profile(), kHost)).knows(ThreadKind::kNormal));
  EXPECT_THAT(text, testing::HasSubstr("100 s in each context, 50000 wake-ups of FIFO 25, OTHER, FIFO 80"));
}

TEST(HostProfile, InterruptsWithoutASoftirqHaveNoDpc) {
  HostProfile p = profile();
  p.interrupt.add(2'000, 100'000);
  const hostsim::HostLatencies h = latencies(to_host_file(p, kHost));
  EXPECT_FALSE(h.dpc);
  EXPECT_NEAR(h.interrupt.worst_ms(), 0.002, 1e-5);
}

TEST(HostProfile, StagesGiveTheInterruptAndTheSoftirqAfterIt) {
  HostProfile p = profile();
  p.interrupt.add(2'000, 99'999);
  p.interrupt.add(50'000, 1);
  p.softirq.add(1'000, 5'000);
  const hostsim::HostLatencies h = latencies(to_host_file(p, kHost));
  ASSERT_TRUE(h.dpc);
  EXPECT_NEAR(h.interrupt.worst_ms(), 0.05, 1e-9);
  EXPECT_NEAR(h.dpc->latency_ms(0.01), 0.003, 0.003 * 0.02);
  EXPECT_NEAR(h.dpc->worst_ms(), 0.051, 0.051 * 0.01);
}

TEST(HostProfile, OneWakeUpIsAHostToo) {
  HostProfile p = profile();
  p.threads = {{ContextSpec::parse("FIFO 80")}};
  p.threads[0].thread.add(7'000);
  EXPECT_NO_THROW(latencies(to_host_file(p, kHost)));
}

}  // namespace
}  // namespace offhook::measure
