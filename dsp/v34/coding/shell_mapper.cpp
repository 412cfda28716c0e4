// SPDX-License-Identifier: MIT
#include "dsp/v34/coding/shell_mapper.h"

#include "dsp/v34/coding/framing.h"

namespace offhook::v34 {
namespace {

// g2(p), (9-3): the number of pairs of rings with the sum p.
constexpr uint32_t g2(int rings, int p) {
  const int d = p < rings ? rings - 1 - p : p - (rings - 1);
  return static_cast<uint32_t>(rings - d);
}

constexpr int kMaxSum4 = 4 * (kMaxRings - 1);
constexpr int kMaxSum8 = 8 * (kMaxRings - 1);

struct ShellTable {
  uint32_t g4[kMaxSum4 + 1];  // (9-4): quadruples of sum p
  uint64_t z8[kMaxSum8 + 2];  // (9-6): 8-tuples with a sum below p; one entry more than the Recommendation needs
};

constexpr ShellTable make_table(int rings) {
  ShellTable t{};
  const int top2 = 2 * (rings - 1);
  for (int a = 0; a <= top2; ++a) {
    for (int b = 0; b <= top2; ++b) t.g4[a + b] += g2(rings, a) * g2(rings, b);
  }
  uint64_t g8[kMaxSum8 + 1]{};
  for (int a = 0; a <= 2 * top2; ++a) {
    for (int b = 0; b <= 2 * top2; ++b) g8[a + b] += uint64_t{t.g4[a]} * t.g4[b];
  }
  for (int p = 0; p <= kMaxSum8; ++p) t.z8[p + 1] = t.z8[p] + g8[p];
  return t;
}

struct ShellTables {
  ShellTable of[kMaxRings + 1];
};

constexpr ShellTables make_tables() {
  ShellTables all{};
  for (int rings = 1; rings <= kMaxRings; ++rings) all.of[rings] = make_table(rings);
  return all;
}

constexpr ShellTables kTables = make_tables();

constexpr int max_of(int a, int b) {
  return a > b ? a : b;
}

// Splits `sum` into two parts of at most `top`. A split has count(part) * count(sum - part) ways, and `rest` is the
// number of ways to skip. Returns the first part, and leaves the remainder in `rest`.
template <class Count>
int split(int sum, int top, uint64_t* rest, Count count) {
  int part = max_of(0, sum - top);
  for (;; ++part) {
    const uint64_t ways = uint64_t{count(part)} * count(sum - part);
    if (*rest < ways) return part;
    *rest -= ways;
  }
}

// Number of ways before the split into `part` and `sum - part`.
template <class Count>
uint64_t ways_before(int part, int sum, int top, Count count) {
  uint64_t ways = 0;
  for (int p = max_of(0, sum - top); p < part; ++p) ways += uint64_t{count(p)} * count(sum - p);
  return ways;
}

// (9-17) to (9-24): the pair of rings of a given sum and index.
void pair_from(int rings, int sum, int index, uint8_t pair[2]) {
  const int first = sum < rings ? index : sum - (rings - 1 - index);
  pair[0] = static_cast<uint8_t>(first);
  pair[1] = static_cast<uint8_t>(sum - first);
}

uint64_t index_of(int rings, const uint8_t pair[2]) {
  return pair[0] + pair[1] < rings ? pair[0] : static_cast<uint64_t>(rings - 1 - pair[1]);
}

}  // namespace

void shell_map(int rings, uint32_t index, uint8_t ring[8]) {
  const ShellTable& t = kTables.of[rings];
  const int top2 = 2 * (rings - 1);
  const auto count2 = [&](int p) { return g2(rings, p); };
  const auto count4 = [&](int p) { return t.g4[p]; };

  int a = 0;  // sum of all eight: the largest one with z8(a) <= index
  for (int step = 128; step > 0; step /= 2) {
    if (a + step <= 4 * top2 && t.z8[a + step] <= index) a += step;
  }
  uint64_t r1 = index - t.z8[a];
  const int b = split(a, 2 * top2, &r1, count4);  // sum of the first four
  uint64_t r4 = r1 % t.g4[b];
  uint64_t r5 = r1 / t.g4[b];
  const int c = split(b, top2, &r4, count2);      // sum of the first pair
  const int d = split(a - b, top2, &r5, count2);  // sum of the third pair
  const uint32_t gc = g2(rings, c);
  const uint32_t gd = g2(rings, d);
  const uint32_t ef = static_cast<uint32_t>(r4);
  const uint32_t gh = static_cast<uint32_t>(r5);
  pair_from(rings, c, static_cast<int>(ef % gc), ring);
  pair_from(rings, b - c, static_cast<int>(ef / gc), ring + 2);
  pair_from(rings, d, static_cast<int>(gh % gd), ring + 4);
  pair_from(rings, a - b - d, static_cast<int>(gh / gd), ring + 6);
}

uint64_t shell_unmap(int rings, const uint8_t ring[8]) {
  const ShellTable& t = kTables.of[rings];
  const int top2 = 2 * (rings - 1);
  const auto count2 = [&](int p) { return g2(rings, p); };
  const auto count4 = [&](int p) { return t.g4[p]; };

  const int c = ring[0] + ring[1];
  const int b = c + ring[2] + ring[3];
  const int d = ring[4] + ring[5];
  const int a = b + d + ring[6] + ring[7];
  const uint64_t r4 = index_of(rings, ring) + g2(rings, c) * index_of(rings, ring + 2);
  const uint64_t r5 = index_of(rings, ring + 4) + g2(rings, d) * index_of(rings, ring + 6);
  const uint64_t r2 = r4 + ways_before(c, b, top2, count2);
  const uint64_t r3 = r5 + ways_before(d, a - b, top2, count2);
  return t.z8[a] + ways_before(b, a, 2 * top2, count4) + r2 + t.g4[b] * r3;
}

void shell_ring_probability(int rings, int shell_bits, double* probability) {
  const uint64_t total = uint64_t{1} << shell_bits;
  const ShellTable& t = kTables.of[rings];
  // ways7(s): 7-tuples of sum s, so that ways7(s - m) counts the 8-tuples of sum s with ring m at a given position. It
  // is the generating function of 8-tuples divided by that of one ring, which is a running difference: g8(s) - g8(s-1)
  // = ways7(s) - ways7(s - M).
  const auto g8 = [&](int s) { return s < 0 ? 0.0 : static_cast<double>(t.z8[s + 1] - t.z8[s]); };
  double ways7[kMaxSum8 + 1];
  for (int s = 0; s <= 8 * (rings - 1); ++s) ways7[s] = g8(s) - g8(s - 1) + (s >= rings ? ways7[s - rings] : 0.0);
  for (int m = 0; m < rings; ++m) probability[m] = 0;
  for (int s = 0; s <= 8 * (rings - 1) && t.z8[s] < total; ++s) {
    const double taken = t.z8[s + 1] <= total ? 1.0 : static_cast<double>(total - t.z8[s]) / g8(s);
    for (int m = 0; m < rings && m <= s; ++m) probability[m] += taken * ways7[s - m] / static_cast<double>(total);
  }
}

}  // namespace offhook::v34
