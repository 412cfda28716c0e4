// SPDX-License-Identifier: MIT
//
// Sounds of which none is a call of V.34: each is named, or is no modem.
#include "src/decode/call/verdict.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <random>
#include <string>
#include <variant>
#include <vector>

#include "dsp/v34/phase2/info.h"
#include "offhook/decode.h"
#include "src/decode/call/call.h"
#include "tests/unit/src/decode/line_signal.h"

namespace offhook::decode {
namespace {

constexpr double kTurn = 2 * std::numbers::pi;
using Sound = std::vector<float>;  // int16 units

Sound full_scale(Sound x) {
  for (float& v : x) v /= 32768;
  return x;
}

Verdict verdict_of(std::vector<Sound> channels) {
  for (Sound& x : channels) {
    for (float& v : x) v /= 32768;
  }
  return verdict_of(*decode_samples({std::move(channels), kRateHz, "sound"}));
}

Sound noise(double s, double rms, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal(0, static_cast<float>(rms));
  Sound x(static_cast<std::size_t>(s * kRateHz));
  for (float& v : x) v = normal(random);
  return x;
}
Sound silence(double s) {
  return Sound(static_cast<std::size_t>(s * kRateHz));
}
Sound tone(double hz, double s, double peak = 3000) {
  Sound x = silence(s);
  for (std::size_t i = 0; i < x.size(); ++i)
    x[i] = static_cast<float>(peak * std::sin(kTurn * std::fmod(hz * static_cast<double>(i) / kRateHz, 1.0)));
  return x;
}
// ANSam as V.8 has it, or without its modulation; reversed every 450 ms.
Sound answer_tone(double hz, double s, bool modulated, double from_s = 0) {
  Sound x = tone(hz, s);
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double t = from_s + seconds(i);
    if (modulated) x[i] *= static_cast<float>(1 + 0.2 * std::cos(kTurn * 15 * t));
    if (static_cast<int>(t / 0.45) % 2 != 0) x[i] = -x[i];
  }
  return x;
}
Sound operator+(Sound a, const Sound& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}
Sound mixed(Sound a, const Sound& b) {
  a.resize(std::max(a.size(), b.size()));
  for (std::size_t i = 0; i < b.size(); ++i) a[i] += b[i];
  return a;
}

using Bits = std::vector<int>;
Sound keyed(const Bits& bits, double mark_hz, double space_hz, double baud, double peak = 3000) {
  Sound x = silence(static_cast<double>(bits.size()) / baud);
  double phase = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    phase +=
        (bits[std::min(bits.size() - 1, static_cast<std::size_t>(seconds(i) * baud))] ? mark_hz : space_hz) / kRateHz;
    x[i] = static_cast<float>(peak * std::sin(kTurn * phase));
  }
  return x;
}
// Start-stop characters behind a second of mark.
Bits characters(int n, double baud, unsigned seed) {
  std::mt19937 random(seed);
  Bits bits(static_cast<std::size_t>(baud), 1);
  for (int k = 0; k < n; ++k) {
    const auto c = static_cast<unsigned>(32 + random() % 95);
    bits.push_back(0);
    for (int b = 0; b < 8; ++b) bits.push_back(static_cast<int>(c >> b & 1));
    bits.push_back(1);
  }
  return bits;
}
// Bits by chance.
Bits random_bits(int n, unsigned seed) {
  std::mt19937 random(seed);
  Bits bits;
  for (int k = 0; k < n; ++k) bits.push_back(static_cast<int>(random() & 1));
  return bits;
}
Bits flags(int n) {
  Bits bits;
  for (int k = 0; k < n; ++k) bits.insert(bits.end(), {0, 1, 1, 1, 1, 1, 1, 0});
  return bits;
}
// An HDLC frame without its flags.
Bits frame(const std::vector<unsigned>& octets) {
  Bits bits;
  unsigned crc = 0xFFFF;
  for (const unsigned o : octets) {
    for (int b = 0; b < 8; ++b) {
      const unsigned bit = o >> b & 1;
      bits.push_back(static_cast<int>(bit));
      crc = ((crc ^ bit) & 1) != 0 ? crc >> 1 ^ 0x8408 : crc >> 1;
    }
  }
  for (int b = 0; b < 16; ++b) bits.push_back(static_cast<int>(~crc >> b & 1));
  Bits stuffed;
  int ones = 0;
  for (const int b : bits) {
    stuffed.push_back(b);
    ones = b != 0 ? ones + 1 : 0;
    if (ones == 5) stuffed.push_back(0), ones = 0;
  }
  return stuffed;
}
Bits operator+(Bits a, const Bits& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

Sound music() {
  std::mt19937 random(3);
  Sound x = silence(12);
  for (int chord = 0; chord < 48; ++chord) {
    for (int voice = 0; voice < 3; ++voice) {
      const double hz = 261.6 * std::exp2(static_cast<double>(random() % 20) / 12);
      for (int harmonic = 1; harmonic < 8 && harmonic * hz < 3800; ++harmonic) {
        for (std::size_t i = 0; i < kRateHz * 6 / 10; ++i) {
          const std::size_t at = static_cast<std::size_t>(chord) * kRateHz / 4 + i;
          if (at < x.size())
            x[at] += static_cast<float>(1500.0 / harmonic * std::sin(kTurn * hz * harmonic * seconds(i)) *
                                        std::exp(-5 * seconds(i)));
        }
      }
    }
  }
  return x;
}

// Pulses of a gliding pitch through two resonances, in syllables.
Sound speech() {
  Sound x = noise(12, 100, 5);
  double phase = 0;
  double state[2][2]{};
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double t = seconds(i);
    phase += (120 + 30 * std::sin(kTurn * 0.7 * t)) / kRateHz;
    double v = x[i];
    if (phase >= 1) phase -= 1, v += 8000;
    const double formant[] = {500 + 200 * std::sin(kTurn * 1.3 * t), 1500 + 500 * std::sin(kTurn * 0.9 * t)};
    for (int k = 0; k < 2; ++k) {
      const double r = std::exp(-std::numbers::pi * 80 / kRateHz);
      const double y = v + 2 * r * std::cos(kTurn * formant[k] / kRateHz) * state[k][0] - r * r * state[k][1];
      state[k][1] = state[k][0];
      state[k][0] = y;
      v = 0.1 * y;
    }
    x[i] = static_cast<float>(v * std::max(0.0, std::sin(kTurn * 3 * t)));
  }
  return x;
}

