// SPDX-License-Identifier: MIT
#include "driver/session/spsc_byte_ring.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace offhook::modem {
namespace {

using Bytes = std::vector<std::uint8_t>;

Bytes counting(std::size_t first, std::size_t n) {
  Bytes bytes(n);
  for (std::size_t i = 0; i < n; ++i) bytes[i] = static_cast<std::uint8_t>(first + i);
  return bytes;
}

TEST(SpscByteRing, TakesWhatHasRoomAndGivesItInOrderRoundItsEnd) {
  SpscByteRing<16> ring;
  std::size_t written = 0, read = 0;
  for (int turn = 0; turn < 50; ++turn) {
    const Bytes more = counting(written, 11);
    const std::size_t before = ring.size();
    EXPECT_EQ(ring.space(), 16 - before);
    const std::size_t taken = ring.write(more.data(), more.size());
    EXPECT_EQ(taken, std::min<std::size_t>(11, 16 - before));
    written += taken;
    EXPECT_EQ(ring.size(), before + taken);
    Bytes out(7);
    ASSERT_EQ(ring.peek(out.data(), 7), 7u);
    EXPECT_EQ(out, counting(read, 7));
    EXPECT_EQ(ring.size(), before + taken) << "they stay until they are dropped";
    ring.drop(5);
    read += 5;
  }
  Bytes rest(16);
  EXPECT_EQ(ring.peek(rest.data(), 16), ring.size());
}

}  // namespace
}  // namespace offhook::modem
