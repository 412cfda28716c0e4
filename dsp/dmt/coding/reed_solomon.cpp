// SPDX-License-Identifier: MIT
#include "dsp/dmt/coding/reed_solomon.h"

namespace offhook::dmt {
namespace {

struct Field {
  uint8_t exp[512];  // alpha^n, twice round, so that a sum of two logarithms is an index
  uint8_t log[256];
};
constexpr Field make_field() {
  Field f{};
  unsigned x = 1;
  for (int n = 0; n < 255; ++n) {
    f.exp[n] = f.exp[n + 255] = static_cast<uint8_t>(x);
    f.log[x] = static_cast<uint8_t>(n);
    x <<= 1;
    if ((x & 0x100) != 0) x ^= 0x11d;
  }
  return f;
}
constexpr Field kField = make_field();

uint8_t times(uint8_t a, uint8_t b) {
  return a == 0 || b == 0 ? uint8_t{0} : kField.exp[kField.log[a] + kField.log[b]];
}
uint8_t over(uint8_t a, uint8_t b) {
  return a == 0 ? uint8_t{0} : kField.exp[kField.log[a] + 255 - kField.log[b]];
}
/// alpha^n, n at least 0
uint8_t alpha(int n) {
  return kField.exp[n % 255];
}

constexpr int kMost = ReedSolomon::kMostCheck;

/// Lowest power first.
struct Polynomial {
  uint8_t c[kMost + 1]{};
  uint8_t at(uint8_t x) const {
    uint8_t y = 0;
    for (int k = kMost; k >= 0; --k) y = static_cast<uint8_t>(times(y, x) ^ c[k]);
    return y;
  }
};

uint64_t packed(const uint8_t* octets) {
  uint64_t out = 0;
  for (int k = 7; k >= 0; --k) out = out << 8 | octets[k];
  return out;
}
uint8_t octet_of(uint64_t low, uint64_t high, int k) {
  return static_cast<uint8_t>(k < 8 ? low >> 8 * k : high >> 8 * (k - 8));
}

/// The shortest shift register that makes the syndromes. @return its length
int error_locator(const uint8_t* syndromes, int count, Polynomial* locator) {
  Polynomial now, before;
  now.c[0] = before.c[0] = 1;
  int length = 0, shift = 1;
  uint8_t last = 1;
  for (int n = 0; n < count; ++n) {
    uint8_t d = syndromes[n];
    for (int k = 1; k <= length; ++k) d = static_cast<uint8_t>(d ^ times(now.c[k], syndromes[n - k]));
    if (d == 0) {
      ++shift;
      continue;
    }
    const Polynomial kept = now;
    const uint8_t factor = over(d, last);
    for (int k = shift; k <= kMost; ++k) now.c[k] = static_cast<uint8_t>(now.c[k] ^ times(factor, before.c[k - shift]));
    if (2 * length > n) {
      ++shift;
      continue;
    }
    length = n + 1 - length;
    before = kept;
    last = d;
    shift = 1;
  }
  *locator = now;
  return length;
}

}  // namespace

ReedSolomon::ReedSolomon(int check) : check_(check) {
  uint8_t g[kMostCheck + 1] = {1};  // highest power first
  for (int root = 0; root < check; ++root) {
    for (int k = root + 1; k > 0; --k) g[k] = static_cast<uint8_t>(g[k] ^ times(g[k - 1], alpha(root)));
  }
  for (int f = 1; f < 256; ++f) {
    if (const int rest = f & (f - 1); rest != 0) {  // of two bits or more: the sum of theirs
      const Octets& a = multiples_[rest];
      const Octets& b = multiples_[f ^ rest];
      multiples_[f] = {a.low ^ b.low, a.high ^ b.high};
      continue;
    }
    uint8_t row[kMostCheck]{};
    for (int k = 0; k < check; ++k) row[k] = times(static_cast<uint8_t>(f), g[k + 1]);
    multiples_[f] = {packed(row), packed(row + 8)};
  }
}

ReedSolomon::Octets ReedSolomon::remainder(const uint8_t* octets, int n) const {
  Octets r;
  for (int i = 0; i < n; ++i) {
    const Octets& m = multiples_[octets[i] ^ (r.low & 0xff)];
    r.low = (r.low >> 8 | r.high << 56) ^ m.low;
    r.high = r.high >> 8 ^ m.high;
  }
  return r;
}

void ReedSolomon::encode(const uint8_t* data, int n, uint8_t* check) const {
  const Octets r = remainder(data, n);
  for (int k = 0; k < check_; ++k) check[k] = octet_of(r.low, r.high, k);
}

int ReedSolomon::decode(uint8_t* word, int n) const {
  // What the check octets should be against what they are: nothing for a word of the code, else the same syndromes as
  // the word's.
  const Octets r = remainder(word, n - check_);
  uint8_t difference[kMostCheck];
  uint8_t any = 0;
  for (int k = 0; k < check_ && k < kMostCheck; ++k) {
    difference[k] = octet_of(r.low, r.high, k) ^ word[n - check_ + k];
    any |= difference[k];
  }
  if (any == 0) return 0;
  uint8_t syndromes[kMostCheck];
  for (int root = 0; root < check_; ++root) {
    uint8_t s = 0;
    for (int k = 0; k < check_; ++k) s = static_cast<uint8_t>(times(s, alpha(root)) ^ difference[k]);
    syndromes[root] = s;
  }
  Polynomial locator;
  const int errors = error_locator(syndromes, check_, &locator);
  if (2 * errors > check_) return -1;

  // Numerators of the errors' values: syndromes times locator, modulo x^R.
  Polynomial evaluator;
  for (int k = 0; k < check_; ++k) {
    for (int j = 0; j <= k; ++j)
      evaluator.c[k] = static_cast<uint8_t>(evaluator.c[k] ^ times(syndromes[k - j], locator.c[j]));
  }
  // The octet of power p is wrong where the locator is zero at alpha^-p.
  int places[kMostCheck / 2];
  uint8_t values[kMostCheck / 2];
  int found = 0;
  for (int p = 0; p < n; ++p) {
    const uint8_t x = alpha(255 - p);
    if (locator.at(x) != 0) continue;
    if (found == errors) return -1;
    // The derivative has the odd powers alone.
    uint8_t slope = 0;
    for (int k = 1; k <= errors; k += 2) {
      uint8_t term = locator.c[k];
      for (int e = 1; e < k; ++e) term = times(term, x);
      slope ^= term;
    }
    if (slope == 0) return -1;
    // Roots begin at alpha^0: the value has the factor alpha^p.
    places[found] = n - 1 - p;
    values[found] = times(alpha(p), over(evaluator.at(x), slope));
    ++found;
  }
  if (found != errors) return -1;
  for (int k = 0; k < found; ++k) word[places[k]] ^= values[k];
  return found;
}

}  // namespace offhook::dmt
