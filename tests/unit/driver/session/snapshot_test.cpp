// SPDX-License-Identifier: MIT
#include "driver/session/snapshot.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <thread>

namespace offhook::modem {
namespace {

using Words = std::array<std::uint64_t, 20>;

TEST(Snapshot, IsZeroBeforeTheFirstStore) {
  const Snapshot<Words> snapshot;
  EXPECT_EQ(snapshot.load(), Words{});
}

TEST(Snapshot, IsReadInOnePieceWhileItIsWritten) {
  constexpr std::uint64_t kStores = 200'000;
  Snapshot<Words> snapshot;
  std::thread writer([&] {
    for (std::uint64_t i = 1; i <= kStores; ++i) {
      Words words;
      words.fill(i);
      snapshot.store(words);
    }
  });
  std::uint64_t last = 0, torn = 0, backwards = 0;
  while (last < kStores) {
    const Words words = snapshot.load();
    torn += std::count(words.begin(), words.end(), words[0]) != std::ptrdiff_t{words.size()};
    backwards += words[0] < last;
    last = words[0];
  }
  writer.join();
  EXPECT_EQ(torn, 0u);
  EXPECT_EQ(backwards, 0u);
}

}  // namespace
}  // namespace offhook::modem
