// SPDX-License-Identifier: MIT
#include "traces/import/perf_sched.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "traces/import/load_file.h"

namespace offhook::traces {
namespace {

using hostsim::HostLoad;
using ::testing::HasSubstr;

constexpr const char* kLong =
    "         swapper     0 [000]   100.000001:  sched:sched_switch: prev_comm=swapper/0 prev_pid=0 prev_prio=120 "
    "prev_state=R ==> next_comm=tmux: server next_pid=22 next_prio=98\n"
    "    tmux: server    22 [000]   100.000011:  irq:irq_handler_entry: irq=24 name=virtio0-input.0\n"
    "    tmux: server    22 [000]   100.000014:  irq:irq_handler_exit: irq=24 ret=handled\n"
    "    tmux: server    22 [000]   100.000014:  irq:softirq_entry: vec=3 [action=NET_RX]\n"
    "    tmux: server    22 [000]   100.000016:  irq:softirq_exit: vec=3 [action=NET_RX]\n"
    "    tmux: server    22 [000]   100.000017:  sched:sched_waking: comm=x pid=1 prio=120 target_cpu=000\n"
    "    tmux: server    22 [000]   100.000020:  sched:sched_switch: prev_comm=tmux: server prev_pid=22 prev_prio=98 "
    "prev_state=S ==> next_comm=swapper/0 next_pid=0 next_prio=120\n";

std::string error_of(const std::string& text) {
  try {
    (void)import_perf_sched(text, "t.txt");
  } catch (const TraceError& e) {
    return e.what();
  }
  return "none";
}

TEST(PerfSched, ReadsSwitchesInterruptsAndSoftirqs) {
  const HostLoad load = import_perf_sched(kLong, "t.txt");
  ASSERT_EQ(load.cpus.size(), 1u);
  const auto& i = load.cpus[0].intervals;
  ASSERT_EQ(i.size(), 3u);
  EXPECT_EQ(load.sources[i[0].source], (HostLoad::Source{HostLoad::Kind::kThread, 41, "tmux: server"}));
  EXPECT_EQ(i[0].cpu, 14'000);
  EXPECT_EQ(load.sources[i[1].source], (HostLoad::Source{HostLoad::Kind::kInterrupt, 0, "virtio0-input.0"}));
  EXPECT_EQ(i[1].start, 10'000);
  EXPECT_EQ(i[1].cpu, 3'000);
  EXPECT_EQ(load.sources[i[2].source], (HostLoad::Source{HostLoad::Kind::kSoftirq, 0, "NET_RX"}));
  EXPECT_EQ(load.duration, 19'000);
}

TEST(PerfSched, ReadsTheShortFormAndNanoseconds) {
  const HostLoad load = import_perf_sched(
      "swapper 0 [001] 5.000000100: sched:sched_switch: swapper/1:0 [120] R ==> a:b:7 [120]\n"
      "a:b 7 [001] 5.000000350: sched:sched_switch: a:b:7 [120] S ==> swapper/1:0 [120]\n",
      "t.txt");
  ASSERT_EQ(load.cpus.at(0).intervals.size(), 1u);
  EXPECT_EQ(load.cpus[0].number, 1);
  EXPECT_EQ(load.cpus[0].intervals[0].cpu, 250);
  EXPECT_EQ(load.sources[load.cpus[0].intervals[0].source].name, "a:b");
}

TEST(PerfSched, ReadsWhatTraceCmdReportPrints) {
  const HostLoad load = import_perf_sched(
      "version = 7\nCPU 1 is empty\ncpus=2\n"
      "          <idle>-0     [000] d..2.  1000.000000: sched_switch:         swapper/0:0 [120] R ==> work:100 [120]\n"
      "            work-100   [000] d..2.  1000.001000: sched_switch:         work:100 [120] S ==> swapper/0:0 [120]\n",
      "t.txt");
  ASSERT_EQ(load.cpus.at(0).intervals.size(), 1u);
  EXPECT_EQ(load.cpus[0].intervals[0].cpu, 1'000'000);
}

TEST(PerfSched, SaysWhichLineIsWrongAndWhatWasExpected) {
  const std::string good = kLong;
  EXPECT_THAT(error_of(good + "nonsense\n"), HasSubstr("t.txt:8: expected COMM PID [CPU] TIME"));
  EXPECT_THAT(error_of(good.substr(0, good.rfind("next_prio"))), HasSubstr("t.txt:7: expected next_prio="));
  EXPECT_THAT(error_of(good + good), HasSubstr("t.txt:8: expected a time that does not precede"));
  EXPECT_THAT(error_of("x 1 [65536] 1.5: a:b:\n"), HasSubstr("t.txt:1: expected a CPU of 0 to 65535"));
  EXPECT_THAT(error_of(""), HasSubstr("expected sched_switch events"));
}

}  // namespace
}  // namespace offhook::traces
