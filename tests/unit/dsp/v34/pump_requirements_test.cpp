// SPDX-License-Identifier: MIT
//
// Requirements of V.34 (10/96) that show at a whole pump only.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <numbers>
#include <utility>
#include <vector>

#include "dsp/v34/phase2/info.h"
#include "dsp/v34/session/pump.h"
#include "tests/unit/dsp/v34/pump_line.h"

namespace offhook {
namespace {

using test::changed;
using test::PumpLine;
using test::rms;

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

/// Tables 3 and 4: the gain that index `index` adds at f/S.
double printed_db(int index, double f) {
  if (index <= 5) return 2 * index * f;  // alpha is 2 dB per index
  const double beta = 0.5 * (index - 5), gamma = 1.0 * (index - 5);
  if (f <= 0.4) return 0;
  if (f <= 0.8) return beta * (f - 0.4) / 0.4;
  return beta + gamma * (f - 0.8) / 0.4;
}

/// The deviation of the spectrum of an end's signal in data mode from the template, dB, over 0.9 of its band.
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

// 5.4.2: a pump sends with the filter that the far end requested in INFO1.
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

// Tables 15 and 16, bits 12:14: the far end recommends a power reduction in dB, by which the signal is weaker from
// Phase 3 on. The line changes only the INFO1 of one end.
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

/// The share of the tone of a retrain in the power that an end has sent since `from`.
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

// Table 14, bit 24, 11.4.2.1.2: behind circuit multiplication equipment the modem waits 30 s for E, otherwise some
// seconds. The line is lost in Phase 4.
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

// 5.1, Table 14, bit 25: 31,200 and 33,600 bit/s need 1664 points, which both ends must have.
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

// A limit that the owner sets for one end applies to both directions, at both ends.
TEST(V34Requirements, APumpKeepsToItsOwnersLimit) {
  for (const uint32_t most : {4800u, 14'400u, 31'200u}) {
    PumpLine line({0, 0}, 50, most);
    for (const size_t end : {0, 1}) line.begin(end);
    ASSERT_TRUE(line.connect());
    line.expect_rates(most);
  }
}

/// First sample, and one past the last, of the intervals of at least `least_s` in which nothing is sent.
std::vector<std::pair<size_t, size_t>> silences(const std::vector<double>& sent, double least_s) {
  std::vector<std::pair<size_t, size_t>> all;
  for (size_t from = 0, n = 0; n <= sent.size(); ++n) {
    if (n < sent.size() && std::abs(sent[n]) < 20) continue;
    if (static_cast<double>(n - from) >= 8000 * least_s) all.emplace_back(from, n);
    from = n + 1;
  }
  return all;
}

// 11.4.2.1.1: a call modem whose J gets no S is silent for 70 +- 5 ms and sends INFOMARKSc, which does not contain tone
// B, with which a retrain would begin. When the line returns, both continue with INFO1 and connect.
TEST(V34Requirements, APumpWhoseJGetsNoAnswerSendsInfomarks) {
  PumpLine plain({0, 0}, 50);
  plain.keep = true;
  for (const size_t end : {0, 1}) plain.begin(end);
  ASSERT_TRUE(plain.connect());
  const auto answer_listens = silences(plain.sent[1], 1.2);  // until the call modem's last TRN
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
  // Half a turn per symbol of 1/600 s: two lines at 300 Hz from the carrier, and nothing at the carrier.
  const auto marks = begin + pauses[0].second + 80;
  const std::vector<double> heard(line.sent[0].begin(),
                                  line.sent[0].begin() + static_cast<std::ptrdiff_t>(marks + 400));
  EXPECT_GT(tone_share(heard, marks, 900), 0.3);
  EXPECT_GT(tone_share(heard, marks, 1500), 0.3);
  EXPECT_LT(tone_share(heard, marks, 1200), 0.05);
  line.cut[1] = false;
  EXPECT_TRUE(line.connect());
}

// 11.8: on a leased line there is no Phase 1; the first end repeats INFO0 until the other end has received it.
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
