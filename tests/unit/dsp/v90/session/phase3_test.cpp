// SPDX-License-Identifier: MIT
//
// Phase 3 and the signals of a renegotiation, of either procedure alone: no line, and far signals as they would be
// heard.
#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "dsp/v90/pcm/downstream.h"
#include "dsp/v90/session/analogue.h"
#include "dsp/v90/session/digital.h"

namespace offhook::v90 {
namespace {

constexpr oh_bit_port kOnes = {[](void*) { return 1; }, [](void*, int) {}, nullptr};
using Bits = std::vector<uint8_t>;

template <class T>
Bits bits_of(const T& sequence) {
  Bits bits(4096);
  bits.resize(static_cast<size_t>(encode(sequence, bits.data())));
  return bits;
}

/// What an analogue modem sends from the end of INFO1a to the first symbol of Ja: signals and their symbols.
std::vector<std::pair<v34::Signal, int>> sent_before_ja(v34::SymbolRate rate, int md_length) {
  AnalogueConfig config;
  config.symbol_rate = rate;
  config.own_md_length = static_cast<uint8_t>(md_length);
  AnalogueProcedure p(config, kOnes);
  std::vector<std::pair<v34::Signal, int>> sent;
  double due = 0;
  for (int sample = 0; sample < 8 * 8000; ++sample) {
    p.tick();
    for (due += v34::symbol_rate_hz(rate) / 8000; due >= 1; due -= 1) {
      p.next_symbol();
      if (p.signal() == v34::Signal::kSequence) return sent;
      if (sent.empty() || sent.back().first != p.signal()) sent.emplace_back(p.signal(), 0);
      ++sent.back().second;
    }
  }
  return {};
}

// 9.3.2.1 to 9.3.2.3. T is the upstream symbol.
TEST(V90Phase3, TheAnalogueModemSendsItsMdBetweenTwoSAndSBar) {
  using enum v34::Signal;
  for (const v34::SymbolRate rate : {v34::SymbolRate::k3000, v34::SymbolRate::k3200, v34::SymbolRate::k3429}) {
    const double hz = v34::symbol_rate_hz(rate);
    for (const int md : {0, 1, 5, 60}) {
      SCOPED_TRACE(testing::Message() << hz << " " << md);
      const auto sent = sent_before_ja(rate, md);
      const std::vector<v34::Signal> order = md == 0 ? std::vector{kSilence, kS, kSBar, kPp, kTrn}
                                                     : std::vector{kSilence, kS, kSBar, kMd, kS, kSBar, kPp, kTrn};
      ASSERT_EQ(sent.size(), order.size());
      double after_md_began = 0;
      bool md_began = false;
      for (size_t k = 0; k < order.size(); ++k) {
        const auto [signal, symbols] = sent[k];
        ASSERT_EQ(signal, order[k]) << k;
        if (signal == kSilence) {
          EXPECT_NEAR(symbols / hz, 0.070, 0.005);
        }
        if (signal == kS) {
          EXPECT_EQ(symbols, 128);
        }
        if (signal == kSBar) {
          EXPECT_EQ(symbols, 16);
        }
        if (signal == kMd) {
          EXPECT_NEAR(symbols / hz, md * 0.035, 1 / hz);
        }
        if (signal == kPp) {
          EXPECT_EQ(symbols, 288);
        }
        if (signal == kTrn) {
          EXPECT_GE(symbols, 512);
        }
        md_began |= signal == kMd || signal == kPp;
        if (md_began) after_md_began += symbols / hz;
      }
      EXPECT_LE(after_md_began, 4.0) << "9.3.2.3, with no round trip";
    }
  }
}

/// A digital modem, and what it sent.
class Digital {
 public:
  explicit Digital(const DigitalConfig& config) : p_(config, kOnes) {}
  const DigitalProcedure& operator*() const { return p_; }
  const DigitalProcedure* operator->() const { return &p_; }

  void run(int samples) {
    for (; samples > 0; --samples) {
      p_.tick();
      const Pcm code = p_.next();
      if (sent_.empty() || sent_.back().first != p_.signal()) sent_.push_back({p_.signal(), {}});
      sent_.back().second.push_back(code);
    }
  }
  void run_until(Downstream::Signal signal) {
    for (int k = 0; k < 8 * 8000 && p_.signal() != signal; ++k) run(1);
  }
  void hear_s() { hear(qam::Receiver::Event::kS); }
  void hear_s_bar() { hear(qam::Receiver::Event::kSBar); }
  /// Training symbols.
  void hear(const Bits& bits) {
    const size_t n = static_cast<size_t>(v34::training_bits(p_.order().points));
    v34::Heard h;
    h.symbol = true;
    h.training.error = 1e-4f;
    for (size_t k = 0; k < bits.size(); k += n) {
      uint8_t symbol[8]{};
      for (size_t i = 0; i < n && k + i < bits.size(); ++i) symbol[i] = bits[k + i];
      p_.put(h, symbol);
    }
  }
  /// Of the last signal of this kind.
  const std::vector<Pcm>& last(Downstream::Signal signal) const {
    static const std::vector<Pcm> none;
    for (auto s = sent_.rbegin(); s != sent_.rend(); ++s) {
      if (s->first == signal) return s->second;
    }
    return none;
  }

