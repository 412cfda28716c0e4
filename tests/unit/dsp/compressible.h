// SPDX-License-Identifier: MIT
// Data for tests of compression: some that gain much by it, and some that gain nothing.
#ifndef OFFHOOK_TESTS_UNIT_DSP_COMPRESSIBLE_H
#define OFFHOOK_TESTS_UNIT_DSP_COMPRESSIBLE_H

#include <stddef.h>
#include <stdint.h>

#include <algorithm>
#include <array>
#include <random>
#include <string>
#include <vector>

namespace offhook::test {

using Bytes = std::vector<uint8_t>;

inline Bytes bytes(const std::string& text) {
  return {text.begin(), text.end()};
}

enum class Kind { kText, kRandom, kZeros, kPeriodic, kFewLetters, kMixed };
inline constexpr std::array kKinds = {Kind::kText,     Kind::kRandom,     Kind::kZeros,
                                      Kind::kPeriodic, Kind::kFewLetters, Kind::kMixed};
inline Bytes sample(Kind kind, size_t n, uint64_t seed) {
  std::mt19937_64 random(seed);
  static const std::array<std::string, 12> kWords = {"the ",   "modem ", "line ",   "is ",   "late",     ", ",
                                                     "signal", "and ",   "buffer ", "of a ", "connect ", ".\r\n"};
  Bytes out;
  while (out.size() < n) {
    const Kind now = kind != Kind::kMixed ? kind : kKinds[random() % 5];
    for (size_t piece = kind == Kind::kMixed ? random() % 3000 : n; piece > 0 && out.size() < n;) {
      if (now == Kind::kText) {
        const std::string& w = kWords[random() % kWords.size()];
        out.insert(out.end(), w.begin(), w.end());
        piece -= std::min(piece, w.size());
        continue;
      }
      out.push_back(now == Kind::kRandom     ? uint8_t(random())
                    : now == Kind::kZeros    ? uint8_t(0)
                    : now == Kind::kPeriodic ? uint8_t(out.size() % 7 * 51)
                                             : uint8_t('a' + random() % 3));
      --piece;
    }
  }
  out.resize(n);
  return out;
}

}  // namespace offhook::test
#endif
