// SPDX-License-Identifier: MIT
#include "dsp/automode/automode.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <memory>
#include <random>
#include <string>

#include "driver/user_modem/automode.h"
#include "driver/user_modem/modulations.h"
#include "dsp/blocks/decimator.h"
#include "dsp/blocks/level.h"
#include "dsp/pump/pump_type.h"
#include "dsp/v8/v8.h"
#include "dsp/v90/coding/ucode.h"
#include "tests/unit/driver/user_modem/pump_pair.h"

namespace offhook {
namespace {

using test::BitTester;
using test::LineConfig;
using test::PumpPair;

// V.22bis has V.22, too.
constexpr uint32_t kV22bis = OH_MODULATION_V22BIS | OH_MODULATION_V22, kV32bis = OH_MODULATION_V32BIS,
                   kV34 = OH_MODULATION_V34;
constexpr uint32_t kBells = OH_MODULATION_BELL212A | OH_MODULATION_BELL103;
constexpr uint32_t kMarks = OH_MODULATION_V23 | OH_MODULATION_V21 | OH_MODULATION_BELL103;

/// One end of a call: its pump, and the set that automode may use.
struct End {
  const char* name;
  const oh_pump_type* (*ops)();
  uint32_t modulations;
};
constexpr End kAll = {"all auto", oh_automode_v22bis_type, 0};
constexpr End kV34Auto = {"V.34 auto", oh_automode_v22bis_type, kV34 | kV32bis | kV22bis};
constexpr End kV34Only = {"V.34 only", oh_automode_v22bis_type, kV34};
constexpr End kV32bisAuto = {"V.32bis auto", oh_automode_v22bis_type, kV32bis | kV22bis};
constexpr End kV32bisOnly = {"V.32bis only", oh_automode_v22bis_type, kV32bis};
constexpr End kV22bisOnly = {"V.22bis only", oh_v22bis_type, kV22bis};  // without V.8: answers with ANS
constexpr End kMarksAuto = {"slow auto", oh_automode_v22bis_type, kMarks | OH_MODULATION_V22};
constexpr End kV21Auto = {"V.21 by V.8", oh_automode_v22bis_type, OH_MODULATION_V21};
constexpr End kBell103Auto = {"Bell 103 by automode", oh_automode_v22bis_type, OH_MODULATION_BELL103};
// Nor have these V.8.
constexpr End kV22Only = {"V.22 only", kV22.type, OH_MODULATION_V22};
constexpr End kV23Only = {"V.23 only", kV23.type, OH_MODULATION_V23};
constexpr End kV21Only = {"V.21 only", kV21.type, OH_MODULATION_V21};
constexpr End kBell103Only = {"Bell 103 only", kBell103.type, OH_MODULATION_BELL103};
constexpr End kBell212aOnly = {"Bell 212A only", kBell212a.type, OH_MODULATION_BELL212A};
constexpr End kBellAuto = {"Bell auto", oh_automode_v22bis_type, kBells};

uint32_t set_of(const End& e) {
  return e.modulations == 0 ? kAllModulations : e.modulations;
}
oh_modulation best(uint32_t set) {
  for (std::size_t k = kModulations.size() - 1; k-- > 0;) {
    if (kModulations[k].id == OH_MODULATION_V90) continue;  // these cards have 8000 Hz
    if ((set & kModulations[k].id) != 0) return kModulations[k].id;
  }
  return OH_MODULATION_NONE;
}
uint32_t least_rate(oh_modulation m) {
  return m == OH_MODULATION_V34 ? 31'200 : m == OH_MODULATION_V23 ? 75 : modulation_of(m).max_bit_rate;
}

class Automode : public testing::Test {
 protected:
  Automode() { bits_[0].tx = 0x1234567, bits_[1].tx = 0x7654321; }
  PumpPair make(const End& call, const End& answer, LineConfig line = {}) {
    line.modulations[0] = call.modulations, line.modulations[1] = answer.modulations;
    if (line.snr_db > 100) line.snr_db = 45;
    return PumpPair(std::array{call.ops(), answer.ops()}, line, {bits_[0].port(), bits_[1].port()});
  }
  void expect_clean(PumpPair* pair, oh_modulation m, uint32_t rate) {
    pair->run(8000);
    for (BitTester& b : bits_) b.good = b.bad = 0;
    pair->run(16000);
    for (const int end : {0, 1}) {
      SCOPED_TRACE(end ? "answerer" : "caller");
      const oh_pump_status s = pair->status(end);
      EXPECT_EQ(s.modulation, m);
      EXPECT_EQ(s.state, OH_PUMP_DATA);
      EXPECT_GE(s.rx_bit_rate, rate);
      EXPECT_EQ(s.retrains, 0u);
      EXPECT_EQ(bits_[end].bad, 0u);
      EXPECT_GE(bits_[end].good, 1.9 * s.rx_bit_rate);
    }
  }
  BitTester bits_[2];
};

struct Cell {
  End call, answer;
};

class AutomodeMatrix : public Automode, public testing::WithParamInterface<Cell> {};

TEST_P(AutomodeMatrix, EndsWithTheBestOfBothOrSaysThatThereIsNone) {
  const auto& [call, answer] = GetParam();
  const oh_modulation expected = best(set_of(call) & set_of(answer));
  PumpPair pair = make(call, answer);
  if (expected != OH_MODULATION_NONE) {
    ASSERT_TRUE(pair.connect(25)) << "caller " << pair.status(0).state << ", answerer " << pair.status(1).state;
    expect_clean(&pair, expected, least_rate(expected));
    return;
  }
  // An end that can know the reason reports it; a plain pump without V.8 finds out by its time-out.
  pair.run(70 * 8000);
  for (const int end : {0, 1}) {
    SCOPED_TRACE(end ? "answerer" : "caller");
    EXPECT_EQ(pair.status(end).state, OH_PUMP_FAILED);
    EXPECT_EQ(pair.status(end).bits_received, 0u);
  }
  EXPECT_TRUE(pair.status(0).failure == OH_PUMP_NOTHING_IN_COMMON ||
              pair.status(1).failure == OH_PUMP_NOTHING_IN_COMMON);
}

std::vector<Cell> cells() {
  std::vector<Cell> all;
  constexpr End kEnds[] = {kAll,        kV34Auto,   kV34Only,     kV32bisAuto,   kV32bisOnly,
                           kV22bisOnly, kMarksAuto, kV21Auto,     kBell103Auto,  kV22Only,
                           kV23Only,    kV21Only,   kBell103Only, kBell212aOnly, kBellAuto};
  for (const End& call : kEnds) {
    for (const End& answer : kEnds) {
      // A caller in Bell 103 mistakes the tone of Bell 212A for its mark, and enters data mode.
      const bool mistaken =
          answer.modulations == OH_MODULATION_BELL212A && (set_of(call) & kBells) == OH_MODULATION_BELL103;
      if (!mistaken) all.push_back({call, answer});
    }
  }
  return all;
}

std::string name_of(const testing::TestParamInfo<Cell>& cell) {
  std::string name;
  for (const char c : std::string(cell.param.call.name) + " calls " + cell.param.answer.name) {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0) name += c;
  }
  return name;
}

INSTANTIATE_TEST_SUITE_P(CallerAndAnswerer, AutomodeMatrix, testing::ValuesIn(cells()), name_of);

// A modem from before V.8: a tone of this length, silence, and then its only modulation.
enum class Old { kAnsThenAc, kAnsThenUsb1, kUsb1, kUsb1ForAWhile, kAc, kAa, kAnsWithReversalsThenAc };
struct OldModem {
  Old kind;
  const oh_pump_type* ops;
  uint64_t samples;
  bool begun;
  alignas(64) unsigned char inner[1 << 19];
};
constexpr uint64_t kBefore = 4000, kTone = 20'800, kSilence = 600;  // 0.5 s, 2.6 s, 75 ms

template <Old kKind>
const oh_pump_type* old_modem() {
  constexpr bool kShort = kKind == Old::kUsb1ForAWhile;
  constexpr bool kV22 = kKind == Old::kAnsThenUsb1 || kKind == Old::kUsb1 || kShort;
  static const oh_pump_type kType = {
      .format_count = 1,
      .name = "old",
      .formats = &kLinear8000,
      .roles = kBothRoles,
      .fpu = kEveryOperation,
      .longest_step = 0,
      .size = [](const oh_pump_config*) { return (sizeof(OldModem) + 63) / 64 * 64; },
      .init =
          [](void* self, const oh_pump_config* c) {
            auto* m = static_cast<OldModem*>(self);
            m->kind = kKind;
            m->samples = 0;
            m->begun = false;
            m->ops = kV22 ? oh_v22bis_type() : oh_v32bis_type();
            EXPECT_LE(m->ops->size(c), sizeof m->inner);
            return m->ops->init(m->inner, c);
          },
      .process =
          [](void* self, const void* received, void* sent, size_t n) {
            auto* m = static_cast<OldModem*>(self);
            const auto* rx = static_cast<const int16_t*>(received);
            auto* tx = static_cast<int16_t*>(sent);
            const bool tone =
                kKind == Old::kAnsThenAc || kKind == Old::kAnsThenUsb1 || kKind == Old::kAnsWithReversalsThenAc;
            // An end that sends no answer tone starts late, so that the caller may have missed it; or does not use it
            // (and sends USB1 for only 1.6 s); or (AA) has waited for one second of it.
            const uint64_t start = tone                                       ? kBefore + kTone + kSilence
                                   : kKind == Old::kAa                        ? 3 * 8000
                                   : kKind == Old::kUsb1 || kKind == Old::kAc ? 400
                                                                              : 2 * 8000;
            const uint64_t patience = start + 12'800;
            for (size_t i = 0; i < n; ++i, ++m->samples) {
              if (m->samples < start) {
                const double t = double(m->samples - kBefore);
                const bool on = tone && m->samples >= kBefore && m->samples < kBefore + kTone;
                const bool turned = kKind == Old::kAnsWithReversalsThenAc && (m->samples - kBefore) / 3600 % 2 == 1;
                tx[i] = on ? int16_t((turned ? -5000 : 5000) * std::cos(2 * M_PI * 2100 / 8000 * t)) : int16_t{0};
                continue;
              }
              if (!m->begun) {
                if (kV22) {
                  oh_v22bis_begin(m->inner, -12);
                } else {
                  oh_v32bis_begin(m->inner, 0);
                }
              }
              m->begun = true;
              m->ops->process(m->inner, rx + i, tx + i, 1);
              oh_pump_status s;
              if (kShort && m->samples == patience) m->ops->status(m->inner, &s);
              if (kShort && m->samples == patience && s.state == OH_PUMP_CONNECTING) {
                m->samples = 0;  // gives up and starts again
                m->begun = false;
              }
            }
          },
      .report_gap = [](void*, size_t) {},
      .status =
          [](const void* self, oh_pump_status* s) {
            const auto* m = static_cast<const OldModem*>(self);
            m->ops->status(m->inner, s);
          },
      .hang_up = [](void*) {},
      .release = [](void*) {},
      .advance = oh_pump_advance_each};
  return &kType;
}

TEST_F(Automode, ACallerFallsToWhatAnAnswererWithoutV8Can) {
  constexpr End kOld[] = {{"ANS, AC", old_modem<Old::kAnsThenAc>, kV32bis},
                          {"ANS with reversals, AC", old_modem<Old::kAnsWithReversalsThenAc>, kV32bis},
                          {"AC", old_modem<Old::kAc>, kV32bis},
                          {"ANS, USB1", old_modem<Old::kAnsThenUsb1>, kV22bis},
                          {"USB1", old_modem<Old::kUsb1>, kV22bis},
                          {"USB1 for 1.6 s", old_modem<Old::kUsb1ForAWhile>, kV22bis}};
  for (const End& call : {kAll, kV34Auto, kV32bisAuto}) {
    for (const End& answer : kOld) {
      SCOPED_TRACE(std::string(call.name) + " calls " + answer.name);
      PumpPair pair = make(call, answer);
      ASSERT_TRUE(pair.connect(25));
      const oh_modulation expected = best(answer.modulations);
      expect_clean(&pair, expected, least_rate(expected));
    }
  }
}

TEST_F(Automode, AnAnswererHearsACallerWithoutV8InItsAnswerTone) {
  constexpr End kOld = {"AA", old_modem<Old::kAa>, kV32bis};
  for (const End& answer : {kAll, kV34Auto, kV32bisAuto, kV32bisOnly}) {
    SCOPED_TRACE(answer.name);
    PumpPair pair = make(kOld, answer);
    ASSERT_TRUE(pair.connect(25));
    expect_clean(&pair, OH_MODULATION_V32BIS, 14'400);
  }
}

TEST_F(Automode, AModulationTooSlowOrTooFastForTheLimitsTakesNoPart) {
  {
    PumpPair pair = make(kV34Auto, kV34Auto, {.max_bit_rate = {2400, 0}});
    ASSERT_TRUE(pair.connect(25));
    expect_clean(&pair, OH_MODULATION_V22BIS, 2400);
  }
  PumpPair pair = make(kV34Auto, kV32bisAuto, {.min_bit_rate = {19'200, 0}});
  pair.run(65 * 8000);
  EXPECT_EQ(pair.status(0).failure, OH_PUMP_NOTHING_IN_COMMON);
  EXPECT_EQ(pair.status(0).state, OH_PUMP_FAILED);
}

TEST_F(Automode, ARateBelowTheLeastOneEndsTheCall) {
  PumpPair pair = make(kV34Auto, kV32bisAuto, {.max_bit_rate = {0, 9600}, .min_bit_rate = {12'000, 0}});
  pair.run(25 * 8000);
  EXPECT_EQ(pair.status(0).state, OH_PUMP_FAILED);
  EXPECT_EQ(pair.status(0).failure, OH_PUMP_TOO_SLOW);
}

TEST_F(Automode, AModulationThatReachesExactlyTheLeastRateTakesPart) {
  oh_pump_config config{};
  config.format = kLinear8000;
  config.tx_level_dbm0 = -12;
  config.port = bits_[0].port();
  config.modulations = kV32bisAuto.modulations;
  config.min_bit_rate = 14'401;
  EXPECT_EQ(oh_automode_v22bis_type()->size(&config), 0u);
  config.min_bit_rate = 14'400;
  EXPECT_GT(oh_automode_v22bis_type()->size(&config), 0u);
  // Reached because of the far end's limit.
  PumpPair pair = make(kV34Auto, kV32bisAuto, {.max_bit_rate = {0, 9600}, .min_bit_rate = {9600, 0}});
  ASSERT_TRUE(pair.connect(25));
  expect_clean(&pair, OH_MODULATION_V32BIS, 9600);
}

TEST_F(Automode, NothingToOfferIsRefused) {
  oh_pump_config config{};
  config.format = kLinear8000;
  config.tx_level_dbm0 = -12;
  config.port = bits_[0].port();
  EXPECT_GT(oh_automode_v22bis_type()->size(&config), oh_automode_type()->size(&config));
  config.modulations = kV22bis;
  EXPECT_GT(oh_automode_v22bis_type()->size(&config), 0u);
  EXPECT_EQ(oh_automode_type()->size(&config), 0u) << "freestanding: without V.22bis";
  config.min_bit_rate = 4800;
  EXPECT_EQ(oh_automode_v22bis_type()->size(&config), 0u);
  EXPECT_EQ(oh_automode_v22bis_type()->init(bits_, &config), -22);
  config.min_bit_rate = 0;
  EXPECT_GT(oh_automode_v22bis_type()->size(&config), 0u);
  config.format.rx.rate_hz = config.format.tx.rate_hz = 9600;
  EXPECT_EQ(oh_automode_v22bis_type()->size(&config), 0u) << "a card that nothing knows";
}

/// A pump without automode.
struct Alone {
  Alone(const oh_pump_type* of, const oh_pump_config& config)
      : type(of), self(std::aligned_alloc(64, (of->size(&config) + 63) / 64 * 64), &std::free) {
    EXPECT_EQ(type->init(self.get(), &config), 0);
  }
  ~Alone() { type->release(self.get()); }
  oh_pump_status status() const {
    oh_pump_status s;
    type->status(self.get(), &s);
    return s;
  }
  const oh_pump_type* type;
  std::unique_ptr<void, decltype(&std::free)> self;
};

TEST_F(Automode, WhoHearsNobodyGivesUpAfterAMinute) {
  oh_pump_config config{};
  config.format = kLinear8000;
  config.role = OH_PUMP_CALL;
  config.tx_level_dbm0 = -12;
  config.port = bits_[0].port();
  config.modulations = kV32bis;
  Alone pump(oh_automode_v22bis_type(), config);
  const int16_t silence[80] = {};
  int16_t tx[80];
  for (int n = 0; n < 60 * 100; ++n) pump.type->process(pump.self.get(), silence, tx, 80);
  EXPECT_EQ(pump.status().state, OH_PUMP_CONNECTING);
  pump.type->process(pump.self.get(), silence, tx, 1);
  EXPECT_EQ(pump.status().state, OH_PUMP_FAILED);
}

/// The menu of a caller on this card, as read by an answerer that has V.34.
v8::Menu menu_of(const oh_pump_format& format, uint32_t modulations) {
  BitTester bits;
  oh_pump_config config{};
  config.format = format;
  config.role = OH_PUMP_CALL;
  config.tx_level_dbm0 = -12;
  config.port = bits.port();
  config.modulations = modulations;
  Alone caller(oh_automode_v22bis_type(), config);
  v8::Config answer;
  answer.role = OH_PUMP_ANSWER;
  answer.menu.call_function = v8::CallFunction::kData;
  answer.menu.modulations = v8::kV34;
  v8::V8 far(answer);
  float heard = 0;
  for (int n = 0; n < 15 * 8000 && far.state() == v8::State::kRunning; ++n) {
    const int16_t sent = clip(far.process(heard));
    if (format.rx.encoding == OH_MULAW) {
      const uint8_t rx = v90::nearest_octet(v90::Law::kMu, sent);
      uint8_t tx;
      caller.type->process(caller.self.get(), &rx, &tx, 1);
      heard = static_cast<float>(v90::linear_of(v90::Law::kMu, v90::pcm_of(v90::Law::kMu, tx)));
    } else {
      const int16_t rx[2] = {sent, sent};
      int16_t tx;
      caller.type->process(caller.self.get(), rx, &tx, 1);
      heard = tx;
    }
  }
  EXPECT_EQ(far.state(), v8::State::kDone);
  return far.result().far;
}

// V.8 tables 6 and 7: an end on a digital line states that, whatever its capabilities, and is V.90's digital side.
TEST_F(Automode, TheMenuSaysOnWhatLineTheEndIs) {
  const v8::Menu plain = menu_of(kMuLaw8000, kV34), digital = menu_of(kMuLaw8000, kV34 | OH_MODULATION_V90),
                 analogue = menu_of(kLinear16000To8000, kV34 | OH_MODULATION_V90), voice = menu_of(kLinear8000, kV34);
  EXPECT_TRUE(plain.has_access && (plain.access & v8::kAccessDigital) != 0);
  EXPECT_FALSE(plain.has_pcm);
  EXPECT_TRUE(digital.has_access && (digital.access & v8::kAccessDigital) != 0);
  EXPECT_TRUE(digital.has_pcm);
  EXPECT_EQ(digital.pcm, v8::kPcmDigital);
  EXPECT_TRUE(analogue.has_pcm);
  EXPECT_EQ(analogue.pcm, v8::kPcmAnalogue);
  EXPECT_FALSE(analogue.has_access && (analogue.access & v8::kAccessDigital) != 0);
  EXPECT_FALSE(voice.has_access && (voice.access & v8::kAccessDigital) != 0);
}

// A pump that only supports 8000 Hz, on a card that receives 16000 Hz: it receives the output of a decimator, sample by
// sample, with silence in place of lost samples.
TEST_F(Automode, OnAnotherCardAPumpHearsWhatTheDecimatorGives) {
  BitTester heard[2];
  oh_pump_config config{};
  config.format = kLinear8000;
  config.role = OH_PUMP_ANSWER;
  config.tx_level_dbm0 = -12;
  config.modulations = OH_MODULATION_BELL103;
  for (BitTester& b : heard) b.keep = true;
  config.port = heard[0].port();
  Alone plain(kBell103.type(), config);
  config.format = kLinear16000To8000;
  config.port = heard[1].port();
  Alone converted(oh_automode_v22bis_type(), config);
  Decimator decimator;
  decimator.init();
  std::mt19937 random(1);
  double phase = 0;
  int hz = 1270;
  std::uint64_t lost = 0;
  const int kSamples = 15 * 8000;
  for (int n = 0; n < kSamples; ++n) {
    if (n > 10 * 8000 && n % 27 == 0) hz = random() % 2 != 0 ? 1270 : 1070;
    if (n % 8000 == 7999) {
      const std::size_t k = 3 + random() % 40;
      for (std::size_t i = 0; i < k; ++i) decimator.put(0, 0);
      plain.type->report_gap(plain.self.get(), k);
      converted.type->report_gap(converted.self.get(), k);
      lost += k;
    }
    int16_t rx[2], tx[2];
    for (int16_t& x : rx) x = static_cast<int16_t>(3000 * std::sin(phase += 2 * M_PI * hz / 16000));
    const int16_t half = clip(decimator.put(rx[0], rx[1]));
    plain.type->process(plain.self.get(), &half, &tx[0], 1);
    converted.type->process(converted.self.get(), rx, &tx[1], 1);
    ASSERT_EQ(tx[0], tx[1]) << n;
    ASSERT_EQ(plain.status().rx_level_dbm0, converted.status().rx_level_dbm0) << n;
  }
  EXPECT_EQ(heard[0].received, heard[1].received);
  EXPECT_GT(heard[0].received.size(), 1000u);
  EXPECT_EQ(converted.status().samples, static_cast<std::uint64_t>(kSamples) + lost);
  EXPECT_EQ(converted.status().filled_in, lost);
}

// V.90 has two sides. Two ends of the same side that both offer it use V.34 (V.90 9.1.1).
TEST_F(Automode, TwoSidesOfAKindDoNotTakeV90) {
  for (const oh_pump_format& format : {kLinear16000To8000, kMuLaw8000}) {
    const oh_pump_type* type = oh_automode_v22bis_type();
    std::unique_ptr<void, decltype(&std::free)> memory[2] = {{nullptr, &std::free}, {nullptr, &std::free}};
    for (const int end : {0, 1}) {
      oh_pump_config config{};
      config.format = format;
      config.role = end == 0 ? OH_PUMP_CALL : OH_PUMP_ANSWER;
      config.tx_level_dbm0 = -12;
      config.port = bits_[end].port();
      memory[end].reset(std::aligned_alloc(64, type->size(&config)));
      ASSERT_EQ(type->init(memory[end].get(), &config), 0);
    }
    const bool octets = format.rx.encoding == OH_MULAW;
    int16_t linear[2] = {};
    uint8_t octet[2] = {0xff, 0xff};
    oh_pump_status status[2];
    for (int n = 0; n < 30 * 8000; ++n) {
      const int16_t sent[2] = {linear[0], linear[1]};
      const uint8_t coded[2] = {octet[0], octet[1]};
      for (const int end : {0, 1}) {
        const auto x = static_cast<int16_t>(sent[1 - end] / 2);
        const int16_t twice[2] = {x, x};
        if (octets) {
          type->process(memory[end].get(), &coded[1 - end], &octet[end], 1);
        } else {
          type->process(memory[end].get(), twice, &linear[end], 1);
        }
      }
      if (n % 8000 != 0) continue;
      for (const int end : {0, 1}) type->status(memory[end].get(), &status[end]);
      if (status[0].state == OH_PUMP_DATA && status[1].state == OH_PUMP_DATA) break;
    }
    for (const int end : {0, 1}) {
      EXPECT_EQ(status[end].state, OH_PUMP_DATA) << octets << end;
      EXPECT_EQ(status[end].modulation, OH_MODULATION_V34) << octets << end;
      type->release(memory[end].get());
    }
  }
}

// Samples lost during the search for the modulation only cost time: the count is correct.
TEST_F(Automode, LostSamplesBeforeTheDecisionDoNoHarm) {
  PumpPair pair = make(kV34Auto, kV34Auto);
  pair.run(8000);
  pair.lose(0, 160);
  pair.run(8000);
  pair.lose(1, 160);
  ASSERT_TRUE(pair.connect(30));
  EXPECT_EQ(pair.status(0).samples, pair.status(1).samples);
  EXPECT_EQ(pair.status(0).filled_in, 160u);
  expect_clean(&pair, OH_MODULATION_V34, 28'800);
}

}  // namespace
}  // namespace offhook
