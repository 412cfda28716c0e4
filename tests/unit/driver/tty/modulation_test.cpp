// SPDX-License-Identifier: MIT
#include "driver/tty/modulation.h"

#include <gtest/gtest.h>

namespace offhook::modem {
namespace {

constexpr std::uint32_t kV22bis = OH_MODULATION_V22BIS, kV32bis = OH_MODULATION_V32BIS, kV34 = OH_MODULATION_V34;

ModemChoice choice(std::string carrier, bool automode, int min_rate = 0, int max_rate = 0) {
  AtSettings s;
  s.modulation = std::move(carrier);
  s.automode = automode ? 1 : 0;
  s.min_tx_rate = min_rate;
  s.max_tx_rate = max_rate;
  return choose_modem(s);
}

TEST(Modulation, ACarrierWithAutomodeIsTheBestThatMayBeUsed) {
  EXPECT_EQ(choice("", true).type->name, "auto");
  EXPECT_EQ(choice("", true).modulations, 0u);
  EXPECT_EQ(choice("V34", true).modulations, kV34 | kV32bis | kV22bis);
  EXPECT_EQ(choice("V32B", true).modulations, kV32bis | kV22bis);
  EXPECT_EQ(choice("V22B", true).modulations, kV22bis);
  for (const char* carrier : {"V34", "V32B", "V22B"}) EXPECT_EQ(choice(carrier, true).type->name, "auto");
}

TEST(Modulation, ACarrierWithoutAutomodeIsTheOnlyOne) {
  EXPECT_EQ(choice("V34", false).modulations, kV34);
  EXPECT_EQ(choice("V32B", false).modulations, kV32bis);
  EXPECT_EQ(choice("V22B", false).type->name, "v22bis");
}

TEST(Modulation, TheRatesAreThoseOfTheCall) {
  const ModemChoice c = choice("V34", true, 9600, 28'800);
  EXPECT_EQ(c.min_rate, 9600);
  EXPECT_EQ(c.max_rate, 28'800);
  AtSettings both;
  both.max_tx_rate = 28'800;
  both.min_rx_rate = 2400;
  both.max_rx_rate = 21'600;
  EXPECT_EQ(choose_modem(both).min_rate, 2400) << "the tighter limit of the two directions is that of both";
  EXPECT_EQ(choose_modem(both).max_rate, 21'600);
  EXPECT_EQ(choice("V22B", false, 2400).type->name, "auto") << "V.22bis by itself takes 1200, too";
}

TEST(Modulation, AConnectionIsNamedByWhatItBecame) {
  oh_pump_status s{};
  s.rx_bit_rate = 2400;
  s.modulation = OH_MODULATION_V22BIS;
  EXPECT_EQ(carrier_of(s), "V22B");
  s.rx_bit_rate = 1200;
  EXPECT_EQ(carrier_of(s), "V22");
  s.modulation = OH_MODULATION_V32BIS;
  EXPECT_EQ(carrier_of(s), "V32B");
  s.modulation = OH_MODULATION_V34;
  EXPECT_EQ(carrier_of(s), "V34");
}

}  // namespace
}  // namespace offhook::modem
