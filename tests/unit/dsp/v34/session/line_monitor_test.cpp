// SPDX-License-Identifier: MIT
#include "dsp/v34/session/line_monitor.h"

#include <gtest/gtest.h>

#include <deque>
#include <functional>

#include "tests/unit/dsp/v34/coding_gain.h"
#include "tests/unit/dsp/v34/symbol_line.h"

namespace offhook::v34 {
namespace {

constexpr TrellisCode kCodes[] = {TrellisCode::k16, TrellisCode::k32, TrellisCode::k64};

// Mean metric step per dimension for a received signal with variance `sigma2` from the code, or unrelated to it.
double seen(TrellisCode code, double sigma2, bool related) {
  Random r(1, static_cast<uint32_t>(code));
  ViterbiDecoder viterbi(code);
  TrellisEncoder encoder(code);
  const auto point = [&] {
    return Point{static_cast<int16_t>(2 * r.below(16) - 15), static_cast<int16_t>(2 * r.below(16) - 15)};
  };
  const auto noise = [&] { return static_cast<float>(std::sqrt(sigma2) * r.gaussian()); };
  constexpr int kPairs = 20000;
  double sum = 0;
  for (int k = 0; k < kPairs; ++k) {
    const Point a = point();
    Point b = point();
    while (((subset_label(a) ^ subset_label(b)) & 1) != encoder.output()) b = point();
    encoder.put(a, b);
    float received[4] = {static_cast<float>(a.re), static_cast<float>(a.im), static_cast<float>(b.re),
                         static_cast<float>(b.im)};
    for (float& v : received) v = related ? v + noise() : static_cast<float>(30 * r.uniform() - 15);
    Point decided[2];
    viterbi.decode(received, false, decided);
    sum += viterbi.path_metric_step() / 4;
  }
  return sum / kPairs;
}

TEST(V34LineMonitor, TheBestPathSeesTheNoiseUpToWhereNothingComesThrough) {
  for (const TrellisCode code : kCodes) {
    for (const double sigma2 : {0.10, 0.15, 0.20, 0.25})
      EXPECT_NEAR(seen(code, sigma2, true), sigma2, 0.01 * sigma2 + 0.001);
    EXPECT_NEAR(seen(code, 0, false), 0.38, 0.01);
    const Framing f = make_framing(SymbolRate::k3200, 28800, false, true);
    EXPECT_LT(tolerated_variance(code, f, LineMonitor::kBadFrames), 0.27);
  }
}

// Noise that is occasionally strong, as from robbed bits
// and impulses: compares uncertain decisions with errors.
TEST(V34LineMonitor, TossUpsAreAboutAsManyAsErrors) {
  for (const double strong : {0.4, 0.8, 1.6}) {
    Random r(3, 0);
    ViterbiDecoder viterbi(TrellisCode::k64);
    LatticeSource source(TrellisCode::k64, 4);
    viterbi.reset(TrellisCode::k64, true);
    std::deque<Point> sent;
    int errors = 0, toss_ups = 0, since_error = 48, since_toss_up = 48;
    for (int m = 0; m < 200000; ++m) {
      Point y[2];
      source.next(false, y);
      sent.insert(sent.end(), {y[0], y[1]});
      const double sigma = std::sqrt(m % 200 < 4 ? strong : 0.05);
      float received[4];
      for (int k = 0; k < 2; ++k) {
        received[2 * k] = static_cast<float>(y[k].re + sigma * r.gaussian());
        received[2 * k + 1] = static_cast<float>(y[k].im + sigma * r.gaussian());
      }
      Point out[2];
      if (!viterbi.decode(received, false, out)) continue;
      const bool wrong = !(out[0] == sent[0] && out[1] == sent[1]);
      sent.erase(sent.begin(), sent.begin() + 2);
      if (wrong && since_error >= 48) ++errors, since_error = 0;
      if (viterbi.toss_up() && since_toss_up >= 48) ++toss_ups, since_toss_up = 0;
      ++since_error, ++since_toss_up;
    }
    EXPECT_GT(errors, 10) << strong;
    EXPECT_GT(toss_ups, 0.25 * errors) << strong;
    EXPECT_LT(toss_ups, 3 * errors) << strong;
  }
}

TEST(V34LineMonitor, MoreNoiseLowersTheRateAndLessRaisesItAgain) {
  SymbolLine line({}, {}, 160, 35, 1);
  ASSERT_TRUE(line.connect());
  const RatePair first = line.c().rates();
  line.run_ms(1000);
  line.set_snr(30.5);
  ASSERT_TRUE(line.run_until([&] { return line.c().renegotiations() > 0; }, 5000));
  ASSERT_TRUE(line.connect(3000));
  line.run_ms(8000);
  ASSERT_TRUE(line.connect(3000));
  const RatePair low = line.c().rates();
  EXPECT_LT(low.call_to_answer, first.call_to_answer);
  EXPECT_LT(low.answer_to_call, first.answer_to_call);
  EXPECT_GE(low.call_to_answer + 3, first.call_to_answer);
  const size_t sent[2] = {line.call().sent.size(), line.answer().sent.size()};
  line.run_ms(1000);
  EXPECT_EQ(line.c().state(), Session::State::kData);
  line.set_snr(36);
  line.run_ms(20000);
  EXPECT_GE(line.c().rates().call_to_answer, first.call_to_answer);
  EXPECT_LE(line.c().renegotiations(), 8u);
  (void)sent;
}

TEST(V34LineMonitor, AfterASlipARenegotiationFindsTheFramesAgain) {  // V34-9.6.3-6, V34-RN-6
  for (const TrellisCode code : kCodes) {
    for (const double snr : {45.0, 33.5}) {
      for (const int slip : {1, 2, 3, 8, 16, 64}) {
        SessionConfig c;
        c.trellis = code;
        c.max_bit_rate = 26400;
        SymbolLine line(c, c, 160, snr, 1);
        ASSERT_TRUE(line.connect());
        line.run_ms(500);
        for (int k = 0; k < slip; ++k) line.drop_symbol(0);
        ASSERT_TRUE(line.run_until([&] { return line.a().renegotiations() > 0; }, 2500)) << slip << " " << snr;
        ASSERT_TRUE(line.run_until([&] { return !line.c().live(); }, 500));
        ASSERT_TRUE(line.connect(3000));
        const size_t sent = line.call().sent.size();
        line.run_ms(500);
        EXPECT_EQ(errors_of(line.call().sent, line.answer().received, sent), 0u);
        EXPECT_EQ(line.c().renegotiations(), 1u);
      }
    }
  }
}

TEST(V34LineMonitor, AGoodLineIsLeftAlone) {
  for (const TrellisCode code : kCodes) {
    for (const double snr : {45.0, 33.0, 25.0}) {
      SessionConfig c;
      c.trellis = code;
      SymbolLine line(c, c, 160, snr, 1);
      ASSERT_TRUE(line.connect());
      line.run_ms(12000);
      EXPECT_EQ(line.c().renegotiations(), 0u) << snr;
    }
  }
}

TEST(V34LineMonitor, LostForGoodItRetrains) {
  SymbolLine line({}, {}, 160, 45, 1);
  ASSERT_TRUE(line.connect());
  line.run_ms(500);
  line.cut[0] = line.cut[1] = true;
  ASSERT_TRUE(line.run_until([&] { return line.c().state() == Session::State::kEnded; }, 5000));
  EXPECT_EQ(line.c().outcome(), Outcome::kRetrain);
}

/// A quiet line in data mode at 19,200 bit/s, where 21,600 would need a ratio of 100.
struct QuietLine {
  DataParameters p{{make_framing(SymbolRate::k3200, 19'200, false, true), kGpc, TrellisCode::k64, {}}, false, 19'200};
  LineMonitor monitor;

  struct Advised {
    LineMonitor::Advice advice = LineMonitor::Advice::kNone;
    int pairs = 0;
  };
  /// Data mode from its beginning on, until the monitor has advice. @param required_next  SNR of the next higher rate;
  /// 0: there is none  @param at_pair  called with the number of each pair and the receiver; returns `uncertain`
  /// @param noise  standard deviation at a pair, grid units
  Advised run(
      int most_pairs, double required_next, const std::function<bool(int, const DataReceiver&)>& at_pair,
      const std::function<double(int)>& noise = [](int) { return 0.; }) {
    DataTransmitter tx(p);
    DataReceiver rx(p);
    Random random(1, 0);
    const oh_bit_port ones{[](void*) { return 1; }, [](void*, int) {}, nullptr};
    const DataPort port{ones, ones};
    const float grid = square_root(p.transmitted_energy());
    monitor.start(p, required_next, 2);
    for (int n = 1; n <= 2 * most_pairs; ++n) {
      Complex y = grid * tx.next(port, true);
      if (const double sigma = noise(n / 2); sigma > 0)
        y += {static_cast<float>(sigma * random.gaussian()), static_cast<float>(sigma * random.gaussian())};
      static_cast<void>(rx.decide(y));
      rx.put(port, true);
      if (n % 2 != 0) continue;
      const LineMonitor::Advice advice = monitor.put(rx, at_pair(n / 2, rx));
      if (advice != LineMonitor::Advice::kNone) return {advice, n / 2};
    }
    return {LineMonitor::Advice::kNone, most_pairs};
  }

  /// @return windows until the monitor advises a higher rate, at most `most`
  int windows_until_higher(int most) {
    const Advised a = run(most * LineMonitor::kWindowPairs, 100, [](int, const DataReceiver&) { return false; });
    EXPECT_EQ(a.advice, LineMonitor::Advice::kHigher);
    return (a.pairs + LineMonitor::kWindowPairs / 2) / LineMonitor::kWindowPairs;
  }
};

// Each increase costs a renegotiation. After it and the following data mode, the next one takes twice as long.
TEST(V34LineMonitor, ARiseWaitsTwiceAsLongAsTheOneBefore) {
  QuietLine line;
  const int first = line.windows_until_higher(200), second = line.windows_until_higher(200);
  EXPECT_NEAR(first, LineMonitor::kGoodWindows, 1);
  EXPECT_NEAR(second, 2 * LineMonitor::kGoodWindows, 1);
  EXPECT_NEAR(line.windows_until_higher(200), 4 * LineMonitor::kGoodWindows, 1);
}

// A reset of the search permits all rates again.
TEST(V34LineMonitor, OnlyThreeQuietMinimaInARowShowALineThatHasBecomeBetter) {
  constexpr int kWindow = LineMonitor::kWindowPairs, kMinimum = LineMonitor::kBadWindows * kWindow;
  QuietLine line;
  const auto most_after = [&](int minima, const std::function<double(int)>& noise) {
    line.run(
        minima * kMinimum, 0, [](int, const DataReceiver&) { return false; }, noise);
    return line.monitor.most();
  };
  line.run(60 * 1600, 0, [&](int pair, const DataReceiver&) {
    line.monitor.note_bad_frames(pair % 200 == 0);
    return false;
  });
  ASSERT_EQ(line.monitor.most(), 7);
  const auto third_minimum = [](int pair) { return pair / kMinimum % 3 == 2 && pair / kWindow % 12 == 5 ? 0.1 : 0.2; };
  EXPECT_EQ(most_after(30, third_minimum), 7);
  EXPECT_EQ(most_after(2, [](int) { return 0.1; }), 7);
  EXPECT_GT(most_after(3, [](int) { return 0.1; }), 7);
}

constexpr int kMinutePairs = 60 * 1600;
constexpr int kFramePairs = 90;  // V.42's with 128 octets, at the rate of QuietLine

// A line that clips: the decoder has no doubt, but the check sequences are wrong.
TEST(V34LineMonitor, FramesThatAreDamagedWithoutATossUpLowerTheRate) {
  QuietLine line;
  const QuietLine::Advised a = line.run(kMinutePairs, 0, [&](int pair, const DataReceiver& rx) {
    EXPECT_FALSE(rx.toss_up());
    line.monitor.note_bad_frames(pair % 300 == 0);
    return false;
  });
  EXPECT_EQ(a.advice, LineMonitor::Advice::kMove);
  EXPECT_EQ(line.monitor.most(), 7);
  EXPECT_LT(a.pairs, 8 * 300);
}

TEST(V34LineMonitor, AFewDamagedFramesChangeNothing) {
  QuietLine line;
  const auto advice = [&](const std::function<bool(int)>& damaged) {
    return line
        .run(kMinutePairs, 0,
             [&](int pair, const DataReceiver&) {
               line.monitor.note_bad_frames(damaged(pair));
               return false;
             })
        .advice;
  };
  EXPECT_EQ(advice([](int pair) { return pair % (kMinutePairs / 5) == 1000; }), LineMonitor::Advice::kNone);
  // Noise of 100 ms, in which flags and check sequences come by chance.
  EXPECT_EQ(advice([](int pair) { return pair > 5000 && pair < 5000 + 160; }), LineMonitor::Advice::kNone);
}

TEST(V34LineMonitor, AGapOrHitExplainsTheFrameThatItDamages) {
  for (const bool seen : {true, false}) {
    QuietLine line;
    const QuietLine::Advised a = line.run(kMinutePairs, 0, [&](int pair, const DataReceiver&) {
      line.monitor.note_bad_frames(pair % 1000 == 520 + kFramePairs - 5);
      return seen && pair % 1000 >= 500 && pair % 1000 <= 520;
    });
    EXPECT_EQ(a.advice, seen ? LineMonitor::Advice::kNone : LineMonitor::Advice::kMove);
  }
}

TEST(V34LineMonitor, ATossUpAndItsDamagedFrameAreOneError) {
  const auto impulses = [](int pair) { return pair % 800 < 4 ? 0.9 : 0.2; };
  int after[2] = {};
  for (const int k : {0, 1}) {
    QuietLine line;
    int reported_at = 0;
    const QuietLine::Advised a = line.run(
        kMinutePairs, 0,
        [&](int pair, const DataReceiver& rx) {
          if (rx.toss_up() && reported_at < pair) reported_at = pair + kFramePairs - 5;
          line.monitor.note_bad_frames(k == 1 && pair == reported_at);
          return false;
        },
        impulses);
    EXPECT_EQ(a.advice, LineMonitor::Advice::kMove);
    after[k] = a.pairs;
  }
  EXPECT_EQ(after[0], after[1]);
}

TEST(V34LineMonitor, TheFrameThatTrainingCutIsNoError) {
  // Five errors of the data must come, and one more for the tolerated ones.
  for (const int first : {LineMonitor::kWindowPairs - 5, LineMonitor::kWindowPairs + 5}) {
    QuietLine line;
    const QuietLine::Advised a = line.run(kMinutePairs, 0, [&](int pair, const DataReceiver&) {
      line.monitor.note_bad_frames(pair == first || (pair > 600 && pair % 512 == 128));
      return false;
    });
    EXPECT_EQ(a.advice, LineMonitor::Advice::kMove);
    EXPECT_EQ(a.pairs / 256, first < LineMonitor::kWindowPairs ? 13 : 11);
  }
}

}  // namespace
}  // namespace offhook::v34
