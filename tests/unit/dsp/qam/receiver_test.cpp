// SPDX-License-Identifier: MIT
//
// The receiver with a training of its own, no modem's: a chirp of 48 symbols, whose spectrum is flat. Whole telephone
// channels are in tests/sim.
#include "dsp/qam/receiver.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <vector>

#include "dsp/qam/modulator.h"
#include "dsp/v34/coding/framing.h"
#include "tests/unit/dsp/v34/random.h"

namespace offhook::qam {
namespace {

constexpr double kRms = 2000;
constexpr int kSilence = 200, kS = 128, kPeriods = 6;
constexpr auto kHalf = static_cast<float>(kSqrt2 / 2);
const Band kBand = v34::band(v34::SymbolRate::k3200, v34::Carrier::kHigh);

Complex chirp(int n) {
  const SinCos w = sincos_turns(n % Receiver::kPeriod * (n % Receiver::kPeriod) / (2.0 * Receiver::kPeriod));
  return {static_cast<float>(w.cos), static_cast<float>(w.sin)};
}
constexpr CyclicTraining kChirp{chirp, kPeriods* Receiver::kPeriod};

/// Point n of the data, of energy 2.
Complex point(int n) {
  v34::Random random(8, static_cast<std::uint32_t>(n));
  return {random.bit() ? 1.f : -1.f, random.bit() ? 1.f : -1.f};
}

/// Silence, S, S-bar, optionally the training, then data, as on the line.
class Source {
 public:
  /// @param later_hz  increase of the carrier from the end of S-bar on
  explicit Source(bool training, double later_hz = 0) : training_(training ? kChirp.symbols : 0), later_hz_(later_hz) {}
  Complex operator()() {
    const int from = n_ - kSilence - kS - Receiver::kSBarSymbols;
    const SinCos w = sincos_turns(from > 0 ? from * later_hz_ / kBand.symbol_hz() : 0);
    return Complex{static_cast<float>(w.cos), static_cast<float>(w.sin)} * as_it_is();
  }

 private:
  Complex as_it_is() {
    int n = n_++ - kSilence;
    if (n < 0) return {};
    if (n < kS + Receiver::kSBarSymbols) return (n < kS ? 1.f : -1.f) * Complex{n % 2 == 0 ? kHalf : -kHalf, kHalf};
    n -= kS + Receiver::kSBarSymbols;
    if (n < training_) return chirp(n);
    return kHalf * point(n - training_);
  }

