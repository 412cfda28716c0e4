// SPDX-License-Identifier: MIT
#include "dsp/dmt/reed_solomon.h"

namespace offhook::dmt {
namespace {

struct Field {
  uint8_t exp[512];  // alpha^n for two cycles, so that a sum of two logarithms is an index
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

uint64_t packed(const uint8_t* octets) {
  uint64_t out = 0;
  for (int k = 7; k >= 0; --k) out = out << 8 | octets[k];
  return out;
}
constexpr uint64_t kOnes = 0x0101010101010101;

/// Eight elements of the field, each divided by alpha.
uint64_t over_alpha(uint64_t octets) {
  return (octets >> 1 & 0x7f * kOnes) ^ (octets & kOnes) * 0x8e;
}
/// Whether one of eight octets is zero.
bool has_zero(uint64_t octets) {
  return ((octets - kOnes) & ~octets & 0x80 * kOnes) != 0;
}
constexpr int kMost = ReedSolomon::kMostCheck;

/// The shortest shift register that generates the syndromes. @param[out] locator  [kMost + 1] lowest power first
/// @return its length. Source: Berlekamp, Massey 1969
int error_locator(const uint8_t* syndromes, int count, uint8_t* locator) {
  uint8_t before[kMost + 1] = {1}, kept[kMost + 1];
  for (int k = 0; k <= kMost; ++k) locator[k] = k == 0 ? 1 : 0;
  int length = 0, shift = 1;
  uint8_t last = 1;
  for (int n = 0; n < count; ++n) {
    uint8_t d = syndromes[n];
    for (int k = 1; k <= length; ++k) d = static_cast<uint8_t>(d ^ times(locator[k], syndromes[n - k]));
    if (d == 0) {
      ++shift;
      continue;
    }
    for (int k = 0; k <= kMost; ++k) kept[k] = locator[k];
    const uint8_t factor = over(d, last);
    for (int k = shift; k <= kMost; ++k)
      locator[k] = static_cast<uint8_t>(locator[k] ^ times(factor, before[k - shift]));
    if (2 * length > n) {
      ++shift;
      continue;
    }
    length = n + 1 - length;
    for (int k = 0; k <= kMost; ++k) before[k] = kept[k];
    last = d;
    shift = 1;
  }
  return length;
}

}  // namespace

ReedSolomon::ReedSolomon(int check) : check_(check) {
  uint8_t g[kMostCheck + 1] = {1};  // highest power first
  for (int root = 0; root < check; ++root) {
    for (int k = root + 1; k > 0; --k) g[k] = static_cast<uint8_t>(g[k] ^ times(g[k - 1], alpha(root)));
  }
  for (int f = 1; f < 256; ++f) {
    if (const int rest = f & (f - 1); rest != 0) {  // for two bits or more: the sum of the values of single bits
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

void ReedSolomon::encode(const uint8_t* data, int n, uint8_t* check) const {
  Octets r;
  for (int k = 0; k < n; ++k) put(data[k], &r);
  for (int k = 0; k < check_; ++k) check[k] = r.at(k);
}

int ReedSolomon::decode(uint8_t* word, int n) const {
  Octets r;
  for (int k = 0; k < n - check_; ++k) put(word[k], &r);
  Correction correction;
  correction.begin(*this, r, word + n - check_, n);
  correction.search(n);
  return correction.apply(word);
}

void Correction::begin(const ReedSolomon& code, const ReedSolomon::Octets& expected, const uint8_t* check, int n) {
  n_ = n;
  errors_ = found_ = power_ = 0;
  // The difference between expected and received check octets: zero for a word of the code, otherwise with the same
  // syndromes as the word. They are computed for every word. If that code and its tables were skipped until the first
  // error, they would not be in the caches, and a symbol would cost a fifth more.
  const int count = code.check() < kMost ? code.check() : kMost;
  uint8_t syndromes[kMost] = {};
  for (int k = 0; k < count; ++k) {
    const uint8_t difference = expected.at(k) ^ check[k], some = difference != 0 ? 0xff : 0;
    const int power = count - 1 - k;
    for (int root = 0, log = kField.log[difference]; root < count; ++root) {
      syndromes[root] ^= kField.exp[log] & some;
      log += power;
      if (log >= 255) log -= 255;
    }
  }
  uint8_t locator[kMost + 1];
  errors_ = error_locator(syndromes, count, locator);
  if (2 * errors_ > count) {
    errors_ = -1;
    return;
  }
  stride_ = (n + kLanes - 1) / kLanes;
  for (int k = 0; k <= errors_; ++k) {
    locator_[k] = locator[k];
    uint8_t at[kLanes];
    for (int lane = 0; lane < kLanes; ++lane) at[lane] = over(locator[k], alpha(k * stride_ * lane));
    terms_[k] = packed(at);
  }
  // Numerators of the errors' values: syndromes times locator, modulo x^R. The rest of the array is zero.
  for (int k = 0; k < errors_; ++k) {
    evaluator_[k] = 0;
    for (int j = 0; j <= k; ++j)
      evaluator_[k] = static_cast<uint8_t>(evaluator_[k] ^ times(syndromes[k - j], locator[j]));
  }
}

// The octet of power p is wrong if the locator is zero at alpha^-p. Source: Chien 1964
void Correction::search(int places) {
  if (errors_ <= 0) return;
  const int more = power_ + (places + kLanes - 1) / kLanes, end = more < stride_ ? more : stride_;
  for (; power_ < end; ++power_) {
    uint64_t sums = 0;
    for (int k = 0; k <= errors_; ++k) {
      sums ^= terms_[k];
      for (int turn = 0; turn < k; ++turn) terms_[k] = over_alpha(terms_[k]);
    }
    if (!has_zero(sums)) continue;
    for (int power = power_; power < n_; power += stride_, sums >>= 8) {
      if ((sums & 0xff) == 0 && found_ < errors_) powers_[found_++] = static_cast<uint8_t>(power);
    }
  }
}

// Source: Forney 1965
int Correction::apply(uint8_t* word) const {
  if (errors_ <= 0) return errors_;
  if (found_ != errors_) return -1;
  uint8_t values[kMostErrors];
  for (int e = 0; e < found_; ++e) {
    const int p = powers_[e];
    const uint8_t x = alpha(255 - p);
    uint8_t value = 0, slope = 0, power = 1;
    for (int k = 0; k < errors_; ++k) {
      value ^= times(evaluator_[k], power);
      // Only the odd powers remain in the derivative.
      if (k % 2 == 0) slope ^= times(locator_[k + 1], power);
      power = times(power, x);
    }
    if (slope == 0) return -1;
    // Roots begin at alpha^0, so the value has the factor alpha^p.
    values[e] = times(alpha(p), over(value, slope));
  }
  for (int e = 0; e < found_; ++e) word[n_ - 1 - powers_[e]] ^= values[e];
  return found_;
}

}  // namespace offhook::dmt
