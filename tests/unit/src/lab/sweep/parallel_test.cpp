// SPDX-License-Identifier: MIT
#include "src/lab/sweep/parallel.h"

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <vector>

namespace offhook::sweep {
namespace {

// No lock and no atomic here: each element belongs to one job. ThreadSanitizer finds unintended sharing.
TEST(Parallel, EachJobIsDoneOnceWhateverTheThreads) {
  for (const unsigned threads : {1u, 2u, 8u, 1000u}) {
    for (const std::size_t n : {std::size_t{0}, std::size_t{1}, std::size_t{7}, std::size_t{500}}) {
      std::vector<int> done(n);
      parallel(n, threads, [&](std::size_t i) { ++done.at(i); });
      EXPECT_EQ(done, std::vector<int>(n, 1)) << n << " jobs on " << threads << " threads";
    }
  }
}

TEST(Parallel, TheFirstFailureEndsItOnceTheJobsUnderWayHave) {
  for (const unsigned threads : {1u, 4u}) {
    std::atomic<std::size_t> begun{0}, ended{0};
    const auto job = [&](std::size_t i) {
      ++begun;
      if (i == 10) throw std::runtime_error("job 10");
      ++ended;
    };
    try {
      parallel(1'000'000, threads, job);
      ADD_FAILURE() << "nothing was thrown";
    } catch (const std::runtime_error& e) {
      EXPECT_STREQ(e.what(), "job 10");
    }
    EXPECT_EQ(begun, ended + 1);
    EXPECT_GE(begun, 11u) << "jobs are begun in order";
    EXPECT_LT(begun, 1'000'000u);
  }
}

TEST(Parallel, OneOfSeveralFailuresIsThrown) {
  EXPECT_THROW(parallel(100, 8, [](std::size_t) { throw std::runtime_error("each"); }), std::runtime_error);
}

TEST(Parallel, NoMoreIsBegunWhenItIsToStop) {
  std::atomic<int> done{0};
  parallel(
      1000, 1, [&](std::size_t) { ++done; }, [&] { return done == 3; });
  EXPECT_EQ(done, 3);
  parallel(
      1000, 4, [&](std::size_t) { ++done; }, [] { return true; });
  EXPECT_EQ(done, 3);
}

}  // namespace
}  // namespace offhook::sweep