  int training_, n_ = 0;
  double later_hz_;
};

void transmit(Modulator& m, Source source, std::size_t samples, std::vector<float>* line) {
  for (std::size_t end = line->size() + samples; line->size() < end;) {
    if (m.wants_symbol()) m.put(source());
    line->push_back(m.next());
  }
}

std::vector<float> trained_line(std::size_t samples, bool training = true, double later_hz = 0) {
  Modulator m;
  m.init(kBand, kRms);
  std::vector<float> line;
  transmit(m, Source(training, later_hz), samples, &line);
  return line;
}

/// Sampled by a crystal that is `ppm` slower than the far one: sample n at n (1 + ppm / 10^6).
std::vector<float> clocked(const std::vector<float>& x, double ppm) {
  constexpr int kReach = 24;
  std::vector<float> y;
  for (std::size_t n = 0; n < x.size(); ++n) {
    const double at = static_cast<double>(n) * (1 + ppm * 1e-6);
    const long middle = std::lround(at);
    double sum = 0;
    for (long k = middle - kReach; k <= middle + kReach; ++k) {
      if (k < 0 || k >= static_cast<long>(x.size())) continue;
      const double t = at - static_cast<double>(k), turn = std::numbers::pi * t;
      const double window = 0.5 + 0.5 * std::cos(turn / (kReach + 1));
      sum += x[static_cast<std::size_t>(k)] * window * (t == 0 ? 1 : std::sin(turn) / turn);
    }
    y.push_back(static_cast<float>(sum));
  }
  return y;
}

struct Heard {
  int s = 0, s_bar = 0, skipped = 0, symbols = 0, erased = 0;
  double first_db = 0, last_db = 0;  ///< signal over error of the first and the last 200
};

/// Adapts to the sent points, from the first one after S-bar on. @param beyond  symbols of S-bar and training before
/// the data
Heard hear(Receiver& receiver, const std::vector<float>& line, int beyond) {
  Heard h;
  std::vector<double> errors;
  int at = 0;
  for (const float x : line) {
    if (receiver.process(x) && h.s_bar > 0) {
      const int n = at++ - beyond;
      if (n >= 0) {
        errors.push_back(norm(receiver.symbol() - point(n)) / 2);
        h.erased += receiver.erased();
        receiver.adapt(point(n));
      } else {  // the part of S-bar that the equaliser still gives
        receiver.adapt(-1.f * static_cast<float>(kSqrt2) * Complex{(n + beyond) % 2 == 0 ? kHalf : -kHalf, kHalf});
      }
    }
    const Receiver::Event event = receiver.take_event();
    h.s += event == Receiver::Event::kS;
    if (event == Receiver::Event::kSBar) {
      ++h.s_bar;
      h.skipped = at = receiver.symbols_skipped();
      receiver.set_task(Receiver::Task::kFollow);
    }
  }
  h.symbols = static_cast<int>(errors.size());
  if (h.symbols < 400) return h;
  double first = 0, last = 0;
  for (std::size_t k = 0; k < 200; ++k) first += errors[k] / 200, last += errors[errors.size() - 1 - k] / 200;
  h.first_db = -10 * std::log10(first), h.last_db = -10 * std::log10(last);
  return h;
}

constexpr int kBeyond = Receiver::kSBarSymbols + kChirp.symbols;

Heard train(Receiver& receiver, const std::vector<float>& line) {
  receiver.init(kBand, kChirp);
  receiver.set_task(Receiver::Task::kTrain);
  return hear(receiver, line, kBeyond);
}

// The closed-form result of five periods is good before LMS starts.
TEST(QamReceiver, ACyclicTrainingOpensTheEyeFromTheFirstSymbol) {
  Receiver receiver;
  EXPECT_FALSE(receiver.trained());
  const Heard h = train(receiver, trained_line(10000));
  EXPECT_EQ(h.s, 1);
  EXPECT_EQ(h.s_bar, 1);
  EXPECT_EQ(h.skipped, kBeyond);
  EXPECT_TRUE(receiver.trained());
  EXPECT_GT(h.first_db, 40);
  EXPECT_GT(h.last_db, 60);
  EXPECT_NEAR(10 * std::log10(receiver.snr()), h.last_db, 3);
  EXPECT_NEAR(receiver.signal_power() / (kRms * kRms), 1, 0.3);
}

TEST(QamReceiver, TheTrainingMeasuresClockAndCarrierTogether) {
  for (const double ppm : {-150.0, 150.0}) {
    Receiver receiver;
    const Heard h = train(receiver, clocked(trained_line(10000), ppm));
    EXPECT_GT(h.first_db, 33) << ppm;
    EXPECT_GT(h.last_db, 45) << ppm;
    // If this clock is slower, the far clock and the far carrier appear higher.
    EXPECT_NEAR(receiver.clock_ppm(), ppm, 2);
    EXPECT_NEAR(receiver.carrier_offset_hz(), kBand.carrier_hz() * ppm * 1e-6, 0.05);
  }
}

// On a clean line, S gives the carrier to a fraction of a hertz; the periods of the training give the rest.
TEST(QamReceiver, TheTrainingCorrectsTheCarrierThatSTold) {
  for (const double hz : {-3.0, 3.0}) {
    Receiver receiver;
    const Heard h = train(receiver, trained_line(10000, true, hz));
    EXPECT_GT(h.first_db, 22) << hz << " turns S against the training, too";
    EXPECT_NEAR(receiver.carrier_offset_hz(), hz, 0.05);
  }
}

// The pulse of a line with an echo of half the strength, one symbol and a half later.
TEST(QamReceiver, EqualisesALineWithAnEcho) {
  std::vector<float> line = trained_line(12000);
  for (std::size_t n = line.size(); n-- > 4;) line[n] += 0.5f * line[n - 4];
  Receiver receiver;
  const Heard h = train(receiver, line);
  EXPECT_GT(h.first_db, 30);
  EXPECT_GT(h.last_db, 55);
}

TEST(QamReceiver, WithoutATrainingTheTapsGrowFromNothing) {
  Receiver receiver;
  receiver.init(kBand);
  receiver.set_task(Receiver::Task::kTrain);
  const Heard h = hear(receiver, trained_line(14000, false), Receiver::kSBarSymbols);
  EXPECT_EQ(h.s_bar, 1);
  EXPECT_EQ(h.skipped, Receiver::kSBarSymbols);
  EXPECT_LT(h.first_db, 20);
  EXPECT_GT(h.last_db, 45);
}

// 1 + h1 z^-1 + h2 z^-2 + h3 z^-3 over the symbols from the next one on.
TEST(QamReceiver, TheWhiteningFilterSeesThreeSymbolsBefore) {
  Receiver receiver;
  const auto line = trained_line(12000);
  train(receiver, {line.begin(), line.begin() + 8000});
  Receiver other = receiver;
  constexpr Complex kH[3] = {{0.5f, -0.25f}, {-0.25f, 0.125f}, {0.125f, 0.5f}};
  SymbolFormat format;
  for (int k = 0; k < 3; ++k) format.whitening[k] = kH[k];
  other.set_format(format);
  Complex before[3]{};
  int symbols = 0;
  for (auto at = line.begin() + 8000; at != line.end(); ++at) {
    const bool given = receiver.process(*at);
    ASSERT_EQ(other.process(*at), given);
    if (!given) continue;
    const Complex x = receiver.symbol();
    Complex expected = x;
    for (int k = 0; k < 3; ++k) expected += kH[k] * before[k];
    ASSERT_LT(magnitude(other.symbol() - expected), 1e-4f) << symbols;
    before[2] = before[1], before[1] = before[0], before[0] = x;
    ++symbols;
  }
  EXPECT_GT(symbols, 1000);
}

// S on a known line: its exact position, although carrier and clock continued meanwhile.
TEST(QamReceiver, ResumesAfterSilence) {
  for (const int silence : {0, 1, 2, 3}) {  // additional samples, so that S has another phase
    Modulator m;
    m.init(kBand, kRms);
    std::vector<float> line;
    transmit(m, Source(true), 9000, &line);
    transmit(m, Source(false), static_cast<std::size_t>(9000 + silence), &line);
    Receiver receiver;
    train(receiver, {line.begin(), line.begin() + 8800});
    receiver.set_task(Receiver::Task::kHold);
    for (auto at = line.begin() + 8800; at != line.begin() + 9200 + silence; ++at) EXPECT_FALSE(receiver.process(*at));
    receiver.set_task(Receiver::Task::kResume);
    const Heard h = hear(receiver, {line.begin() + 9200 + silence, line.end()}, Receiver::kSBarSymbols);
    EXPECT_EQ(h.s_bar, 1);
    EXPECT_EQ(h.skipped, receiver.s_bar_age());
    EXPECT_GT(h.first_db, 45);
    EXPECT_GT(h.last_db, 55);
  }
}

TEST(QamReceiver, SymbolsThatHeardOfALossAreErasedAndTeachNothing) {
  Receiver receiver;
  const auto line = trained_line(12000);
  train(receiver, {line.begin(), line.begin() + 9000});
  std::vector<float> taps(receiver.tap_re(), receiver.tap_re() + Receiver::kTaps);
  receiver.process_lost();
  int erased = 0;
  for (auto at = line.begin() + 9001; at != line.end(); ++at) {
    if (!receiver.process(*at)) continue;
    if (!receiver.erased()) break;
    ++erased;
    receiver.adapt({1, 1});
  }
  // 96 taps of T/2 are 48 symbols, plus some for the interpolator.
  EXPECT_GE(erased, Receiver::kPeriod);
  EXPECT_LT(erased, Receiver::kPeriod + 32);
  EXPECT_EQ(taps, std::vector<float>(receiver.tap_re(), receiver.tap_re() + Receiver::kTaps));
}

TEST(QamReceiver, GoesOnFromTheLoopsThatItHad) {
  Receiver receiver;
  const auto line = clocked(trained_line(12000), 100);
  train(receiver, {line.begin(), line.begin() + 9000});
  const Loops then = receiver.loops();
  Receiver untouched = receiver;
  int symbols = 0;
  for (auto at = line.begin() + 9000; symbols < 50; ++at) {
    untouched.process(*at);
    if (!receiver.process(*at)) continue;
    ++symbols;
    receiver.adapt(Complex{0, 1} * receiver.symbol());  // a quarter of a turn for all of them
  }
  const Loops wrong = receiver.loops();
  EXPECT_GT(std::abs(wrong.frequency - then.frequency), 1e-4f);
  receiver.go_on_from(then);
  EXPECT_EQ(receiver.loops().frequency, then.frequency);
  EXPECT_EQ(receiver.loops().deviation, then.deviation);
  // As if it had not adapted, up to the rounding of many steps of the phase.
  const auto apart = static_cast<std::int32_t>(receiver.loops().phase.bits - untouched.loops().phase.bits);
  EXPECT_LT(std::abs(apart * 0x1p-32), 1e-5);
}

}  // namespace
}  // namespace offhook::qam
