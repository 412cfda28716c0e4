// SPDX-License-Identifier: MIT
//
// Keys of mutexes: context.lock, host.locks, lock of a [[load.thread]].
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/traces/scenario/data_folder.h"
#include "tests/unit/traces/scenario/read_text.h"
#include "traces/scenario/scenario.h"

namespace offhook::config {
namespace {

using hostsim::Scenario;

class MutexKeys : public testing::Test {
 protected:
  DataFolder data_;
};

TEST_F(MutexKeys, AreWrittenWhereTheyAreNamed) {
  const std::string without = to_toml(read("[[load.thread]]\nevery_us = 500\n"));
  EXPECT_THAT(without, testing::Not(testing::HasSubstr("\nlock")));
  const Scenario s = read("[context]\nkind = \"thread\"\nlock = \"settings\"\n");
  EXPECT_EQ(s.context.lock, "settings");
  EXPECT_EQ(read(to_toml(s)).context.lock, "settings");
  const std::string load =
      "[host]\nlocks = \"proxy\"\n[[load.thread]]\nevery_us = 500\nwork_us = 20\nlock = \"settings\"\n"
      "lock_after_us = 5\nlock_us = 15\n";
  for (const Scenario& t : {read(load), read(to_toml(read(load)))}) {
    EXPECT_EQ(t.host.locks, hostsim::LockProtocol::kProxy);
    EXPECT_EQ(t.load.threads.at(0).lock, "settings");
    EXPECT_EQ(t.load.threads.at(0).lock_after_ns, 5'000);
    EXPECT_EQ(t.load.threads.at(0).lock_ns, 15'000);
  }
}

TEST_F(MutexKeys, ThatCannotBeAreRefused) {
  EXPECT_THAT(complaint("[context]\nkind = \"dpc\"\nlock = \"a\"\n"),
              testing::HasSubstr("call.toml:3:1: context.lock is \"a\", but DPC cannot wait for a mutex"));
  EXPECT_THAT(complaint("[[load.thread]]\nname = \"spins\"\nlock = \"a\"\n"),
              testing::HasSubstr("load.thread \"spins\": lock is \"a\", but its work never ends"));
  EXPECT_THAT(
      complaint("[[load.thread]]\nevery_us = 500\nwork_us = 20\nlock = \"a\"\nlock_after_us = 10\nlock_us = 11\n"),
      testing::HasSubstr("its work ends earlier; expected lock_after_us and lock_us within work_us"));
  EXPECT_THAT(complaint("[host]\nlocks = \"proxy\"\nscheduler = \"linux-7.0-scx-simple\"\n"),
              testing::HasSubstr("host.locks is \"proxy\", which a kernel with sched_ext lacks"));
  EXPECT_THAT(complaint("[host]\nlocks = \"proxies\"\n"), testing::HasSubstr("host.locks is \"proxies\""));
}

}  // namespace
}  // namespace offhook::config