// Chords of three voices, each held for 2 s.
Sound organ() {
  Sound x;
  for (int k = 0; k < 10; ++k) {
    const double up = std::exp2(k / 12.0);
    x = x + mixed(mixed(tone(262 * up, 2), tone(330 * up, 2)), mixed(tone(392 * up, 2), tone(1047 * up, 2)));
  }
  return x;
}

TEST(DecodeVerdict, NoiseMusicSpeechAndSilenceAreNoModem) {
  const std::pair<const char*, Sound> sounds[] = {{"white noise", noise(12, 3000, 1)},
                                                  {"music", music()},
                                                  {"speech", speech()},
                                                  {"silence", silence(5)},
                                                  {"a dial tone", mixed(tone(350, 5), tone(440, 5))},
                                                  {"20 s of white noise", noise(20, 3000, 2)},
                                                  {"an organ", organ()}};
  for (const auto& [name, sound] : sounds) {
    const Verdict v = verdict_of({sound});
    EXPECT_EQ(v.technology, "no modem found") << name;
    EXPECT_FALSE(v.found) << name;
    EXPECT_TRUE(v.directions.empty()) << name;
  }
}

// The bands of V.22 and V.34's lower edge among them: what repeats is no data.
TEST(DecodeVerdict, ToneInNoiseIsNoModem) {
  for (const double hz : {440, 600, 1100, 1200, 1800, 2225, 2400}) {
    const Verdict v = verdict_of({mixed(silence(1) + tone(hz, 5, 9000), noise(20, 9, 6))});
    EXPECT_EQ(v.technology, "no modem found") << hz;
  }
}

// Of a level with the noise, it lies between the two frequencies of Bell 103, and noise draws it across their middle.
TEST(DecodeVerdict, AToneBesideTheMiddleOfTwoFrequenciesInLoudNoiseIsNoModem) {
  for (const double noise_rms : {1500, 2100, 3000}) {
    const Verdict v = verdict_of({mixed(tone(1100, 12, 4200), noise(12, noise_rms, 5))});
    EXPECT_EQ(v.technology, "no modem found") << noise_rms;
  }
}

TEST(DecodeVerdict, ModemsOfTwoFrequenciesAreNamed) {
  struct Modem {
    const char* name;
    double answer[3], call[3];  // mark Hz, space Hz, bit/s
    bool answer_tone;
  };
  constexpr Modem kModems[] = {{"V.21", {1650, 1850, 300}, {980, 1180, 300}, true},
                               {"V.23", {1300, 2100, 1200}, {390, 450, 75}, true},
                               {"Bell 103", {2225, 2025, 300}, {1270, 1070, 300}, false}};
  for (const Modem& m : kModems) {
    const Sound answer = silence(1) + (m.answer_tone ? answer_tone(2100, 3, false) : silence(1)) + silence(0.075) +
                         keyed(characters(200, m.answer[2], 7), m.answer[0], m.answer[1], m.answer[2]);
    const Sound call =
        silence(5) + keyed(characters(m.call[2] < 100 ? 40 : 150, m.call[2], 8), m.call[0], m.call[1], m.call[2]);
    // One channel with both, and in noise of 20 dB.
    const Sound both = mixed(mixed(answer, call), noise(seconds(std::max(answer.size(), call.size())), 200, 2));
    const Verdict v = verdict_of({both});
    EXPECT_EQ(v.technology, m.name);
    ASSERT_EQ(v.directions.size(), 2u) << m.name;
    EXPECT_GT(v.directions[0].since_s, 4.5) << m.name;  // the call modem waits
    EXPECT_LT(v.directions[1].since_s, 4.5) << m.name;
    EXPECT_EQ(v.directions[0].bit_rate, static_cast<int>(m.call[2]));
    EXPECT_EQ(v.directions[1].bit_rate, static_cast<int>(m.answer[2]));
  }
}

