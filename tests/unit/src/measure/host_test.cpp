// SPDX-License-Identifier: MIT
#include "src/measure/host.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <filesystem>
#include <set>

#include "src/lab/reproduce/published.h"
#include "src/measure/counters.h"
#include "src/measure/loads.h"

using namespace offhook;
using namespace offhook::measure;

TEST(PointerRing, VisitsEveryCellOnceAtItsStrideAndReturns) {
  for (const std::size_t stride : {std::size_t{16}, std::size_t{128}, std::size_t{4096}, std::size_t{0}}) {
    std::vector<std::uint64_t> array;
    const std::size_t bytes = 1 << 16, step = stride == 0 ? 128 : stride;
    void** const first = pointer_ring(array, bytes, stride);
    std::set<void**> seen;
    std::size_t in_order = 0;
    for (void** p = first; seen.insert(p).second;) {
      auto** next = static_cast<void**>(*p);
      in_order += reinterpret_cast<char*>(next) - reinterpret_cast<char*>(p) == std::ptrdiff_t(step) ? 1u : 0u;
      p = next;
    }
    EXPECT_EQ(seen.size(), bytes / step);
    for (void** p : seen) {
      const std::size_t at = std::size_t(reinterpret_cast<char*>(p) - reinterpret_cast<char*>(array.data()));
      EXPECT_LT(at, bytes);
      EXPECT_EQ(at % step, 0u);
    }
    if (stride != 0) {
      EXPECT_EQ(in_order, bytes / step - 1);
    } else {
      EXPECT_LT(in_order, bytes / step / 10);
    }
  }
}

TEST(Counter, CountsWhatTheWorkDid) {
  const auto& kinds = counter_kinds();
  const auto faults = std::find_if(kinds.begin(), kinds.end(), [](const auto& k) { return k.name == "page faults"; });
  ASSERT_NE(faults, kinds.end());
  try {
    Counter counter(*faults);
    counter.start();
    EXPECT_LT(counter.stop(), 8);
    constexpr std::size_t kPages = 500;
    counter.start();
    void* memory = mmap(nullptr, kPages * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ASSERT_NE(memory, MAP_FAILED);
    madvise(memory, kPages * 4096, MADV_NOHUGEPAGE);
    for (std::size_t page = 0; page < kPages; ++page) static_cast<volatile char*>(memory)[page * 4096] = 1;
    EXPECT_GE(counter.stop(), double(kPages));
    munmap(memory, kPages * 4096);
  } catch (const std::runtime_error& e) {
    GTEST_SKIP() << "no perf_event here: " << e.what();
  }
}

TEST(Counter, WhatAMachineDoesNotHaveIsNamed) {
  const CountersHere here = counters_here();
  for (const CounterKind& kind : counter_kinds()) {
    const bool there = std::find(here.kinds.begin(), here.kinds.end(), &kind) != here.kinds.end();
    EXPECT_NE(there, here.statement.find(kind.name) != std::string::npos) << kind.name;
  }
}

TEST(MeasureHost, QuantilesAreThoseOfTheSortedRepetitions) {
  HostRow row;
  EXPECT_EQ(row.median(), 0);
  row.values = {5, 1, 4, 2, 3};
  EXPECT_EQ(row.median(), 3);
  EXPECT_EQ(row.quantile(0), 1);
  EXPECT_EQ(row.quantile(1), 5);
}

TEST(MeasureHost, StopsWhenAskedWithWhatThereIs) {
  int asked = 0;
  const HostConfig config{.repetitions = 3,
                          .folder = std::filesystem::temp_directory_path(),
                          .workload_repetitions = 0,
                          .memory_limit = 4096};
  const HostResult result = measure_host(config, [&](double, const std::string&) { return ++asked <= 3; });
  EXPECT_EQ(result.rows.size(), 3u);
  EXPECT_TRUE(result.memory.empty());
}

TEST(MeasureHost, EveryRowHasANameOfItsOwnAndItsRepetitionsOrAReason) {
  const HostConfig config{.repetitions = 3,
                          .folder = std::filesystem::temp_directory_path(),
                          .workload_repetitions = 0,
                          .memory_limit = 8192};
  const HostResult result = measure_host(config, [](double, const std::string&) { return true; });
  std::set<std::string> names;
  for (const HostRow& row : result.rows) {
    EXPECT_TRUE(names.insert(row.name).second) << row.name;
    EXPECT_EQ(row.values.size(), row.skipped.empty() ? 3u : 0u) << row.name << ": " << row.skipped;
  }
  for (const char* name : {"network throughput", "network throughput, default buffer"})
    EXPECT_TRUE(names.contains(name)) << name;
  EXPECT_EQ(std::count_if(result.memory.begin(), result.memory.end(), [](const auto& c) { return c.stride == 0; }), 1)
      << "one curve of cells in random order";
}

TEST(MeasureHost, EveryApplicationHasItsPublishedTimes) {
  std::set<std::string> published, ours;
  for (const auto& row : reproduce::load_published("chen.table6").rows("rows")) published.insert(row.text("name"));
  for (const LoadKind& kind : load_kinds()) {
    if (kind.application) ours.insert(std::string(kind.name));
  }
  EXPECT_EQ(published, ours);
}
