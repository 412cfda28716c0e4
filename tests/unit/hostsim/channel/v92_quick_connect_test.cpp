// SPDX-License-Identifier: MIT
//
// Quick Connect of V.92 (9.2, 9.4) between our two modems over a simulated trunk: with what an earlier call over the
// same line left, against a far end without it, and where parts of it are lost.
#include <gtest/gtest.h>

#include <cstdio>
#include <optional>
#include <vector>

#include "dsp/v90/coding/quick_signals.h"
#include "dsp/v90/coding/ucode.h"
#include "tests/v90_call.h"

namespace offhook {
namespace {

V90Call::Options call_from_v8_on(bool analogue_calls) {
  V90Call::Options o;
  o.trunk.noise_dbm0 = -85;
  o.analogue_calls = analogue_calls;
  return o;
}

struct Call {
  explicit Call(const V90Call::Options& o) : call(o) {}
  /// @return seconds until both are in data mode, or -1
  double connect(double most = 40) { return call.connect(most) ? call.seconds() : -1; }
  bool was_quick() { return oh_v90_was_quick(call.analogue()) != 0 && oh_v90_was_quick(call.digital()) != 0; }
  void expect_data() {
    call.run(0.5);
    const auto down = call.down().bits(), up = call.up().bits();
    const auto wrong = call.down().errors() + call.up().errors();
    call.run(2);
    EXPECT_GT(call.down().bits(), down + 50'000);
    EXPECT_GT(call.up().bits(), up + 20'000);
    EXPECT_EQ(call.down().errors() + call.up().errors(), wrong);
  }
  V90Call call;
};

/// Options for a second call on the line of a first one.
V90Call::Options after_a_call(const V90Call::Options& o, double* first_s = nullptr) {
  Call first(o);
  const double seconds = first.connect();
  EXPECT_GT(seconds, 0);
  EXPECT_FALSE(first.was_quick());
  if (first_s != nullptr) *first_s = seconds;
  V90Call::Options again = o;
  oh_v90_profile profile{};
  EXPECT_EQ(oh_v90_get_profile(first.call.analogue(), &profile), 0);
  again.analogue_profile = profile;
  EXPECT_EQ(oh_v90_get_profile(first.call.digital(), &profile), 0);
  again.digital_profile = profile;
  return again;
}

class V92QuickConnect : public testing::TestWithParam<bool> {};  // whether the analogue modem calls

void expect_sooner(const V90Call::Options& o, double first_s) {
  Call again(o);
  const double seconds = again.connect();
  ASSERT_GT(seconds, 0);
  EXPECT_TRUE(again.was_quick());
  EXPECT_LT(seconds, first_s - 1.5);
  std::printf("data after %.2f s by V.8, after %.2f s by Quick Connect\n", first_s, seconds);
  EXPECT_EQ(again.call.analogue_status().retrains + again.call.digital_status().retrains, 0u);
  EXPECT_EQ(again.call.analogue_status().rx_bit_rate, 56'000u);
  EXPECT_EQ(again.call.digital_status().rx_bit_rate, 33'600u);
  again.expect_data();
}

TEST_P(V92QuickConnect, ConnectsSoonerThanTheCallBefore) {
  double first_s = 0;
  const V90Call::Options o = after_a_call(call_from_v8_on(GetParam()), &first_s);
  expect_sooner(o, first_s);
}

// Figures 5 and 6: QC2 and QCA2.
TEST_P(V92QuickConnect, ByV8bisConnectsSoonerThanByV8) {
  double first_s = 0;
  V90Call::Options o = after_a_call(call_from_v8_on(GetParam()), &first_s);
  o.answers_by_v8bis = true;
  expect_sooner(o, first_s);
}

TEST_P(V92QuickConnect, ByV8bisWorksOverLinesThatDiffer) {
  for (const LineOfV92& line : kLinesOfV92) {
    SCOPED_TRACE(line.name);
    V90Call::Options o = call_from_v8_on(GetParam());
    line.make(o.trunk);
    o = after_a_call(o);
    o.answers_by_v8bis = true;
    Call again(o);
    ASSERT_GT(again.connect(), 0);
    EXPECT_TRUE(again.was_quick());
  }
}

// 9.2.3.2, 9.2.4.2: three seconds after CRe, ANSam; the caller does not know V.8 bis.
TEST_P(V92QuickConnect, ByV8bisAFarEndWithoutItIsMetByV8) {
  V90Call::Options o = after_a_call(call_from_v8_on(GetParam()));
  o.answers_by_v8bis = true;
  (GetParam() ? o.analogue_profile : o.digital_profile).reset();
  Call call(o);
  ASSERT_GT(call.connect(), 0);
  EXPECT_FALSE(call.was_quick());
  EXPECT_EQ(call.call.analogue_status().retrains, 0u);
  call.expect_data();
}

// The line is dead for half a second, at any time: in the end there is data mode.
TEST_P(V92QuickConnect, ByV8bisWhatIsLostEndsInDataAllTheSame) {
  V90Call::Options both = after_a_call(call_from_v8_on(GetParam()));
  both.answers_by_v8bis = true;
  for (double at = 0.25; at < 3; at += 0.25) {
    SCOPED_TRACE(at);
    Call call(both);
    call.call.run(at);
    call.call.damage(V90Call::Damage::kSilence);
    call.call.run(0.5);
    call.call.damage(V90Call::Damage::kNone);
    ASSERT_GT(call.connect(60), 0);
    call.expect_data();
  }
}

TEST_P(V92QuickConnect, WorksOverLinesThatDiffer) {
  for (const LineOfV92& line : kLinesOfV92) {
    SCOPED_TRACE(line.name);
    V90Call::Options o = call_from_v8_on(GetParam());
    line.make(o.trunk);
    Call again(after_a_call(o));
    ASSERT_GT(again.connect(), 0);
    EXPECT_TRUE(again.was_quick());
    EXPECT_EQ(again.call.analogue_status().modulation, OH_MODULATION_V90);
  }
}

/// The first place after `from` where V, 0, V, -V, -0, -V (8.3.6; Sd of V.90 8.4.4) is sent ten times in a row.
std::optional<size_t> six_points(const std::vector<uint8_t>& sent, uint8_t ucode, size_t from) {
  const auto at = [&](size_t n) { return v90::pcm_of(v90::Law::kMu, sent[n]); };
  for (size_t n = from; n + 60 <= sent.size(); ++n) {
    bool is = true;
    for (size_t k = 0; k < 60 && is; ++k) is = at(n + k) == v90::qts_symbol(static_cast<int>(k), ucode);
    if (is) return n;
  }
  return std::nullopt;
}

// 8.3.6: "shall keep data frame alignment from this point on".
TEST_P(V92QuickConnect, SdBeginsAtADataFrameOfQts) {
  V90Call::Options o = after_a_call(call_from_v8_on(GetParam()));
  for (const double delay_ms : {5., 5.125, 5.25, 5.375, 5.5}) {  // a sample more each
    o.trunk.delay_ms = delay_ms;
    Call call(o);
    V90Call::Received heard;
    call.call.record(&heard);
    ASSERT_GT(call.connect(), 0);
    call.call.record(nullptr);
    ASSERT_TRUE(call.was_quick());
    const auto qts = six_points(heard.digital_sent, o.analogue_profile->u_qts, 0);
    ASSERT_TRUE(qts);
    const auto w = static_cast<uint8_t>(call.call.analogue_instruments().u_info + v90::kUchord);
    const auto sd = six_points(heard.digital_sent, w, *qts + v90::kQtsSymbols);
    ASSERT_TRUE(sd);
    EXPECT_EQ((*sd - *qts) % 6, 0u) << delay_ms;
  }
}

TEST_P(V92QuickConnect, AFarEndWithoutItIsMetByV8) {
  const V90Call::Options both = after_a_call(call_from_v8_on(GetParam()));
  for (const bool analogue : {true, false}) {
    V90Call::Options o = both;
    if (analogue) o.digital_profile.reset();
    if (!analogue) o.analogue_profile.reset();
    Call call(o);
    ASSERT_GT(call.connect(), 0) << analogue;
    EXPECT_FALSE(call.was_quick());
    EXPECT_EQ(call.call.analogue_status().retrains, 0u);
    call.expect_data();
  }
}

// The line is dead for half a second, at any time in the start-up: in the end there is data mode.
TEST_P(V92QuickConnect, WhatIsLostEndsInDataAllTheSame) {
  const V90Call::Options both = after_a_call(call_from_v8_on(GetParam()));
  for (double at = 1.25; at < 4.5; at += 0.25) {
    SCOPED_TRACE(at);
    Call call(both);
    call.call.run(at);
    call.call.damage(V90Call::Damage::kSilence);
    call.call.run(0.5);
    call.call.damage(V90Call::Damage::kNone);
    ASSERT_GT(call.connect(60), 0);
    call.expect_data();
  }
}

TEST_P(V92QuickConnect, ARetrainOfSuchACallHasTheFullPhase2) {
  Call call(after_a_call(call_from_v8_on(GetParam())));
  ASSERT_GT(call.connect(), 0);
  call.call.run(0.5);
  oh_v90_retrain(call.call.analogue());
  call.call.run(1);
  ASSERT_TRUE(call.call.connect(20));
  EXPECT_EQ(call.call.analogue_status().retrains, 1u);
  call.expect_data();
}

TEST_P(V92QuickConnect, AProfileOfAnotherLineIsNoHarm) {
  V90Call::Options o = after_a_call(call_from_v8_on(GetParam()));
  o.analogue_profile->round_trip_samples = 0;
  o.analogue_profile->upstream_symbol_rate = 3;
  o.analogue_profile->upstream_high_carrier ^= 1;
  o.analogue_profile->u_qts = 61;
  o.trunk.delay_ms = 200;
  o.trunk.loss_db = 12;
  Call call(o);
  ASSERT_GT(call.connect(60), 0);
  call.expect_data();
}

TEST(V92QuickConnectProfile, IsOfACallThatWasAndBeforeTheFirstSample) {
  V90Call call(call_from_v8_on(true));
  oh_v90_profile profile{};
  EXPECT_NE(oh_v90_get_profile(call.analogue(), &profile), 0);
  EXPECT_NE(oh_v90_quick_connect(call.analogue(), &profile), 0) << "no symbol rate";
  profile = {
      .upstream_symbol_rate = 4, .upstream_high_carrier = 0, .u_qts = 64, .reserved = 0, .round_trip_samples = 80};
  EXPECT_NE(oh_v90_quick_connect(call.analogue(), &profile), 0) << "no Ucode of Table 2";
  profile.u_qts = 63;
  EXPECT_EQ(oh_v90_quick_connect(call.analogue(), &profile), 0);
  call.run(0.1);
  EXPECT_NE(oh_v90_quick_connect(call.analogue(), &profile), 0) << "too late";
}

TEST(V92QuickConnectProfile, IsThereWhenTheCallHasEnded) {
  V90Call call(call_from_v8_on(true));
  ASSERT_TRUE(call.connect(20));
  call.run(0.5);
  oh_v90_profile in_data{}, after{};
  ASSERT_EQ(oh_v90_get_profile(call.analogue(), &in_data), 0);
  oh_v90_type()->hang_up(call.analogue());
  call.run(2);
  EXPECT_EQ(call.analogue_status().state, OH_PUMP_IDLE);
  for (void* modem : {call.analogue(), call.digital()}) {
    ASSERT_EQ(oh_v90_get_profile(modem, &after), 0);
    EXPECT_EQ(after.upstream_symbol_rate, in_data.upstream_symbol_rate);
    EXPECT_EQ(after.upstream_high_carrier, in_data.upstream_high_carrier);
    EXPECT_NEAR(after.round_trip_samples, in_data.round_trip_samples, 8);
  }
}

INSTANTIATE_TEST_SUITE_P(Caller, V92QuickConnect, testing::Bool(),
                         [](const auto& calls) { return calls.param ? "Analogue" : "Digital"; });

}  // namespace
}  // namespace offhook