TEST(DecodeVerdict, AFaxCallIsNamedByItsCallingToneAndItsFrames) {
  // CSI and DIS of T.30 5.3.6.1: bit 0 of each octet is sent first.
  const Bits dis = flags(40) + frame({0xFF, 0x03, 0x40, 0x20, 0x20, 0x31}) + flags(1) +
                   frame({0xFF, 0x13, 0x80, 0x00, 0xEE}) + flags(2);
  const Sound answer =
      silence(5) + answer_tone(2100, 3, false) + silence(0.075) + keyed(dis, 1650, 1850, 300) + silence(1);
  const Sound call = silence(0.5) + tone(1100, 0.5) + silence(3) + tone(1100, 0.5);
  Sound both = mixed(answer, call);
  for (float& v : both) v /= 32768;
  const auto decoded = decode_samples({{both}, kRateHz, "fax"});
  EXPECT_EQ(verdict_of(*decoded).technology, "fax");
  ASSERT_EQ(decoded->fax.frames.size(), 2u);
  EXPECT_EQ(decoded->fax.frames[0].name, "CSI");
  EXPECT_EQ(decoded->fax.frames[1].name, "DIS");
  EXPECT_EQ(decoded->fax.cng.size(), 2u);
  EXPECT_TRUE(decoded->start_up.v8bis.empty());
}

// Nobody answers: CNG, louder by 50 dB than what the line has between.
TEST(DecodeVerdict, CngAloneIsAFaxMachineThatCalls) {
  const Sound cng = silence(0.5) + tone(1100, 0.5, 9000) + silence(3) + tone(1100, 0.5, 9000) + silence(1);
  const Verdict v = verdict_of({mixed(cng, noise(5.5, 20, 3))});
  EXPECT_EQ(v.technology, "fax");
  ASSERT_FALSE(v.evidence.empty());
  EXPECT_EQ(v.evidence[0].substr(0, 10), "CNG at 0.5");
}

TEST(DecodeVerdict, CngIsRepeatedAfterThreeSeconds) {
  for (const double pause_s : {0.5, 1.0, 2.0}) {
    Sound x = silence(0.5);
    for (int k = 0; k < 6; ++k) x = x + tone(1100, 0.5) + silence(pause_s);
    const Verdict v = verdict_of({x});
    EXPECT_EQ(v.technology, "no modem found") << pause_s;
  }
}

TEST(DecodeVerdict, AToneThatIsReversedWithoutRhythmIsNoCertainAnswerTone) {
  Sound x = silence(0.5);  // such as the notes of a melody
  float sign = 1;
  for (const double s : {0.7, 0.53, 0.61, 0.68, 0.57, 0.64, 0.59}) {
    Sound note = tone(2100, s);  // whole periods
    for (float& v : note) v *= sign;
    sign = -sign;
    x = x + note;
  }
  const auto call = decode_samples({{full_scale(x + silence(0.5))}, kRateHz, "notes"});
  for (const AnswerToneHeard& a : call->start_up.answer_tones) EXPECT_TRUE(a.reversals.empty());
  EXPECT_LE(verdict_of(*call).weight.probability, kUnknownProbability);
}

TEST(DecodeVerdict, ReversalsEvery450MsAreThoseOfAnAnswerTone) {
  const auto call =
      decode_samples({{full_scale(silence(0.5) + answer_tone(2100, 3, false) + silence(0.5))}, kRateHz, "ANS"});
  ASSERT_EQ(call->start_up.answer_tones.size(), 1u);
  EXPECT_EQ(call->start_up.answer_tones[0].reversals.size(), 6u);
  EXPECT_NEAR(call->start_up.answer_tones[0].steady_s, 3, 0.1);
  EXPECT_GE(verdict_of(*call).weight.probability, 0.95);
}

// Half turns at 600 bit/s, each one a turn.
Sound dpsk(const Bits& bits, double hz) {
  Sound x = tone(hz, static_cast<double>(bits.size()) / 600);
  float sign = 1;
  for (std::size_t i = 0, bit = 0; i < x.size(); ++i) {
    for (; bit <= static_cast<std::size_t>(seconds(i) * 600); ++bit) sign = bits[bit] != 0 ? -sign : sign;
    x[i] *= sign;
  }
  return x;
}

TEST(DecodeVerdict, AnInfoSequenceByChanceInOtherDataIsNoV34) {
  std::uint8_t sent[v34::Info0::kBits];
  v34::encode(v34::Info0{}, sent);
  const Bits info0(sent, sent + v34::Info0::kBits);
  const Bits before = random_bits(2000, 1), after = random_bits(2000, 2);
  const auto data = decode_samples({{full_scale(dpsk(before + info0 + after, 1200))}, kRateHz, "data"});
  EXPECT_TRUE(data->start_up.info.empty());
  EXPECT_NE(verdict_of(*data).technology, "V.34");
  const Sound phase2 = silence(1) + dpsk(info0, 1200) + tone(1200, 0.3) + silence(1);
  EXPECT_EQ(verdict_of({phase2}).technology, "V.34");
}

