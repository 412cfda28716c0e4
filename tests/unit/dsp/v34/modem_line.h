// SPDX-License-Identifier: MIT
//
// A transmitter of training and random data, and simple lines between it and a receiver, at sample level.
#pragma once

#include <cmath>
#include <numbers>
#include <vector>

#include "dsp/blocks/level.h"
#include "dsp/qam/modulator.h"
#include "dsp/qam/receiver.h"
#include "dsp/v34/coding/framing.h"
#include "dsp/v34/session/receive_signals.h"
#include "dsp/v34/session/transmit_signals.h"
#include "hostsim/channel/resampler.h"
#include "tests/unit/dsp/v34/random.h"

namespace offhook::v34 {

using qam::Modulator;
using qam::Receiver;

inline constexpr double kTestRms = 2000;
inline constexpr qam::CyclicTraining kPp{pp_symbol, kPpSymbols};

/// Calls symbol() for each due symbol. @return `samples` of the line
template <class NextSymbol>
std::vector<float> modulate(Modulator& modulator, size_t samples, NextSymbol&& symbol) {
  std::vector<float> line;
  line.reserve(samples);
  for (size_t n = 0; n < samples; ++n) {
    if (modulator.wants_symbol()) modulator.put(symbol());
    line.push_back(modulator.next());
  }
  return line;
}

/// Silence, S, S-bar, optionally PP, then TRN continuously.
class TrainingSource {
 public:
  TrainingSource(Scrambling s, bool pp, int silence) : tx_(s), pp_(pp) { tx_.start(Signal::kSilence, silence); }
  Complex operator()() {
    if (tx_.ended()) {
      switch (tx_.signal()) {
        case Signal::kSilence:
          tx_.start(Signal::kS);
          break;
        case Signal::kS:
          tx_.start(Signal::kSBar);
          break;
        case Signal::kSBar:
          if (pp_) {
            tx_.start(Signal::kPp);
            break;
          }
          [[fallthrough]];
        case Signal::kPp:
          tx_.start_trn(TrainingPoints::k4, 1 << 20);
          break;
        default:
          break;
      }
    }
    return tx_.next();
  }

 private:
  TransmitSignals tx_;
  bool pp_;
};

/// The far crystal is `ppm` faster: it plays the same samples in a shorter time.
inline std::vector<float> clocked(const std::vector<float>& x, int ppm) {
  hostsim::Resampler resampler(static_cast<uint64_t>(1000000 + ppm), 1000000);
  std::vector<float> y;
  for (const float v : x) {
    resampler.push(v);
    while (resampler.ready()) y.push_back(resampler.pull());
  }
  return y;
}

/// Shifts every frequency by `hz` with a Hilbert transformer of 255 taps; good above 100 Hz.
inline std::vector<float> shifted(const std::vector<float>& x, double hz) {
  constexpr int kHalf = 127;
  std::vector<float> y(x.size());
  for (int n = 0; n < static_cast<int>(x.size()); ++n) {
    double q = 0;
    for (int k = -kHalf; k <= kHalf; k += 2) {
      const int at = n - kHalf - k;
      if (at < 0 || at >= static_cast<int>(x.size())) continue;
      const double window = 0.54 + 0.46 * std::cos(std::numbers::pi * k / (kHalf + 1));
      q += x[static_cast<size_t>(at)] * window * 2 / (std::numbers::pi * k);
    }
    const double i = n >= kHalf ? x[static_cast<size_t>(n - kHalf)] : 0;
    const double w = 2 * std::numbers::pi * hz * n / 8000;
    y[static_cast<size_t>(n)] = static_cast<float>(i * std::cos(w) - q * std::sin(w));
  }
  return y;
}

/// White noise: this signal-to-noise ratio over 0 to 3400 Hz, for a signal of kTestRms.
inline void add_noise(std::vector<float>* x, double snr_db, uint32_t seed, double rms = kTestRms) {
  Random random(seed, 99);
  const double sigma = rms * std::pow(10, -snr_db / 20) * std::sqrt(4000.0 / 3400);
  for (float& v : *x) v += static_cast<float>(sigma * random.gaussian());
}

/// The receiver's results for a training received from its start.
struct Heard {
  int s = 0, s_bar = 0, age = 0;
  int symbols = 0;  ///< of TRN
  int wrong = 0;    ///< of these, not the known ones
  double snr_db = 0;
};

/// Runs a receiver over a line with S, S-bar, optionally PP, and TRN. The errors are of the last `measured` symbols.
inline Heard hear(Receiver& receiver, const std::vector<float>& line, Scrambling s, bool pp, int measured = 1000) {
  Heard h;
  ReceiveSignals signals(s);
  bool following = false;
  std::vector<double> errors;
  TrainingEncoder known(s, TrainingPoints::k4);
  for (const float v : line) {
    if (receiver.process(v) && following) {
      const Complex y = receiver.symbol();
      const Complex sent = signals.decide(y);
      const int before = signals.trn_symbols();
      signals.put(y);
      receiver.adapt(sent);
      if (before >= 0) {
        const Point p = known.trn();
        const bool right = y.re * static_cast<float>(p.re) > 0 && y.im * static_cast<float>(p.im) > 0;
        ++h.symbols;
        h.wrong += !right;
        const Complex d = y - Complex{static_cast<float>(p.re), static_cast<float>(p.im)};
        errors.push_back(norm(d) / 2);
      }
    }
    switch (receiver.take_event()) {
      case Receiver::Event::kS:
        ++h.s;
        break;
      case Receiver::Event::kSBar:
        ++h.s_bar;
        h.age = receiver.s_bar_age();
        signals.start(receiver.symbols_skipped(), pp, TrainingPoints::k4, 512);
        known = TrainingEncoder(s, TrainingPoints::k4);
        following = true;
        receiver.set_task(Receiver::Task::kFollow);
        break;
      default:
        break;
    }
  }
  double sum = 0;
  const size_t n = std::min<size_t>(errors.size(), static_cast<size_t>(measured));
  for (size_t k = errors.size() - n; k < errors.size(); ++k) sum += errors[k];
  h.snr_db = n == 0 ? -100 : -10 * std::log10(sum / static_cast<double>(n) + 1e-12);
  return h;
}

}  // namespace offhook::v34
