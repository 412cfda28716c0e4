// SPDX-License-Identifier: MIT
#include "traces/import/load_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace offhook::traces {
namespace {

using hostsim::HostLoad;

HostLoad example() {
  HostLoad load;
  load.origin = "board.dat";
  load.duration = 60'000'000'000;
  load.sources = {{HostLoad::Kind::kInterrupt, 0, "eth0"},
                  {HostLoad::Kind::kThread, 90, "a \xff name"},
                  {HostLoad::Kind::kThread, hostsim::kLinuxPriorities - 1, "the highest"}};
  load.cpus = {{0, {{5, 100, 0}, {5, 1, 1}, {59'999'999'999, 400'000'000, 1}}, 3}, {2, {}, 0}};
  return load;
}

TEST(LoadFile, GivesBackWhatWasWritten) {
  EXPECT_EQ(read_load(write_load(example()), "x"), example());
}

TEST(LoadFile, TakesAboutFiveBytesAnInterval) {
  HostLoad load = example();
  load.cpus[0].intervals.clear();
  for (int k = 0; k < 10'000; ++k) load.cpus[0].intervals.push_back({k * hostsim::Ns{100'000}, 12'000 + k, 1});
  EXPECT_LT(write_load(load).size(), 10'000u * 7);
}

TEST(LoadFile, EveryTruncationAndEveryFlippedBitIsNoticed) {
  const std::string good = write_load(example());
  for (std::size_t length = 0; length < good.size(); ++length)
    EXPECT_THROW((void)read_load(good.substr(0, length), "x"), TraceError) << length;
  for (std::size_t bit = 0; bit < good.size() * 8; ++bit) {
    std::string bad = good;
    bad[bit / 8] = static_cast<char>(bad[bit / 8] ^ (1 << bit % 8));
    EXPECT_THROW((void)read_load(bad, "x"), TraceError) << bit;
  }
}

TEST(LoadFile, APriorityThatLinuxHasNotIsRefused) {
  HostLoad load = example();
  load.sources[1].priority = hostsim::kLinuxPriorities;
  EXPECT_THROW((void)read_load(write_load(load), "x"), TraceError);
}

TEST(LoadFile, SaysAtWhichByte) {
  try {
    (void)read_load(write_load(example()).substr(0, 20), "x.load");
    FAIL();
  } catch (const TraceError& e) {
    EXPECT_THAT(e.what(), ::testing::MatchesRegex("x.load: byte [0-9]+: expected .*"));
  }
}

}  // namespace
}  // namespace offhook::traces