 private:
  void hear(qam::Receiver::Event event) {
    v34::Heard h;
    h.event = event;
    h.s_bar_age = 16;
    p_.put(h, nullptr);
  }
  DigitalProcedure p_;
  std::vector<std::pair<Downstream::Signal, std::vector<Pcm>>> sent_;
};

// 9.3.1.1: S to S-bar, MD, and S to S-bar once more.
TEST(V90Phase3, TheDigitalModemWaitsForTheMdOfInfo1a) {
  using Task = qam::Receiver::Task;
  for (const int md : {0, 5, 60}) {
    DigitalConfig config;
    config.far_md_length = static_cast<uint8_t>(md);
    Digital d(config);
    d.hear_s_bar();
    if (md > 0) {
      const int length = md * 35 * 8, s_bar = 16 * 8000 / 3200;
      EXPECT_EQ(d->order().task, Task::kHold) << md;
      d.run(length - s_bar - 1);
      EXPECT_EQ(d->order().task, Task::kHold) << md;
      d.run(s_bar + 2);
      EXPECT_EQ(d->order().task, Task::kTrain) << md;
      d.hear_s_bar();
    }
    EXPECT_EQ(d->order().task, Task::kFollow) << md;
    EXPECT_EQ(d->state(), DigitalProcedure::State::kFarTrn) << md;
  }
}

// What a receiver makes of data frames in which scrambled ones were sent; the share of ones, once it has settled.
double share_of_ones(const std::vector<Pcm>& codes, const FrameParameters& p) {
  FrameDecoder decoder(p);
  Descrambler descrambler(kGpc);
  int ones = 0, all = 0;
  for (size_t frame = 0; frame < codes.size() / kFrameIntervals; ++frame) {
    uint8_t signs[kFrameIntervals], labels[kFrameIntervals], bits[FrameParameters::kMaxBits];
    for (int i = 0; i < kFrameIntervals; ++i) {
      const Pcm& code = codes[frame * kFrameIntervals + static_cast<size_t>(i)];
      signs[i] = code.positive;
      labels[i] = 0;
      while (labels[i] < p.points.count[i] && p.points.ucode[i][labels[i]] != code.ucode) ++labels[i];
      if (labels[i] == p.points.count[i]) return 0;
    }
    decoder.put(signs, labels, bits);
    for (int k = 0; k < p.bits(); ++k) {
      const int bit = descrambler.descramble(bits[k]);
      if (frame >= 6) ones += bit, ++all;
    }
  }
  return all == 0 ? 0 : static_cast<double>(ones) / all;
}

Cp example_cp(bool data_mode, uint8_t drn, uint8_t shaping_bits, int points) {
  Cp cp{};
  cp.data_mode = data_mode;
  cp.drn = drn;
  cp.shaping_bits = shaping_bits;
  cp.look_ahead = 1;
  cp.a1 = 64;
  cp.upstream_mask = 0x1FFF;
  cp.trn1d_ratio = 0x2000;
  for (int u = 0; u < points; ++u) cp.constellation[0].add(70 - 3 * u);
  return cp;
}

FrameParameters frames(const Cp& cp) {
  FrameParameters p;
  EXPECT_TRUE(frame_parameters(cp, Law::kMu, &p));
  return p;
}

// 8.6: TRN2d of the start-up has the shaping of CPt; that of a renegotiation the shaping of the data that ran and the K
// of CPt, so that a data frame has K + 6 - S_r bits; B1d the shaping of the new CP.
TEST(V90Phase4, ARenegotiationKeepsTheShapingOfTheRunningDataAndTheKOfCpt) {
  const Cp cpt = example_cp(false, 9, 1, 4), cp = example_cp(true, 4, 3, 12);
  Cp next = example_cp(true, 6, 2, 13);
  const Bits ones(20, 1);
  Digital d(DigitalConfig{});
  const auto agree = [&d, &ones](Cp c) {
    d.hear(bits_of(c));
    c.acknowledge = true;
    d.hear(bits_of(c));
    d.run_until(Downstream::Signal::kMp);
    d.run(100);
    d.hear(ones);
    d.run_until(Downstream::Signal::kData);
  };
  d.hear_s_bar();
  d.hear(bits_of(Dil{}));
  d.run_until(Downstream::Signal::kJd);
  d.hear_s();
  d.run_until(Downstream::Signal::kR);
  d.hear_s_bar();
  d.hear(bits_of(cpt));
  d.run_until(Downstream::Signal::kTrn2d);
  agree(cp);
  ASSERT_EQ(d->state(), DigitalProcedure::State::kData);
  EXPECT_EQ(share_of_ones(d.last(Downstream::Signal::kTrn2d), frames(cpt)), 1);
  EXPECT_EQ(share_of_ones(d.last(Downstream::Signal::kB1d), frames(cp)), 1);

  d.hear_s_bar();
  d.run(60);
  d.hear(bits_of(next));  // before TRN2d begins
  d.run_until(Downstream::Signal::kTrn2d);
  agree(next);
  ASSERT_EQ(d->state(), DigitalProcedure::State::kData);
  FrameParameters mixed = frames(cpt);
  EXPECT_EQ(mixed.bits(), cpt.k() + 6 - 1);
  mixed.shaping_bits = cp.shaping_bits;
  EXPECT_EQ(mixed.bits(), 9 + 2 + 1 + 6 - 3);  // K = drn + 2 + S_r of CPt
  EXPECT_EQ(share_of_ones(d.last(Downstream::Signal::kTrn2d), mixed), 1);
  EXPECT_LT(share_of_ones(d.last(Downstream::Signal::kTrn2d), frames(cpt)), 0.9) << "not the shaping of CPt";
  EXPECT_EQ(share_of_ones(d.last(Downstream::Signal::kB1d), frames(next)), 1);
}

}  // namespace
}  // namespace offhook::v90
