// SPDX-License-Identifier: MIT
#include "driver/tty/modulation.h"

#include <gtest/gtest.h>

#include "driver/user_modem/modulations.h"
#include "dsp/pump/pump_type.h"

namespace offhook::modem {
namespace {

constexpr std::uint32_t kV22bis = OH_MODULATION_V22BIS, kV32bis = OH_MODULATION_V32BIS, kV34 = OH_MODULATION_V34;

constexpr oh_pump_type kAnything{}, kV22bisAlone{}, kV32bisAlone{}, kV34Alone{};
constexpr Modulation row(oh_modulation id, const char* carrier, uint8_t window, const oh_pump_type* (*type)()) {
  return {.id = id,
          .name = carrier,
          .title = carrier,
          .carrier = carrier,
          .v8 = {},
          .min_bit_rate = 1200,
          .max_bit_rate = 0,
          .v42_window = window,
          .alone = id == OH_MODULATION_V22BIS,
          .mark_hz = 0,
          .type = type,
          .begin = nullptr};
}
constexpr Modulation kCarriers[] = {row(OH_MODULATION_V22BIS, "V22B", 15, [] { return &kV22bisAlone; }),
                                    row(OH_MODULATION_V32BIS, "V32B", 15, [] { return &kV32bisAlone; }),
                                    row(OH_MODULATION_V34, "V34", 64, [] { return &kV34Alone; }),
                                    row(OH_MODULATION_NONE, "", 64, [] { return &kAnything; })};

CallConfig choice(std::string carrier, bool automode, int min_rate = 0, int max_rate = 0) {
  AtSettings s;
  s.modulation = std::move(carrier);
  s.automode = automode ? 1 : 0;
  s.min_rate = min_rate;
  s.max_rate = max_rate;
  return choose_modem(s, kCarriers);
}

TEST(Modulation, ACarrierWithAutomodeIsTheBestThatMayBeUsed) {
  EXPECT_EQ(choice("", true).pump, &kAnything);
  EXPECT_EQ(choice("", true).modulations, 0u);
  EXPECT_EQ(choice("V34", true).modulations, kV34 | kV32bis | kV22bis);
  EXPECT_EQ(choice("V32B", true).modulations, kV32bis | kV22bis);
  EXPECT_EQ(choice("V22B", true).modulations, kV22bis);
  for (const char* carrier : {"V34", "V32B", "V22B"}) EXPECT_EQ(choice(carrier, true).pump, &kAnything);
}

TEST(Modulation, ACarrierWithoutAutomodeIsTheOnlyOne) {
  EXPECT_EQ(choice("V34", false).modulations, kV34);
  EXPECT_EQ(choice("V32B", false).modulations, kV32bis);
  EXPECT_EQ(choice("V22B", false).pump, &kV22bisAlone);
  EXPECT_EQ(choice("", false).modulations, kV34) << "what AT+MS? tells where none was chosen";
}

TEST(Modulation, TheRatesAreThoseOfTheCall) {
  const CallConfig c = choice("V34", true, 9600, 28'800);
  EXPECT_EQ(c.min_bit_rate, 9600u);
  EXPECT_EQ(c.max_bit_rate, 28'800u);
  EXPECT_EQ(choice("V22B", false, 2400).pump, &kAnything) << "V.22bis by itself takes 1200, too";
}

TEST(Modulation, TheWindowIsThatOfThePumpThatMayRun) {
  EXPECT_EQ(choice("V22B", false).link.window, 15u);
  EXPECT_EQ(choice("V22B", true).link.window, 64u);
}

TEST(Modulation, TheCarriersOfMsAreThoseWithAName) {
  EXPECT_EQ(names_of(kCarriers), "V22B,V32B,V34");
}

TEST(Modulation, ACardThatReceives16000SamplesHasAllModulations) {
  const Offer made = offer(kModulations, kLinear16000To8000, 204, CardSamples::kConverted);
  EXPECT_EQ(names_of(made.carriers), "B103,V21,V23C,B212,V22,V22B,V32B,V34,V90");
  EXPECT_EQ(made.missing, "");
}

const std::string kV90Missing =
    "V90 (needs 16000 samples/s received and 8000 sent, or 8000 octets/s; the card has 8000 samples/s)";

TEST(Modulation, ASoundCardOf8000SamplesHasAllButV90AndSaysSo) {
  const Offer made = offer(kModulations, kLinear8000, kMostIoDelay);
  EXPECT_EQ(names_of(made.carriers), "B103,V21,V23C,B212,V22,V22B,V32B,V34");
  EXPECT_EQ(made.missing, kV90Missing);
  EXPECT_EQ(made.carriers.back().type(), kModulations.back().type());
}

TEST(Modulation, WhatACardsDelayForbidsIsSaid) {
  const Offer made = offer(kModulations, kLinear8000, kMostIoDelay + 800);
  EXPECT_EQ(names_of(made.carriers), "B103,V21,V23C");
  const std::string queued = " (not possible: card and driver queue 500 ms), ";
  EXPECT_EQ(made.missing,
            "B212" + queued + "V22" + queued + "V22B" + queued + "V32B" + queued + "V34" + queued + kV90Missing);
}

TEST(Modulation, TheTableGivesEveryCarrierItsPumpAndWhatIsSlower) {
  EXPECT_EQ(names_of(kModulations), "B103,V21,V23C,B212,V22,V22B,V32B,V34,V90");
  const auto chosen = [](const char* carrier, int automode) {
    AtSettings s;
    s.modulation = carrier;
    s.automode = automode;
    return choose_modem(s, kModulations);
  };
  std::uint32_t slower = 0;
  for (const offhook::Modulation& m : kModulations) {
    if (m.id == OH_MODULATION_NONE) continue;
    SCOPED_TRACE(m.name);
    slower |= m.id;
    EXPECT_EQ(chosen(m.carrier, 1).pump, kModulations.back().type());
    EXPECT_EQ(chosen(m.carrier, 1).modulations, slower);
    EXPECT_EQ(chosen(m.carrier, 0).pump, m.alone ? m.type() : kModulations.back().type());
    if (!m.alone) {
      EXPECT_EQ(chosen(m.carrier, 0).modulations, m.id);
    }
    oh_pump_status now{};
    now.modulation = m.id;
    EXPECT_EQ(carrier_of(now, kModulations), m.carrier);
  }
}

TEST(Modulation, TheLimitsOfV23ChooseTheSenderOfItsFasterChannel) {
  AtSettings s;
  s.modulation = "V23C";
  s.automode = 0;
  const auto pump = [&](oh_pump_role role) { return choose_modem(s, kModulations, role).pump; };
  const oh_pump_type* as_always = v23_with_rates(75, 1200);
  EXPECT_EQ(pump(OH_PUMP_CALL), as_always);
  EXPECT_EQ(pump(OH_PUMP_ANSWER), as_always);
  s.max_rate = 75;  // +MS=V23C,0,0,75,0,1200
  s.max_rx_rate = 1200;
  EXPECT_EQ(pump(OH_PUMP_CALL), as_always);
  EXPECT_EQ(pump(OH_PUMP_ANSWER), v23_with_rates(1200, 75));
  EXPECT_EQ(choose_modem(s, kModulations, OH_PUMP_ANSWER).max_bit_rate, 0u);
  s.max_rate = 1200;  // +MS=V23C,0,0,1200,0,75
  s.max_rx_rate = 75;
  EXPECT_EQ(pump(OH_PUMP_CALL), v23_with_rates(1200, 75));
  EXPECT_EQ(pump(OH_PUMP_ANSWER), as_always);
  s.max_rate = 600;
  EXPECT_EQ(pump(OH_PUMP_CALL), v23_with_rates(600, 75));
  EXPECT_EQ(pump(OH_PUMP_ANSWER), v23_with_rates(75, 600));
}

TEST(Modulation, BReplacesV22AndV21ByBells) {
  AtSettings s;
  s.bell = 1;
  EXPECT_EQ(choose_modem(s, kModulations).modulations, kAllModulations & ~(OH_MODULATION_V22 | OH_MODULATION_V21));
  s.automode = 0;
  s.modulation = "V22";
  EXPECT_EQ(choose_modem(s, kModulations).pump, oh_bell212a_type());
  s.modulation = "V21";
  EXPECT_EQ(choose_modem(s, kModulations).pump, modulation_of(OH_MODULATION_BELL103).type());
  s.bell = 0;
  EXPECT_EQ(choose_modem(s, kModulations).pump, modulation_of(OH_MODULATION_V21).type());
}

TEST(Modulation, AConnectionIsNamedByWhatItBecame) {
  oh_pump_status s{};
  s.rx_bit_rate = 2400;
  s.modulation = OH_MODULATION_V22BIS;
  EXPECT_EQ(carrier_of(s, kCarriers), "V22B");
  s.modulation = OH_MODULATION_V32BIS;
  EXPECT_EQ(carrier_of(s, kCarriers), "V32B");
  s.modulation = OH_MODULATION_V34;
  EXPECT_EQ(carrier_of(s, kCarriers), "V34");
}

TEST(Modulation, OnOctetsThatAreConvertedEveryCarrierIsOfferedAndV90) {
  const Offer converted = offer(kModulations, kMuLaw8000, 204, CardSamples::kConverted);
  EXPECT_EQ(converted.missing, "");
  EXPECT_NE(names_of(converted.carriers).find("V34,V90"), std::string::npos) << names_of(converted.carriers);
  const Offer as_they_are = offer(kModulations, kMuLaw8000, 204);
  EXPECT_EQ(names_of(as_they_are.carriers), "V90");
  EXPECT_NE(as_they_are.missing.find("V34 (needs 8000 samples/s; the card has 8000 octets/s)"), std::string::npos);
}

}  // namespace
}  // namespace offhook::modem
