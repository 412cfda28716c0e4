// SPDX-License-Identifier: MIT
#include "src/measure/kernel_trace.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/unit/temporary_folder.h"

namespace offhook::measure {
namespace {

using ::testing::HasSubstr;

/// Anything this machine lacks. @return the reason
std::string failure(const std::vector<KernelTrace::Wanted>& wanted) {
  try {
    const KernelTrace trace(wanted, 64);
    return "";
  } catch (const std::runtime_error& e) {
    return e.what();
  }
}

TEST(KernelTrace, ATraceThatCannotBeMadeClosesNothingOfOthers) {
  const std::string why = failure({{.event = "sched/no_such_event"}});
  EXPECT_NE(why, "");
  EXPECT_NE(fcntl(0, F_GETFD), -1) << "standard input";
  EXPECT_NE(fcntl(1, F_GETFD), -1) << "standard output";
  if (why.find("tracepoint") == std::string::npos) GTEST_SKIP() << why;
  EXPECT_THAT(why, HasSubstr("this kernel has no tracepoint sched/no_such_event"));
  EXPECT_EQ(failure({{.event = "sched/no_such_event", .optional = true}}), "");
}

TEST(KernelTrace, HasNothingBeforeItIsOnAndNothingAfterIt) {
  if (const std::string why = failure({}); !why.empty()) GTEST_SKIP() << why;
  KernelTrace trace(all_scheduling_events(), 256);
  const auto events = [&] {
    timespec ms{0, 2'000'000};
    for (int i = 0; i < 10; i++) nanosleep(&ms, nullptr);
    std::vector<traces::KernelEvent> all;
    trace.read(all);
    return all;
  };
  EXPECT_TRUE(events().empty());
  trace.on();
  const auto seen = events();
  EXPECT_GE(seen.size(), 20u) << "this thread slept and woke ten times";
  EXPECT_TRUE(std::is_sorted(seen.begin(), seen.end(), [](const auto& a, const auto& b) { return a.time < b.time; }));
  trace.off();
  (void)events();
  EXPECT_TRUE(events().empty());
}

// Folders in place of tracefs: the code only calls rmdir().
TEST(StaleInstances, AreThoseOfOursWhoseProcessIsGone) {
  const test::TemporaryFolder temporary;
  const std::filesystem::path instances = temporary.path() / "instances";
  const std::string self = std::to_string(getpid());
  const std::vector<std::string> gone = {"offhook-4194305-0", "offhook-4194305-77-0", "offhook-" + self + "-1-0"};
  const std::vector<std::string> kept = {"offhook-" + self + "-0", "offhook-clock-77",   "offhook-",
                                         "offhook-4194305",        "offhook-4194305-0x", "other-4194305-0"};
  for (const auto& names : {gone, kept})
    for (const std::string& name : names) std::filesystem::create_directories(instances / name);
  remove_stale_instances(temporary.path());
  for (const std::string& name : gone) EXPECT_FALSE(std::filesystem::exists(instances / name)) << name;
  for (const std::string& name : kept) EXPECT_TRUE(std::filesystem::exists(instances / name)) << name;
}

}  // namespace
}  // namespace offhook::measure
