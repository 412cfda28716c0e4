// SPDX-License-Identifier: MIT
#include "src/measure/host_description.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "driver/base/json.h"

using namespace offhook;
using testing::Contains;
using testing::Pair;
namespace fs = std::filesystem;

namespace {

/// A private /proc and /sys.
class HostDescription : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "offhook-host-XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    root_ = name;
  }
  void TearDown() override { fs::remove_all(root_); }
  void put(const std::string& file, const std::string& text) {
    fs::create_directories((root_ / file).parent_path());
    std::ofstream(root_ / file) << text;
  }
  fs::path root_;
};

nlohmann::ordered_json described(const fs::path& root) {
  const measure::HostDescription host = measure::describe_host(root);
  return record::to_json(measure::kHostDescription, &host);
}

}  // namespace

TEST_F(HostDescription, ReadsWhatDecidesLatency) {
  put("proc/cmdline", "root=/dev/sda1 isolcpus=2,3 nohz_full=2,3\n");
  put("proc/cpuinfo", "processor\t: 0\nmodel name\t: Some CPU @ 2 GHz\nmicrocode\t: 0x12\n");
  put("proc/self/status", "Name:\tx\nCapEff:\t0000000000800000\n");
  put("proc/self/cgroup", "0::/user.slice\n");
  put("sys/fs/cgroup/user.slice/cpu.max", "20000 100000\n");
  put("proc/sys/kernel/sched_rt_runtime_us", "950000\n");
  put("sys/devices/system/cpu/isolated", "2-3\n");
  put("sys/devices/system/cpu/nohz_full", "2-3\n");
  put("sys/devices/system/cpu/smt/active", "1\n");
  put("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "powersave\n");
  put("sys/devices/system/cpu/cpuidle/current_driver", "intel_idle\n");
  put("sys/devices/system/cpu/cpuidle/current_governor_ro", "menu\n");
  put("sys/devices/system/clocksource/clocksource0/current_clocksource", "tsc\n");
  put("sys/kernel/debug/sched/preempt", "none voluntary (full)\n");
  put("sys/kernel/realtime", "1\n");
  put("sys/hypervisor/type", "xen\n");
  const auto host = described(root_);
  EXPECT_EQ(host.at("command_line"), "root=/dev/sda1 isolcpus=2,3 nohz_full=2,3");
  EXPECT_EQ(host.at("cpu"), "Some CPU @ 2 GHz");
  EXPECT_EQ(host.at("microcode"), "0x12");
  EXPECT_EQ(host.at("cap_sys_nice"), "yes");
  EXPECT_EQ(host.at("cpu_quota"), "20000 of every 100000 us");
  EXPECT_EQ(host.at("sched_rt_runtime_us"), "950000");
  EXPECT_EQ(host.at("isolated_cpus"), "2-3");
  EXPECT_EQ(host.at("nohz_full_cpus"), "2-3");
  EXPECT_EQ(host.at("smt"), "yes");
  EXPECT_EQ(host.at("governor"), "powersave");
  EXPECT_EQ(host.at("idle_driver"), "intel_idle, menu");
  EXPECT_EQ(host.at("clock_source"), "tsc");
  EXPECT_EQ(host.at("preemption"), "full");
  EXPECT_EQ(host.at("real_time_kernel"), "yes");
  EXPECT_EQ(host.at("hypervisor"), "xen");
}

TEST_F(HostDescription, WhatAMachineDoesNotTellIsSaidInWordsAndNothingIsLeftOut) {
  put("sys/devices/system/cpu/nohz_full", "(null)\n");  // as on kernels without nohz_full=
  const auto bare = described(root_), here = parse_json<nlohmann::ordered_json>(measure::host_description());
  EXPECT_EQ(bare.at("nohz_full_cpus"), "none");
  EXPECT_EQ(bare.at("governor"), "none: no cpufreq driver");
  EXPECT_EQ(bare.at("clock_source"), "unknown");
  EXPECT_EQ(bare.size(), here.size());
  for (const auto& [key, value] : bare.items()) EXPECT_NE(value, "") << key;
}

TEST_F(HostDescription, InWordsKeepsTheOrderAndWhatItDoesNotKnow) {
  const nlohmann::json of_a_log = described(root_);  // sorted by key, like a log's header
  const auto words = measure::host_in_words(of_a_log);
  EXPECT_EQ(words.size(), of_a_log.size());
  EXPECT_EQ(words.front().first, "kernel");
  EXPECT_THAT(measure::host_text_in_words(R"({"tick, Hz": 250, "kernel": "6.1"})"),
              testing::ElementsAre(Pair("kernel", "6.1"), Pair("tick, Hz", "250")));
}
