// SPDX-License-Identifier: MIT
//
// Digits and caller ID as spandsp sends them, and call progress tones of E.180.
#include "src/decode/start_up/call_signals.h"

#include <gtest/gtest.h>
#include <spandsp.h>

#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "dsp/blocks/sincos.h"

namespace offhook::decode {
namespace {

using Sound = std::vector<float>;

Sound tones(std::initializer_list<double> hz, double s) {
  Sound x(static_cast<std::size_t>(s * kRateHz));
  for (std::size_t i = 0; i < x.size(); ++i) {
    for (const double f : hz) x[i] += static_cast<float>(2000 * std::sin(2 * kPi * std::fmod(f * seconds(i), 1.0)));
  }
  return x;
}
Sound operator+(Sound a, const Sound& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}
Sound silence(double s) {
  return tones({}, s);
}

std::vector<CallSignal> signals_in(const Sound& x) {
  Recording r;
  r.channel = {x};
  return find_call_signals(r);
}

TEST(DecodeCallSignals, DigitsAreReadTogether) {
  Sound x = silence(0.5);
  dtmf_tx_state_t* tx = dtmf_tx_init(nullptr);
  dtmf_tx_put(tx, "5551234#", -1);
  for (int k = 0; k < 20; ++k) {
    std::int16_t block[800];
    const int n = dtmf_tx(tx, block, 800);
    x.insert(x.end(), block, block + n);
  }
  dtmf_tx_free(tx);
  const auto found = signals_in(x + silence(1));
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].name, "DTMF");
  EXPECT_EQ(found[0].detail, "5551234#");
  EXPECT_NEAR(found[0].t0, 0.5, 0.05);
}

TEST(DecodeCallSignals, CallerIdIsReadWithItsFields) {
  adsi_tx_state_t* tx = adsi_tx_init(nullptr, ADSI_STANDARD_CLASS);
  std::uint8_t message[256];
  int length = adsi_add_field(tx, message, -1, CLASS_MDMF_CALLERID, nullptr, 0);
  length =
      adsi_add_field(tx, message, length, MCLASS_CALLER_NUMBER, reinterpret_cast<const std::uint8_t*>("5559876"), 7);
  length =
      adsi_add_field(tx, message, length, MCLASS_CALLER_NAME, reinterpret_cast<const std::uint8_t*>("A CALLER"), 8);
  adsi_tx_put_message(tx, message, length);
  Sound x = silence(0.5);
  for (int k = 0; k < 20; ++k) {
    std::int16_t block[800];
    const int n = adsi_tx(tx, block, 800);
    x.insert(x.end(), block, block + n);
  }
  adsi_tx_free(tx);
  const auto found = signals_in(x + silence(0.5));
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].name, kCallerId);
  EXPECT_EQ(found[0].detail, "number 5559876, name A CALLER");
}

TEST(DecodeCallSignals, TonesOfTheExchangeAreNamedByFrequencyAndCadence) {
  const Sound busy = tones({480, 620}, 0.5) + silence(0.5), ring = tones({440, 480}, 2) + silence(4);
  const Sound europe = tones({425}, 0.5) + silence(0.5), ringing = tones({425}, 1) + silence(4);
  const std::pair<const char*, Sound> sounds[] = {
      {"dial tone", tones({350, 440}, 2)},
      {"dial tone", tones({425}, 4)},
      {"busy", busy + busy + busy},
      {"busy", europe + europe + europe},
      {"ringback", ring + ring},
      {"ringback", ringing + ringing},
      {"special information tone", tones({950}, 0.33) + tones({1400}, 0.33) + tones({1800}, 0.33)},
      {"calling tone 1300 Hz", tones({1300}, 0.6)},
      {"answer tone 2225 Hz", tones({2225}, 2)}};
  for (const auto& [name, sound] : sounds) {
    const auto found = signals_in(silence(0.5) + sound + silence(0.5));
    ASSERT_EQ(found.size(), 1u) << name;
    EXPECT_EQ(found[0].name, name);
    EXPECT_NEAR(found[0].t0, 0.5, 0.05) << name;
  }
}

TEST(DecodeCallSignals, NoiseIsNone) {
  std::mt19937 random(4);
  std::normal_distribution<float> normal(0, 3000);
  Sound x(20 * kRateHz);
  for (float& v : x) v = normal(random);
  EXPECT_TRUE(signals_in(x).empty());
}

}  // namespace
}  // namespace offhook::decode
