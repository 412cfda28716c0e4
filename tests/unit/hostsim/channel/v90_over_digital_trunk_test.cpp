// SPDX-License-Identifier: MIT
//
// V.90's two modems over a simulated trunk: whole calls from V.8 on.
#include <gtest/gtest.h>

#include <vector>

#include "dsp/v34/session/pump.h"
#include "dsp/v90/session/analogue_modem.h"
#include "dsp/v90/session/digital_modem.h"
#include "hostsim/channel/g711.h"
#include "tests/v90_call.h"

namespace offhook {
namespace {

V90Call::Options clean() {
  V90Call::Options o;
  o.trunk.noise_dbm0 = -85;
  return o;
}

TEST(V90OverDigitalTrunk, ACleanMuLawTrunkCarries56000DownAnd33600UpWithoutAnError) {
  for (const bool analogue_calls : {true, false}) {
    V90Call::Options o = clean();
    o.analogue_calls = analogue_calls;
    V90Call call(o);
    ASSERT_TRUE(call.connect(20));
    EXPECT_EQ(call.analogue_status().rx_bit_rate, 56000u);
    EXPECT_EQ(call.digital_status().rx_bit_rate, 33600u);
    EXPECT_EQ(call.analogue_status().tx_bit_rate, 33600u);
    EXPECT_EQ(call.digital_status().tx_bit_rate, 56000u);
    call.run(20);
    EXPECT_EQ(call.analogue_status().state, OH_PUMP_DATA);
    EXPECT_GT(call.down().blocks(), 1100u);
    EXPECT_GT(call.up().blocks(), 660u);
    EXPECT_EQ(call.down().errors(), 0u);
    EXPECT_EQ(call.up().errors(), 0u);
    EXPECT_EQ(call.analogue_status().retrains + call.digital_status().retrains, 0u);
  }
}

TEST(V90OverDigitalTrunk, LearnsRobbedBitsPadsAndLaws) {
  struct Case {
    unsigned robbed;
    double pad_db;
    const char *law, *codec;
    unsigned least;
  };
  const Case cases[] = {{1, 0, "mu-law", "mu-law", 50000},  {21, 0, "mu-law", "mu-law", 48000},
                        {63, 0, "mu-law", "mu-law", 44000}, {0, 3, "mu-law", "mu-law", 48000},
                        {0, 6, "mu-law", "mu-law", 48000},  {0, 0, "a-law", "a-law", 54000},
                        {0, 0, "mu-law", "a-law", 50000},   {0, 0, "a-law", "mu-law", 50000}};
  for (const Case& k : cases) {
    V90Call::Options o = clean();
    o.v8 = false;
    o.trunk.robbed_bits = k.robbed;
    o.trunk.pad_db = k.pad_db;
    o.trunk.law = k.law;
    o.trunk.codec = k.codec;
    V90Call call(o);
    ASSERT_TRUE(call.connect(15)) << k.robbed << " " << k.pad_db << " " << k.law << " " << k.codec;
    EXPECT_GE(call.analogue_status().rx_bit_rate, k.least)
        << k.robbed << " " << k.pad_db << " " << k.law << " " << k.codec;
    const uint64_t before = call.down().bad_blocks();
    call.run(5);
    EXPECT_LE(call.down().bad_blocks() - before, 1u) << k.robbed << " " << k.pad_db << " " << k.law << " " << k.codec;
  }
}

// Robbed bits and pads add noise that grows with the samples, as a codec's does.
TEST(V90OverDigitalTrunk, UpstreamBeginsAtARateThatRobbedBitsLeave) {
  struct Case {
    const char* law;
    unsigned robbed;
    double pad_db;
    unsigned least;
  };
  const Case cases[] = {{"mu-law", 1, 0, 33600},        {"a-law", 1, 0, 33600},  {"mu-law", 0, 6, 33600},
                        {"mu-law", 0b010101, 0, 31200}, {"a-law", 63, 0, 28800}, {"mu-law", 0b110110, 3, 28800}};
  for (const Case& k : cases) {
    V90Call::Options o = clean();
    o.v8 = false;
    o.trunk.noise_dbm0 = -80;
    o.trunk.law = o.trunk.codec = k.law;
    o.trunk.robbed_bits = k.robbed;
    o.trunk.pad_db = k.pad_db;
    V90Call call(o);
    ASSERT_TRUE(call.connect(15)) << k.law << " " << k.robbed << " " << k.pad_db;
    const unsigned first = call.digital_status().rx_bit_rate;
    EXPECT_GE(first, k.least) << k.law << " " << k.robbed << " " << k.pad_db;
    call.run(20);
    EXPECT_GE(call.digital_status().rx_bit_rate, first) << k.law << " " << k.robbed << " " << k.pad_db;
    EXPECT_LE(call.up().bad_blocks(), call.up().blocks() / 100) << k.law << " " << k.robbed << " " << k.pad_db;
  }
}

// A line card's converter adds DC and hum to what the digital modem receives.
TEST(V90OverDigitalTrunk, TheUpstreamReceiverRemovesDcAndHum) {
  struct Case {
    double dc_percent, hum_dbm0, hum_hz;
    unsigned least;
  };
  const Case cases[] = {{1.5, -200, 50, 28800}, {0, -24, 50, 28800}, {0, -24, 60, 28800}, {1.5, -18, 50, 26400}};
  for (const Case& k : cases) {
    SCOPED_TRACE(testing::Message() << k.dc_percent << " %, " << k.hum_hz << " Hz at " << k.hum_dbm0);
    hostsim::LineConfig hum;
    hum.dc_percent = k.dc_percent;
    hum.hum_dbm0 = k.hum_dbm0;
    hum.hum_hz = k.hum_hz;
    V90Call::Options o = clean();
    o.analogue_dbm0 = -14;
    o.card_hum.emplace(hum);
    V90Call call(o);
    ASSERT_TRUE(call.connect(20));
    EXPECT_EQ(call.analogue_status().retrains + call.digital_status().retrains, 0u);
    EXPECT_GE(call.digital_status().rx_bit_rate, k.least);
    call.run(5);
    EXPECT_EQ(call.digital_status().state, OH_PUMP_DATA);
    EXPECT_LE(call.up().bad_blocks(), 1u);
  }
}

TEST(V90OverDigitalTrunk, FollowsClocksOf100PpmEitherWay) {
  for (const double ppm : {-100., 100.}) {
    V90Call::Options o = clean();
    o.v8 = false;
    o.trunk.clock_ppm = ppm;
    V90Call call(o);
    ASSERT_TRUE(call.connect(15)) << ppm;
    call.run(5);
    EXPECT_NEAR(call.analogue_instruments().clock_ppm, ppm, 0.3);
    EXPECT_GE(call.analogue_status().rx_bit_rate, 54000u);
    EXPECT_EQ(call.down().errors(), 0u);
  }
}

TEST(V90OverDigitalTrunk, RateFollowsTheNoise) {
  unsigned before = 56001;
  for (const double noise : {-85., -75., -65., -55.}) {
    V90Call::Options o = clean();
    o.v8 = false;
    o.trunk.noise_dbm0 = noise;
    V90Call call(o);
    ASSERT_TRUE(call.connect(15)) << noise;
    const unsigned rate = call.analogue_status().rx_bit_rate;
    EXPECT_LT(rate, before) << noise;
    before = rate;
    call.run(4);
    EXPECT_EQ(call.down().errors(), 0u) << noise;
  }
}

TEST(V90OverDigitalTrunk, RoundTripsOfSatellites) {
  V90Call::Options o = clean();
  o.v8 = false;
  o.trunk.delay_ms = 300;
  V90Call call(o);
  ASSERT_TRUE(call.connect(25));
  call.run(4);
  EXPECT_EQ(call.down().errors(), 0u);
  EXPECT_EQ(call.up().errors(), 0u);
}

TEST(V90OverDigitalTrunk, EitherEndRenegotiatesAndBothCarryOn) {
  for (const bool digital : {false, true}) {
    V90Call::Options o = clean();
    o.v8 = false;
    V90Call call(o);
    ASSERT_TRUE(call.connect(15));
    call.run(1);
    if (digital) {
      oh_v90_renegotiate(call.digital());
    } else {
      oh_v90_renegotiate(call.analogue());
    }
    call.run(0.5);
    EXPECT_NE(call.analogue_status().state, OH_PUMP_DATA);
    ASSERT_TRUE(call.connect(5)) << digital;
    EXPECT_EQ(call.analogue_instruments().renegotiations, 1u);
    EXPECT_EQ(call.digital_instruments().renegotiations, 1u);
    EXPECT_EQ(call.analogue_status().retrains + call.digital_status().retrains, 0u);
    call.run(0.5);  // what the change left in the checkers
    const uint64_t down = call.down().errors(), up = call.up().errors();
    call.run(3);
    EXPECT_EQ(call.down().errors(), down);
    EXPECT_EQ(call.up().errors(), up);
  }
}

// CPs: the digital modem ends its MP', sends Ed, and is silent until it has a CP; R_t and MP follow, and no TRN2d.
TEST(V90OverDigitalTrunk, ASilentPeriodIsAskedForObeyedAndEnded) {
  struct Case {
    unsigned robbed;
    double delay_ms;
  };
  for (const Case& k : {Case{0, 5}, Case{1, 5}, Case{0, 300}}) {
    V90Call::Options o = clean();
    o.v8 = false;
    o.trunk.robbed_bits = k.robbed;
    o.trunk.delay_ms = k.delay_ms;
    V90Call call(o);
    ASSERT_TRUE(call.connect(30)) << k.robbed << " " << k.delay_ms;
    call.run(1);
    const uint32_t before = call.analogue_instruments().renegotiations;
    const unsigned rate = call.analogue_status().rx_bit_rate;
    const auto longest_silence = [&call] {
      unsigned longest = 0;
      for (const double end = call.seconds() + 6; call.seconds() < end;) {
        call.step();
        longest = call.digital_silence() > longest ? call.digital_silence() : longest;
      }
      return longest;
    };
    oh_v90_renegotiate(call.analogue());
    EXPECT_LT(longest_silence(), 80u);
    oh_v90_renegotiate_with_silence(call.digital());
    EXPECT_LT(longest_silence(), 80u) << "only an analogue modem may ask";
    EXPECT_EQ(call.analogue_instruments().renegotiations, before + 1);
    oh_v90_renegotiate_with_silence(call.analogue());
    const auto silence = static_cast<double>(longest_silence()) / 8000;
    EXPECT_GT(silence, 0.5 + 2 * k.delay_ms / 1000);
    EXPECT_LT(silence, 1 + 2 * k.delay_ms / 1000);
    EXPECT_EQ(call.analogue_instruments().renegotiations, before + 2);
    EXPECT_EQ(call.analogue_status().state, OH_PUMP_DATA);
    EXPECT_EQ(call.digital_status().state, OH_PUMP_DATA);
    EXPECT_EQ(call.analogue_status().rx_bit_rate, rate);
    EXPECT_EQ(call.analogue_status().retrains + call.digital_status().retrains, 0u);
    const uint64_t down = call.down().errors(), up = call.up().bad_blocks();
    call.run(3);
    EXPECT_EQ(call.down().errors(), down);
    EXPECT_LE(call.up().bad_blocks(), up + 1);
  }
}

TEST(V90OverDigitalTrunk, EitherEndRetrainsAndBothCarryOn) {
  for (const bool digital : {false, true}) {
    V90Call::Options o = clean();
    o.v8 = false;
    V90Call call(o);
    ASSERT_TRUE(call.connect(15));
    call.run(1);
    if (digital) {
      oh_v90_retrain(call.digital());
    } else {
      oh_v90_retrain(call.analogue());
    }
    call.run(1);
    EXPECT_EQ(call.analogue_status().state, OH_PUMP_TRAINING);
    ASSERT_TRUE(call.connect(20)) << digital;
    EXPECT_GE(call.analogue_status().rx_bit_rate, 54000u);
    EXPECT_EQ(call.analogue_status().retrains, 1u);
    EXPECT_EQ(call.digital_status().retrains, 1u);
  }
}

TEST(V90OverDigitalTrunk, EitherEndClearsDown) {
  for (const bool digital : {false, true}) {
    V90Call::Options o = clean();
    o.v8 = false;
    V90Call call(o);
    ASSERT_TRUE(call.connect(15));
    call.run(1);
    if (digital) {
      oh_v90_type()->hang_up(call.digital());
    } else {
      oh_v90_type()->hang_up(call.analogue());
    }
    call.run(8);
    EXPECT_EQ(call.analogue_status().state, OH_PUMP_IDLE) << digital;
    EXPECT_EQ(call.digital_status().state, OH_PUMP_IDLE) << digital;
  }
}

TEST(V90OverDigitalTrunk, LimitsOfTheBitRateHold) {
  V90Call::Options o = clean();
  o.v8 = false;
  o.max_bit_rate = 40000;
  V90Call call(o);
  ASSERT_TRUE(call.connect(15));
  EXPECT_EQ(call.analogue_status().rx_bit_rate, 40000u);
}

TEST(V90OverDigitalTrunk, DataComeBackAfterSamplesWereLost) {
  V90Call::Options o = clean();
  o.v8 = false;
  V90Call call(o);
  ASSERT_TRUE(call.connect(15));
  call.run(1);
  call.lose(80);
  call.run(2);
  ASSERT_TRUE(call.connect(30));
  call.run(1);
  const uint64_t down = call.down().errors();
  call.run(3);
  EXPECT_EQ(call.down().errors(), down);
}

TEST(V90OverDigitalTrunk, FallsBackToV34InTheCallWhereTheRouteIsNotDigitalOrTooNoisy) {
  for (const bool route : {true, false}) {
    V90Call::Options o = clean();
    o.trunk.converters = route;
    o.trunk.noise_dbm0 = route ? -80 : -50;
    V90Call call(o);
    ASSERT_TRUE(call.connect(40)) << route;
    EXPECT_EQ(call.analogue_status().modulation, OH_MODULATION_V34);
    EXPECT_EQ(call.digital_status().modulation, OH_MODULATION_V34);
    EXPECT_GE(call.analogue_status().rx_bit_rate, 21600u) << route;
    EXPECT_EQ(call.analogue_status().retrains, 1u);
    call.run(5);
    EXPECT_GT(call.down().blocks(), 100u);
    EXPECT_EQ(call.down().bad_blocks(), 0u) << route;
    EXPECT_EQ(call.up().bad_blocks(), 0u) << route;
    oh_v90_retrain(call.analogue());
    call.run(0.5);
    EXPECT_NE(call.analogue_status().state, OH_PUMP_DATA);
    ASSERT_TRUE(call.connect(40)) << route;
  }
}

// Neither end hears the other for a while: whatever it was waited for, a time limit ends it, and a retrain follows.
TEST(V90OverDigitalTrunk, SilenceAtAnyTimeOfTheTrainingEndsInAnother) {
  for (const double at : {1.5, 3., 5., 7., 8.5}) {
    for (const double lasts : {0.5, 3.}) {
      V90Call::Options o = clean();
      o.v8 = false;
      V90Call call(o);
      call.run(at);
      call.damage(V90Call::Damage::kSilence);
      call.run(lasts);
      call.damage(V90Call::Damage::kNone);
      ASSERT_TRUE(call.connect(40)) << at << " " << lasts;
      const uint32_t retrains = call.analogue_status().retrains;
      EXPECT_TRUE(lasts < 1 || retrains == 1) << at << ": " << retrains;
      EXPECT_GE(call.analogue_status().rx_bit_rate, 31200u) << at << " " << lasts;
      call.run(1);
      const uint64_t down = call.down().errors();
      call.run(2);
      EXPECT_EQ(call.down().errors(), down) << at << " " << lasts;
    }
  }
}

// What was trained through a gap begins low, and need not stay so.
TEST(V90OverDigitalTrunk, TheUpstreamRisesInDataModeToWhatTheLineCarries) {
  V90Call::Options o = clean();
  o.v8 = false;
  V90Call call(o);
  call.run(3);
  call.damage(V90Call::Damage::kSilence);
  call.run(0.5);
  call.damage(V90Call::Damage::kNone);
  ASSERT_TRUE(call.connect(15));
  EXPECT_LE(call.analogue_status().tx_bit_rate, 19200u);
  call.run(10);
  EXPECT_EQ(call.analogue_status().tx_bit_rate, 33600u);
  EXPECT_EQ(call.analogue_status().rx_bit_rate, 56000u);
  EXPECT_EQ(call.digital_instruments().renegotiations, 1u);
  const uint64_t up = call.up().errors();
  call.run(5);
  EXPECT_EQ(call.up().errors(), up);
  EXPECT_EQ(call.analogue_status().retrains, 0u);
}

// The rate is chosen by the error of TRN2d, which a disturbance makes greater than it is.
TEST(V90OverDigitalTrunk, TheDownstreamRisesInDataModeToWhatTheLineCarries) {
  V90Call::Options o = clean();
  o.v8 = false;
  double connected;
  {
    V90Call call(o);
    ASSERT_TRUE(call.connect(15));
    connected = call.seconds();
  }
  V90Call call(o);
  call.run(connected - 1);
  call.added_noise(30);
  call.run(0.6);
  call.added_noise(0);
  ASSERT_TRUE(call.connect(15));
  EXPECT_LE(call.analogue_status().rx_bit_rate, 50'000u);
  EXPECT_GE(call.analogue_status().rx_bit_rate, 28'000u);
  call.run(30);
  EXPECT_GE(call.analogue_status().rx_bit_rate, 54'666u);
  EXPECT_LE(call.analogue_instruments().renegotiations, 3u);
  EXPECT_EQ(call.analogue_status().retrains + call.digital_status().retrains, 0u);
  const uint64_t down = call.down().errors();
  call.run(5);
  EXPECT_EQ(call.down().errors(), down);
}

TEST(V90OverDigitalTrunk, SilenceInARenegotiationEndsInARetrain) {
  for (const bool digital : {false, true}) {
    V90Call::Options o = clean();
    o.v8 = false;
    V90Call call(o);
    ASSERT_TRUE(call.connect(15));
    call.run(1);
    oh_v90_renegotiate(digital ? call.digital() : call.analogue());
    call.run(0.1);
    call.damage(V90Call::Damage::kSilence);
    call.run(1);
    call.damage(V90Call::Damage::kNone);
    ASSERT_TRUE(call.connect(40)) << digital;
    EXPECT_EQ(call.analogue_status().retrains, 1u) << digital;
    EXPECT_EQ(call.analogue_status().rx_bit_rate, 56000u) << digital;
  }
}

// Nobody answers a renegotiation; a retrain's tone stays, and after 90 s without data the call is lost.
TEST(V90OverDigitalTrunk, AnAnalogueModemThatIsGoneIsTrainedOnAtOnceAndThenGivenUp) {
  V90Call::Options o = clean();
  o.v8 = false;
  V90Call call(o);
  ASSERT_TRUE(call.connect(15));
  call.run(5);
  call.damage(V90Call::Damage::kSilenceToDigital);
  call.run(0.6);
  EXPECT_EQ(call.digital_status().state, OH_PUMP_TRAINING);
  EXPECT_EQ(call.digital_status().retrains, 1u);
  call.run(8);
  EXPECT_EQ(call.digital_status().state, OH_PUMP_TRAINING) << "a far end that trains may be silent for some seconds";
  call.run(3);
  EXPECT_EQ(call.digital_status().state, OH_PUMP_FAILED);
  EXPECT_GT(call.digital_status().bits_received, 0u);  // "lost the carrier"
}

// A modem of V.34 alone at the digital end, on linear samples.
class V34End : public hostsim::DigitalEnd {
 public:
  explicit V34End(oh_pump_role role) {
    oh_pump_config c{};
    c.struct_size = sizeof c;
    c.format = oh_v34_type()->formats[0];
    c.role = role;
    c.tx_level_dbm0 = -12;
    c.port.user = &bits_;
    c.port.get_bit = [](void* user) { return static_cast<CheckedBits*>(user)->get(); };
    c.port.put_bit = [](void* user, int bit) { static_cast<CheckedBits*>(user)->put(bit); };
    memory_.resize(oh_v34_type()->size(&c) + 64);
    self_ = memory_.data() + 63 - (reinterpret_cast<uintptr_t>(memory_.data()) + 63) % 64;
    oh_v34_type()->init(self_, &c);
  }
  uint8_t process(uint8_t rx) override {
    const int16_t in = hostsim::mu_law_decode(rx);
    int16_t out;
    oh_v34_type()->process(self_, &in, &out, 1);
    return hostsim::mu_law_encode(out);
  }
  oh_pump_status status() const {
    oh_pump_status s;
    s.struct_size = sizeof s;
    oh_v34_type()->status(self_, &s);
    return s;
  }

 private:
  CheckedBits bits_{0x2222};
  std::vector<unsigned char> memory_;
  unsigned char* self_;
};

TEST(V90OverDigitalTrunk, WithAModemOfV34AloneItIsV34FromV8On) {
  for (const oh_pump_role role : {OH_PUMP_CALL, OH_PUMP_ANSWER}) {
    V34End end(role == OH_PUMP_CALL ? OH_PUMP_ANSWER : OH_PUMP_CALL);
    hostsim::DigitalTrunk trunk(clean().trunk, 1, end);
    CheckedBits bits(0x1111);
    oh_pump_config c{};
    c.struct_size = sizeof c;
    c.format = oh_v90_type()->formats[0];
    c.role = role;
    c.tx_level_dbm0 = -12;
    c.io_delay_samples = 1;
    c.port.user = &bits;
    c.port.get_bit = [](void* user) { return static_cast<CheckedBits*>(user)->get(); };
    c.port.put_bit = [](void* user, int bit) { static_cast<CheckedBits*>(user)->put(bit); };
    std::vector<unsigned char> memory(oh_v90_type()->size(&c) + 64);
    unsigned char* self = memory.data() + 63 - (reinterpret_cast<uintptr_t>(memory.data()) + 63) % 64;
    ASSERT_EQ(oh_v90_type()->init(self, &c), 0);
    int16_t played = 0;
    for (int k = 0; k < 8000 * 20; ++k) {
      int16_t captured[hostsim::DigitalTrunk::kReceivedRatio];
      trunk.exchange(played, captured);
      oh_v90_type()->process(self, captured, &played, 1);
    }
    oh_pump_status s;
    s.struct_size = sizeof s;
    oh_v90_type()->status(self, &s);
    EXPECT_EQ(s.state, OH_PUMP_DATA) << role;
    EXPECT_EQ(s.modulation, OH_MODULATION_V34);
    EXPECT_EQ(end.status().state, OH_PUMP_DATA) << role;
    EXPECT_GE(s.rx_bit_rate, 26400u);
  }
}

TEST(V90OverDigitalTrunk, SameSeedSameCall) {
  uint64_t bits[2];
  for (uint64_t& b : bits) {
    V90Call call(clean());
    call.run(14);
    b = call.down().bits() * 100000 + call.up().bits() + (uint64_t{call.analogue_status().rx_bit_rate} << 40);
  }
  EXPECT_EQ(bits[0], bits[1]);
}

// Every row of both tables is of some use: taken by one of the calls above, or named here with what would take it.
}  // namespace
}  // namespace offhook
