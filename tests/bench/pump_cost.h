// SPDX-License-Identifier: MIT
//
// What a pump costs in data mode over two wires: a call between two of them, each of which hears itself by its own
// hybrid and by the far one. Only the pumps are timed.
//
// measured() is the timed call, by its own name: instructions a sample are
//
//     valgrind --tool=callgrind '--toggle-collect=measured*' pump_cost_bench
//
// over the samples that are printed. (valgrind has no AVX-512: the variant is AVX2.)
#ifndef OFFHOOK_TESTS_BENCH_PUMP_COST_H
#define OFFHOOK_TESTS_BENCH_PUMP_COST_H

#include <algorithm>
#include <bit>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <random>
#include <vector>

#include "dsp/pump/pump_type.h"
#include "tests/unit/driver/user_modem/pump_pair.h"

extern "C" __attribute__((noinline)) inline void measured(const oh_pump_type* type, void* self, const void* rx,
                                                          void* tx, size_t n) {
  type->process(self, rx, tx, n);
}

namespace offhook::test {

/// The sequence of BitTester, 28 bits at a time: the tester must cost a pump that moves many bits nothing.
struct BlockTester {
  uint64_t tx = 1, rx = 0;  // the last 31 bits, the oldest one in bit 0
  uint64_t good = 0, bad = 0;

  static constexpr int kHistory = 31;
  static uint64_t predicted(uint64_t history, int n) { return (history ^ history >> 3) & ((uint64_t{1} << n) - 1); }
  static uint64_t with(uint64_t history, uint64_t bits, int n) { return (history | bits << kHistory) >> n; }
  uint64_t send(int n) {
    const uint64_t bits = predicted(tx, n);
    tx = with(tx, bits, n);
    return bits;
  }
  void check(uint64_t bits, int n) {
    const auto wrong = static_cast<uint64_t>(std::popcount(bits ^ predicted(rx, n)));
    bad += wrong;
    good += static_cast<uint64_t>(n) - wrong;
    rx = with(rx, bits, n);
  }
  /// Whole octets of a block, and the remaining bits.
  static int piece(size_t left) { return left < 24 ? static_cast<int>(left) : 24; }
  static void get_bits(void* user, uint8_t* octets, size_t n) {
    for (size_t k = 0; k < n; k += 24) {
      const uint64_t bits = static_cast<BlockTester*>(user)->send(piece(n - k));
      for (size_t o = 0; o < 3 && k + 8 * o < n; ++o) octets[k / 8 + o] = static_cast<uint8_t>(bits >> (8 * o));
    }
  }
  static void put_bits(void* user, const uint8_t* octets, size_t n) {
    for (size_t k = 0; k < n; k += 24) {
      uint64_t bits = 0;
      for (size_t o = 0; o < 3 && k + 8 * o < n; ++o) bits |= uint64_t{octets[k / 8 + o]} << (8 * o);
      const int now = piece(n - k);
      static_cast<BlockTester*>(user)->check(bits & ((uint64_t{1} << now) - 1), now);
    }
  }
  static int get_bit(void* user) { return static_cast<int>(static_cast<BlockTester*>(user)->send(1)); }
  static void put_bit(void* user, int bit) { static_cast<BlockTester*>(user)->check(static_cast<uint64_t>(bit), 1); }
  oh_bit_port port() { return {get_bit, put_bit, this, get_bits, put_bits}; }
};

/// Echo of an end's own signal, in dB below it; a large value means none.
struct Echoes {
  double near_db = 400, far_db = 400;
};

class TwoWires {
 public:
  static constexpr int kBlock = 40;
  static constexpr int kHybrid = 40;   ///< samples in the impulse response of a hybrid
  static constexpr int kOneWay = 160;  ///< samples between the ends; the far echo takes twice that

  TwoWires(const oh_pump_type* type, const Echoes& echoes) : type_(type) {
    std::mt19937 random(1);
    std::normal_distribution<double> normal;
    double energy = 0;
    for (int k = 0; k < kHybrid; ++k) {
      hybrid_[k] = std::exp(-k / 6.0) * normal(random);  // falls by 58 dB over 5 ms
      energy += hybrid_[k] * hybrid_[k];
    }
    for (double& h : hybrid_) h /= std::sqrt(energy);
    near_ = std::pow(10, -echoes.near_db / 20);
    far_ = std::pow(10, -echoes.far_db / 20);
    for (int end : {0, 1}) {
      oh_pump_config config{};
      config.struct_size = sizeof config;
      config.format = kLinear8000;
      config.role = static_cast<oh_pump_role>(end);
      config.tx_level_dbm0 = -12;
      config.io_delay_samples = kBlock;
      bits_[end].tx = end == 0 ? 0x1234567 : 0x7654321;
      config.port = bits_[end].port();
      self_[end].reset(std::aligned_alloc(64, type->size(&config)));
      if (type->init(self_[end].get(), &config) != 0) std::abort();
      sent_[end].assign(kHistory, 0);
    }
  }
  bool connect(double seconds) {
    for (int k = 0; k < seconds * 8000 / kBlock; ++k) {
      block(false);
      if (status(0).state == OH_PUMP_DATA && status(1).state == OH_PUMP_DATA) return true;
    }
    return false;
  }
  /// Nanoseconds per sample for each block of both ends.
  std::vector<double> run(double seconds) {
    ns_.clear();
    for (int k = 0; k < seconds * 8000 / kBlock; ++k) block(true);
    return ns_;
  }
  oh_pump_status status(int end) const {
    oh_pump_status s{};
    s.struct_size = sizeof s;
    type_->status(self_[end].get(), &s);
    return s;
  }
  const BlockTester& bits(int end) const { return bits_[end]; }
  /// FNV-1a over everything that both ends sent, so equal for pumps that compute the same.
  uint32_t hash() const { return hash_; }

