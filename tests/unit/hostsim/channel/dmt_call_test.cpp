// SPDX-License-Identifier: MIT
//
// Both ends of the DMT pump over the loop: every bit of both directions is compared from the first one on.
#include "tests/unit/hostsim/channel/dmt_call.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "hostsim/engine/random.h"
#include "tests/unit/hostsim/channel/dsl_reference.h"

namespace offhook {
namespace {

using hostsim::cable_named;
using hostsim::disturbers_named;
using hostsim::LoopConfig;
using test::DmtCall;

std::string section(int gauge, char joint, double kft) {
  return std::to_string(gauge) + joint + std::to_string(kft);
}

LoopConfig loop(const std::string& cable, const std::string& disturbers = "", double hybrid_loss_db = 20) {
  LoopConfig c;
  c.cable = cable_named(cable);
  c.disturbers = disturbers_named(disturbers);
  c.front_end.hybrid_loss_db = hybrid_loss_db;
  return c;
}

void expect_clean(DmtCall* call, double seconds) {
  ASSERT_GT(call->connect(6), 0);
  call->run(seconds);
  EXPECT_TRUE(call->in_data());
  EXPECT_EQ(call->remote.wrong, 0u);
  EXPECT_EQ(call->central.wrong, 0u);
  // Both directions at their rates, except 64 symbols of interleaving and the superframe in which they begin.
  EXPECT_GT(call->remote.received, (seconds - 0.06) * call->remote.status().rx_bit_rate);
  EXPECT_GT(call->central.received, (seconds - 0.06) * call->central.status().rx_bit_rate);
  EXPECT_EQ(call->remote_instruments().crc_errors + call->central_instruments().crc_errors, 0u);
  EXPECT_EQ(call->remote.status().retrains + call->central.status().retrains, 0u);
}

// The capacity of the loop alone assumes no echo, filters or intersymbol interference, and no gains.
TEST(DmtCall, ComesNearTheRatesThatTheLoopAloneWouldCarry) {
  const auto rates = test::reference_rates();
  if (rates.empty()) GTEST_SKIP() << "no " << test::dsl_reference();
  for (const test::ReferenceRate& r : rates) {
    if (r.noise != "AWGN" || (r.cable != "T1.601 7" && r.cable != "T1.601 13")) continue;
    SCOPED_TRACE(r.cable);
    DmtCall call(loop(r.cable, "", 200));
    expect_clean(&call, 0.3);
    EXPECT_GT(call.remote_instruments().gross_bit_rate, 950u * r.lite_down);
    EXPECT_GT(call.central_instruments().gross_bit_rate, 950u * r.up);
    EXPECT_LE(call.remote_instruments().gross_bit_rate, 1100u * r.lite_down);
    EXPECT_LE(call.central_instruments().gross_bit_rate, 1100u * r.up);
  }
}

TEST(DmtCall, StartsUpThroughEchoAndCrosstalk) {
  for (const char* disturbers : {"", "24 ISDN", "24 HDSL", "10 ADSL-down FEXT, 10 ADSL-up FEXT, 4 T1"}) {
    SCOPED_TRACE(disturbers);
    DmtCall call(loop("T1.601 7", disturbers));
    expect_clean(&call, 0.3);
  }
}

TEST(DmtCall, FollowsAFarClockOnAnyLoop) {
  const hostsim::Random random(9, 1);
  for (std::uint64_t n = 0; n < 3; ++n) {
    const int gauge = random.uniform(5 * n) < 0.5 ? 24 : 26;
    const double kft = (gauge == 24 ? 6 : 4) + 9 * random.uniform(5 * n + 1);
    LoopConfig c =
        loop(section(gauge, ':', kft) + ' ' + section(gauge, '/', 0.2 + random.uniform(5 * n + 2)) + " 26:1");
    c.clock_ppm = 200 * random.uniform(5 * n + 3) - 100;
    SCOPED_TRACE(testing::Message() << n << ": " << gauge << " AWG, " << kft << " kft, " << c.clock_ppm << " ppm");
    DmtCall call(c);
    expect_clean(&call, 0.3);
    EXPECT_NEAR(call.remote_instruments().clock_ppm, c.clock_ppm, 3);
    EXPECT_NEAR(call.central_instruments().clock_ppm, -c.clock_ppm, 3);
  }
}

TEST(DmtCall, FullRateCarriesFifteenBitsATone) {
  DmtCall call(loop("CSA 6"), true);
  expect_clean(&call, 0.2);
  EXPECT_GT(call.remote_instruments().gross_bit_rate, 8'000'000u);
  const auto i = call.remote_instruments();
  EXPECT_GT(*std::max_element(std::begin(i.bits), std::end(i.bits)), 10);
}

TEST(DmtCall, ALostSymbolIsCorrectedAndManyAreCountedAndForgotten) {
  DmtCall call(loop("CSA 6"));
  expect_clean(&call, 0.2);
  const auto before = call.remote_instruments();
  call.lose(16);  // a quarter of a symbol
  call.run(0.2);
  const auto one = call.remote_instruments();
  EXPECT_GE(one.spoiled_symbols - before.spoiled_symbols, 1u);
  EXPECT_GT(one.corrected_octets, before.corrected_octets);
  EXPECT_EQ(one.lost_words, before.lost_words);
  EXPECT_EQ(call.remote.wrong + call.central.wrong, 0u);
  EXPECT_EQ(one.crc_errors, before.crc_errors);

  call.lose(2560);  // 9 ms
  call.run(0.2);
  const auto many = call.remote_instruments();
  EXPECT_GE(many.crc_errors, one.crc_errors + 1);
  EXPECT_GT(many.lost_words, 0u);
  EXPECT_GT(many.far_crc_errors + call.central_instruments().far_crc_errors, 0u);
  const std::uint64_t wrong = call.remote.wrong + call.central.wrong;
  EXPECT_GT(wrong, 0u);
  call.run(0.3);
  // Synchronised all the time: afterwards no bit is out of place.
  EXPECT_EQ(call.remote.wrong + call.central.wrong, wrong);
  EXPECT_EQ(call.remote_instruments().trainings, 1u);
  EXPECT_EQ(call.remote.status().filled_in, 2576u);
}

TEST(DmtCall, TrainsAgainWhenTheLineWasGone) {
  DmtCall call(loop("CSA 6"));
  expect_clean(&call, 0.1);
  call.tamper = [](auto& samples) { std::fill(samples.begin(), samples.end(), std::int16_t{0}); };
  call.run(0.4);
  EXPECT_NE(call.remote.status().state, OH_PUMP_DATA);
  call.tamper = nullptr;
  ASSERT_GT(call.connect(6), 0);
  EXPECT_EQ(call.remote.status().retrains, 1u);
  EXPECT_EQ(call.central.status().retrains, 1u);
  const auto received = call.remote.received;
  call.run(0.3);
  EXPECT_GT(call.remote.received, received + 100'000);
}

// A radio carrier that begins in data mode: a few tones keep a third of their margin or none.
TEST(DmtCall, BitsMoveFromTonesThatACarrierHitsAndNoTrainingIsNeeded) {
  LoopConfig c = loop("T1.601 7");
  c.ingress = hostsim::ingress_named("302:-78");
  c.disturbers_from_s = 2;
  DmtCall call(c);
  ASSERT_GT(call.connect(2), 0);
  call.run(0.3);
  const auto before = call.remote_instruments();
  const auto bits = [](const oh_dmt_instruments& i) {
    int sum = 0;
    for (const int b : i.bits) sum += b;
    return sum;
  };
  call.run(4);
  const auto after = call.remote_instruments();
  EXPECT_TRUE(call.in_data());
  EXPECT_EQ(before.swapped_bits, 0u);
  EXPECT_GT(after.swapped_bits, 3u);
  EXPECT_EQ(after.fast_retrains + call.central_instruments().fast_retrains, 0u);
  EXPECT_EQ(after.trainings, 1u);
  EXPECT_EQ(bits(after), bits(before));
  EXPECT_LT(after.bits[70], before.bits[70]);  // 70 tones of 4.3125 kHz: 301.9 kHz
  EXPECT_GT(after.margin_db, 0);
  // All errors occurred while the carrier was new.
  const std::uint64_t wrong = call.remote.wrong + call.central.wrong;
  const std::uint32_t crc_errors = after.crc_errors;
  call.run(1);
  EXPECT_EQ(call.remote.wrong + call.central.wrong, wrong);
  EXPECT_EQ(call.remote_instruments().crc_errors, crc_errors);
}

// Crosstalk over the whole band: bits cannot move to any tone.
TEST(DmtCall, LossOfMarginOnEveryToneLeadsToAFastRetrainAtALowerRate) {
  LoopConfig c = loop("T1.601 7", "24 ISDN");
  c.disturbers_from_s = 2;
  DmtCall call(c);
  ASSERT_GT(call.connect(2), 0);
  const auto before = call.remote_instruments();
  call.run(3);
  const auto after = call.remote_instruments();
  ASSERT_TRUE(call.in_data());
  EXPECT_EQ(after.trainings, 1u);
  EXPECT_EQ(call.central_instruments().trainings, 1u);
  EXPECT_GE(after.fast_retrains, 1u);
  EXPECT_LT(after.gross_bit_rate, before.gross_bit_rate);
  EXPECT_GT(after.gross_bit_rate, before.gross_bit_rate / 4);
  EXPECT_GT(after.margin_db, 3);
  const auto superframes = after.superframes, crc_errors = after.crc_errors;
  call.run(1);
  EXPECT_GT(call.remote_instruments().superframes, superframes + 50);
  EXPECT_EQ(call.remote_instruments().crc_errors, crc_errors);
}

TEST(DmtCall, HangUpEndsOneEndAndTheOtherGivesUp) {
  DmtCall call(loop("CSA 6"));
  expect_clean(&call, 0.1);
  call.remote.type->hang_up(call.remote.self);
  EXPECT_EQ(call.remote.status().state, OH_PUMP_IDLE);
  call.run(1);
  EXPECT_EQ(call.remote.status().state, OH_PUMP_IDLE);
  EXPECT_NE(call.central.status().state, OH_PUMP_DATA);
}

TEST(DmtCall, GivesTheSameBitsEveryTime) {
  const auto hash = [] {
    DmtCall call(loop("T1.601 7", "24 ISDN"));
    std::uint64_t h = 0xcbf29ce484222325u;
    call.tamper = [&h](auto& samples) {
      for (const std::int16_t s : samples) h = (h ^ static_cast<std::uint16_t>(s)) * 0x100000001b3u;
    };
    call.run(0.3);
    return h;
  };
  EXPECT_EQ(hash(), hash());
}

TEST(DmtPump, BlocksOfAnyLengthGiveTheSameSamples) {
  DmtCall call(LoopConfig{});
  std::vector<std::int16_t> heard;
  call.tamper = [&](std::vector<std::int16_t>& captured) {
    heard.insert(heard.end(), captured.begin(), captured.end());
  };
  call.run(1.6);
  ASSERT_TRUE(call.in_data());
  const auto sent_in_blocks = [&](const std::vector<std::size_t>& plan) {
    DmtCall::End end;
    end.type = oh_dmt_remote_type();
    end.own = call.remote.own;
    oh_pump_config c{};
    c.format = end.type->formats[0];
    c.role = OH_PUMP_CALL;
    c.port = end.port();
    const std::unique_ptr<void, void (*)(void*)> memory(::operator new (end.type->size(&c), std::align_val_t{64}),
                                                        [](void* m) { ::operator delete (m, std::align_val_t{64}); });
    EXPECT_EQ(end.type->init(memory.get(), &c), 0);
    std::vector<std::int16_t> sent(heard.size() / 4);
    for (std::size_t at = 0, k = 0; at < sent.size(); ++k) {
      const std::size_t n = std::min(plan[k % plan.size()], sent.size() - at);
      end.type->process(memory.get(), heard.data() + 4 * at, sent.data() + at, n);
      at += n;
    }
    return sent;
  };
  const auto one_by_one = sent_in_blocks({1});
  EXPECT_TRUE(sent_in_blocks({1104}) == one_by_one);
  EXPECT_TRUE(sent_in_blocks({7, 300, 68, 67, 69, 2}) == one_by_one);
}

TEST(DmtPump, RefusesWhatItCannotDo) {
  DmtCall::End end;
  oh_pump_config good{};
  good.struct_size = sizeof good;
  good.port = end.port();
  good.format = oh_dmt_remote_type()->formats[0];
  good.role = OH_PUMP_CALL;
  EXPECT_GT(oh_dmt_remote_type()->size(&good), 0u);
  const auto refuses = [&](auto change) {
    oh_pump_config c = good;
    change(c);
    EXPECT_EQ(oh_dmt_remote_type()->size(&c), 0u);
  };
  refuses([](auto& c) { c.role = OH_PUMP_ANSWER; });
  refuses([](auto& c) { c.format.rx.rate_hz = 8000; });
  refuses([](auto& c) { c.format.tx.encoding = OH_MULAW; });
  refuses([](auto& c) { c.port.get_bit = nullptr; });
  refuses([](auto& c) { c.max_bit_rate = 31'999; });
  refuses([](auto& c) { c.struct_size = 4; });
  EXPECT_EQ(oh_dmt_central_type()->size(&good), 0u);
}

}  // namespace
}  // namespace offhook