TEST(DecodeVerdict, ADirectionWithoutFramesSaysHowFarV42Came) {
  Verdict::Direction d{.name = "upstream"};
  EXPECT_EQ(describe_frames(d), "no frames");
  d.detection = "ODP";
  EXPECT_EQ(describe_frames(d), "no frames, V.42's ODP alone");
  d.good_frames = 3;
  EXPECT_EQ(describe_frames(d), "3 good frames, 0 bad");
}

// Symbols of QAM by chance: what is left where neither start-up nor training was recorded.
TEST(DecodeVerdict, ARecordingThatBeginsInDataModeIsNamedByItsSymbolClock) {
  std::mt19937 random(4);
  std::vector<Cf> symbols;
  for (int k = 0; k < 3200 * 20; ++k) {  // longer than one transform
    const auto axis = [&] { return static_cast<float>(static_cast<int>(random() % 16) * 2 - 15) / 8; };
    const float re = axis();
    symbols.emplace_back(re, axis());
  }
  for (const v34::Carrier carrier : {v34::Carrier::kLow, v34::Carrier::kHigh}) {
    const Sound x = modulate(symbols, v34::SymbolRate::k3200, carrier, 40, 0);
    Sound line = mixed(x, noise(seconds(x.size()), 30, 9));
    for (float& sample : line) sample /= 32768;
    const auto call = decode_samples({{line}, kRateHz, "data mode"});
    const Verdict v = verdict_of(*call);
    EXPECT_EQ(v.technology, "V.34");
    ASSERT_EQ(v.evidence.size(), 2u);
    EXPECT_NE(v.evidence[0].find("3200 symbols/s"), std::string::npos) << v.evidence[0];
    ASSERT_EQ(v.directions.size(), 1u);
    EXPECT_FALSE(v.directions[0].to_the_end);
    EXPECT_NE(v.directions[0].reason.find("no training was found before it"), std::string::npos);
    ASSERT_EQ(call->symbol_clocks.size(), 1u);
    EXPECT_NEAR(call->symbol_clocks[0].clock_ppm, 40, 2);
    EXPECT_NEAR(call->symbol_clocks[0].carrier_hz, carrier_hz(v34::SymbolRate::k3200, carrier), 30);
  }
}

// The frequencies of V.21 or Bell 202, and bits that are a half, a third or a quarter as fast: every change lies on the
// faster one's grid.
TEST(DecodeVerdict, SlowerBitsOnTheSameTwoFrequenciesAreAnotherModem) {
  for (const double baud : {75, 100, 150})
    EXPECT_EQ(verdict_of({keyed(characters(60, baud, 7), 1650, 1850, baud)}).technology, "no modem found") << baud;
  EXPECT_EQ(verdict_of({keyed(characters(200, 600, 7), 1200, 2200, 600)}).technology, "no modem found");
}

// Half-duplex: nothing tells which station sends. 1200 and 2200 Hz are not 1300 and 2100 Hz.
TEST(DecodeVerdict, OtherBitRatesAndFrequenciesAreAnotherModem) {
  const struct {
    double mark_hz, space_hz, baud;
  } kOthers[] = {{1300, 2100, 1100}, {1300, 2100, 1300}, {1000, 2400, 1200}, {2400, 1200, 1200}, {1650, 1850, 270}};
  for (const auto& row : kOthers) {
    const Bits bits = random_bits(static_cast<int>(6 * row.baud), 3);
    const Verdict v = verdict_of({silence(0.5) + keyed(bits, row.mark_hz, row.space_hz, row.baud) + silence(0.5)});
    EXPECT_NE(v.weight.kind, EvidenceKind::kTwoTones) << v.technology << " " << row.mark_hz << " " << row.baud;
  }
}

// A tape or a player 1 % too fast or too slow.
TEST(DecodeVerdict, ARecorderMayBeOnePercentOff) {
  const struct {
    double mark_hz, space_hz, baud;
    const char* name;
  } kModems[] = {{980, 1180, 300, "V.21"},
                 {1270, 1070, 300, "Bell 103"},
                 {1300, 2100, 1200, "V.23"},
                 {390, 450, 75, "V.23"},
                 {1200, 2200, 1200, "Bell 202"}};
  for (const auto& row : kModems) {
    for (const double speed : {0.99, 1.01}) {
      const Bits bits = characters(static_cast<int>(row.baud / 2), row.baud, 5);
      const Sound x = keyed(bits, speed * row.mark_hz, speed * row.space_hz, speed * row.baud);
      const Verdict v = verdict_of({mixed(silence(0.5) + x + silence(0.5), noise(1 + seconds(x.size()), 200, 8))});
      EXPECT_EQ(v.technology, row.name) << speed;
    }
  }
}

