// SPDX-License-Identifier: MIT
//
// Data of V.34 whose B1 is spoilt or sent in another way: directions made by our own encoder.
#include "src/decode/v34/lattice.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <vector>

#include "dsp/v34/session/data_mode.h"
#include "hostsim/engine/random.h"
#include "src/decode/line/link.h"
#include "src/decode/v34/data_mode.h"
#include "src/decode/v34/known_symbols.h"
#include "tests/unit/src/decode/frame_source.h"
#include "tests/unit/src/decode/line_signal.h"

namespace offhook::decode {
namespace {

constexpr int kTrn = 1500, kSuperframes = 8;

struct Row {
  v34::SymbolRate rate;
  std::uint32_t bit_rate;
  v34::TrellisCode trellis;
  bool nonlinear;
};
constexpr Row kRows[] = {{v34::SymbolRate::k2400, 14'400, v34::TrellisCode::k16, false},
                         {v34::SymbolRate::k2743, 21'600, v34::TrellisCode::k64, true},
                         {v34::SymbolRate::k2800, 24'000, v34::TrellisCode::k32, false},
                         {v34::SymbolRate::k3000, 26'400, v34::TrellisCode::k16, true},
                         {v34::SymbolRate::k3200, 28'800, v34::TrellisCode::k64, true},
                         {v34::SymbolRate::k3429, 33'600, v34::TrellisCode::k32, true}};

struct Sent {
  v34::DataParameters parameters;
  std::vector<float> line;
  double step = 0;  // samples per symbol
  double data = 0;  // first symbol of data, in samples
};

// TRN and data. @param lost  frames of B1 that are not sent: the data begin with another place of the superframe
// @param bit  of data, by number; nothing: HDLC frames
Sent send(const Row& row, int lost = 0, bool random_bits = false) {
  Sent s;
  v34::PrecoderCoefficients precoder{};
  precoder.h[0] = {3000, -500};
  precoder.h[1] = {-1200, 300};
  s.parameters = {
      {make_framing(row.rate, row.bit_rate, false, false), kGpc, row.trellis, precoder}, row.nonlinear, row.bit_rate};
  const v34::Framing& f = s.parameters.coding.framing;
  std::vector<Cf> y;
  for (const Cf trn : trn_symbols(kGpc, v34::TrainingPoints::k4, kTrn)) y.push_back(trn / std::numbers::sqrt2_v<float>);
  v34::Encoder encoder(s.parameters.coding, {1, 5, lost});
  const qam::NonlinearEncoder nonlinear(row.nonlinear ? v34::kNonlinearTheta : 0.f, s.parameters.mean_energy());
  const float scale = 1 / std::sqrt(s.parameters.transmitted_energy());
  FrameSource source;
  const oh_bit_port port = source.port();
  const hostsim::Random random(3, 5);
  std::uint64_t at = 0;
  for (int k = 0; k < kSuperframes * f.mapping_frames * f.data_frames; ++k) {
    std::uint8_t primary[v34::kMaxMappingFrameBits];
    for (int b = 0; b < encoder.primary_bits(); ++b)
      primary[b] = static_cast<std::uint8_t>(k + lost < f.mapping_frames ? 1
                                             : random_bits               ? random.word(at++) & 1
                                                                         : oh_port_get_bit(&port));
    v34::Encoder::Symbol symbols[v34::kSymbolsPerMappingFrame];
    encoder.frame(primary, 0, symbols);
    for (const auto& symbol : symbols) {
      float re = static_cast<float>(symbol.x.re) / 128, im = static_cast<float>(symbol.x.im) / 128;
      nonlinear.encode(&re, &im);
      y.emplace_back(scale * re, scale * im);
    }
  }
  s.line = modulate(y, row.rate, v34::Carrier::kLow, 60, 1);
  s.step = kRateHz / (symbol_rate_hz(row.rate) * (1 + 60e-6));
  s.data = (kLead + kTrn) * s.step;
  return s;
}

void add_noise(Sent& s, double rms, std::size_t from, std::size_t to) {
  const hostsim::Random random(7, 1);
  for (std::size_t n = from; n < std::min(to, s.line.size()); ++n)
    s.line[n] += static_cast<float>(rms * random.normal(n));
}

std::size_t samples(double s) {
  return static_cast<std::size_t>(s * kRateHz);
}

V34DataHeard heard(const Sent& s) {
  const v34::SymbolRate rate = s.parameters.coding.framing.symbol_rate;
  const Direction d{.rate = rate, .carrier = v34::Carrier::kLow, .scrambling = kGpc};
  const Baseband line(s.line, carrier_hz(rate, d.carrier), symbol_rate_hz(rate));
  SymbolReceiver receiver(line, nullptr, symbol_rate_hz(rate));
  const std::vector<Cf> trn = trn_symbols(kGpc, v34::TrainingPoints::k4, kTrn);
  receiver.fit(kLead * s.step, {trn.begin(), trn.end() - 100});
  for (const Cf symbol : trn) {
    receiver.equalise();
    receiver.decided(symbol, 0.002f);
  }
  return read_data(line, nullptr, d, s.parameters, receiver.state, static_cast<double>(s.line.size()) - 300);
}

double b1_s(const Sent& s) {
  return s.parameters.coding.framing.symbols_per_data_frame() * s.step / kRateHz;
}

// From the first symbol of B1 to 20 ms of data.
TEST(DecodeLattice, DataAreReadBehindAB1InNoiseOrAHole) {
  for (const Row& row : kRows) {
    for (const bool hole : {false, true}) {
      SCOPED_TRACE(testing::Message() << symbol_rate_hz(row.rate) << (hole ? ", hole" : ", noise"));
      Sent s = send(row);
      const double end_s = seconds(s.data) + b1_s(s) + 0.02;
      const std::size_t from = static_cast<std::size_t>(s.data), to = samples(end_s);
      if (hole) std::fill(s.line.begin() + static_cast<long>(from), s.line.begin() + static_cast<long>(to), 0.f);
      if (!hole) add_noise(s, 4000, from, to);
      add_noise(s, 3, 0, s.line.size());
      const V34DataHeard data = heard(s);
      EXPECT_FALSE(data.b1_found);
      ASSERT_TRUE(data.was_read());
      EXPECT_NEAR(data.due_t, seconds(s.data), 0.001);
      EXPECT_NEAR(data.t0, end_s, 0.04);
      EXPECT_FALSE(data.lost);
      EXPECT_EQ(data.unsure_t, 0);
      const Link link = read_link(data);
      EXPECT_EQ(link.bad_frames, 0);
      EXPECT_EQ(link.gaps, static_cast<int>(link.frames.at(0).ns));
      const double bits_s = (data.t1 - data.t0) * row.bit_rate;
      EXPECT_GT(static_cast<double>(link.frames.size()), 0.9 * bits_s / ((FrameSource::kOctets + 5) * 8 * 1.03 + 8));
    }
  }
}

// A sender that leaves part of B1 out: the data are all there, at another place of the superframe.
TEST(DecodeLattice, ThePlaceInTheSuperframeIsFoundByV0) {
  for (const Row& row : kRows) {
    SCOPED_TRACE(symbol_rate_hz(row.rate));
    const int frames = row.rate == v34::SymbolRate::k2400 ? 5 : 7;
    Sent s = send(row, frames);
    add_noise(s, 3, 0, s.line.size());
    const V34DataHeard data = heard(s);
    EXPECT_FALSE(data.b1_found);
    ASSERT_TRUE(data.was_read());
    const Link link = read_link(data);
    EXPECT_EQ(link.bad_frames, 0);
    EXPECT_EQ(link.gaps, 0);
    EXPECT_GT(link.frames.size(), 50u);
  }
}

// Points and code fit, and what the bits are is not known: no evidence that the parameters are right.
TEST(DecodeLattice, BitsThatAreNoHdlcAreNotGiven) {
  Sent s = send(kRows[4], 0, true);
  std::fill_n(s.line.begin() + static_cast<long>(s.data) - 40, 400, 0.f);
  const V34DataHeard data = heard(s);
  EXPECT_FALSE(data.was_read());
  EXPECT_EQ(data.lattice.result, LatticeSearch::Result::kNoHdlc);
  EXPECT_TRUE(data.bits.empty());
}

// A rate or a trellis code that were not agreed.
TEST(DecodeLattice, WithOtherParametersNothingIsFound) {
  for (const bool rate : {true, false}) {
    Sent s = send(kRows[4]);
    v34::DataParameters& p = s.parameters;
    if (rate) {
      p.bit_rate = 26'400;
      p.coding.framing = make_framing(p.coding.framing.symbol_rate, p.bit_rate, false, false);
    } else {
      p.coding.trellis = v34::TrellisCode::k16;
    }
    const V34DataHeard data = heard(s);
    EXPECT_FALSE(data.was_read()) << rate;
    EXPECT_NE(data.lattice.result, LatticeSearch::Result::kNotSearched);
  }
}

TEST(DecodeLattice, RandomBitsAreNoHdlc) {
  const hostsim::Random random(9, 2);
  std::vector<std::uint8_t> bits;
  for (std::size_t k = 0; k < 20'000; ++k) bits.push_back(random.word(k) & 1);
  EXPECT_FALSE(are_hdlc(bits));
  EXPECT_FALSE(are_hdlc({}));
  EXPECT_TRUE(are_hdlc(std::vector<std::uint8_t>(500, 1)));  // idle
  FrameSource source;
  const oh_bit_port port = source.port();
  for (std::uint8_t& bit : bits) bit = static_cast<std::uint8_t>(oh_port_get_bit(&port));
  EXPECT_TRUE(are_hdlc(bits));
  bits.resize(1000);
  EXPECT_FALSE(are_hdlc(bits)) << "too few for a statement";
}

}  // namespace
}  // namespace offhook::decode
