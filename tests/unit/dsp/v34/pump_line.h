// SPDX-License-Identifier: MIT
//
// Two whole pumps of V.34 and a line between them that keeps what either sent, and can carry something else instead.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdlib>
#include <deque>
#include <memory>
#include <optional>
#include <random>
#include <vector>

#include "dsp/blocks/dpsk.h"
#include "dsp/blocks/level.h"
#include "dsp/pump/pump_type.h"
#include "dsp/v34/phase2/info.h"
#include "dsp/v34/phase2/phase2.h"
#include "dsp/v34/session/handover.h"
#include "dsp/v34/session/pump.h"
#include "tests/unit/driver/user_modem/pump_pair.h"

namespace offhook::test {

/// Two pumps that begin with Phase 2, on a line with 20 ms per direction, white noise and, for the signal of end i, the
/// attenuation (1 + a^2 + 2 a cos(2 pi f / 8000)) / (1 + a)^2, a = a[i].
class PumpLine {
 public:
  /// @param most  bit/s limit of end 0; 0: none
  PumpLine(std::array<double, 2> a, double snr_db, uint32_t most = 0) : a_(a), noise_(0, dbm0_to_rms(-12 - snr_db)) {
    bits_[0].tx = 0x1234567, bits_[1].tx = 0x7654321;
    for (size_t i = 0; i < 2; ++i) {
      oh_pump_config config{};
      config.format = kLinear8000;
      config.role = static_cast<oh_pump_role>(i);
      config.tx_level_dbm0 = -12;
      if (i == 0) config.max_bit_rate = most;
      config.port = bits_[i].port();
      pump_[i].reset(std::aligned_alloc(64, oh_v34_type()->size(&config)));
      EXPECT_EQ(oh_v34_type()->init(pump_[i].get(), &config), 0);
    }
  }
  void begin(size_t end) {
    oh_v34_begin(pump_[end].get());
    begun_[end] = true;
  }
  /// With its own Phase 2, after which the pump continues (handover.h). @param config  its role is overwritten
  void begin(size_t end, v34::Phase2Config config) {
    config.role = static_cast<oh_pump_role>(end);
    phase2_[end].emplace(config).start();
    begun_[end] = true;
  }
  void run(double seconds) {
    for (auto left = static_cast<int64_t>(8000 * seconds); left > 0; --left) {
      for (size_t i = 0; i < 2; ++i) {
        const auto rx = static_cast<int16_t>(std::lrint(heard_[i] + noise_(random_)));
        int16_t tx = begun_[i] ? step(i, rx) : int16_t{0};
        if (keep) sent[i].push_back(tx);
        if (const Instead& other = instead[i]; now_ >= other.from && now_ - other.from < other.samples.size())
          tx = static_cast<int16_t>(std::lrint(other.samples[now_ - other.from]));
        line_[i].push_back(cut[i] ? 0 : (tx + a_[i] * last_[i]) / (1 + a_[i]));
        last_[i] = tx;
      }
      for (size_t i = 0; i < 2; ++i) {
        heard_[1 - i] = line_[i].front();
        line_[i].pop_front();
      }
      ++now_;
    }
  }
  bool connect() {
    for (int s = 0; s < 30 && !data(); ++s) run(1);
    return data();
  }
  oh_pump_status status(size_t end) const {
    oh_pump_status s{};
    s.struct_size = sizeof s;
    oh_v34_type()->status(pump_[end].get(), &s);
    return s;
  }
  bool in_data(size_t end) const { return status(end).state == OH_PUMP_DATA; }
  void expect_rates(uint32_t bit_rate) const {
    for (const size_t end : {0, 1}) {
      EXPECT_EQ(status(end).tx_bit_rate, bit_rate) << "end " << end;
      EXPECT_EQ(status(end).rx_bit_rate, bit_rate) << "end " << end;
    }
  }
  oh_v34_instruments instruments(size_t end) const {
    oh_v34_instruments i;
    oh_v34_get_instruments(pump_[end].get(), &i);
    return i;
  }
  std::vector<double> sent[2];
  bool keep = false;
  bool cut[2] = {false, false};  ///< the signal of that end is lost
  /// The signal that replaces an end's samples from there on.
  struct Instead {
    size_t from = 0;
    std::vector<float> samples;
  } instead[2];

 private:
  int16_t step(size_t i, int16_t rx) {
    int16_t tx = 0;
    if (!phase2_[i]) {
      oh_v34_type()->process(pump_[i].get(), &rx, &tx, 1);
      return tx;
    }
    tx = static_cast<int16_t>(std::lrint(phase2_[i]->process(rx)));
    if (phase2_[i]->done()) {
      v34::begin_training(pump_[i].get(), phase2_[i]->outcome());
      phase2_[i].reset();
    }
    return tx;
  }
  bool data() const { return in_data(0) && in_data(1); }

  std::array<double, 2> a_;
  size_t now_ = 0;
  BitTester bits_[2];
  std::unique_ptr<void, decltype(&std::free)> pump_[2] = {{nullptr, &std::free}, {nullptr, &std::free}};
  std::optional<v34::Phase2> phase2_[2];
  bool begun_[2] = {false, false};
  std::deque<double> line_[2] = {std::deque<double>(160), std::deque<double>(160)};
  double last_[2] = {0, 0}, heard_[2] = {0, 0};
  std::mt19937 random_{1};
  std::normal_distribution<double> noise_;
};

/// The sequence of kind T in the signal sent at `carrier_hz`.  @return the sample of its last CRC bit, or 0
template <class T>
size_t find_info(const std::vector<double>& sent, int carrier_hz, T* info) {
  DpskReceiver dpsk(carrier_hz);
  v34::InfoReceiver<T> receivers[DpskReceiver::kPhases];
  for (size_t n = 0; n < sent.size(); ++n) {
    DpskDecision d;
    if (dpsk.put(static_cast<float>(sent[n]), &d) && receivers[d.phase].put(d.bit, info)) return n;
  }
  return 0;
}

/// The same sequence with other fields, from the point where the end began it.
template <class T, class Change>
PumpLine::Instead changed(const std::vector<double>& sent, int end, const Change& change) {
  const int carrier_hz = end == 0 ? 1200 : 2400;  // 10.1.2.3.1
  T info{};
  const size_t last = find_info(sent, carrier_hz, &info);
  EXPECT_GT(last, 0u);
  change(info);
  std::vector<uint8_t> bits(T::kBits);
  v34::encode(info, bits.data());
  // Its last bit before the four fill bits, minus the delay of receiver and modulator; a reference point comes first.
  constexpr double kSymbol = 8000. / 600;
  const double taken = static_cast<double>(DpskReceiver::kDelaySamples) + DpskModulator::kDelaySamples;
  const double begin = static_cast<double>(last) - taken - kSymbol * (T::kBits - 4);
  PumpLine::Instead other{.from = begin > 0 ? static_cast<size_t>(begin) : 0, .samples = {}};
  DpskModulator modulator({.carrier_hz = carrier_hz, .level_dbm0 = -12});
  modulator.bits();
  size_t at = 0;
  const auto length = static_cast<size_t>(kSymbol * (T::kBits + 1)) + DpskModulator::kDelaySamples;
  while (other.samples.size() < length)
    other.samples.push_back(modulator.next([&] { return at < bits.size() ? int(bits[at++]) : -1; }));
  return other;
}

inline double rms(const std::vector<double>& x) {
  double sum = 0;
  for (const double v : x) sum += v * v;
  return std::sqrt(sum / static_cast<double>(x.size()));
}

}  // namespace offhook::test