TEST(DecodeVerdict, Bell202IsNoV23) {
  const Sound x = silence(1) + keyed(characters(400, 1200, 7), 1200, 2200, 1200) + silence(0.5);
  for (const double noise_rms : {1, 200}) {
    const Verdict v = verdict_of({mixed(x, noise(seconds(x.size()), noise_rms, 2))});
    EXPECT_EQ(v.technology, "Bell 202") << noise_rms;
    ASSERT_EQ(v.directions.size(), 1u);
    EXPECT_EQ(v.directions[0].bit_rate, 1200);
    EXPECT_EQ(v.evidence[0].find("station"), std::string::npos) << v.evidence[0];
  }
}

// PSK of root-raised-cosine pulses on one carrier, or on several that are `apart_hz` apart; clean, so that every leak
// shows.
Sound psk(double baud, double carrier_hz, int carriers, double apart_hz, double duration_s, unsigned seed = 7) {
  std::mt19937 random(seed);
  Sound x(static_cast<std::size_t>(duration_s * kRateHz), 0.0F);
  for (int c = 0; c < carriers; ++c) {
    std::vector<double> phase;
    for (int k = 0; k < static_cast<int>(duration_s * baud) + 20; ++k)
      phase.push_back(std::numbers::pi / 2 * static_cast<double>(random() % 4));
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double at = static_cast<double>(i) * baud / kRateHz;
      double re = 0, im = 0;
      for (int k = std::max(0, static_cast<int>(at) - 6); k < static_cast<int>(at) + 7; ++k) {
        const double u = at - k + 1e-7, p = std::numbers::pi * u;  // of roll-off 0.5; never at a zero of the divisor
        const double pulse = (std::sin(p / 2) + 2 * u * std::cos(1.5 * p)) / (p * (1 - 4 * u * u));
        re += pulse * std::cos(phase[static_cast<std::size_t>(k)]);
        im += pulse * std::sin(phase[static_cast<std::size_t>(k)]);
      }
      const double turn = 2 * std::numbers::pi * (carrier_hz + c * apart_hz) / kRateHz * static_cast<double>(i);
      x[i] += static_cast<float>(6000 / std::sqrt(carriers) * (re * std::cos(turn) - im * std::sin(turn)));
    }
  }
  return x;
}

// Clean lines of other symbol rates leak into every rate of a spectrum without a window.
TEST(DecodeVerdict, CleanSignalsOfOtherSymbolRatesAreNotV34) {
  EXPECT_EQ(verdict_of({silence(0.5) + psk(1200, 1800, 1, 0, 5) + silence(0.5)}).technology,
            "another signal of 1200 symbols/s");
  EXPECT_EQ(verdict_of({silence(0.5) + psk(2000, 1700, 1, 0, 5) + silence(0.5)}).technology,
            "another signal of 2000 symbols/s");
  const Verdict several = verdict_of({silence(0.5) + psk(100, 800, 8, 200, 5) + silence(0.5)});
  EXPECT_NE(several.technology, "V.34") << several.evidence.front();
}

// Carriers of rectangular symbols: the spectrum is like itself at every multiple of the symbol rate, 3200 among them.
TEST(DecodeVerdict, CarriersWithoutShapingAreNotV34) {
  std::mt19937 random(8);
  Sound x = silence(5);
  for (int c = 0; c < 8; ++c) {
    std::vector<double> phase;
    for (int k = 0; k < 501; ++k) phase.push_back(std::numbers::pi / 2 * static_cast<double>(random() % 4));
    for (std::size_t i = 0; i < x.size(); ++i)
      x[i] += static_cast<float>(1500 * std::cos(kTurn * std::fmod((800 + 200 * c) * seconds(i), 1.0) + phase[i / 80]));
  }
  const Verdict v = verdict_of({silence(0.5) + x + silence(0.5)});
  EXPECT_NE(v.technology, "V.34") << v.evidence.front();
  EXPECT_EQ(v.technology.find("another signal of 3"), std::string::npos) << v.technology;
}

// Characters of 10.5 bits at 1200 bit/s on two tones 600 Hz apart: the spectrum is like itself at every multiple of 114
// characters/s, which is no symbol rate.
TEST(DecodeVerdict, NoiseThatPulsatesHasNoSymbolRate) {
  for (const double hz : {80.0, 100.0, 300.0, 600.0}) {
    Sound x = noise(8, 3000, 5);
    for (std::size_t i = 0; i < x.size(); ++i) x[i] *= static_cast<float>(1 + 0.8 * std::sin(kTurn * hz * seconds(i)));
    const Verdict v = verdict_of({x});
    EXPECT_EQ(v.weight.kind, EvidenceKind::kNone) << v.technology << " at " << hz;
  }
}

