// SPDX-License-Identifier: MIT
//
// Histograms of cyclictest and rtla: what is in them, and what their headers say of the measurement.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "traces/scenario/latency.h"

namespace offhook::config {
namespace {

constexpr const char* kCyclictest = R"(# /dev/cpu_dma_latency set to 0us
# Histogram
000000 000000	000000
000011 000002	000001
000012 000090	000100
000020 000003	000000
# Total: 000000095 000000101
# Min Latencies: 00011 00011
# Avg Latencies: 00012 00012
# Max Latencies: 02510 00012
# Histogram Overflows: 00004 00000
# Histogram Overflow at cycle number:
# Thread 0: 00010 00020
# Thread 1:
)";

constexpr const char* kRtla = R"(# RTLA timerlat histogram
# Time unit is microseconds (us)
# Duration:   0 01:00:01
Index   IRQ-000   Thr-000   IRQ-001   Thr-001
0         50         0        51         0
5          1        40         0        47
30         0         9         0         3
over:      0         2         0         0
count:    51        51        51        50
min:       0         5         0         5
avg:       0        10         0         7
max:       5       130         0        30
)";

constexpr const char* kJson = R"({"file_version": 1, "cmdline": "cyclictest -q -Sp98 -i 200 -h 400 --json=a.json",
 "sysinfo": {"sysname": "Linux", "release": "6.12.57+deb13-rt-amd64", "version": "#1 SMP PREEMPT_RT", "realtime": 1},
 "num_threads": 1, "resolution_in_ns": 0,
 "thread": {"0": {"histogram": {"4": 900, "9": 95}, "cycles": 1000, "min": 4, "max": 730, "avg": 5.1, "cpu": 0}}})";

TEST(LatencyHistogram, CyclictestsThreadsAreSummedAndOverflowsTookTheLongest) {
  const LatencyHistogram h = parse_histogram(kCyclictest, "cyc.hist");
  EXPECT_EQ(h.tool, "cyclictest");
  EXPECT_DOUBLE_EQ(h.waits, 200);
  EXPECT_DOUBLE_EQ(h.latency.worst_ms(), 2.51);
  EXPECT_NEAR(h.latency.longer_than(0.012), 7.0 / 200, 1e-9);
  EXPECT_NEAR(h.latency.longer_than(0.020), 4.0 / 200, 1e-9);
  EXPECT_EQ(h.priority, 0);  // its text does not contain it
  EXPECT_EQ(h.seconds, 0);
}

TEST(LatencyHistogram, OfRtlaThreadsCountAndTheDurationIsKnown) {
  const LatencyHistogram h = parse_histogram(kRtla, "timerlat.txt");
  EXPECT_EQ(h.tool, "rtla timerlat");
  EXPECT_DOUBLE_EQ(h.waits, 101);
  EXPECT_DOUBLE_EQ(h.latency.worst_ms(), 0.130);
  EXPECT_NEAR(h.latency.longer_than(0.005), 14.0 / 101, 1e-9);
  EXPECT_DOUBLE_EQ(h.seconds, 3601);
}

TEST(LatencyHistogram, CyclictestsJsonSaysPriorityDurationAndKernel) {
  const LatencyHistogram h = parse_histogram(kJson, "a.json");
  EXPECT_DOUBLE_EQ(h.waits, 1000);
  EXPECT_DOUBLE_EQ(h.latency.worst_ms(), 0.730);
  EXPECT_EQ(h.scheduling, "FIFO");
  EXPECT_EQ(h.priority, 98);
  EXPECT_DOUBLE_EQ(h.seconds, 0.2);
  EXPECT_THAT(h.kernel, testing::StartsWith("Linux 6.12.57"));
}

// As rt-tests 2.40 prints it without -q: the lines of the threads first, with terminal codes between them.
TEST(LatencyHistogram, LinesOfThreadsAboveTheHistogramSayPriorityAndDuration) {
  std::string text = "# /dev/cpu_dma_latency set to 0us\n";
  for (int i = 1; i <= 300; i++)  // more than the 4096 characters of the search
    text += "\x1b[3Apolicy: rr: loadavg: 4.39 2.79 1.25 4/114 3090          \n\nT: 0 ( 3090) P:79 I:1000 C:" +
            std::to_string(10 * i) + " Min:     48 Act:   48 Avg:   60 Max:      74\n";
  text += "# Histogram\n000011 002990\n000012 000010\n# Total: 000003000\n# Max Latencies: 00012\n";
  ASSERT_TRUE(is_histogram(text));
  const LatencyHistogram h = parse_histogram(text, "cyc.hist");
  EXPECT_EQ(h.scheduling, "RR");
  EXPECT_EQ(h.priority, 79);
  EXPECT_DOUBLE_EQ(h.seconds, 3);
  EXPECT_DOUBLE_EQ(h.waits, 3000);
}

TEST(LatencyHistogram, TheColumnOfSumsIsNoThread) {
  const LatencyHistogram h = parse_histogram(
      "# Histogram\n000011 000002\t000001\t000003\n000012 000090\t000100\t000190\n"
      "# Max Latencies: 02510 00012 02510\n# Histogram Overflows: 00004 00000 00004\n",
      "cyc.hist");
  EXPECT_DOUBLE_EQ(h.waits, 197);
  EXPECT_NEAR(h.latency.longer_than(0.012), 4.0 / 197, 1e-9);
}

TEST(LatencyHistogram, JsonOfRtTestsNamesItsCommandWithAColon) {
  const auto of = [](const std::string& command) {
    return parse_histogram("{\"cmdline:\": \"cyclictest " + command +
                               "\", \"thread\": {\"0\": {\"histogram\": {\"4\": 1000}, \"cycles\": 1000, \"max\": 4}}}",
                           "a.json");
  };
  const LatencyHistogram fifo = of("-q -D 3 -m -p 80 -i 1000 -h 400 --json=c3.json");
  EXPECT_EQ(fifo.scheduling, "FIFO");
  EXPECT_EQ(fifo.priority, 80);
  EXPECT_DOUBLE_EQ(fifo.seconds, 1);
  EXPECT_EQ(of("-q -h 400 --policy=rr --prio=70").scheduling, "RR");
  EXPECT_EQ(of("-q -h 400 --policy=rr --prio=70").priority, 70);
  // Neither a thread without a priority nor a SCHED_DEADLINE thread is one of SCHED_FIFO.
  EXPECT_EQ(of("-q -h 400").scheduling, "OTHER");
  EXPECT_EQ(of("-q -h 400 -p 80 --policy=other").priority, 0);
  EXPECT_EQ(of("-q -h 400 -p 80 --policy=deadline").scheduling, "DEADLINE");
}

TEST(LatencyHistogram, OthersAreRefusedWithWhatIsAccepted) {
  EXPECT_FALSE(is_histogram("latency_us,count\n1,2\n"));
  const auto complaint = [](const char* text) -> std::string {
    try {
      (void)parse_histogram(text, "f");
    } catch (const Error& e) {
      return e.what();
    }
    return "accepted";
  };
  EXPECT_THAT(complaint("hello"), testing::HasSubstr("cyclictest -h or --json, or of rtla timerlat hist"));
  EXPECT_THAT(complaint("# Histogram\n000001 x\n"), testing::HasSubstr("f:2: expected a latency and counts"));
  EXPECT_THAT(complaint("# Histogram\n000002 1\n000001 1\n"), testing::HasSubstr("f:3: expected latencies that rise"));
  EXPECT_THAT(complaint("# Histogram\n000000 0\n"), testing::HasSubstr("no latency above 0"));
}

}  // namespace
}  // namespace offhook::config
