// SPDX-License-Identifier: MIT
//
// Requirements of clauses 10 and 11 whose numbers are those of the text, typed here and taken from no header.
#include <gtest/gtest.h>

#include <vector>

#include "dsp/v34/session/data_mode.h"
#include "dsp/v34/session/session.h"
#include "tests/unit/dsp/v34/random.h"
#include "tests/unit/dsp/v34/symbol_line.h"

namespace offhook::v34 {
namespace {

/// Table 1 and Table 10: symbols/s, the rates that the symbol rate has, and the symbols of a data frame (Table 7).
struct Row {
  SymbolRate symbol_rate;
  double symbols_a_second;
  int least, most;  // bit/s
  int data_frame;
};
constexpr Row kRows[] = {
    {SymbolRate::k2400, 2400., 2400, 21'600, 96},          {SymbolRate::k2743, 2400. * 8 / 7, 4800, 26'400, 96},
    {SymbolRate::k2800, 2400. * 7 / 6, 4800, 26'400, 112}, {SymbolRate::k3000, 2400. * 5 / 4, 4800, 28'800, 120},
    {SymbolRate::k3200, 2400. * 4 / 3, 4800, 31'200, 128}, {SymbolRate::k3429, 2400. * 10 / 7, 4800, 33'600, 120}};

SessionConfig at(SymbolRate s) {
  SessionConfig c;
  c.tx_symbol_rate = c.rx_symbol_rate = s;
  return c;
}

/// Runs until both are in data mode, and counts the symbols of each successive signal of an end.
struct Segment {
  Signal signal;
  int symbols;
};
std::vector<Segment> segments(SymbolLine& line, int end) {
  std::vector<Segment> all;
  std::vector<Complex> sent;
  SymbolEnd& e = end == 0 ? line.call() : line.answer();
  e.tap = &sent;
  for (size_t before = 0; !line.c().live() || !line.a().live();) {
    line.step();
    if (sent.size() == before) continue;
    before = sent.size();
    const Signal now = e.session.signal();
    if (all.empty() || all.back().signal != now) all.push_back({now, 0});
    ++all.back().symbols;
    if (line.now_ms() > 30'000) break;
  }
  e.tap = nullptr;
  return all;
}

// 10.1.3.6 to 10.1.3.8: S is 128T, S-bar 16T, PP 288T, TRN at least 512T; MD 35 ms for each unit of INFO1, and from its
// start to the end of TRN 2000 ms and a round trip at the most (11.3.1.1.4 to 6, 11.3.1.2.1 to 3).
TEST(V34Requirements, LengthsOfTheSignalsOfPhase3AreThoseOfTheText) {
  constexpr int kRoundTripMs = 40;
  for (const Row& row : kRows) {
    for (const uint8_t md : std::initializer_list<uint8_t>{0, 1, 20, 45}) {
      for (const int end : {0, 1}) {
        SCOPED_TRACE(testing::Message() << row.symbols_a_second << " symbols/s, MD " << int(md) << ", end " << end);
        SessionConfig call = at(row.symbol_rate), answer = at(row.symbol_rate);
        call.own_md_length = answer.far_md_length = answer.own_md_length = call.far_md_length = md;
        SymbolLine line(call, answer, 4 * kRoundTripMs, 200, 1);
        int from_md = 0, md_symbols = 0;
        bool trained = false;
        for (const Segment& s : segments(line, end)) {
          if (trained) break;
          if (s.signal == Signal::kS) {
            EXPECT_EQ(s.symbols, 128);
          }
          if (s.signal == Signal::kSBar) {
            EXPECT_EQ(s.symbols, 16);
          }
          if (s.signal == Signal::kPp) {
            EXPECT_EQ(s.symbols, 288);
          }
          if (s.signal == Signal::kMd) md_symbols = s.symbols;
          if (md_symbols > 0) from_md += s.symbols;
          if (s.signal == Signal::kTrn) {
            EXPECT_GE(s.symbols, 512);
            trained = true;
          }
        }
        EXPECT_TRUE(trained);
        EXPECT_NEAR(md_symbols, 0.035 * md * row.symbols_a_second, 1);
        EXPECT_LE(from_md, (2.0 + 0.001 * kRoundTripMs) * row.symbols_a_second);
      }
    }
  }
}

// 10.1.3.9, Table 10: the mask enables exactly the rates of the symbol rate.
TEST(V34Requirements, RateMaskHoldsTheRatesOfTheSymbolRate) {
  for (const Row& row : kRows) {
    SCOPED_TRACE(row.symbols_a_second);
    SymbolLine line(at(row.symbol_rate), at(row.symbol_rate), 80, 200, 1);
    ASSERT_TRUE(line.connect());
    unsigned mask = 0;
    for (int rate = row.least; rate <= row.most; rate += 2400) mask |= 1u << (rate / 2400 - 1);
    EXPECT_EQ(line.c().own_mp().rate_mask, mask);
    EXPECT_EQ(line.a().own_mp().rate_mask, mask);
  }
}

// 10.1.3.1: B1 is one data frame of scrambled ones; in the auxiliary channel's places, which 10.1.3.1 does not mention,
// they are also ones. The user's bits follow.
TEST(V34Requirements, B1IsOneDataFrameOfOnesAtEverySymbolRate) {
  for (const Row& row : kRows) {
    for (const bool aux : {false, true}) {
      SCOPED_TRACE(testing::Message() << row.symbols_a_second << (aux ? " with" : " without") << " auxiliary channel");
      const auto bit_rate = static_cast<uint32_t>(row.most);
      const DataParameters p{
          {make_framing(row.symbol_rate, bit_rate, aux, true), kGpc, TrellisCode::k64, {}}, false, bit_rate};
      struct Bits {
        std::vector<uint8_t> bits;
        Random random{1, 2};
      } sent, received, aux_sent, aux_received;
      const auto port = [](Bits& bits) {
        return oh_bit_port{[](void* u) {
                             auto& b = *static_cast<Bits*>(u);
                             b.bits.push_back(static_cast<uint8_t>(b.random.bit()));
                             return int(b.bits.back());
                           },
                           [](void* u, int bit) { static_cast<Bits*>(u)->bits.push_back(static_cast<uint8_t>(bit)); },
                           &bits};
      };
      DataTransmitter tx(p);
      DataReceiver rx(p);
      const DataPort out{port(sent), port(aux_sent)}, in{port(received), port(aux_received)};
      int b1 = 0;
      const float grid = square_root(p.transmitted_energy());
      for (int n = 0; n < 20 * row.data_frame; ++n) {
        if (!tx.b1_sent()) ++b1;
        const Complex y = grid * tx.next(out, true);
        static_cast<void>(rx.decide(y));
        rx.put(in, true);
      }
      EXPECT_EQ(b1, row.data_frame);
      EXPECT_EQ(rx.b1_errors(), 0);
      ASSERT_GT(received.bits.size(), 1000u);
      EXPECT_TRUE(std::equal(received.bits.begin(), received.bits.end(), sent.bits.begin()));
      EXPECT_EQ(aux_received.bits.size() > 10, aux);
      EXPECT_TRUE(std::equal(aux_received.bits.begin(), aux_received.bits.end(), aux_sent.bits.begin()));
    }
  }
}

// 11.4.1.1.5, 11.4.1.2.5: until B1 was received, circuit 109 is off and circuit 104 has no data.
TEST(V34Requirements, Circuits104And109WaitForB1) {
  SymbolLine line({}, {}, 400, 45, 1);
  int steps = 0;
  while (!(line.c().live() && line.a().live()) && ++steps < 20 * 8000) {
    line.step();
    for (SymbolEnd* e : {&line.call(), &line.answer()}) {
      if (e->reader.data().b1_received()) continue;
      ASSERT_FALSE(e->session.circuit_109()) << line.now_ms();
      ASSERT_TRUE(e->received.empty()) << line.now_ms();
    }
  }
  line.run_ms(500);
  for (SymbolEnd* e : {&line.call(), &line.answer()}) {
    EXPECT_TRUE(e->session.circuit_109());
    EXPECT_FALSE(e->received.empty());
  }
}

// 11.6.1.1.3, 11.6.1.2.3: a far end that sends E after MP, without an MP', receives this end's MP' before its E.
TEST(V34Requirements, AnEarlyEInARenegotiationIsAnsweredByMpPrimeAndE) {
  for (const bool initiates : {true, false}) {
    SCOPED_TRACE(initiates ? "initiator" : "responder");
    SymbolLine line({}, {}, 8, 200, 1);
    ASSERT_TRUE(line.connect());
    line.run_ms(300);
    Mp mp = line.c().far_mp();
    mp.acknowledge = false;
    (initiates ? line.c() : line.a()).renegotiate(8);
    ASSERT_TRUE(line.run_until([&] { return line.c().signal() == Signal::kTrn; }, 1000));
    line.cut[1] = true;  // from here on, this test is the far end
    line.run_ms(10);
    ASSERT_TRUE(line.run_until([&] { return line.c().signal() == Signal::kMp; }, 5000));
    Heard heard;
    heard.symbol = true;
    heard.training.mp = &mp;
    heard.training.found = ReceiveSignals::Found::kMp;
    line.c().put(heard);
    heard.training.found = ReceiveSignals::Found::kE;
    line.c().put(heard);
    ASSERT_NE(line.c().signal(), Signal::kE);
    ASSERT_TRUE(line.run_until([&] { return line.c().signal() == Signal::kE; }, 1000));
    line.run_ms(10);
    EXPECT_TRUE(line.a().far_mp().acknowledge) << "MP' has not come before E";
  }
}

}  // namespace
}  // namespace offhook::v34
