// SPDX-License-Identifier: MIT
//
// V.92's choices through automode, as a modem with AT commands makes them (+PQC, +PIG): Quick Connect and the PCM
// upstream over a simulated trunk, and far ends that refuse them.
#include <gtest/gtest.h>

#include <cstdio>
#include <memory>

#include "driver/user_modem/automode.h"
#include "driver/user_modem/modem.h"
#include "driver/user_modem/modulations.h"
#include "dsp/pump/pump_type.h"
#include "dsp/v90/session/v92.h"
#include "hostsim/channel/digital_trunk.h"

namespace offhook {
namespace {

/// The choices of one end.
struct Choices {
  oh_v90_profile profile{};
  uint32_t phases = 0;  ///< 0: no Quick Connect
  bool pcm_upstream = false;
  uint32_t modulations = 0;
};

class AutomodeCall : public hostsim::DigitalEnd {
 public:
  AutomodeCall(bool analogue_calls, const Choices& analogue, const Choices& digital)
      : analogue_(config(kLinear16000To8000, analogue_calls, analogue)),
        digital_(config(kMuLaw8000, !analogue_calls, digital)) {
    prepared_[0] = prepare(analogue_, analogue);
    prepared_[1] = prepare(digital_, digital);
    analogue_.start();
    digital_.start();
    hostsim::DigitalTrunkConfig trunk;
    trunk.noise_dbm0 = -85;
    trunk_ = std::make_unique<hostsim::DigitalTrunk>(trunk, 1, *this);
  }
  /// @return seconds until both have V.42, or -1
  double connect(double most_s) {
    const auto connected = [](const modem::Modem& m) { return m.lapm_status().state == OH_LAPM_CONNECTED; };
    for (double t = 0; t < most_s; t += 0.01) {
      for (int n = 0; n < 80; ++n) step();
      if (connected(analogue_) && connected(digital_)) return t;
    }
    return -1;
  }
  Choices after(modem::Modem& m, uint32_t phases) {
    Choices next;
    EXPECT_EQ(choices().profile(m.pump_memory(), &next.profile), 0);
    next.phases = phases;
    return next;
  }
  bool was_quick() {
    return choices().was_quick(analogue_.pump_memory()) != 0 && choices().was_quick(digital_.pump_memory()) != 0;
  }
  modem::Modem& analogue() { return analogue_; }
  modem::Modem& digital() { return digital_; }
  bool prepared(int end) const { return prepared_[end]; }

 private:
  static const V92Choices& choices() { return *kModulations.back().v92; }
  static bool prepare(modem::Modem& m, const Choices& c) {
    if (c.pcm_upstream && choices().allow_pcm_upstream(m.pump_memory()) != 0) return false;
    return c.phases == 0 || choices().prepare_quick_connect(m.pump_memory(), &c.profile, c.phases) == 0;
  }
  static modem::Modem::Config config(const oh_pump_format& format, bool calls, const Choices& choices) {
    modem::Modem::Config c{};
    c.pump = oh_automode_v22bis_type();
    c.role = calls ? OH_PUMP_CALL : OH_PUMP_ANSWER;
    c.format = format;
    c.modulations = choices.modulations;
    c.link.error_control = OH_ERROR_CONTROL_REQUIRED;
    if (same_format(format, kLinear16000To8000)) c.io_delay_samples = 1;  // this loop's own
    return c;
  }
  void step() {
    int16_t captured[hostsim::DigitalTrunk::kReceivedRatio];
    trunk_->exchange(played_, captured);
    analogue_.process(captured, &played_, 1);
  }
  uint8_t process(uint8_t rx) override {
    uint8_t tx;
    digital_.process(&rx, &tx, 1);
    return tx;
  }

