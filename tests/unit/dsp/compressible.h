// SPDX-License-Identifier: MIT
// For tests of compression: data that gain much by it or nothing, and what feeds an encoder and a decoder.
#ifndef OFFHOOK_TESTS_UNIT_DSP_COMPRESSIBLE_H
#define OFFHOOK_TESTS_UNIT_DSP_COMPRESSIBLE_H

#include <gtest/gtest.h>
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

template <class E>
void encode(E& e, const Bytes& in, Bytes& out) {
  std::array<uint8_t, E::kMaxStep> step;
  for (const uint8_t c : in) {
    const size_t n = e.put(c, step.data());
    ASSERT_LE(n, step.size());
    out.insert(out.end(), step.begin(), step.begin() + long(n));
  }
}
template <class E>
void flush(E& e, Bytes& out) {
  std::array<uint8_t, E::kMaxStep> step;
  const size_t n = e.flush(step.data());
  ASSERT_LE(n, step.size());
  out.insert(out.end(), step.begin(), step.begin() + long(n));
}
template <class D>
Bytes decode(D& d, const Bytes& in, size_t at_once = 4096) {
  Bytes out, piece(at_once);
  for (size_t at = 0, n = at_once; n == at_once;) {
    size_t used = 0;
    n = d.put(in.data() + at, in.size() - at, &used, piece.data(), at_once);
    at += used;
    out.insert(out.end(), piece.begin(), piece.begin() + long(n));
  }
  return out;
}

/// Octets written by hand, least significant bit first.
struct BitWriter {
  void put(int value, int width) {
    for (int i = 0; i < width; ++i) {
      if (fill == 0) bytes.push_back(0);
      bytes.back() = uint8_t(bytes.back() | (value >> i & 1) << fill);
      fill = (fill + 1) % 8;
    }
  }
  Bytes bytes;
  int fill = 0;
};

}  // namespace offhook::test
#endif