// A player without a filter, 1 % too fast: its interpolation repeats every 100 samples.
TEST(DecodeVerdict, InterpolationHasNoSymbolRate) {
  const Sound sent = psk(1200, 1800, 1, 0, 8);
  Sound x;
  for (double at = 0; at + 1 < static_cast<double>(sent.size()); at += 1.01) {
    const auto i = static_cast<std::size_t>(at);
    const auto share = static_cast<float>(at - static_cast<double>(i));
    x.push_back(sent[i] * (1 - share) + sent[i + 1] * share);
  }
  const Verdict v = verdict_of({x});
  EXPECT_EQ(v.technology, "another signal of 1212 symbols/s");
}

TEST(DecodeVerdict, ARateOfCharactersIsNoSymbolRate) {
  std::mt19937 random(9);
  Bits halves;
  for (int k = 0; k < 1200; ++k) {
    const auto character = static_cast<unsigned>(random());
    halves.insert(halves.end(), {0, 0});
    for (int bit = 0; bit < 8; ++bit) halves.insert(halves.end(), 2, static_cast<int>(character >> bit & 1));
    halves.insert(halves.end(), 3, 1);
  }
  const Verdict v = verdict_of({silence(0.5) + keyed(halves, 1200, 1800, 2400) + silence(0.5)});
  EXPECT_EQ(v.technology.find("another signal"), std::string::npos) << v.technology;
}

// Each packet begins its symbols anew, which broadens the line of the symbol clock.
TEST(DecodeVerdict, TheSymbolRateOfPacketsIsThatOfTheirSymbols) {
  Sound x;
  for (int k = 0; k < 30; ++k) {
    const Sound packet = psk(1600, 1800, 1, 0, 0.18 + 0.0003 * (k % 5), static_cast<unsigned>(k));
    x.insert(x.end(), packet.begin(), packet.end());
  }
  const Sound line = silence(0.5) + x + silence(0.5);
  for (const double noise_rms : {1, 1500, 2000, 2500}) {
    for (unsigned seed = 1; seed < 4; ++seed) {
      const auto call =
          decode_samples({{full_scale(mixed(line, noise(seconds(line.size()), noise_rms, seed)))}, kRateHz, "packets"});
      for (const SymbolClock& clock : call->symbol_clocks) EXPECT_EQ(clock.symbol_rate, 1600) << noise_rms;
      if (noise_rms <= 1500) {
        EXPECT_EQ(call->symbol_clocks.size(), 1u) << noise_rms;
      }
    }
  }
}

// Points near those of V.22bis, in the middle of whose band there is nothing.
TEST(DecodeVerdict, FourFrequenciesAreNoV22bis) {
  std::mt19937 random(9);
  Sound x = silence(4);
  double phase = 0, hz = 1350;
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (i % 80 == 0) hz = 1350 + 100 * static_cast<double>(random() % 4);
    phase += hz / kRateHz;
    x[i] = static_cast<float>(8000 * std::sin(kTurn * phase));
  }
  EXPECT_EQ(verdict_of({x}).technology.substr(0, 5), "no mo");
}

// 2025 and 2225 Hz lie around 2100 Hz.
TEST(DecodeVerdict, ABell103AnswererSendsNoAnswerToneOfV25) {
  Sound x = silence(1) + keyed(characters(200, 300, 7), 2225, 2025, 300) + silence(1);
  for (float& v : x) v /= 32768;
  const auto call = decode_samples({{x}, kRateHz, "Bell 103"});
  EXPECT_EQ(verdict_of(*call).technology, "Bell 103");
  EXPECT_TRUE(call->start_up.answer_tones.empty());
}

Bits octets_of_v8(const std::vector<unsigned>& octets) {
  Bits bits;
  for (const unsigned o : octets) {
    bits.push_back(0);
    for (int b = 0; b < 8; ++b) bits.push_back(static_cast<int>(o >> b & 1));
    bits.push_back(1);
  }
  return bits;
}

TEST(DecodeVerdict, ACjOfMoreOctetsIsCountedToItsEnd) {
  Bits cm;
  for (int k = 0; k < 4; ++k) cm = cm + Bits(10, 1) + octets_of_v8({0xE0, 0xC1, 0x45, 0x13, 0x94, 0x2A});
  const double cj_s = 1 + static_cast<double>(cm.size()) / 300;
  Sound x = silence(1) + keyed(cm + octets_of_v8({0, 0, 0, 0}), 980, 1180, 300) + silence(1);
  for (float& v : x) v /= 32768;
  const auto call = decode_samples({{x}, kRateHz, "V.8"});
  EXPECT_EQ(call->start_up.v8.cj_octets, 4);
  EXPECT_NEAR(call->start_up.v8.cj, cj_s, 0.005);
  EXPECT_NEAR(call->start_up.v8.cj_end(), cj_s + 40.0 / 300, 0.005);
}

// Data of V.22 in the band of V.21 had it once: ten ones and the synchronization octet are 20 bits.
TEST(DecodeVerdict, ASingleMenuThatDoesNotBeginWithTheCallFunctionIsNoMenu) {
  for (const unsigned first : {0xC1U, 0xDEU}) {
    const Bits menu = Bits(10, 1) + octets_of_v8({0xE0, first, 0x0B, 0x25, 0x42, 0x81, 0x32, 0x42}) + Bits(10, 1);
    EXPECT_EQ(verdict_of({silence(1) + keyed(menu, 980, 1180, 300) + silence(2)}).technology,
              first == 0xC1 ? "V.8" : "no modem found");
  }
}

