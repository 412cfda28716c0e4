// SPDX-License-Identifier: MIT
//
// Requirements of V.34 (10/96) that show at a whole pump only.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdlib>
#include <deque>
#include <memory>
#include <numbers>
#include <random>
#include <utility>
#include <vector>

#include "dsp/blocks/dpsk.h"
#include "dsp/blocks/level.h"
#include "dsp/pump/pump_type.h"
#include "dsp/v34/control/pump.h"
#include "dsp/v34/phase2/info.h"
#include "tests/unit/dsp/spandsp/pump_pair.h"

namespace offhook {
namespace {

using test::BitTester;

/// Two pumps that begin with Phase 2, on a line of 20 ms a direction with white noise and, of what end i sends, the
/// attenuation (1 + a^2 + 2 a cos(2 pi f / 8000)) / (1 + a)^2, a = a[i].
class PumpLine {
 public:
  /// @param most  bit/s that end 0 may have; 0: no limit
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
  void run(double seconds) {
    for (auto left = static_cast<int64_t>(8000 * seconds); left > 0; --left) {
      for (size_t i = 0; i < 2; ++i) {
        const auto rx = static_cast<int16_t>(std::lrint(heard_[i] + noise_(random_)));
        int16_t tx = 0;
        if (begun_[i]) oh_v34_type()->process(pump_[i].get(), &rx, &tx, 1);
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
  bool cut[2] = {false, false};  ///< what that end sends gets nowhere
  /// What the line carries instead of an end's samples from there on.
  struct Instead {
    size_t from = 0;
    std::vector<float> samples;
  } instead[2];

 private:
  bool data() const { return in_data(0) && in_data(1); }

  std::array<double, 2> a_;
  size_t now_ = 0;
  BitTester bits_[2];
  std::unique_ptr<void, decltype(&std::free)> pump_[2] = {{nullptr, &std::free}, {nullptr, &std::free}};
  bool begun_[2] = {false, false};
  std::deque<double> line_[2] = {std::deque<double>(160), std::deque<double>(160)};
  double last_[2] = {0, 0}, heard_[2] = {0, 0};
  std::mt19937 random_{1};
  std::normal_distribution<double> noise_;
};

/// Power in 100 Hz around `hz`, dB, from the mean of windowed spectra.
double level_db(const std::vector<double>& x, double hz) {
  constexpr size_t kWindow = 160;
  double sum = 0;
  for (size_t from = 0; from + kWindow <= x.size(); from += kWindow / 2) {
    double re = 0, im = 0;
    for (size_t n = 0; n < kWindow; ++n) {
      const double w = 0.5 - 0.5 * std::cos(2 * std::numbers::pi * (static_cast<double>(n) + 0.5) / kWindow);
      const double turns = hz / 8000 * static_cast<double>(n);
      re += w * x[from + n] * std::cos(2 * std::numbers::pi * turns);
      im += w * x[from + n] * std::sin(2 * std::numbers::pi * turns);
    }
    sum += re * re + im * im;
  }
  return 10 * std::log10(sum);
}

/// Tables 3 and 4: what index `index` adds at f/S.
double printed_db(int index, double f) {
  if (index <= 5) return 2 * index * f;  // alpha is 2 dB an index
  const double beta = 0.5 * (index - 5), gamma = 1.0 * (index - 5);
  if (f <= 0.4) return 0;
  if (f <= 0.8) return beta * (f - 0.4) / 0.4;
  return beta + gamma * (f - 0.8) / 0.4;
}

/// How far the spectrum of what an end sends in data mode strays from the template, dB, over 0.9 of its band.
double spread_db(const std::vector<double>& sent, double rate, double carrier, int index) {
  double low = 1e9, high = -1e9;
  for (int k = -3; k <= 3; ++k) {
    const double hz = carrier + 0.15 * k * rate;
    const double off = level_db(sent, hz) - printed_db(index, hz / rate);
    low = std::min(low, off);
    high = std::max(high, off);
  }
  return high - low;
}

// 5.4.2: a pump sends with the filter that the far end asked for in INFO1.
TEST(V34Requirements, APumpSendsWithThePreEmphasisThatTheFarEndAskedFor) {
  struct {
    std::array<double, 2> a;
    double snr_db;
  } const lines[] = {{{0, 0}, 50}, {{0.6, 0.6}, 42}, {{0.8, 0.8}, 36}, {{0.8, 0}, 38}, {{0, 0.8}, 38}};
  for (const auto& [both, snr_db] : lines) {
    PumpLine line(both, snr_db);
    for (const size_t end : {0, 1}) line.begin(end);
    ASSERT_TRUE(line.connect());
    line.keep = true;
    line.run(6);
    for (const size_t end : {0, 1}) {
      const oh_v34_instruments own = line.instruments(end), far = line.instruments(1 - end);
      const int asked = far.rx_pre_emphasis;
      const double a = both[end];
      SCOPED_TRACE(testing::Message() << "a = " << a << ", end " << end << " is asked for filter " << asked);
      EXPECT_EQ(own.tx_pre_emphasis, asked);
      EXPECT_EQ(asked >= 1, a > 0);
      EXPECT_EQ(asked != own.rx_pre_emphasis, both[0] != both[1]) << "the other direction's";
      const auto spread = [&](int index) {
        return spread_db(line.sent[end], static_cast<double>(own.tx_symbol_rate_hz),
                         static_cast<double>(own.tx_carrier_hz), index);
      };
      EXPECT_LT(spread(asked), 1.2);
      if (asked != 0) {
        EXPECT_GT(spread(0), 1.6);
      }
    }
  }
}

/// The sequence of kind T in what was sent at `carrier_hz`.  @return its last CRC bit's sample, or 0
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

/// The same sequence with other fields, from where the end began it.
template <class T, class Change>
PumpLine::Instead changed(const std::vector<double>& sent, int end, const Change& change) {
  const int carrier_hz = end == 0 ? 1200 : 2400;  // 10.1.2.3.1
  T info{};
  const size_t last = find_info(sent, carrier_hz, &info);
  EXPECT_GT(last, 0u);
  change(info);
  std::vector<uint8_t> bits(T::kBits);
  v34::encode(info, bits.data());
  // Its last bit but the four of the fill, less what receiver and modulator take; a reference point comes first.
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

double rms(const std::vector<double>& x) {
  double sum = 0;
  for (const double v : x) sum += v * v;
  return std::sqrt(sum / static_cast<double>(x.size()));
}

// Tables 15 and 16, bits 12:14: the far end recommends a power reduction in dB; what is sent from Phase 3 on is so much
// weaker. The INFO1 of one end is another one on the line, and nothing else of the call is.
TEST(V34Requirements, APumpSendsWithSoMuchLessPowerAsTheFarEndAskedFor) {
  PumpLine plain({0, 0}, 50);
  plain.keep = true;
  for (const size_t end : {0, 1}) plain.begin(end);
  ASSERT_TRUE(plain.connect());
  const std::vector<double> start_up[2] = {plain.sent[0], plain.sent[1]};
  const auto data_rms = [](PumpLine& line, size_t end) {
    for (auto& sent : line.sent) sent.clear();
    line.keep = true;
    line.run(4);
    return rms(line.sent[end]);
  };
  for (const size_t asks : {0, 1}) {
    const double before = data_rms(plain, 1 - asks);
    for (const uint8_t db : {uint8_t{2}, uint8_t{7}}) {
      SCOPED_TRACE(testing::Message() << "end " << asks << " asks for " << int(db) << " dB less");
      PumpLine line({0, 0}, 50);
      const auto less = [db](auto& info) { info.min_power_reduction = db; };
      line.instead[asks] =
          asks == 0 ? changed<v34::Info1c>(start_up[0], 0, less) : changed<v34::Info1a>(start_up[1], 1, less);
      for (const size_t end : {0, 1}) line.begin(end);
      ASSERT_TRUE(line.connect());
      EXPECT_NEAR(20 * std::log10(before / data_rms(line, 1 - asks)), db, 0.15);
      EXPECT_NEAR(20 * std::log10(data_rms(plain, asks) / data_rms(line, asks)), 0, 0.15) << "who asks";
    }
  }
}

/// Of what an end has sent since `from`, the share of power that is its tone of a retrain.
double tone_share(const std::vector<double>& sent, size_t from, double hz) {
  const std::vector<double> last(sent.begin() + static_cast<std::ptrdiff_t>(from), sent.end());
  double re = 0, im = 0;
  for (size_t n = 0; n < last.size(); ++n) {
    re += last[n] * std::cos(2 * std::numbers::pi * hz / 8000 * static_cast<double>(n));
    im += last[n] * std::sin(2 * std::numbers::pi * hz / 8000 * static_cast<double>(n));
  }
  const double n = static_cast<double>(last.size());
  return 2 * (re * re + im * im) / (n * n) / std::pow(rms(last), 2);
}

// Table 14, bit 24, 11.4.2.1.2: where the far end is behind circuit multiplication equipment E is awaited for 30 s,
// else for some seconds. The line is lost in Phase 4.
TEST(V34Requirements, APumpWaits30sForEWhereTheFarEndsInfo0SaysSo) {
  PumpLine plain({0, 0}, 50);
  plain.keep = true;
  for (const size_t end : {0, 1}) plain.begin(end);
  while (!plain.in_data(0) && plain.sent[0].size() < 30 * 8000) plain.run(0.01);
  ASSERT_TRUE(plain.in_data(0));
  const double phase4_s = static_cast<double>(plain.sent[0].size()) / 8000 - 0.4;
  for (const bool cme : {false, true}) {
    SCOPED_TRACE(cme ? "with the equipment" : "without it");
    PumpLine line({0, 0}, 50);
    line.instead[1] = changed<v34::Info0>(plain.sent[1], 1, [cme](v34::Info0& info) { info.cme = cme; });
    line.keep = true;
    for (const size_t end : {0, 1}) line.begin(end);
    line.run(phase4_s);
    ASSERT_FALSE(line.in_data(0));
    line.cut[1] = true;
    const auto retrains_after = [&](double seconds) {
      line.run(seconds - 0.5);
      const size_t from = line.sent[0].size();
      line.run(0.5);
      return tone_share(line.sent[0], from, 1200) > 0.5;  // tone B
    };
    EXPECT_EQ(retrains_after(6), !cme);
    if (!cme) continue;
    EXPECT_FALSE(retrains_after(20)) << "26 s";
    EXPECT_TRUE(retrains_after(5)) << "31 s";
  }
}

// 5.1, Table 14, bit 25: 31 200 and 33 600 bit/s need 1664 points, which both ends must have.
TEST(V34Requirements, APumpHasAtMost28800BitsWhereTheFarEndsInfo0HasNo1664Points) {
  PumpLine plain({0, 0}, 50);
  plain.keep = true;
  for (const size_t end : {0, 1}) plain.begin(end);
  ASSERT_TRUE(plain.connect());
  plain.expect_rates(33'600);
  PumpLine line({0, 0}, 50);
  line.instead[1] = changed<v34::Info0>(plain.sent[1], 1, [](v34::Info0& info) { info.supports_1664_points = false; });
  for (const size_t end : {0, 1}) line.begin(end);
  ASSERT_TRUE(line.connect());
  line.expect_rates(28'800);
}

// What the owner limits one end to holds both directions, of both ends.
TEST(V34Requirements, APumpKeepsToItsOwnersLimit) {
  for (const uint32_t most : {4800u, 14'400u, 31'200u}) {
    PumpLine line({0, 0}, 50, most);
    for (const size_t end : {0, 1}) line.begin(end);
    ASSERT_TRUE(line.connect());
    line.expect_rates(most);
  }
}

/// First and one past the last sample of the stretches of at least `least_s` in which nothing is sent.
std::vector<std::pair<size_t, size_t>> silences(const std::vector<double>& sent, double least_s) {
  std::vector<std::pair<size_t, size_t>> all;
  for (size_t from = 0, n = 0; n <= sent.size(); ++n) {
    if (n < sent.size() && std::abs(sent[n]) < 20) continue;
    if (static_cast<double>(n - from) >= 8000 * least_s) all.emplace_back(from, n);
    from = n + 1;
  }
  return all;
}

// 11.4.2.1.1: a call modem whose J gets no S is silent for 70 +- 5 ms and sends INFOMARKSc, which is no tone B: a
// retrain would begin with that. When the line is back both go on with INFO1 and connect.
TEST(V34Requirements, APumpWhoseJGetsNoAnswerSendsInfomarks) {
  PumpLine plain({0, 0}, 50);
  plain.keep = true;
  for (const size_t end : {0, 1}) plain.begin(end);
  ASSERT_TRUE(plain.connect());
  const auto answer_listens = silences(plain.sent[1], 1.2);  // to the call modem's TRN, the last time
  ASSERT_FALSE(answer_listens.empty());
  PumpLine line({0, 0}, 50);
  line.keep = true;
  for (const size_t end : {0, 1}) line.begin(end);
  const auto [from, to] = answer_listens.back();
  line.run(static_cast<double>(from + to) / 2 / 8000);
  line.cut[1] = true;
  const size_t begin = line.sent[0].size();
  line.run(5);
  const std::vector<double> later(line.sent[0].begin() + static_cast<std::ptrdiff_t>(begin), line.sent[0].end());
  const auto pauses = silences(later, 0.05);
  ASSERT_FALSE(pauses.empty());
  EXPECT_NEAR(static_cast<double>(pauses[0].second - pauses[0].first) / 8, 70, 5) << "ms";
  // Half a turn a symbol of 1/600 s: two lines 300 Hz from the carrier, and nothing on it.
  const auto marks = begin + pauses[0].second + 80;
  const std::vector<double> heard(line.sent[0].begin(),
                                  line.sent[0].begin() + static_cast<std::ptrdiff_t>(marks + 400));
  EXPECT_GT(tone_share(heard, marks, 900), 0.3);
  EXPECT_GT(tone_share(heard, marks, 1500), 0.3);
  EXPECT_LT(tone_share(heard, marks, 1200), 0.05);
  line.cut[1] = false;
  EXPECT_TRUE(line.connect());
}

// 11.8: on a leased line there is no Phase 1; who is there first repeats INFO0 until the other one has it.
TEST(V34Requirements, OnALeasedLineTheEndsBeginWithPhase2TenSecondsApart) {
  for (const size_t first : {0, 1}) {
    SCOPED_TRACE(first == 0 ? "the call modem is first" : "the answer modem is first");
    PumpLine line({0, 0}, 50);
    line.begin(first);
    line.run(10);
    line.begin(1 - first);
    EXPECT_TRUE(line.connect());
  }
}

}  // namespace
}  // namespace offhook
