// SPDX-License-Identifier: MIT
//
// What Phase 2 of V.34 (10/96) settled is what a whole pump trains with: lengths of MD, and the symbol rate of each
// direction, as they show in the samples of the line.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <initializer_list>
#include <numbers>
#include <utility>
#include <vector>

#include "dsp/v34/phase2/info.h"
#include "dsp/v34/phase2/phase2.h"
#include "tests/unit/dsp/v34/pump_line.h"

namespace offhook {
namespace {

using test::changed;
using test::find_info;
using test::PumpLine;

/// A symbol rate of Table 1 and one of its carriers of Table 2, Hz.
struct PrintedBand {
  double rate, carrier;
};
constexpr PrintedBand kPrintedBands[] = {{2400, 1600}, {2400, 1800}, {2400 * 8 / 7., 1646}, {2400 * 8 / 7., 1829},
                                         {2800, 1680}, {2800, 1867}, {3000, 1800},          {3000, 2000},
                                         {3200, 1829}, {3200, 1920}, {24000 / 7., 1959}};

/// The share of the power of n samples in the three lines of signal S (10.1.3.7): two alternating points give the
/// carrier and lines at half a symbol rate on each side.
double s_share(const double* x, size_t n, const PrintedBand& band) {
  double power = 0, lines = 0;
  for (size_t k = 0; k < n; ++k) power += x[k] * x[k];
  if (power < 100. * 100 * static_cast<double>(n)) return 0;
  for (const int side : {-1, 0, 1}) {
    const double w = 2 * std::numbers::pi * (band.carrier + side * band.rate / 2) / 8000;
    double re = 0, im = 0;
    for (size_t k = 0; k < n; ++k) {
      re += x[k] * std::cos(w * static_cast<double>(k));
      im += x[k] * std::sin(w * static_cast<double>(k));
    }
    lines += 2 * (re * re + im * im) / static_cast<double>(n);
  }
  return lines / power;
}

constexpr size_t kWindow = 200;  // S lasts 128T, at most symbol rates 298 samples

/// The beginning of each S from `from` on, within some samples, with the same offset for all.
std::vector<size_t> begins_of_s(const std::vector<double>& sent, size_t from, const PrintedBand& band) {
  std::vector<size_t> begins;
  bool inside = false;
  for (size_t n = from; n + kWindow <= sent.size(); n += 8) {
    const double share = s_share(&sent[n], kWindow, band);
    if (!inside && share > 0.9) begins.push_back(n);
    inside = share > (inside ? 0.6 : 0.9);
  }
  return begins;
}

/// The band of S, from `from` on.
PrintedBand band_of_s(const std::vector<double>& sent, size_t from) {
  PrintedBand best{0, 0};
  double most = 0.9;
  for (const PrintedBand& band : kPrintedBands) {
    for (size_t n = from; n + kWindow <= sent.size(); n += 40) {
      const double share = s_share(&sent[n], kWindow, band);
      if (share > most) most = share, best = band;
    }
  }
  return best;
}

// 10.1.3.5, 11.3.1.1.1, .4, 11.3.1.2.1, .4: MD comes after the first S-bar, for the length in this end's INFO1, then S
// and S-bar again. The far end, which may have no MD or another length, waits for it.
TEST(V34Training, APumpSendsMdOf35msTimesWhatItsInfo1SaysAndWaitsForThatOfTheFarEnd) {
  for (const auto& md : std::initializer_list<std::array<int, 2>>{{0, 0}, {1, 12}, {9, 2}, {0, 5}, {60, 127}}) {
    SCOPED_TRACE(testing::Message() << "call modem " << md[0] << ", answer modem " << md[1]);
    PumpLine line({0, 0}, 50);
    line.keep = true;
    for (const size_t end : {0, 1}) {
      v34::Phase2Config config;
      config.md_length = static_cast<uint8_t>(md[end]);
      line.begin(end, config);
    }
    ASSERT_TRUE(line.connect());
    v34::Info1c info1c{};
    v34::Info1a info1a{};
    ASSERT_GT(find_info(line.sent[0], 1200, &info1c), 0u);
    const size_t phase3 = find_info(line.sent[1], 2400, &info1a);
    ASSERT_GT(phase3, 0u);
    // MD, 944T and a round trip may take 2000 ms and a round trip in total (11.3.1.1.6, 11.3.1.2.3), also at 2400
    // symbols/s.
    constexpr int kMost = static_cast<int>((2000 - 944 / 2.4) / 35);
    const int sent_md[] = {std::min(md[0], kMost), std::min(md[1], kMost)};
    EXPECT_EQ(info1c.md_length, sent_md[0]);
    EXPECT_EQ(info1a.md_length, sent_md[1]);
    for (const size_t end : {0, 1}) {
      EXPECT_EQ(line.status(end).retrains, 0u) << end;
      const PrintedBand band = band_of_s(line.sent[end], phase3);
      ASSERT_GT(band.rate, 0) << end;
      const auto begins = begins_of_s(line.sent[end], phase3, band);
      const size_t others = end == 1;  // the answer modem has one in Phase 4
      ASSERT_EQ(begins.size(), others + (md[end] > 0 ? 2 : 1)) << end;
      if (md[end] == 0) continue;
      const double apart_ms = static_cast<double>(begins[1] - begins[0]) / 8;
      EXPECT_NEAR(apart_ms - (128 + 16) * 1000 / band.rate, 35 * sent_md[end], 2) << end;
    }
  }
}

// Table 16, bits 34:39: the answer modem chooses a symbol rate for each direction.
// If one end may not send 3429 symbols/s (Table 14, bit 19), they differ. Frames
// are counted by the symbols of their own direction (8.2). The bits per second
// must equal the rate: Table 10 has 33,600 at 3429 and 31,200 at 3200 symbols/s.
TEST(V34Training, APumpSendsAndReceivesAtTheSymbolRateOfEachDirection) {
  PumpLine plain({0, 0}, 50);
  plain.keep = true;
  for (const size_t end : {0, 1}) plain.begin(end);
  ASSERT_TRUE(plain.connect());
  for (const int slower : {0, 1}) {
    SCOPED_TRACE(slower == 0 ? "the call modem has no 3429" : "the answer modem has no 3429");
    PumpLine line({0, 0}, 50);
    line.keep = true;
    const auto slow = [](v34::Info0& info) { info.may_transmit_3429 = false; };
    line.instead[slower] = changed<v34::Info0>(plain.sent[slower], slower, slow);
    for (const size_t end : {0, 1}) line.begin(end);
    ASSERT_TRUE(line.connect());
    v34::Info1a info1a{};
    const size_t phase3 = find_info(line.sent[1], 2400, &info1a);
    ASSERT_GT(phase3, 0u);
    const int chosen[] = {static_cast<int>(info1a.rate_call_to_answer), static_cast<int>(info1a.rate_answer_to_call)};
    constexpr double kRates[] = {2400, 2400 * 8 / 7., 2800, 3000, 3200, 24000 / 7.};
    EXPECT_EQ(chosen[1 - slower], 5);
    for (const size_t end : {0, 1}) {
      EXPECT_EQ(line.status(end).retrains, 0u) << end;
      EXPECT_NEAR(band_of_s(line.sent[end], phase3).rate, kRates[chosen[end]], 1) << end;
      EXPECT_NEAR(line.instruments(end).tx_symbol_rate_hz, kRates[chosen[end]], 1) << end;
      EXPECT_NEAR(line.instruments(end).rx_symbol_rate_hz, kRates[chosen[1 - end]], 1) << end;
    }
    EXPECT_EQ(chosen[slower], 4);
    uint64_t before[2];
    for (const size_t end : {0, 1}) before[end] = line.status(end).bits_received;
    line.keep = false;
    constexpr double kSeconds = 4;
    line.run(kSeconds);
    for (const size_t end : {0, 1}) {
      const double rate = chosen[1 - end] == 5 ? 33'600 : 31'200;
      EXPECT_EQ(line.status(end).rx_bit_rate, rate) << end;
      const auto bits = static_cast<double>(line.status(end).bits_received - before[end]);
      EXPECT_NEAR(bits / kSeconds, rate, 0.02 * rate) << end << ": a frame is 40 ms at the most";
    }
  }
}

}  // namespace
}  // namespace offhook