TEST(DecodeVerdict, ASignalBehindAnAnswerToneIsMentioned) {
  const Sound unread = noise(6, 3000, 11);
  const Verdict v = verdict_of({silence(1) + answer_tone(2100, 3, false) + silence(0.1) + unread + silence(1)});
  EXPECT_EQ(v.technology, "ANS, then an unidentified signal");
}

TEST(DecodeVerdict, AnspcmThatTurnsIntoAnsamIsTwoTones) {
  const Sound x =
      silence(1) + answer_tone(8000.0 * 79 / 301, 1.8, false) + answer_tone(2100, 1, true, 1.8) + silence(1);
  Sound scaled = x;
  for (float& v : scaled) v /= 32768;
  const auto call = decode_samples({{scaled}, kRateHz, "V.92"});
  const auto& tones = call->start_up.answer_tones;
  ASSERT_EQ(tones.size(), 2u);
  EXPECT_STREQ(tones[0].name(), "ANSpcm");
  EXPECT_STREQ(tones[1].name(), "ANSam");
  EXPECT_NEAR(tones[1].t0, 2.8, 0.1);
  EXPECT_NEAR(tones[0].frequency_hz, 2099.67, 0.05);
  EXPECT_NEAR(tones[1].frequency_hz, 2100, 0.05);
  EXPECT_EQ(verdict_of(*call).technology, "ANSpcm alone");
}

// Of what the number of true names in generated signals was counted.
TEST(DecodeVerdict, ANameHasAProbabilityAndTheNextBestHypothesis) {
  const Verdict none = verdict_of({noise(12, 3000, 1)});
  EXPECT_EQ(none.weight.kind, EvidenceKind::kNone);
  EXPECT_EQ(none.weight.probability, 0);
  EXPECT_TRUE(none.weight.next_best.empty());
  EXPECT_TRUE(describe_weight(none).empty());
  const struct {
    Sound sound;
    EvidenceKind kind;
    const char* next_best;
  } kRows[] = {{keyed(characters(200, 300, 7), 980, 1180, 300), EvidenceKind::kTwoTones, "Bell 103"},
               {keyed(characters(400, 1200, 7), 1200, 2200, 1200), EvidenceKind::kTwoTones, "V.23"},
               {psk(1200, 1800, 1, 0, 5), EvidenceKind::kSymbolClock, "V.27ter at 2400 bit/s"},
               {psk(2000, 1700, 1, 0, 5), EvidenceKind::kSymbolClock, "an unidentified signal"},
               {answer_tone(2100, 3, false), EvidenceKind::kTone, "ANSam"}};
  for (const auto& row : kRows) {
    const Verdict v = verdict_of({silence(0.5) + row.sound + silence(0.5)});
    EXPECT_EQ(v.weight.kind, row.kind) << v.technology;
    EXPECT_EQ(v.weight.next_best, row.next_best) << v.technology;
    EXPECT_GT(v.weight.strength, 0) << v.technology;
    EXPECT_EQ(v.weight.probability, probability_of(row.kind, v.weight.strength));
  }
}

// Bell 202's frequencies are near V.23's, in whose band the same bits are found.
TEST(DecodeVerdict, TheSameBitsInTheBandOfANeighbourAreEvidenceForIt) {
  const auto call =
      decode_samples({{full_scale(silence(0.5) + keyed(characters(400, 1200, 7), 1200, 2200, 1200) + silence(0.5))},
                      kRateHz,
                      "sound"});
  ASSERT_EQ(call->fsk.size(), 1U);
  const FskHeard& f = call->fsk[0];
  ASSERT_NE(f.rival, nullptr);
  EXPECT_STREQ(f.rival, "V.23");
  EXPECT_GT(f.rival_bits, 0.1 * bits_of(f));
  const Weight w = verdict_of(*call).weight;
  EXPECT_DOUBLE_EQ(w.strength, bits_of(f) - f.rival_bits);
  EXPECT_EQ(w.next_best, "V.23");
}

TEST(DecodeVerdict, StrongerEvidenceIsNoLessProbable) {
  for (const EvidenceKind kind : {EvidenceKind::kMessages, EvidenceKind::kTraining, EvidenceKind::kTwoTones,
                                  EvidenceKind::kSymbolClock, EvidenceKind::kTone}) {
    double before = 0;
    for (double strength = 0; strength < 1000; strength += 0.5) {
      const double p = probability_of(kind, strength);
      EXPECT_GE(p, before) << name_of(kind) << " " << strength;
      EXPECT_GT(p, 0);
      EXPECT_LT(p, 1) << "signals of a finite number";
      before = p;
    }
  }
  EXPECT_EQ(probability_of(EvidenceKind::kNone, 5), 0);
}

