// SPDX-License-Identifier: MIT
#include "src/measure/ip_samples.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include <filesystem>
#include <iterator>
#include <optional>
#include <stdexcept>

namespace offhook::measure {
namespace {

constexpr int kHz = 1000;

/// @return none if this machine or user may not sample; then the test was skipped
std::optional<IpSampler> sampler(std::string& why) {
  try {
    return std::optional<IpSampler>(std::in_place, kHz);
  } catch (const std::runtime_error& e) {
    why = e.what();
    return {};
  }
}

auto open_files() {
  using Files = std::filesystem::directory_iterator;
  return std::distance(Files("/proc/self/fd"), Files());
}

std::int64_t now() {
  timespec t{};
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1'000'000'000 + t.tv_nsec;
}

TEST(IpSampler, SeesThisProcessAtWorkInOrderOfTime) {
  std::string why;
  std::optional<IpSampler> samples = sampler(why);
  if (!samples) GTEST_SKIP() << why;
  const std::int64_t begin = now();
  const auto cpu_ns = [] {
    timespec cpu{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &cpu);
    return cpu.tv_sec * 1'000'000'000 + cpu.tv_nsec;
  };
  volatile unsigned work = 0;
  for (const std::int64_t until = cpu_ns() + 300'000'000; cpu_ns() < until;)
    for (int i = 0; i < 100'000; i++) work = work + 1;
  samples->off();
  const std::int64_t end = now();
  std::int64_t before = 0;
  int own = 0;
  for (const IpSample& sample : samples->read()) {
    EXPECT_GE(sample.time, before);
    before = sample.time;
    own += sample.pid == getpid() && begin <= sample.time && sample.time <= end;
  }
  EXPECT_GT(own, 10);
}

TEST(IpSampler, LeavesNothingOpen) {
#if defined(__SANITIZE_ADDRESS__)
  GTEST_SKIP() << "a sanitizer needs descriptors to look at an object";
#endif
  std::string why;
  const auto before = open_files();
  if (!sampler(why)) GTEST_SKIP() << why;
  EXPECT_EQ(open_files(), before);

  // Only the first CPU's counter can be opened.
  if (sysconf(_SC_NPROCESSORS_ONLN) < 2) GTEST_SKIP() << "one CPU alone";
  rlimit limit{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &limit), 0);
  const int next = dup(0);
  close(next);
  const rlimit less{static_cast<rlim_t>(next) + 1, limit.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &less), 0);
  EXPECT_FALSE(sampler(why));
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &limit), 0);
  EXPECT_NE(why.find("Too many open files"), std::string::npos) << why;
  EXPECT_EQ(open_files(), before);
}

}  // namespace
}  // namespace offhook::measure
