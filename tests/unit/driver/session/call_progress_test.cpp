// SPDX-License-Identifier: MIT
#include "driver/session/call_progress.h"

#include <gtest/gtest.h>
#include <spandsp.h>

#include <cmath>
#include <cstdlib>
#include <numbers>
#include <random>
#include <string>
#include <vector>

#include "tests/realtime/realtime_guard.h"

namespace offhook::modem {
namespace {

constexpr std::uint32_t kRateHz = 8000;

/// Tones at -13 dBm0 each, in noise 30 dB below.
std::vector<std::int16_t> tones(double seconds, std::vector<double> hz, std::uint32_t rate_hz = kRateHz) {
  static std::mt19937 random(1);
  std::normal_distribution<double> noise(0, 150);
  std::vector<std::int16_t> x(static_cast<std::size_t>(seconds * rate_hz));
  for (std::size_t i = 0; i < x.size(); ++i) {
    double v = noise(random);
    for (const double f : hz) v += 5100 * std::sin(2 * std::numbers::pi * f * static_cast<double>(i) / rate_hz);
    x[i] = static_cast<std::int16_t>(v);
  }
  return x;
}

Progress hear(const std::vector<double>& hz, double on, double off, double seconds, std::uint32_t rate_hz = kRateHz) {
  ProgressDetector detector(rate_hz);
  for (double t = 0; t < seconds; t += on + off) {
    for (const auto& x : {tones(on, hz, rate_hz), tones(off, {}, rate_hz)}) {
      for (std::size_t i = 0; i < x.size(); i += 105) detector.process(&x[i], std::min<std::size_t>(105, x.size() - i));
    }
  }
  return detector.progress();
}

TEST(ProgressDetector, TellsTheTonesOfBothPlansAtTheRatesOfAModemsCard) {
  for (const std::uint32_t rate_hz : {8000, 9600, 16000}) {
    EXPECT_EQ(hear({350, 440}, 1, 0, 1, rate_hz), Progress::kDialTone) << rate_hz;
    EXPECT_EQ(hear({425}, 3, 0, 3, rate_hz), Progress::kDialTone) << rate_hz;
    EXPECT_EQ(hear({440, 480}, 2, 4, 6, rate_hz), Progress::kRinging) << rate_hz;
    EXPECT_EQ(hear({480, 620}, 0.5, 0.5, 3, rate_hz), Progress::kBusy) << rate_hz;
    EXPECT_EQ(hear({425}, 0.5, 0.5, 3, rate_hz), Progress::kBusy) << rate_hz;
  }
}

TEST(ProgressDetector, TakesNeitherNoiseNorModemsNorSpeechlikeTonesForThem) {
  EXPECT_EQ(hear({}, 5, 0, 5), Progress::kNothing);
  EXPECT_EQ(hear({2100}, 3, 1, 8), Progress::kNothing);
  EXPECT_EQ(hear({1200, 2400}, 0.5, 0.5, 4), Progress::kNothing);
  EXPECT_EQ(hear({350, 440, 700, 1100}, 0.5, 0.1, 4), Progress::kNothing);
  EXPECT_EQ(hear({425}, 1, 4, 10), Progress::kNothing);  // ringback of E.180 is neither dial tone nor busy
}

bool fax_caller(const std::vector<double>& hz, double on, double off, double seconds) {
  FaxCallerDetector detector;
  std::vector<std::int16_t> line;
  for (double t = 0; t < seconds; t += on + off)
    for (const auto& x : {tones(on, hz), tones(off, {})}) line.insert(line.end(), x.begin(), x.end());
  for (std::size_t i = 0; i < line.size(); i += 105)
    detector.process(&line[i], std::min<std::size_t>(105, line.size() - i));
  return detector.found();
}

TEST(FaxCallerDetector, FindsCngAndNoOtherTone) {
  for (const double hz : {1075., 1100., 1125.}) EXPECT_TRUE(fax_caller({hz}, 0.5, 3, 7)) << hz;
  EXPECT_FALSE(fax_caller({}, 5, 0, 5));
  EXPECT_FALSE(fax_caller({1300}, 0.6, 2, 8)) << "V.25's calling tone of a data modem";
  EXPECT_FALSE(fax_caller({2100}, 3, 1, 8));
  EXPECT_FALSE(fax_caller({1200, 2400}, 0.5, 0.5, 4));
  EXPECT_FALSE(fax_caller({440, 480}, 2, 4, 12));
}

// The answer tone is on the line all the time, 20 dB above CNG.
TEST(FaxCallerDetector, FindsCngUnderTheEchoOfItsOwnAnswerTone) {
  FaxCallerDetector detector;
  for (int n = 0; n < 8 * 8000; ++n) {
    const double t = n / 8000., cng = std::fmod(t, 3.5) < 0.5 ? 300 * std::sin(2 * std::numbers::pi * 1100 * t) : 0;
    const double turned = std::fmod(t, 0.9) < 0.45 ? 1 : -1;  // V.8's ANSam
    const auto x = static_cast<std::int16_t>(cng + turned * 3000 * std::sin(2 * std::numbers::pi * 2100 * t));
    detector.process(&x, 1);
  }
  EXPECT_TRUE(detector.found());
}

TEST(FaxCallerDetector, IsFitForTheRealTimePath) {
  FaxCallerDetector detector;
  std::vector<std::int16_t> line = tones(3, {1100});
  for (const std::int16_t x : tones(3, {1750})) line.push_back(x);
  const test::RealtimeRun run = test::run_realtime([&] {
    std::uint64_t blocks = 0;
    for (; blocks < 100'000; ++blocks) detector.process(&line[blocks * 105 % (line.size() - 105)], 105);
    return blocks;
  });
  if (!run.skipped.empty()) GTEST_SKIP() << run.skipped;
  EXPECT_EQ(run.violation, "");
  EXPECT_EQ(run.value, 100'000u);
}

TEST(ProgressDetector, AToneCountsFromItsLeastLengthOn) {
  struct Case {
    std::vector<double> hz;
    int frames;  // of 40 ms
    Progress progress;
  };
  for (const Case& c : {Case{{350, 440}, 15, Progress::kDialTone},
                        {{425}, 38, Progress::kDialTone},
                        {{440, 480}, 18, Progress::kRinging}}) {
    ProgressDetector detector(kRateHz);
    const auto tone = tones(0.04 * c.frames, c.hz);
    detector.process(tone.data(), tone.size() - 1);
    EXPECT_EQ(detector.progress(), Progress::kNothing) << c.frames;
    detector.process(&tone.back(), 1);
    EXPECT_EQ(detector.progress(), c.progress) << c.frames;
  }
}

// Bursts of 0.2 to 0.7 s are busy or congestion. Shorter or longer bursts and gaps are neither.
TEST(ProgressDetector, BusyIsACadence) {
  for (const double length : {0.2, 0.25, 0.5, 0.7}) EXPECT_EQ(hear({480, 620}, length, length, 4), Progress::kBusy);
  for (const double length : {0.12, 0.9}) EXPECT_EQ(hear({480, 620}, length, length, 6), Progress::kNothing) << length;
  EXPECT_EQ(hear({480, 620}, 0.5, 2, 10), Progress::kNothing);
}

TEST(ProgressDetector, WhatIsTooQuietIsNoTone) {
  for (const bool loud : {false, true}) {  // -43 dBm0 is the limit: 60 of 32768, root mean square
    ProgressDetector detector(kRateHz);
    std::vector<std::int16_t> x(8000);
    for (std::size_t i = 0; i < x.size(); ++i)
      x[i] = static_cast<std::int16_t>((loud ? 66 : 54) * (std::sin(2 * std::numbers::pi * 350 * double(i) / 8000) +
                                                           std::sin(2 * std::numbers::pi * 440 * double(i) / 8000)));
    detector.process(x.data(), x.size());
    EXPECT_EQ(detector.progress(), loud ? Progress::kDialTone : Progress::kNothing);
  }
}

TEST(ProgressDetector, KeepsTheTimeOfWhatWasLost) {
  const auto on = tones(0.5, {480, 620}), off = tones(0.5, {});
  // 30 of every 100 samples are lost, and once the whole second half of a tone.
  for (const bool at_once : {false, true}) {
    ProgressDetector detector(kRateHz);
    for (int k = 0; k < 3; ++k) {
      for (const auto* x : {&on, &off}) {
        for (std::size_t i = 0; i < x->size(); i += 100) {
          const bool lost = at_once && k == 1 && x == &on && i >= x->size() / 2;
          const std::size_t gap = lost ? 100 : at_once ? 0 : 30;
          detector.report_gap(gap);
          detector.process(x->data() + i + gap, 100 - gap);
        }
      }
    }
    EXPECT_EQ(detector.progress(), Progress::kBusy) << at_once;
  }
}

TEST(ProgressDetector, AFrameOfWhichLessThanHalfWasHeardCountsAsTheOneBefore) {
  constexpr std::size_t kFrame = 320;
  for (const std::size_t heard : {kFrame / 2 - 1, kFrame / 2}) {
    ProgressDetector detector(kRateHz);
    const auto tone = tones(0.04 * 14, {350, 440}), silence = tones(0.04, {});
    detector.process(tone.data(), tone.size());
    detector.report_gap(kFrame - heard);
    detector.process(silence.data(), heard);
    EXPECT_EQ(detector.progress(), 2 * heard < kFrame ? Progress::kDialTone : Progress::kNothing) << heard;
  }
}

/// The result of spandsp's receiver for the dialler's samples.
std::string dialled(Dialler& dialler, bool dial_tone, int seconds) {
  dtmf_rx_state_t* receiver = dtmf_rx_init(nullptr, nullptr, nullptr);
  const auto tone = tones(seconds, dial_tone ? std::vector<double>{350, 440} : std::vector<double>{});
  for (std::size_t i = 0; i + 100 <= tone.size() && !dialler.done() && !dialler.failed(); i += 100) {
    std::int16_t tx[100];
    dialler.process(&tone[i], tx, 100);
    dtmf_rx(receiver, tx, 100);
  }
  char digits[100] = "";
  dtmf_rx_get(receiver, digits, 99);
  dtmf_rx_free(receiver);
  return digits;
}

TEST(Dialler, SendsItsDigitsAfterDialTone) {
  Dialler dialler("0555,123W#D", {.comma_s = 1, .digit_ms = 80}, kRateHz);
  EXPECT_EQ(dialled(dialler, true, 20), "0555123#D");
  EXPECT_TRUE(dialler.done());
}
TEST(Dialler, GivesUpWithoutDialToneUnlessItDialsBlindly) {
  Dialler careful("5551234", {}, kRateHz);
  EXPECT_EQ(dialled(careful, false, 20), "");
  EXPECT_TRUE(careful.failed());
  Dialler blind("5551234", {.need_dial_tone = false}, kRateHz);
  EXPECT_EQ(dialled(blind, false, 20), "5551234");
  EXPECT_TRUE(blind.done());
}
/// Samples of line time until the dialler is done. The last `lost` of every 1000 samples are lost.
long dialling_time(Dialler& dialler, std::size_t lost) {
  const auto tone = tones(20, {350, 440});
  for (std::size_t i = 0; i < tone.size(); i += 100) {
    std::int16_t tx[100];
    if (dialler.done() || dialler.failed()) return static_cast<long>(i);
    if (i % 1000 >= 1000 - lost) {
      dialler.report_gap(100);
    } else {
      dialler.process(&tone[i], tx, 100);
    }
  }
  return -1;
}

TEST(Dialler, LostSamplesDoNotMoveItsClock) {
  for (const char* digits : {",5", "W5", "W5,5W55"}) {
    Dialler whole(digits, {.need_dial_tone = false}, kRateHz), holed(digits, {.need_dial_tone = false}, kRateHz);
    const long expected = dialling_time(whole, 0);
    EXPECT_GT(expected, 0);
    EXPECT_LE(std::abs(dialling_time(holed, 300) - expected), 400) << digits;
  }
  Dialler lost("55", {.need_dial_tone = false}, kRateHz);
  lost.report_gap(10 * kRateHz);
  EXPECT_TRUE(lost.done()) << "a gap longer than all of it";
}

TEST(Dialler, HasNothingToDoWithoutDigits) {
  EXPECT_TRUE(Dialler("", {}, kRateHz).done());
  EXPECT_TRUE(Dialler("", {}, 9600).done());
}

TEST(Dialler, RefusesDigitsAtARateThatItsTonesHaveNot) {
  EXPECT_THROW(Dialler("5", {}, 9600), std::invalid_argument);
}

}  // namespace
}  // namespace offhook::modem