// A call of which one side alone trains as V.34 does, behind an MS of V.8bis with a non-standard field.
std::string technology_of(std::uint8_t country, std::vector<std::uint8_t> provider, bool fcs_good = true) {
  Call call;
  call.recording.channel.resize(2);
  call.activity_end_s = {20, 20};
  Training& training = call.trainings.emplace_back();
  training.from_1200.direction.channel = 0;
  training.from_2400.direction.channel = 1;
  Segment& segment = training.from_1200.segments.emplace_back();
  segment.t_trn = 5;
  segment.trn_symbols = 1000;
  segment.mp.emplace_back();
  V8bisMessage& heard = call.start_up.v8bis.emplace_back();
  heard.fcs_good = fcs_good;
  heard.message.non_standards = 1;
  v8bis::NonStandard& field = heard.message.non_standard[0];
  field.country = country;
  field.provider_size = static_cast<std::uint8_t>(provider.size());
  std::copy(provider.begin(), provider.end(), field.octets);
  return verdict_of(call).technology;
}

// T.35: B5 is the United States.
TEST(DecodeVerdict, K56flexIsToldByTheWholeCodeOfItsProvider) {
  EXPECT_EQ(technology_of(0xB5, {0x00, 0x94}), "K56flex");
  for (const auto& [country, provider] : {std::pair{0xB4, std::vector<std::uint8_t>{0x00, 0x94}},
                                          {0xB5, {0x00, 0x93}},
                                          {0xB5, {0x01, 0x94}},
                                          {0xB5, {0x00, 0x94, 0x00}},
                                          {0xB5, {}}})
    EXPECT_EQ(technology_of(static_cast<std::uint8_t>(country), provider), "other PCM modem")
        << country << ", " << provider.size() << " octets";
  EXPECT_EQ(technology_of(0xB5, {0x00, 0x94}, false), "other PCM modem") << "an invalid frame";
}

// A call with these INFO sequences, of which the last is INFO1a, and a signal that continues after it.
Call call_of(const std::vector<decltype(InfoHeard::info)>& infos, double goes_on_s) {
  Call call;
  call.recording.channel.resize(2);
  for (const auto& info : infos) {
    InfoHeard& heard = call.start_up.info.emplace_back();
    heard.info = info;
    heard.t0 = static_cast<double>(call.start_up.info.size());
    heard.bits.resize(128);
  }
  Training& t = call.trainings.emplace_back();
  t.info1a_t = call.start_up.info.back().t0;
  t.pcm = std::holds_alternative<v34::Info1aV90>(infos.back());
  t.from_2400.direction.channel = 1;
  if (t.pcm) t.from_2400.direction.pcm = std::get<v34::Info1aV90>(infos.back()).pcm_upstream;
  call.recording.duration_s = t.info1a_t + goes_on_s;
  call.activity_end_s = {call.recording.duration_s, call.recording.duration_s};
  return call;
}

TEST(DecodeVerdict, Info1aWithoutItsTrainingIsNoCertainV34) {
  const std::vector<decltype(InfoHeard::info)> infos = {v34::Info0{}, v34::Info0{}, v34::Info1c{}, v34::Info1a{}};
  EXPECT_LE(verdict_of(call_of(infos, 20)).weight.probability, kUnknownProbability);
  EXPECT_LE(verdict_of(call_of({v34::Info1a{}}, 1)).weight.probability, kUnknownProbability) << "perhaps by chance";
  EXPECT_GT(verdict_of(call_of(infos, 1)).weight.probability, 0.9) << "the recording ends before it";
  Call trained = call_of(infos, 20);
  for (Training::Side* side : {&trained.trainings[0].from_1200, &trained.trainings[0].from_2400})
    side->segments.emplace_back().trn_symbols = 2000;
  const Verdict v = verdict_of(trained);
  EXPECT_EQ(v.technology, "V.34");
  EXPECT_GT(v.weight.probability, 0.9);
}

TEST(DecodeVerdict, V92WithPcmUpstreamIsNamedByInfo1a) {
  v34::Info1aV90 chosen{};
  chosen.pcm_upstream = true;
  const Verdict v = verdict_of(call_of({v34::Info0{}, v34::Info0d{}, v34::Info1c{}, chosen}, 20));
  EXPECT_EQ(v.technology, "V.92 PCM upstream");
  EXPECT_GT(v.weight.probability, 0.9);
  ASSERT_EQ(v.directions.size(), 2u);
  EXPECT_EQ(v.directions[0].reason, "the digital modem's CPd, which defines the data coding, was not decoded");
  chosen.pcm_upstream = false;
  EXPECT_EQ(verdict_of(call_of({v34::Info0{}, v34::Info0d{}, v34::Info1c{}, chosen}, 20)).technology, "V.90");
}

TEST(DecodeVerdict, AnOnlyInfoSequenceThatChoosesPcmIsNotCertain) {
  EXPECT_LE(verdict_of(call_of({v34::Info1aV90{}}, 20)).weight.probability, kUnknownProbability);
}

}  // namespace
}  // namespace offhook::decode
