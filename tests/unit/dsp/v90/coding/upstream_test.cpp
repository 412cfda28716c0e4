// SPDX-License-Identifier: MIT
//
// The PCM upstream of V.92: sequences, symbols, modulus encoder, precoder and prefilter, against vectors that
// tests/checklist/v92_pcm_upstream_vectors.py computes from the text.
#include "dsp/v90/coding/upstream.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "dsp/v34/phase2/info.h"
#include "dsp/v90/coding/cp.h"
#include "dsp/v90/coding/upstream_sequences.h"
#include "dsp/v90/pcm/downstream.h"
#include "dsp/v90/pcm/upstream_reader.h"
#include "dsp/v90/pcm/upstream_signals.h"
#include "dsp/v90/session/digital_v92.h"

namespace offhook::v90 {
namespace {

struct Vector {
  std::string_view name, text;
};
constexpr Vector kVectors[] = {
#include "upstream_vectors.inc"
};

std::string vector(std::string_view name) {
  for (const Vector& v : kVectors)
    if (v.name == name) return std::string(v.text);
  ADD_FAILURE() << "no vector " << name;
  return {};
}
std::vector<double> numbers(std::string_view name) {
  std::istringstream text(vector(name));
  std::vector<double> out;
  for (double value; text >> value;) out.push_back(value);
  return out;
}

using Bits = std::vector<uint8_t>;

WideNumber number_of(const Bits& bits) {
  WideNumber number;
  for (size_t k = 0; k < bits.size(); ++k) number.limb[k / 32] |= uint32_t{bits[k]} << k % 32;
  return number;
}
using Signal = UpstreamSignals::Signal;
constexpr oh_bit_port kOnes = {[](void*) { return 1; }, [](void*, int) {}, nullptr};

std::string text(const Bits& bits) {
  std::string out;
  for (const uint8_t b : bits) out += static_cast<char>('0' + b);
  return out;
}
Bits bits(std::string_view name) {
  Bits out;
  for (const char c : vector(name)) out.push_back(c == '1');
  return out;
}
template <class T>
std::string encoded(const T& sequence) {
  Bits out(1u << 15);
  out.resize(static_cast<size_t>(encode(sequence, out.data())));
  return text(out);
}

Jp jp() {
  return {0x8001, false, false};
}
Suv suvu() {
  return {.wait_for_cp = false, .level = Suv::kNoLevel, .wants_silence = false, .acknowledge = false};
}
Cp cpt() {
  Cp cp{};
  cp.drn = 12;
  cp.trn1d_ratio = 0x2000;
  for (int u = 3; u < 92; u += 4) cp.constellation[0].add(u);
  return cp;
}
Cp cpu_prime() {
  Cp cp{};
  cp.data_mode = cp.acknowledge = cp.a_law = cp.codec_differs = true;
  cp.drn = 22;
  cp.shaping_bits = 2;
  cp.look_ahead = 3;
  cp.trn1d_ratio = 0x1234;
  cp.a1 = 64, cp.a2 = -1, cp.b1 = -128, cp.b2 = 127;
  constexpr uint8_t kIntervals[] = {0, 1, 0, 1, 1, 0};
  for (int i = 0; i < kFrameIntervals; ++i) cp.interval[i] = kIntervals[i];
  for (int u = 3; u < 92; u += 4) cp.constellation[0].add(u), cp.codec[1].add(u);
  for (int u = 2; u < 60; u += 3) cp.constellation[1].add(u), cp.codec[0].add(u);
  return cp;
}
template <size_t N>
FilterSection section(const int (&taps)[N]) {
  FilterSection s{};
  s.length = N;
  for (size_t k = 0; k < N; ++k) s.tap[k] = static_cast<int16_t>(taps[k]);
  return s;
}
constexpr uint8_t kModuli[] = {25, 25, 25, 13, 25, 25, 24, 13, 25, 24, 24, 13};
void add_moduli(Cpd* cpd) {
  cpd->has_moduli = true;
  for (int i = 0; i < kUpstreamIntervals; ++i) cpd->modulus[i] = kModuli[i];
}
void add_sets(Cpd* cpd) {
  cpd->has_constellations = true;
  for (uint8_t i = 0; i < 6; ++i) cpd->interval[i] = i % 2;
  cpd->points[0] = 40, cpd->points[1] = 36;
  for (int k = 0; k < 40; ++k) cpd->point[0][k] = static_cast<uint16_t>(60 + 120 * k + k * k);
  for (int k = 0; k < 36; ++k) cpd->point[1][k] = static_cast<uint16_t>(55 + 131 * k);
}
/// All parts, with another trellis code for each n.
Cpd whole_cpd(int n) {
  Cpd cpd{};
  cpd.drn = 9;
  cpd.trellis = static_cast<v34::TrellisCode>(n);
  cpd.extend_e2u = n == 2, cpd.acknowledge = n == 1;
  cpd.gain = static_cast<uint16_t>(40000 + n);
  add_moduli(&cpd);
  cpd.has_filters = true;
  cpd.z1 = section({3000, -1500, 700});
  cpd.p1 = section({-9000, 2500, -1200, 600});
  cpd.z2 = section({20000, -6000, 2500, -800, 300});
  cpd.p2 = section({4000, -1800});
  add_sets(&cpd);
  return cpd;
}
Dil three_segments() {
  Dil dil{};
  dil.segments = 3;
  dil.sign_length = dil.training_length = 16;
  for (int k = 0; k < 2; ++k) dil.sign[k] = 0xAA, dil.training[k] = 0xFF;
  for (uint8_t c = 0; c < 8; ++c) dil.length[c] = c, dil.reference[c] = static_cast<uint8_t>(80 + c);
  dil.ucode[0] = 70, dil.ucode[1] = 10, dil.ucode[2] = 127;
  return dil;
}

// --- sequences

template <class T>
std::string info(const T& sequence) {
  Bits out(T::kBits);
  v34::encode(sequence, out.data());
  return text(out);
}

TEST(V92Info, OfPcmUpstreamHasTheBitsOfTables17And18) {
  using v34::Carrier;
  v34::Info1c info1d{0,
                     2,
                     0,
                     {{Carrier::kLow, 0, 9},
                      {Carrier::kHigh, 2, 10},
                      {Carrier::kLow, 1, 10},
                      {Carrier::kHigh, 3, 11},
                      {Carrier::kLow, 6, 12},
                      {Carrier::kHigh, 4, 11}},  // PCM upstream in the place of the carrier
                     v34::kOffsetUnknown};
  EXPECT_EQ(info(info1d), vector("INFO1d"));
  info1d.probing[5].carrier = Carrier::kLow;
  EXPECT_EQ(info(info1d), vector("INFO1d without"));
  v34::Info1aV90 info1a{5, 79, v34::SymbolRate::k3200, 17};
  info1a.pcm_upstream = true;
  info1a.filter_sections = 3, info1a.total_taps = 3;
  EXPECT_EQ(info(info1a), vector("INFO1a"));
  info1a.md_length = 0, info1a.u_info = 111;
  info1a.filter_sections = 2, info1a.total_taps = 1, info1a.section_taps = 2;
  EXPECT_EQ(info(info1a), vector("INFO1a other"));
  v34::Info1aV90 read{};
  ASSERT_TRUE(v34::decode(bits("INFO1a other").data(), &read));
  EXPECT_TRUE(read.pcm_upstream);
  EXPECT_EQ(read.section_taps, 2);
  EXPECT_EQ(read.u_info, 111);
}

TEST(V92Sequences, OfTheDigitalModemHaveTheBitsOfTables21_22_31) {
  constexpr auto rate = [](int drn) { return 1u << (drn - 1); };
  EXPECT_EQ(encoded(Jd{rate(1) | rate(2) | rate(17) | rate(22), false, false, 2}), vector("Jd"));
  EXPECT_EQ(encoded(jp()), vector("Jp"));
  EXPECT_EQ(encoded(Jp{0x1234, true, false}), vector("Jp 8 points"));
  EXPECT_EQ(encoded(Jp{0, false, true}), vector("Jp 8 points later"));
  EXPECT_EQ(encoded(Suv{}), vector("SUVd"));
  EXPECT_EQ(encoded(Suv{false, 0, true, true}), vector("SUVd'"));
}

TEST(V92Sequences, CpdHasTheBitsOfTable30PartByPart) {
  for (int n = 0; n < 3; ++n) EXPECT_EQ(encoded(whole_cpd(n)), vector("CPd " + std::to_string(n)));
  Cpd moduli{};
  moduli.drn = 19, moduli.trellis = v34::TrellisCode::k64, moduli.gain = 65535;
  add_moduli(&moduli);
  EXPECT_EQ(encoded(moduli), vector("CPd moduli"));
  Cpd filters{};
  filters.drn = 1, filters.acknowledge = true, filters.gain = 1, filters.has_filters = true;
  filters.p1 = section({-5000}), filters.z2 = section({30000, 9000});
  EXPECT_EQ(encoded(filters), vector("CPd filters"));
  Cpd points{};
  points.gain = 77;
  add_sets(&points);
  EXPECT_EQ(encoded(points), vector("CPd points"));
  Cpd header{};
  header.drn = 5, header.trellis = v34::TrellisCode::k32, header.gain = 1000;
  EXPECT_EQ(encoded(header), vector("CPd header"));
}

TEST(V92Sequences, OfTheAnalogueModemHaveTheBitsOfTables20_23_27) {
  EXPECT_EQ(encoded(suvu()), vector("SUVu"));
  EXPECT_EQ(encoded(Suv{true, -5, true, true}), vector("SUVu'"));
  EXPECT_EQ(encoded(ShortCp{19, true}), vector("CPus'"));
  const auto cp = [](const Cp& from) {
    Bits out(Cp::kMaxBits);
    out.resize(static_cast<size_t>(encode_v92(from, out.data())));
    return text(out);
  };
  EXPECT_EQ(cp(cpt()), vector("CPt"));
  EXPECT_EQ(cp(cpu_prime()), vector("CPu'"));
  const auto ja = [](const Dil& dil, UpstreamRates rates) {
    Bits out(Dil::kMaxBits + Dil::kRatesBits);
    out.resize(static_cast<size_t>(encode(dil, rates, out.data())));
    return text(out);
  };
  EXPECT_EQ(vector("DIL 0").size(), 276u) << "8.5.4";
  EXPECT_EQ(ja(Dil{}, (1u << kMostUpstreamDrn) - 1), vector("DIL 0"));
  EXPECT_EQ(ja(three_segments(), 1 | 1 << 2 | 1 << 15 | 1 << 16 | 1 << 18), vector("DIL 3"));
}

template <class Receiver, class T>
int found(std::string_view name, Receiver receiver, T* last) {
  int times = 0;
  for (int copy = 0; copy < 2; ++copy) {
    for (const uint8_t b : bits(name)) times += receiver.put(b, last);
  }
  return times;
}

TEST(V92Sequences, AreReadAsTheVectorsHaveThem) {
  Jp read_jp{};
  EXPECT_EQ(found("Jp 8 points", FixedSequenceReceiver<Jp>(), &read_jp), 2);
  EXPECT_EQ(read_jp, (Jp{0x1234, true, false}));
  EXPECT_EQ(found("Jd", FixedSequenceReceiver<Jp>(), &read_jp), 0) << "bit 47";
  Suv suv{};
  EXPECT_EQ(found("SUVu'", FixedSequenceReceiver<Suv>(), &suv), 2);
  EXPECT_EQ(suv, (Suv{true, -5, true, true}));
  EXPECT_EQ(found("CPt", FixedSequenceReceiver<Suv>(), &suv), 0) << "bit 18";
  ShortCp short_cp{};
  EXPECT_EQ(found("CPus'", FixedSequenceReceiver<ShortCp>(), &short_cp), 2);
  EXPECT_EQ(short_cp, (ShortCp{19, true}));
  for (const char* other : {"CPt", "CPu'", "SUVu'"})
    EXPECT_EQ(found(other, FixedSequenceReceiver<ShortCp>(), &short_cp), 0) << other;
  Cp cp{};
  EXPECT_EQ(found("CPu'", CpReceiver(CpForm::kV92), &cp), 2);
  EXPECT_EQ(cp, cpu_prime());
  EXPECT_EQ(found("SUVu", CpReceiver(CpForm::kV92), &cp), 0);
  Cpd cpd{};
  EXPECT_EQ(found("CPd 2", CpdReceiver(), &cpd), 2);
  EXPECT_EQ(cpd, whole_cpd(2));
  EXPECT_EQ(found("CPd header", CpdReceiver(), &cpd), 2) << "the other parts stay";
  EXPECT_EQ(cpd.gain, 1000);
  EXPECT_EQ(cpd.p1, whole_cpd(2).p1);
  EXPECT_EQ(cpd.point[1][35], whole_cpd(2).point[1][35]);
  Dil dil{};
  EXPECT_EQ(found("DIL 3", DilReceiver(true), &dil), 2);
  EXPECT_EQ(dil, three_segments());
}

TEST(V92Sequences, EveryDamagedBitIsNoticed) {
  const auto check = [](std::string_view name, auto receiver, auto target) {
    const Bits good = bits(name);
    for (size_t k = 17; k + 1 < good.size(); ++k) {
      Bits damaged = good;
      damaged[k] ^= 1;
      auto fresh = receiver;
      int times = 0;
      for (const uint8_t b : damaged) times += fresh.put(b, &target);
      EXPECT_EQ(times, 0) << name << " " << k;
    }
  };
  check("SUVu'", FixedSequenceReceiver<Suv>(), Suv{});
  check("CPus'", FixedSequenceReceiver<ShortCp>(), ShortCp{});
  check("CPu'", CpReceiver(CpForm::kV92), Cp{});
  check("CPd 1", CpdReceiver(), Cpd{});
  Bits damaged = bits("Jp");
  for (int k = 17; k < Jp::kBits - Jp::kFillBits; ++k) {
    damaged[static_cast<size_t>(k)] ^= 1;
    Jp read{};
    EXPECT_FALSE(decode(damaged.data(), &read)) << k;
    damaged[static_cast<size_t>(k)] ^= 1;
  }
}

// --- symbols

std::vector<float> rest(UpstreamSignals& tx) {
  std::vector<float> out;
  while (!tx.ended()) out.push_back(tx.next(kOnes, false));
  return out;
}
std::vector<float> of(UpstreamSignals& tx, Signal s, int symbols) {
  tx.start(s, symbols);
  return rest(tx);
}
std::string signs(const std::vector<float>& symbols) {
  std::string out;
  for (const float s : symbols) out += s > 0 ? '+' : s < 0 ? '-' : '0';
  return out;
}
std::string levels(const std::vector<float>& symbols, int points) {
  std::string out;
  for (const float s : symbols) {
    const auto odd = static_cast<int>(std::lround(s * std::sqrt(points == 4 ? 5.f : 21.f)));
    out += (out.empty() ? "" : " ") + std::string(odd > 0 ? "+" : "") + std::to_string(odd);
  }
  return out;
}

TEST(V92UpstreamSignals, RuAndSuArePeriodsOfSixWithThePowerOfTrn1u) {
  UpstreamSignals tx;
  EXPECT_EQ(signs(of(tx, Signal::kRu, 12)), "+++---+++---") << "8.5.5";
  EXPECT_EQ(signs(of(tx, Signal::kRuBar, 12)), "---+++---+++");
  const std::vector<float> su = of(tx, Signal::kSu, 12);
  EXPECT_EQ(signs(su), "+0+-0-+0+-0-") << "8.5.6";
  EXPECT_NEAR(su[0], std::sqrt(1.5), 1e-6);
  EXPECT_EQ(signs(of(tx, Signal::kSuBar, 12)), "-0-+0+-0-+0+");
  EXPECT_EQ(kRuSymbols, 384) << "9.5.2.1.1";
  EXPECT_EQ(kRuBarSymbols, 24);
  EXPECT_EQ(kSuSymbols, 144) << "9.5.2.1.6";
}

TEST(V92UpstreamSignals, TwoPointsAreThoseOf8_5) {
  UpstreamSignals tx;
  EXPECT_EQ(signs(of(tx, Signal::kTrn1u, 2040)).substr(0, 120), vector("TRN1u"));
  const Bits descriptor = bits("DIL 0");
  Bits ja(24, 1);
  for (int copy = 0; copy < 2; ++copy) ja.insert(ja.end(), descriptor.begin(), descriptor.end());
  tx.start_two_points(ja.data(), static_cast<int>(ja.size()));
  EXPECT_EQ(signs(rest(tx)).substr(0, 600), vector("Ja"));
}

/// TRN1u, 24 ones and CPt twice.
std::string send_cpt(UpstreamSignals& tx) {
  of(tx, Signal::kTrn1u, 2052);
  Bits sent(24, 1), cp = bits("CPt");
  while (cp.size() % 12 != 0) cp.push_back(0);
  for (int copy = 0; copy < 2; ++copy) sent.insert(sent.end(), cp.begin(), cp.end());
  tx.start_two_points(sent.data(), static_cast<int>(sent.size()));
  return signs(rest(tx));
}

TEST(V92UpstreamSignals, OfPhase4AreThoseOf8_7) {
  for (const int points : {4, 8}) {
    UpstreamSignals tx;
    EXPECT_EQ(send_cpt(tx), vector("CPt symbols"));
    EXPECT_EQ(signs(of(tx, Signal::kE1u, 0)), vector("E1u")) << "8.5.2";
    tx.set_points(points);
    const std::string n = std::to_string(points);
    EXPECT_EQ(levels(of(tx, Signal::kTrn2u, 120), points), vector("TRN2u " + n));
    std::string sequences;
    const Bits suv = bits("SUVu");
    for (int copy = 0; copy < 2; ++copy) {
      tx.start_sequence(suv.data(), static_cast<int>(suv.size()));
      sequences += (copy != 0 ? " " : "") + levels(rest(tx), points);
    }
    EXPECT_EQ(sequences, vector("SUVu " + n));
    EXPECT_EQ(levels(of(tx, Signal::kE2u, 0), points), vector("E2u " + n));
    EXPECT_EQ(of(tx, Signal::kE2u, 1).size(), 13u) << "8.7.2: bit 29 of CPd";
  }
}

/// Symbols of the vectors, each with its sign and the place of its magnitude.
void put(UpstreamSequences& reader, std::string_view symbols, std::vector<UpstreamSequences::Found>* all) {
  std::istringstream words{std::string(symbols)};
  for (std::string word; words >> word;) {
    const auto found = reader.put(word[0] == '-', (std::abs(std::stoi(word)) - 1) / 2);
    if (found != UpstreamSequences::Found::kNone) all->push_back(found);
  }
}

TEST(V92UpstreamSequences, AreReadFromTheSymbolsOfTheVectors) {
  using Found = UpstreamSequences::Found;
  for (const int points : {4, 8}) {
    UpstreamSequences reader;
    reader.begin(2);
    std::vector<Found> all;
    const auto two_points = [&](std::string_view name) {
      for (const char c : vector(name)) {
        const Found f = reader.put(c == '-', 0);
        if (f != Found::kNone) all.push_back(f);
      }
    };
    two_points("CPt symbols"), two_points("E1u");
    EXPECT_EQ(all, (std::vector{Found::kCp, Found::kCp, Found::kE}));
    EXPECT_EQ(reader.cp(), cpt());
    all.clear();
    reader.begin(points);
    const std::string n = std::to_string(points);
    put(reader, vector("TRN2u " + n), &all);
    put(reader, vector("SUVu " + n), &all);
    put(reader, vector("E2u " + n), &all);
    EXPECT_EQ(all, (std::vector{Found::kSuv, Found::kSuv, Found::kE}));
    EXPECT_EQ(reader.suv(), suvu());
  }
}

TEST(V92Downstream, SignsOfJdJpAndScrAreTheChainOf8_6) {
  Downstream tx(Law::kMu);
  tx.set_u_info(79);
  const auto signs_of = [&tx] {
    std::string out;
    while (tx.ready(kOnes, false)) out += tx.next().positive ? '+' : '-';
    return out;
  };
  tx.start(Downstream::Signal::kTrn1d, kLeastTrn1d);
  signs_of();
  tx.start_jd({(1u << 22) - 1, false, false, 1});
  std::string sent = signs_of();
  for (int copy = 0; copy < 2; ++copy) {
    tx.start_jp(jp());
    sent += signs_of();
  }
  tx.start(Downstream::Signal::kJdPrime);
  EXPECT_EQ(sent + signs_of(), vector("Jd Jp Jp' signs"));
  tx.start_scr(96);
  EXPECT_EQ(signs_of(), vector("SCR signs")) << "8.6.6";
}

// --- data

TEST(V92Rates, AreThoseOf6_1AndTable30) {
  EXPECT_EQ(kMostUpstreamDrn, 19);
  for (int drn = 1; drn <= kMostUpstreamDrn; ++drn) {
    Cpd cpd{};
    cpd.drn = static_cast<uint8_t>(drn);
    EXPECT_EQ(cpd.rate_thirds(), 3 * 24000 + (drn - 1) * 4000);
    // 12 symbols of 8000 a second.
    EXPECT_EQ(3 * cpd.bits() * 8000, cpd.rate_thirds() * 12);
  }
  Cpd fastest{};
  fastest.drn = kMostUpstreamDrn;
  EXPECT_EQ(fastest.rate_thirds() / 3, 48000);
  EXPECT_EQ(fastest.bits(), kMostUpstreamBits);
}

TEST(V92Cpd, WithWhichNoTransmitterCanWorkIsRefused) {
  const Cpd good = whole_cpd(0);
  ASSERT_TRUE(is_usable(good));
  const auto without = [&good](auto change) {
    Cpd cpd = good;
    change(cpd);
    return is_usable(cpd);
  };
  EXPECT_FALSE(without([](Cpd& c) { c.modulus[0] = 1; })) << "6.4.1: 2^K combinations";
  EXPECT_FALSE(without([](Cpd& c) { c.modulus[3] = 0; }));
  EXPECT_FALSE(without([](Cpd& c) { c.points[1] = 12; })) << "a class without a point";
  EXPECT_FALSE(without([](Cpd& c) { c.point[0][0] = 0; })) << "8.8.3: no zero point";
  EXPECT_FALSE(without([](Cpd& c) { c.point[0][7] = c.point[0][6]; })) << "in the order of their levels";
  EXPECT_FALSE(without([](Cpd& c) { c.gain = 0; })) << "Table 30: above 0";
  EXPECT_FALSE(without([](Cpd& c) { c.z2.length = 0; }));
  EXPECT_FALSE(without([](Cpd& c) { c.drn = 0; }));
  EXPECT_FALSE(without([](Cpd& c) { c.drn = 20; }));
  EXPECT_FALSE(without([](Cpd& c) { c.has_filters = false; }));
  // Exactly 2^K is enough.
  Cpd exact = good;
  exact.drn = 7;  // 48 bits
  for (uint8_t& m : exact.modulus) m = 16;
  EXPECT_TRUE(is_usable(exact));
  exact.modulus[11] = 15;
  EXPECT_FALSE(is_usable(exact));
}

TEST(V92Modulus, DigitsAreThoseOf6_4_1) {
  const struct {
    const char* name;
    std::vector<uint8_t> moduli;
    std::vector<Bits> frames;
  } cases[] = {
      {"digits 2^48",
       std::vector<uint8_t>(12, 16),
       {Bits(48, 1), Bits(48, 0),
        [] {
          Bits b(48, 0);
          b[47] = 1;
          return b;
        }(),
        [] {
          Bits b(48, 1);
          b[47] = 0;
          return b;
        }()}},
      {"digits 72",
       {70, 70, 71, 60, 64, 64, 64, 61, 70, 70, 61, 62},
       {Bits(72, 1),
        [] {
          Bits b(72, 0);
          for (size_t k = 1; k < 72; k += 2) b[k] = 1;
          return b;
        }(),
        [] {
          Bits b(72, 1);
          for (size_t k = 2; k < 72; k += 3) b[k] = 0;
          return b;
        }(),
        [] {
          Bits b(72, 0);
          b[71] = 1;
          return b;
        }()}},
  };
  for (const auto& c : cases) {
    const auto k = static_cast<int>(c.frames[0].size());
    UpstreamModulus encoder(c.moduli.data(), k), decoder(c.moduli.data(), k);
    std::string out;
    for (const Bits& frame : c.frames) {
      uint8_t digits[kUpstreamIntervals];
      encoder.encode(number_of(frame), digits);
      for (const uint8_t d : digits) out += (out.empty() ? "" : " ") + std::to_string(d);
      WideNumber back;
      EXPECT_TRUE(decoder.decode(digits, &back));
      for (int bit = 0; bit < k; ++bit) EXPECT_EQ(back.bit(bit), frame[static_cast<size_t>(bit)]) << bit;
    }
    EXPECT_EQ(out, vector(c.name));
  }
}

// 8.7.1: all memories are zero, ones are scrambled.
TEST(V92Precoder, B1uIsThatOf6_4) {
  for (int n = 0; n < 3; ++n) {
    const Cpd cpd = whole_cpd(n);
    ASSERT_TRUE(is_usable(cpd));
    const std::vector<double> indices = numbers("B1u indices " + std::to_string(n));
    const std::vector<double> output = numbers("B1u output " + std::to_string(n));
    const std::vector<double> digits = numbers("B1u digits");
    ASSERT_EQ(output.size(), digits.size());
    Precoder precoder(cpd);
    for (size_t k = 0; k < digits.size(); ++k) {
      EXPECT_NEAR(precoder.put(static_cast<int>(digits[k])), output[k], 1e-3) << n << " " << k;
      ASSERT_EQ(precoder.index(), indices[k]) << n << " " << k;
    }
    UpstreamSignals tx;
    tx.set_data(cpd);
    const std::vector<float> sent = of(tx, Signal::kB1u, 0);
    EXPECT_EQ(sent.size(), 48u * 12);
    for (size_t k = 0; k < output.size(); ++k) EXPECT_NEAR(sent[k], output[k], 1e-3) << n << " " << k;
  }
}

/// What a port received.
struct Received {
  Bits bits;
  oh_bit_port port() {
    return {[](void*) { return 1; },
            [](void* self, int bit) { static_cast<Received*>(self)->bits.push_back(static_cast<uint8_t>(bit)); }, this};
  }
};

// The levels u(n), as they arrive at the exchange, are read back through the trellis code to the ones that were sent.
TEST(V92Precoder, LevelsAreReadBackToTheBits) {
  for (int n = 0; n < 3; ++n) {
    const Cpd cpd = whole_cpd(n);
    UpstreamModulus modulus(cpd.modulus, cpd.bits());
    Scrambler scrambler(kGpa);
    Precoder precoder(cpd);
    UpstreamReader reader(cpd);
    Received received;
    constexpr int kFrames = 150;
    std::vector<float> levels(UpstreamReader::kTaps, 0.f);
    Bits sent;
    uint32_t random = 7;
    for (int f = 0; f < kFrames; ++f) {
      Bits in(static_cast<size_t>(cpd.bits()));
      uint8_t digits[kUpstreamIntervals];
      for (int k = 0; k < cpd.bits(); ++k) {
        random = random * 1664525 + 1013904223;
        const int bit = f < 48 ? 1 : static_cast<int>(random >> 30 & 1);
        if (f >= 48) sent.push_back(static_cast<uint8_t>(bit));
        in[static_cast<size_t>(k)] = static_cast<uint8_t>(scrambler.scramble(bit));
      }
      modulus.encode(number_of(in), digits);
      for (const uint8_t d : digits) {
        precoder.put(d);
        const int interval = static_cast<int>((levels.size() - UpstreamReader::kTaps) % 6);
        levels.push_back(static_cast<float>(upstream_level(cpd.point[cpd.interval[interval]], precoder.index())));
      }
    }
    levels.insert(levels.end(), UpstreamReader::kTaps, 0.f);
    for (int k = 0; k < kFrames * kUpstreamIntervals; ++k)
      reader.put(levels.data() + k + 1 + UpstreamReader::kAhead, received.port(), true);
    ASSERT_GT(received.bits.size(), sent.size() / 2);
    sent.resize(received.bits.size());
    EXPECT_EQ(received.bits, sent) << n;
  }
}

}  // namespace
}  // namespace offhook::v90
