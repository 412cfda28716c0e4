// SPDX-License-Identifier: MIT
//
// A call of ten times the length takes no more memory.
#include <gtest/gtest.h>
#include <malloc.h>

#include "tests/sim/calls.h"

namespace offhook {
namespace {

/// Maximum heap memory of a call at any of its seconds, in addition to the memory before it.
std::size_t heap_peak(std::uint64_t bytes, std::string_view context, double& simulated_s) {
  hostsim::Scenario s = test::scenario(context);
  s.bytes = bytes;
  const hostsim::CostProfile profile = config::load_profile(s.cost_profile);
  std::vector<oh_event> ring(1 << 16), out(1 << 16);
  const std::size_t before = mallinfo2().uordblks;
  oh_event_log log{};
  oh_event_log_init(&log, ring.data(), ring.size(), 0);
  hostsim::Call call(s, profile, hostsim::make_link_model_connection(s, profile, &log), &log);
  std::size_t peak = 0;
  bool more = true;
  for (hostsim::Ns horizon = 1'000'000'000; more; horizon += 1'000'000'000) {
    more = call.advance(horizon);
    oh_event_log_read(&log, out.data(), out.size());
    peak = std::max(peak, mallinfo2().uordblks - before);
  }
  EXPECT_TRUE(call.result().completed);
  EXPECT_EQ(oh_event_log_lost(&log), 0u);
  simulated_s = call.result().simulated_s;
  return peak;
}

TEST(Memory, ACallOfTenTimesTheLengthTakesNoMore) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "a sanitizer's allocator does not say what is in use";
#endif
  double short_s = 0, long_s = 0;
  heap_peak(100'000, "RES 2/8", short_s);  // memory that is allocated once and kept exists now
  const std::size_t once = heap_peak(200'000, "RES 2/8", short_s);
  const std::size_t tenfold = heap_peak(3'300'000, "RES 2/8", long_s);
  EXPECT_GE(long_s, 10 * short_s);
  EXPECT_GT(once, 0u);
  EXPECT_LE(tenfold, once + once / 10);
}

}  // namespace
}  // namespace offhook
