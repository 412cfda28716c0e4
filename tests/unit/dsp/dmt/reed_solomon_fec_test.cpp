// SPDX-License-Identifier: MIT
//
// Our own Reed-Solomon code against libfec's, with the same field, generator and shortening.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <numeric>
#include <random>
#include <vector>

#include "dsp/dmt/reed_solomon.h"

extern "C" {
#include <fec.h>
}

namespace offhook::dmt {
namespace {

TEST(ReedSolomon, EncodesAndDecodesAsLibfecDoes) {
  std::mt19937 random(3);
  for (int check = 2; check <= 16; check += 2) {
    const ReedSolomon own(check);
    for (const int n : {check + 1, 60, 204, 255}) {
      SCOPED_TRACE(testing::Message() << "R " << check << ", N " << n);
      const int pad = 255 - n;
      void* fec = init_rs_char(8, 0x11d, 0, 1, check, pad);
      ASSERT_NE(fec, nullptr);
      for (int round = 0; round < 40; ++round) {
        std::vector<std::uint8_t> word(n), theirs(n);
        for (int k = 0; k < n - check; ++k) word[k] = static_cast<std::uint8_t>(random());
        theirs = word;
        own.encode(word.data(), n - check, &word[n - check]);
        encode_rs_char(fec, theirs.data(), &theirs[n - check]);
        ASSERT_EQ(word, theirs);
        const std::vector<std::uint8_t> sent = word;
        const int errors = static_cast<int>(random() % (check / 2 + 3));  // up to two more than can be corrected
        for (int e = 0; e < errors; ++e) word[random() % n] ^= static_cast<std::uint8_t>(1 + random() % 255);
        theirs = word;
        const int wrong = static_cast<int>(
            n - std::inner_product(word.begin(), word.end(), sent.begin(), 0, std::plus<>(), std::equal_to<>()));
        const int got = own.decode(word.data(), n);
        // libfec returns -2 if an error would be in the omitted part of a shortened word.
        EXPECT_EQ(got, std::max(-1, decode_rs_char(fec, theirs.data(), nullptr, 0)));
        if (got >= 0) {
          EXPECT_EQ(word, theirs);
        }
        if (2 * wrong <= check) {
          EXPECT_EQ(got, wrong);
          EXPECT_EQ(word, sent);
        }
      }
      free_rs_char(fec);
    }
  }
}

}  // namespace
}  // namespace offhook::dmt
