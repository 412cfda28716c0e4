// SPDX-License-Identifier: MIT
//
// Two pumps over a line that moves frequencies, joins two clocks and returns echoes: what test::PumpPair's has not.
#pragma once

#include <array>
#include <cmath>
#include <cstdlib>
#include <deque>
#include <memory>
#include <numbers>
#include <random>
#include <stdexcept>

#include "dsp/pump/pump_type.h"

namespace offhook::test {

struct Roughness {
  double offset_hz = 0;      // of both directions
  int ppm = 0;               // how much faster the answerer's clock is
  double loss_db = 0;        // of both directions
  double echo_db = 200;      // this end's signal, 1 ms later, at this level
  double noise_dbm0 = -200;  // in 4 kHz, at both receivers
  size_t delay = 40;         // samples
  uint32_t max_bit_rate = 0;
  uint32_t guard_tone_hz = 0;  // of the answerer
  unsigned seed = 1;
};

/// Shifts every frequency upwards with a Hilbert transformer of 127 taps, good above 200 Hz.
class FrequencyShift {
 public:
  explicit FrequencyShift(double hz) : step_(2 * std::numbers::pi * hz / 8000) {}
  double put(double x) {
    constexpr int kHalf = 63;
    at_ = (at_ + 1) % kSize;
    x_[at_] = x;
    double q = 0;
    for (int k = -kHalf; k <= kHalf; k += 2) {
      const double window = 0.54 + 0.46 * std::cos(std::numbers::pi * k / (kHalf + 1));
      q += x_[(at_ + kSize - static_cast<size_t>(kHalf + k)) % kSize] * window * 2 / (std::numbers::pi * k);
    }
    const double i = x_[(at_ + kSize - kHalf) % kSize];
    phase_ = std::remainder(phase_ + step_, 2 * std::numbers::pi);
    return i * std::cos(phase_) - q * std::sin(phase_);
  }

 private:
  static constexpr size_t kSize = 128;
  double step_, phase_ = 0;
  double x_[kSize] = {};
  size_t at_ = 0;
};

/// From one clock to another: output n is the input at n * ratio, 17 samples later, by a windowed sinc.
class ClockStep {
 public:
  explicit ClockStep(double ratio) : ratio_(ratio) {}
  void push(double x) { x_[pushed_++ % kSize] = x; }
  bool ready() const { return static_cast<double>(pushed_) > at_ + kHalf; }
  double pull() {
    const double whole = std::floor(at_);
    double sum = 0;
    for (int k = 1 - kHalf; k <= kHalf; ++k) {
      const double i = whole + k, d = at_ - i;
      if (i < 0) continue;
      const double sinc = std::abs(d) < 1e-9 ? 1 : std::sin(std::numbers::pi * d) / (std::numbers::pi * d);
      const double window = 0.5 + 0.5 * std::cos(std::numbers::pi * d / (kHalf + 1));
      sum += x_[static_cast<size_t>(i) % kSize] * sinc * window;
    }
    at_ += ratio_;
    return sum;
  }

 private:
  static constexpr int kHalf = 17;
  static constexpr size_t kSize = 64;
  double ratio_, at_ = 0;
  double x_[kSize] = {};
  size_t pushed_ = 0;
};

class RoughLine {
 public:
  /// port[0] is the caller's.
  RoughLine(std::array<const oh_pump_type*, 2> types, const Roughness& r, std::array<oh_bit_port, 2> ports)
      : types_(types),
        rough_(r),
        shift_{FrequencyShift(r.offset_hz), FrequencyShift(r.offset_hz)},
        clock_{ClockStep(1 / (1 + r.ppm * 1e-6)), ClockStep(1 + r.ppm * 1e-6)},
        random_(r.seed) {
    for (const size_t end : {0u, 1u}) {
      oh_pump_config config{};
      config.format = kLinear8000;
      config.role = static_cast<oh_pump_role>(end);
      config.tx_level_dbm0 = -12;
      config.max_bit_rate = r.max_bit_rate;
      config.guard_tone_hz = r.guard_tone_hz;
      config.port = ports[end];
      self_[end].reset(std::aligned_alloc(64, types[end]->size(&config)));
      if (types[end]->init(self_[end].get(), &config) != 0) throw std::invalid_argument("pump's configuration");
      to_[end].assign(r.delay, 0);
      own_[end].assign(8, 0);
    }
  }
  void* pump(size_t end) { return self_[end].get(); }
  void run(double seconds) {
    for (long n = std::lround(seconds * 8000); n > 0; --n) {
      step(0);
      while (!to_[1].empty()) step(1);
    }
  }
  oh_pump_status status(size_t end) const {
    oh_pump_status s;
    types_[end]->status(self_[end].get(), &s);
    return s;
  }
  bool connected() const { return status(0).state == OH_PUMP_DATA && status(1).state == OH_PUMP_DATA; }
  bool connect(double seconds) {
    for (double t = 0; t < seconds && !connected(); t += 0.1) run(0.1);
    return connected();
  }

 private:
  void step(size_t end) {
    double x = 0;
    if (!to_[end].empty()) {
      x = to_[end].front();
      to_[end].pop_front();
    }
    const double rms = 16141 * std::pow(10, rough_.noise_dbm0 / 20);
    x += own_[end].front() * std::pow(10, -rough_.echo_db / 20) + rms * normal_(random_);
    own_[end].pop_front();
    int16_t rx = static_cast<int16_t>(std::lrint(std::fmin(std::fmax(x, -32767), 32767))), tx;
    types_[end]->process(self_[end].get(), &rx, &tx, 1);
    own_[end].push_back(tx);
    clock_[end].push(shift_[end].put(tx * std::pow(10, -rough_.loss_db / 20)));
    while (clock_[end].ready()) to_[1 - end].push_back(clock_[end].pull());
  }

  struct Free {
    void operator()(void* p) const { std::free(p); }
  };
  std::array<const oh_pump_type*, 2> types_;
  Roughness rough_;
  FrequencyShift shift_[2];
  ClockStep clock_[2];
  std::mt19937_64 random_;
  std::normal_distribution<double> normal_;
  std::unique_ptr<void, Free> self_[2];
  std::deque<double> to_[2], own_[2];
};

}  // namespace offhook::test