 private:
  static constexpr int kHistory = 2 * kOneWay + kHybrid + 2 * kBlock;
  double through_hybrid(const std::vector<double>& x, int delay) const {
    double y = 0;
    for (int k = 0; k < kHybrid; ++k) y += hybrid_[k] * x[x.size() - 1 - static_cast<size_t>(delay + k)];
    return y;
  }
  void block(bool timed) {
    int16_t rx[2][kBlock], tx[kBlock];
    for (int i = 0; i < kBlock; ++i) {  // sample i receives what was sent i samples after the oldest of these delays
      const int back = kBlock - 1 - i;
      for (int end : {0, 1}) {
        const std::vector<double>&own = sent_[end], &other = sent_[1 - end];
        const double x = 0.5 * other[other.size() - 1 - static_cast<size_t>(kOneWay + back)] +
                         near_ * through_hybrid(own, back) + far_ * through_hybrid(own, 2 * kOneWay + back) +
                         noise_(random_);
        rx[end][i] = static_cast<int16_t>(std::lrint(std::clamp(x, -32768.0, 32767.0)));
      }
    }
    for (int end : {0, 1}) {
      const auto begin = std::chrono::steady_clock::now();
      if (timed) {
        measured(type_, self_[end].get(), rx[end], tx, kBlock);
      } else {
        type_->process(self_[end].get(), rx[end], tx, kBlock);
      }
      const std::chrono::duration<double, std::nano> t = std::chrono::steady_clock::now() - begin;
      if (timed) ns_.push_back(t.count() / kBlock);
      sent_[end].erase(sent_[end].begin(), sent_[end].begin() + kBlock);
      sent_[end].insert(sent_[end].end(), tx, tx + kBlock);
      for (const int16_t x : tx) hash_ = (hash_ ^ static_cast<uint16_t>(x)) * 0x01000193u;
    }
  }

  const oh_pump_type* type_;
  double hybrid_[kHybrid], near_, far_;
  BlockTester bits_[2];
  std::unique_ptr<void, decltype(&std::free)> self_[2]{{nullptr, &std::free}, {nullptr, &std::free}};
  std::vector<double> sent_[2];
  std::mt19937 random_{2};
  std::normal_distribution<double> noise_{0, 1};  // -77 dBm0
  std::vector<double> ns_;
  uint32_t hash_ = 0x811c9dc5;
};

/// Markdown rows: a pump without echoes and with the usual ones. @return whether all calls connected and all bits were
/// correct
inline bool print_cost(const oh_pump_type* type, double connect_s, double seconds) {
  std::printf(
      "| %s | ns a sample: median | 90 %% | bit/s | wrong bits | samples | hash |\n|---|---|---|---|---|---|---|\n",
      type->name);
  struct Row {
    const char* name;
    Echoes echoes;
  };
  bool good = true;
  for (const Row& row : {Row{"four wires", {}}, Row{"two wires: near echo 12 dB, far 30 dB", {12, 30}}}) {
    TwoWires wires(type, row.echoes);
    if (!wires.connect(connect_s)) {
      std::printf("| %s | no connection | | | | | |\n", row.name);
      good = false;
      continue;
    }
    wires.run(1);
    const uint64_t bad = wires.bits(0).bad + wires.bits(1).bad;
    std::vector<double> ns = wires.run(seconds);
    std::sort(ns.begin(), ns.end());
    const uint64_t wrong = wires.bits(0).bad + wires.bits(1).bad - bad;
    good = good && wrong == 0;
    std::printf("| %s | %.0f | %.0f | %u | %u | %.0f | %08x |\n", row.name, ns[ns.size() / 2], ns[ns.size() * 9 / 10],
                wires.status(0).rx_bit_rate, static_cast<unsigned>(wrong), 2 * (seconds + 1) * 8000, wires.hash());
    std::fflush(stdout);
  }
  return good;
}

}  // namespace offhook::test

#endif
