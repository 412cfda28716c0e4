// SPDX-License-Identifier: MIT
// Two pumps and the simplest line between them: delay, attenuation, white noise and samples that one end loses.
#ifndef OFFHOOK_TESTS_UNIT_DSP_SPANDSP_PUMP_PAIR_H
#define OFFHOOK_TESTS_UNIT_DSP_SPANDSP_PUMP_PAIR_H

#include <array>
#include <cmath>
#include <cstdlib>
#include <deque>
#include <memory>
#include <random>
#include <stdexcept>
#include <vector>

#include "dsp/pump/pump_type.h"
#include "offhook/pump.h"

namespace offhook::test {

/// Sends a pseudo-random sequence (x^31 + x^28 + 1) and checks a received one; finds its position automatically, so a
/// wrong bit counts three times and a slip at most 31 times.
struct BitTester {
  uint32_t tx = 1, rx = 0;
  uint64_t good = 0, bad = 0;
  std::vector<uint8_t> received;  // kept when `keep`
  bool keep = false;

  static uint32_t predicted(uint32_t r) { return ((r >> 30) ^ (r >> 27)) & 1; }
  static int get(void* user) {
    auto& t = *static_cast<BitTester*>(user);
    const uint32_t bit = predicted(t.tx);
    t.tx = t.tx << 1 | bit;
    return int(bit);
  }
  static void put(void* user, int bit) {
    auto& t = *static_cast<BitTester*>(user);
    ++(predicted(t.rx) == uint32_t(bit) ? t.good : t.bad);
    t.rx = t.rx << 1 | uint32_t(bit);
    if (t.keep) t.received.push_back(uint8_t(bit));
  }
  oh_bit_port port() { return {get, put, this}; }
};

struct LineConfig {
  size_t delay_samples = 40;
  double attenuation_db = 0;
  double snr_db = 200;  // in the 4 kHz band, at the receiver
  double tx_level_dbm0 = -12;
  uint32_t max_bit_rate[2] = {0, 0}, min_bit_rate[2] = {0, 0};
  uint32_t modulations[2] = {0, 0};
  unsigned seed = 1;
};

constexpr double kFullScaleSineDbm0 = 3.14;

inline double dbm0(double mean_square) {
  return 10 * std::log10(mean_square * 2 / (32768.0 * 32768.0)) + kFullScaleSineDbm0;
}

class PumpPair {
 public:
  /// port[0] is the caller's.
  PumpPair(const oh_pump_type* ops, LineConfig line, std::array<oh_bit_port, 2> port)
      : PumpPair(std::array{ops, ops}, line, port) {}
  PumpPair(std::array<const oh_pump_type*, 2> ops, LineConfig line, std::array<oh_bit_port, 2> port)
      : ops_(ops), line_(line), random_(line.seed) {
    for (int i = 0; i < 2; ++i) {
      oh_pump_config config{};
      config.format = kLinear8000;
      config.role = oh_pump_role(i);
      config.max_bit_rate = line.max_bit_rate[i];
      config.min_bit_rate = line.min_bit_rate[i];
      config.modulations = line.modulations[i];
      config.tx_level_dbm0 = float(line.tx_level_dbm0);
      config.port = port[size_t(i)];
      const size_t size = ops[size_t(i)]->size(&config);
      self_[i].reset(std::aligned_alloc(64, size));
      if (ops[size_t(i)]->init(self_[i].get(), &config) != 0) throw std::invalid_argument("pump's configuration");
      to_[i].assign(line.delay_samples, 0);
    }
    gain_ = std::pow(10, -line.attenuation_db / 20);
    set_snr(line.snr_db);
  }

  /// Noise from now on, in the 4 kHz band.
  void set_snr(double snr_db) {
    noise_ = 32768 / std::sqrt(2) *
             std::pow(10, (line_.tx_level_dbm0 - kFullScaleSineDbm0 - line_.attenuation_db - snr_db) / 20);
  }

  /// Both ends process n samples, in blocks of `block`. The line needs delay_samples >= block.
  void run(size_t n, size_t block = 1) {
    std::vector<int16_t> rx(block), tx[2];
    for (size_t done = 0; done < n; done += block) {
      const size_t now = std::min(block, n - done);
      for (int i = 0; i < 2; ++i) {
        take(i, rx.data(), now);
        tx[i].resize(now);
        ops_[size_t(i)]->process(self_[i].get(), rx.data(), tx[i].data(), now);
      }
      for (int i = 0; i < 2; ++i) give(1 - i, tx[i].data(), now);
    }
  }

  /// `end` misses n samples while its card plays silence. It is then informed, unless `tell` is false.
  void lose(int end, size_t n, bool tell = true) {
    for (size_t done = 0; done < n; ++done) {
      int16_t rx, tx, silence = 0;
      take(end, &rx, 1);
      take(1 - end, &rx, 1);
      ops_[size_t(1 - end)]->process(self_[1 - end].get(), &rx, &tx, 1);
      give(end, &tx, 1);
      give(1 - end, &silence, 1);
    }
    if (tell) ops_[size_t(end)]->report_gap(self_[end].get(), n);
  }

  void* pump(int end) { return self_[end].get(); }
  void hang_up(int end) { ops_[size_t(end)]->hang_up(self_[end].get()); }

  oh_pump_status status(int end) const {
    oh_pump_status s;
    ops_[size_t(end)]->status(self_[end].get(), &s);
    return s;
  }
  bool connected() const { return status(0).state == OH_PUMP_DATA && status(1).state == OH_PUMP_DATA; }

  /// Runs until both ends are in data mode.  @return false after `seconds` without data mode
  bool connect(double seconds, size_t block = 1) {
    for (double t = 0; t < seconds; t += 0.1) {
      if (connected()) return true;
      run(800, block);
    }
    return connected();
  }

  double mean_square(int end) const { return power_[end] / double(sent_); }
  int peak(int end) const { return peak_[end]; }
  void clear_level() { power_[0] = power_[1] = 0, peak_[0] = peak_[1] = 0, sent_ = 0; }

 private:
  struct Free {
    void operator()(void* p) const { std::free(p); }
  };
  void take(int end, int16_t* out, size_t n) {
    for (size_t i = 0; i < n; ++i) {
      out[i] = int16_t(std::lrint(to_[end].front() * gain_ + normal_(random_) * noise_));
      to_[end].pop_front();
    }
  }
  void give(int end, const int16_t* in, size_t n) {
    for (size_t i = 0; i < n; ++i) {
      to_[end].push_back(in[i]);
      power_[1 - end] += double(in[i]) * in[i];
      peak_[1 - end] = std::max(peak_[1 - end], std::abs(int(in[i])));
    }
    if (end == 0) sent_ += n;
  }

  std::array<const oh_pump_type*, 2> ops_;
  LineConfig line_;
  std::unique_ptr<void, Free> self_[2];
  std::deque<int16_t> to_[2];
  std::mt19937_64 random_;
  std::normal_distribution<double> normal_;
  double gain_, noise_;
  double power_[2] = {0, 0};
  int peak_[2] = {0, 0};
  uint64_t sent_ = 0;
};

}  // namespace offhook::test
#endif