  modem::Modem analogue_, digital_;
  std::unique_ptr<hostsim::DigitalTrunk> trunk_;
  int16_t played_ = 0;
  bool prepared_[2]{};
};

class V92Automode : public testing::TestWithParam<bool> {};  // whether the analogue modem calls

TEST_P(V92Automode, QuickConnectIsSoonerWithEachOfTheShortPhases) {
  AutomodeCall first(GetParam(), {}, {});
  const double full_s = first.connect(40);
  ASSERT_GT(full_s, 0);
  EXPECT_FALSE(first.was_quick());
  for (const uint32_t phases : {v90::kShortPhases, v90::kShortPhase1 + 0u, v90::kShortPhase2 + 0u}) {
    SCOPED_TRACE(phases);
    AutomodeCall again(GetParam(), first.after(first.analogue(), phases), first.after(first.digital(), phases));
    ASSERT_TRUE(again.prepared(0) && again.prepared(1));
    const double short_s = again.connect(40);
    ASSERT_GT(short_s, 0);
    std::printf("V.42 after %.2f s, with short phases %u after %.2f s\n", full_s, phases, short_s);
    EXPECT_LT(short_s, full_s - 0.2);
    EXPECT_EQ(again.was_quick(), (phases & v90::kShortPhase1) != 0);
    for (modem::Modem* m : {&again.analogue(), &again.digital()}) {
      EXPECT_EQ(m->pump_status().modulation, OH_MODULATION_V90);
      EXPECT_EQ(m->pump_status().retrains, 0u);
    }
    EXPECT_EQ(again.analogue().pump_status().rx_bit_rate, first.analogue().pump_status().rx_bit_rate);
  }
}

// The answerer begins with CRe; a caller that does not know the line waits for ANSam.
TEST_P(V92Automode, QuickConnectByV8bisIsSooner) {
  AutomodeCall first(GetParam(), {}, {});
  const double full_s = first.connect(40);
  ASSERT_GT(full_s, 0);
  const uint32_t answers = v90::kShortPhases | v90::kByV8bis;
  const Choices a = first.after(first.analogue(), GetParam() ? v90::kShortPhases : answers);
  const Choices d = first.after(first.digital(), GetParam() ? answers : v90::kShortPhases);
  AutomodeCall again(GetParam(), a, d);
  ASSERT_TRUE(again.prepared(0) && again.prepared(1));
  const double short_s = again.connect(40);
  ASSERT_GT(short_s, 0);
  EXPECT_LT(short_s, full_s - 0.2);
  EXPECT_TRUE(again.was_quick());
  AutomodeCall alone(GetParam(), GetParam() ? Choices{} : a, GetParam() ? d : Choices{});
  ASSERT_GT(alone.connect(40), 0);
  EXPECT_FALSE(alone.was_quick());
}

TEST_P(V92Automode, AFarEndThatDoesNotKnowTheLineHasAFullStartUp) {
  AutomodeCall first(GetParam(), {}, {});
  ASSERT_GT(first.connect(40), 0);
  for (const uint32_t phases : {v90::kShortPhases, v90::kShortPhase1 + 0u, v90::kShortPhase2 + 0u}) {
    SCOPED_TRACE(phases);
    for (const bool analogue_knows : {true, false}) {
      const Choices known = first.after(analogue_knows ? first.analogue() : first.digital(), phases);
      AutomodeCall call(GetParam(), analogue_knows ? known : Choices{}, analogue_knows ? Choices{} : known);
      ASSERT_GT(call.connect(40), 0);
      EXPECT_FALSE(call.was_quick());
      EXPECT_EQ(call.analogue().pump_status().modulation, OH_MODULATION_V90);
      EXPECT_EQ(call.analogue().pump_status().retrains, 0u);
    }
  }
}

TEST_P(V92Automode, AFarEndWithoutV90IsMetByItsOwnModulation) {
  AutomodeCall first(GetParam(), {}, {});
  ASSERT_GT(first.connect(40), 0);
  for (const oh_modulation only : {OH_MODULATION_V34, OH_MODULATION_V32BIS, OH_MODULATION_V22BIS}) {
    SCOPED_TRACE(only);
    Choices poor;
    poor.modulations = only;
    AutomodeCall call(GetParam(), first.after(first.analogue(), v90::kShortPhases), poor);
    ASSERT_GT(call.connect(60), 0);
    EXPECT_EQ(call.analogue().pump_status().modulation, only);
  }
}

TEST_P(V92Automode, ThePcmUpstreamComesIfBothPermitIt) {
  Choices both;
  both.pcm_upstream = true;
  AutomodeCall call(GetParam(), both, both);
  ASSERT_GT(call.connect(40), 0);
  EXPECT_GT(call.analogue().pump_status().tx_bit_rate, 33'600u);
  for (const bool analogue : {true, false}) {
    AutomodeCall one(GetParam(), analogue ? both : Choices{}, analogue ? Choices{} : both);
    ASSERT_GT(one.connect(40), 0);
    EXPECT_LE(one.analogue().pump_status().tx_bit_rate, 33'600u);
  }
}

// A short Phase 2 has V.34's upstream; a full Phase 2 after a short Phase 1 may have the other.
TEST_P(V92Automode, AShortPhase1LeavesThePcmUpstream) {
  AutomodeCall first(GetParam(), {}, {});
  ASSERT_GT(first.connect(40), 0);
  Choices a = first.after(first.analogue(), v90::kShortPhase1), d = first.after(first.digital(), v90::kShortPhase1);
  a.pcm_upstream = d.pcm_upstream = true;
  AutomodeCall call(GetParam(), a, d);
  ASSERT_GT(call.connect(40), 0);
  EXPECT_TRUE(call.was_quick());
  EXPECT_GT(call.analogue().pump_status().tx_bit_rate, 33'600u);
}

TEST(V92AutomodeChoices, ComeBeforeTheFirstSampleAndNeedV90) {
  const V92Choices& choices = *kModulations.back().v92;
  const oh_v90_profile profile{
      .upstream_symbol_rate = 5, .upstream_high_carrier = 0, .u_qts = 79, .reserved = 0, .round_trip_samples = 96};
  Choices poor;
  poor.modulations = OH_MODULATION_V34;
  AutomodeCall call(true, {}, poor);
  void* const v90 = call.analogue().pump_memory();
  void* const v34 = call.digital().pump_memory();
  EXPECT_EQ(choices.prepare_quick_connect(v90, &profile, v90::kShortPhases), 0);
  EXPECT_NE(choices.prepare_quick_connect(v90, &profile, 0), 0);
  EXPECT_NE(choices.prepare_quick_connect(v90, &profile, 4), 0);
  EXPECT_NE(choices.prepare_quick_connect(v34, &profile, v90::kShortPhases), 0);
  EXPECT_NE(choices.allow_pcm_upstream(v34), 0);
  oh_v90_profile none{};
  EXPECT_NE(choices.prepare_quick_connect(v90, &none, v90::kShortPhases), 0);
  EXPECT_NE(choices.profile(v90, &none), 0);
  call.connect(0.1);
  EXPECT_NE(choices.prepare_quick_connect(v90, &profile, v90::kShortPhases), 0);
  EXPECT_NE(choices.allow_pcm_upstream(v90), 0);
}

INSTANTIATE_TEST_SUITE_P(Caller, V92Automode, testing::Bool(),
                         [](const auto& calls) { return calls.param ? "Analogue" : "Digital"; });

}  // namespace
}  // namespace offhook
