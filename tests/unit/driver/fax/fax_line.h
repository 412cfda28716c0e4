// SPDX-License-Identifier: MIT
//
// A telephone line between two fax machines: a delay of 5 ms, attenuation, white noise and mains hum.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <numbers>
#include <random>
#include <vector>

#include "driver/fax/terminal.h"
#include "dsp/blocks/level.h"
#include "offhook/pump.h"

namespace offhook::fax {

struct FaxLine {
  double loss_db = 0;
  double noise_dbm0 = -100;
  double hum_dbm0 = -100, hum_hz = 50;  ///< at both receivers: the fundamental, and odd harmonics 10 dB below it
};

class LinePair {
 public:
  static constexpr std::size_t kBlock = 100;

  LinePair(const FaxLine& line, oh_pump a, oh_pump b)
      : hum_hz_(line.hum_hz),
        gain_(std::pow(10, -line.loss_db / 20)),
        hum_(dbm0_to_peak(0) * std::pow(10, line.hum_dbm0 / 20)),
        noise_(0, dbm0_to_rms(0) * std::pow(10, line.noise_dbm0 / 20)),
        a_(a),
        b_(b) {}

  /// A block at both ends. @param b_loses  b misses it
  void step(bool b_loses = false) {
    serve(a_, to_a_, to_b_, false);
    serve(b_, to_b_, to_a_, b_loses);
    samples_ += kBlock;
  }
  /// Whether the line is silent from now on.
  void cut(bool is_cut) { cut_ = is_cut; }
  std::size_t samples() const { return samples_; }
  double seconds() const { return static_cast<double>(samples_) / 8000; }

 private:
  void serve(const oh_pump& pump, std::deque<std::int16_t>& from, std::deque<std::int16_t>& to, bool lost) {
    std::vector<std::int16_t> rx(kBlock), tx(kBlock);
    for (std::size_t i = 0; i < kBlock; ++i) {
      const double turn = 2 * std::numbers::pi * hum_hz_ * static_cast<double>(samples_ + i) / 8000;
      const double mains = hum_ * (std::sin(turn) + 0.316 * (std::sin(3 * turn) + std::sin(5 * turn)));
      rx[i] = static_cast<std::int16_t>((cut_ ? 0 : from.front() * gain_) + noise_(random_) + mains);
      from.pop_front();
    }
    if (lost) {
      pump.report_gap(pump.self, kBlock);
    } else {
      pump.process(pump.self, rx.data(), tx.data(), kBlock);
    }
    to.insert(to.end(), tx.begin(), tx.end());
  }

  double hum_hz_, gain_, hum_;
  std::mt19937_64 random_{1};
  std::normal_distribution<double> noise_;
  oh_pump a_, b_;
  std::deque<std::int16_t> to_a_ = std::deque<std::int16_t>(400), to_b_ = std::deque<std::int16_t>(400);
  std::size_t samples_ = 0;
  bool cut_ = false;
};

/// How two machines are served until both have ended.
struct FaxService {
  std::size_t polls_every = 1;        ///< blocks
  std::size_t loses_every = 0;        ///< samples, at b; 0: never
  double cut_s = 0, cut_until_s = 0;  ///< the line is silent
  double limit_s = 300;
};

inline void serve_until_over(LinePair& line, Terminal& a, Terminal& b, const FaxService& service) {
  for (std::size_t k = 0; !a.progress().over || !b.progress().over; ++k) {
    if (line.seconds() > service.limit_s) break;
    line.cut(line.seconds() >= service.cut_s && line.seconds() < service.cut_until_s);
    line.step(service.loses_every > 0 && line.samples() % service.loses_every == 0);
    if (k % service.polls_every > 0) continue;
    a.poll();
    b.poll();
  }
}

}  // namespace offhook::fax
