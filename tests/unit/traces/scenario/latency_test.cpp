// SPDX-License-Identifier: MIT
#include "traces/scenario/latency.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

#include "tests/unit/traces/scenario/data_folder.h"
#include "traces/scenario/data.h"
#include "traces/scenario/host_source.h"
#include "traces/scenario/scenario.h"

namespace offhook::config {
namespace {

using hostsim::HostLatencies;
using hostsim::Modality;

/// The error message of an action; empty if there is none.
template <typename Act>
std::string complaint(Act act) {
  try {
    act();
  } catch (const Error& e) {
    return e.what();
  }
  return "";
}

TEST(HostLatencies, EveryHostWithLatenciesLoadsAndAThreadNeverWaitsLessThanItsInterrupt) {
  ASSERT_EQ(latency_hosts().size(), 15u);
  for (const std::string& name : latency_hosts()) {
    for (const bool scanner : {false, true}) {
      const HostLatencies h = load_latencies(name, scanner);
      for (double u = 1; u > 1e-8; u *= 0.7) {
        const double isr = h.interrupt.latency_ms(u), dpc = h.dpc ? h.dpc->latency_ms(u) : isr;
        EXPECT_LE(isr, dpc * (1 + 1e-12)) << name;
        EXPECT_LE(dpc, h.to(Modality::kThread, h.high_priority).latency_ms(u) * (1 + 1e-12)) << name << " " << u;
        EXPECT_LE(dpc, h.to(Modality::kThread, 1).latency_ms(u) * (1 + 1e-12)) << name << " " << u;
      }
    }
  }
}

// Cota-Robles and Held, 4.3: a 16 ms thread latency once in 165,000 waits; with the virus scanner once in 1000.
TEST(HostLatencies, OfficeMeetsTheFrequencyThatFixesHowOftenTheToolsMeasured) {
  const HostLatencies h = load_latencies("win98-office");
  EXPECT_NEAR(h.high_thread.latency_ms(1 / 165000.0) - h.dpc->latency_ms(1 / 165000.0), 16, 0.1);
  const HostLatencies with = load_latencies("win98-office", true);
  EXPECT_NEAR(with.high_thread.latency_ms(1 / 1000.0), h.high_thread.latency_ms(1 / 165000.0), 1e-9);
}

TEST(HostLatencies, AHostWithoutThemNamesThoseThatHave) {
  EXPECT_NE(complaint([] { load_latencies("nt2000-p2-450"); }).find("win98-games"), std::string::npos);
}

TEST(HostLatencies, MistakesInTheTableAreNamedWithTheFile) {
  const DataFolder data;
  const auto host = [&](const std::string& table) {
    std::ofstream(data.path() / "hosts/mine.toml") << "[latency]\nuse_hours = [1, 10]\n" << table;
    return complaint([] { load_host("mine"); });
  };
  const std::string fine =
      "interrupt_ms = [1, 2]\ninterrupt_least_ms = 0.1\nthread_ms = [2, 3]\nthread_least_ms = 0.2\n";
  EXPECT_EQ(host(fine), "");
  EXPECT_NE(host("interrupt_ms = [1, 2]\ninterrupt_least_ms = 0.1\n").find("thread_ms"), std::string::npos);
  EXPECT_NE(host(fine + "dpc_ms = [2]\ndpc_least_ms = 0.1\n").find("dpc_ms: expected one worst case"),
            std::string::npos);
  EXPECT_NE(host(fine + "dpc_ms = [2, 1]\ndpc_least_ms = 0.1\n").find("mine.toml"), std::string::npos);
  const auto row = [&](const std::string& thread) {
    return host(fine + "thread_priority = 25\n[[latency.thread]]\nuse_hours = [1, 10]\nms = [2, 3]\nleast_ms = 0.1\n" +
                thread);
  };
  EXPECT_EQ(row("priority = 80\n"), "");
  EXPECT_EQ(row("class = \"other\"\n"), "");
  EXPECT_NE(row("priority = 25\n").find("expected one above thread_priority, 25"), std::string::npos);
  EXPECT_NE(row("class = \"idle\"\npriority = 30\n").find("expected fifo, deadline or other"), std::string::npos);
  EXPECT_NE(host(fine + "dpc_msec = 3\n").find("nearest known key is \"dpc_ms\""), std::string::npos);
}

TEST(HostLatencies, AnInterruptThatWasNotMeasuredIsAsLateAsWhatComesAfterIt) {
  const HostLatencies rt = load_latencies("linux-6.12-rt-am64x");
  EXPECT_FALSE(rt.dpc);
  for (const double longer : {1.0, 0.1, 1e-4, 1e-8})
    EXPECT_EQ(rt.interrupt.latency_ms(longer), rt.thread.latency_ms(longer)) << longer;
  EXPECT_NEAR(rt.thread.mean_ms(), 0.009, 0.009 * 0.01);
  EXPECT_NEAR(rt.thread.worst_ms(), 0.073, 1e-9);
}

TEST(HostSource, EveryHostOfTheTreeSaysWhereItsNumbersComeFromAndWhatIsAssumed) {
  for (const std::string& name : data_names("hosts")) {
    const HostSource source = load_host_source(name);
    EXPECT_FALSE(source.what.empty()) << name;
    EXPECT_FALSE(source.assumed.empty()) << name << ": no host is known to the last number";
    if (source.grade != HostGrade::kAssumed) continue;
    EXPECT_THAT(in_words(source), testing::StartsWith("assumed: ")) << name;
  }
}

TEST(HostSource, AGradeThatIsNoneIsAnErrorAndAFileWithoutOneSaysSo) {
  Document wrong = Document::parse("[source]\ngrade = \"certain\"\n", "x.toml");
  EXPECT_NE(complaint([&] { take_host_source(wrong); }).find("x.toml:2"), std::string::npos);
  Document none = Document::parse("tick_hz = 100\n", "x.toml");
  EXPECT_EQ(in_words(take_host_source(none)), "no source is given");
}

TEST(HostLatencies, ACallOnSuchAHostHasThem) {
  ScenarioBuilder builder;
  builder.set("host.name=win98-games");
  builder.set("context=THR 28");
  EXPECT_EQ(builder.finish().host.latency->thread.worst_ms(), 84);
  builder.set("host.name=ce3-sh4");
  builder.set("context=THR 251");
  EXPECT_NEAR(builder.finish().host.latency->thread.worst_ms(), 0.0543, 1e-12);
  builder.set("context=DPC");
  EXPECT_NE(complaint([&] { builder.finish(); }).find("has no DPCs"), std::string::npos);
}

constexpr std::string_view kHgrm =
    "       Value     Percentile TotalCount 1/(1-Percentile)\n\n"
    "       1.000 0.000000000000          5           1.00\n"
    "       2.000 0.500000000000         50           2.00\n"
    "       2.000 0.600000000000         50           2.50\n"
    "      30.000 0.990000000000         99         100.00\n"
    "     400.000 1.000000000000        100\n"
    "#[Mean    =       12.0, StdDeviation   =        40.0]\n";

TEST(LatencyHistogram, HdrHistogramsPercentilesBecomePoints) {
  const auto d = parse_hgrm(kHgrm, "x.hgrm", 1e-3);
  EXPECT_NEAR(d.longer_than(0.002), 0.5, 1e-12);
  EXPECT_NEAR(d.longer_than(0.030), 0.01, 1e-12);
  EXPECT_NEAR(d.worst_ms(), 0.4, 1e-12);
}

TEST(LatencyHistogram, CsvCountsBecomeThePointsOfTheSameHistogram) {
  const auto d = parse_latency_csv("latency_us,count\n1,5\n2,45\n30,49\n400,1\n", "x.csv");
  const auto same = parse_hgrm(kHgrm, "x.hgrm", 1e-3);
  ASSERT_EQ(d.points().size(), same.points().size());
  for (std::size_t i = 0; i < d.points().size(); i++) {
    EXPECT_EQ(d.points()[i].longer, same.points()[i].longer);
    EXPECT_EQ(d.points()[i].latency_ms, same.points()[i].latency_ms);
  }
}

TEST(LatencyHistogram, MistakesAreNamedWithFileAndLine) {
  const auto csv = [](const char* text) { return complaint([&] { parse_latency_csv(text, "x.csv"); }); };
  EXPECT_EQ(csv("us,count\n"), "x.csv:1: expected latency_ms,count, latency_us,count or latency_ns,count");
  EXPECT_EQ(csv("latency_us,count\n1,2\n1,3\n"), "x.csv:3: expected latencies that rise");
  EXPECT_EQ(csv("latency_us,count\n1;2\n"), "x.csv:2: expected a latency and a count");
  EXPECT_EQ(csv("latency_us,count\n0,2\n"), "x.csv: no latency above 0");
  const auto hgrm = [](const char* text) { return complaint([&] { parse_hgrm(text, "x.hgrm", 1); }); };
  EXPECT_EQ(hgrm("1 0.5 5\n2 0.6 4\n"), "x.hgrm:2: expected a total count that does not fall, below 2^53");
  EXPECT_EQ(hgrm("1 0.5 5\n1 0.6 6\n"), "x.hgrm:2: expected values that rise with the count");
  EXPECT_EQ(hgrm("1 50 5\n"),
            "x.hgrm:1: expected a value, a percentile of at most 1 and a total count (HdrHistogram's percentile "
            "output)");
}

}  // namespace
}  // namespace offhook::config
