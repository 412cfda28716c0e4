// SPDX-License-Identifier: MIT
//
// Our V.22bis against itself and against spandsp's, in both roles, over lines with what lines have.
#include <gtest/gtest.h>

#include <string>

#include "dsp/v22/pump.h"
#include "tests/unit/driver/user_modem/pump_pair.h"
#include "tests/unit/dsp/v22/rough_line.h"
#include "tests/unit/dsp/v22/spandsp_v22bis.h"

namespace offhook::test {
namespace {

struct Ends {
  const char* name;
  const oh_pump_type* (*call)();
  const oh_pump_type* (*answer)();
};
constexpr Ends kOwn = {"ours", oh_v22bis_type, oh_v22bis_type};
constexpr Ends kEnds[] = {
    kOwn, {"we call", oh_v22bis_type, spandsp::v22bis_type}, {"we answer", spandsp::v22bis_type, oh_v22bis_type}};

class V22bisLine : public testing::Test {
 protected:
  V22bisLine() { bits_[0].tx = 0x1234567, bits_[1].tx = 0x7654321; }
  RoughLine make(const Ends& ends, const Roughness& rough) {
    for (BitTester& b : bits_) b.rx = 0;
    return RoughLine({ends.call(), ends.answer()}, rough, {bits_[0].port(), bits_[1].port()});
  }
  void expect_clean(RoughLine& line, uint32_t rate, double delay_s = 0) {
    line.run(1 + delay_s);
    for (BitTester& b : bits_) b.good = b.bad = 0;
    line.run(10);
    for (const size_t end : {0u, 1u}) {
      EXPECT_EQ(line.status(end).rx_bit_rate, rate);
      EXPECT_EQ(line.status(end).retrains, 0u);
      EXPECT_EQ(bits_[end].bad, 0u);
      EXPECT_NEAR(static_cast<double>(bits_[end].good), 10. * rate, 8);
    }
  }
  BitTester bits_[2];
};

TEST_F(V22bisLine, TheClausesFrequencyOffsetAndTwoClocks) {
  for (const Ends& ends : kEnds) {
    for (const double hz : {-7., 7.}) {    // 2.6
      for (const int ppm : {-100, 100}) {  // 2.5.1, of either end
        SCOPED_TRACE(ends.name + std::string(" ") + std::to_string(hz) + " Hz, " + std::to_string(ppm) + " ppm");
        RoughLine line = make(ends, {.offset_hz = hz, .ppm = ppm, .noise_dbm0 = -40});
        ASSERT_TRUE(line.connect(10));
        expect_clean(line, 2400);
      }
    }
  }
}

TEST_F(V22bisLine, Bell212aWithSpandspInBothRoles) {
  constexpr Ends kBell[] = {{"ours", oh_bell212a_type, oh_bell212a_type},
                            {"we call", oh_bell212a_type, spandsp::bell212a_type},
                            {"we answer", spandsp::bell212a_type, oh_bell212a_type}};
  for (const Ends& ends : kBell) {
    for (const double hz : {-7., 0., 7.}) {
      // spandsp's receiver does not always follow an offset of 7 Hz from the tone on.
      if (hz != 0 && ends.call != ends.answer) continue;
      SCOPED_TRACE(ends.name + std::string(" ") + std::to_string(hz) + " Hz");
      RoughLine line = make(ends, {.offset_hz = hz, .noise_dbm0 = -40});
      ASSERT_TRUE(line.connect(10));
      expect_clean(line, 1200);
    }
  }
}

// Neither tone is mistaken for the other: 2225 and 2250 Hz.
TEST_F(V22bisLine, Bell212aAndV22DoNotConnect) {
  for (const Ends& ends :
       {Ends{"V.22 calls", oh_v22_type, oh_bell212a_type}, Ends{"Bell 212A calls", oh_bell212a_type, oh_v22_type}}) {
    SCOPED_TRACE(ends.name);
    RoughLine line = make(ends, {.noise_dbm0 = -40});
    EXPECT_FALSE(line.connect(20));
  }
}

TEST_F(V22bisLine, TheOwnSignalsEchoMayBe20DbOverTheFarEnds) {
  RoughLine line = make(kOwn, {.loss_db = 30, .echo_db = 10, .noise_dbm0 = -70});
  ASSERT_TRUE(line.connect(10));
  expect_clean(line, 2400);
}

// 3.3: -43 dBm0 is a carrier, even with the other end's noise.
TEST_F(V22bisLine, TheLeastLevel) {
  RoughLine line = make(kOwn, {.loss_db = 31, .noise_dbm0 = -68});
  ASSERT_TRUE(line.connect(10));
  expect_clean(line, 2400);
}

TEST_F(V22bisLine, ARoundTripOf1200Ms) {
  for (const Ends& ends : kEnds) {
    SCOPED_TRACE(ends.name);
    RoughLine line = make(ends, {.noise_dbm0 = -40, .delay = 4800});
    ASSERT_TRUE(line.connect(15));
    expect_clean(line, 2400, 1.2);
  }
}

TEST_F(V22bisLine, FallsBackTo1200BothWays) {
  for (const Ends& ends : kEnds) {
    SCOPED_TRACE(ends.name);
    RoughLine line = make(ends, {.noise_dbm0 = -40, .max_bit_rate = 1200});
    ASSERT_TRUE(line.connect(10));
    expect_clean(line, 1200);
  }
}

// The sum has the configured level (2.2), and the caller receives the data next to the guard tone.
TEST_F(V22bisLine, AGuardToneBesideTheAnswerersSignal) {
  for (const Ends& ends : {kOwn, kEnds[2]}) {
    for (const std::uint32_t hz : {1800u, 550u}) {
      SCOPED_TRACE(ends.name + std::string(" ") + std::to_string(hz));
      RoughLine line = make(ends, {.noise_dbm0 = -35, .guard_tone_hz = hz});
      ASSERT_TRUE(line.connect(10));
      expect_clean(line, 2400);
    }
  }
}

TEST_F(V22bisLine, AGuardToneIsOneOfTwo) {
  EXPECT_THROW(make(kOwn, {.guard_tone_hz = 1000}), std::invalid_argument);
}

// S1 lasts 100 ms: with an SNR of 22 dB in the channel's 600 Hz, none of these calls uses 1200 bit/s.
TEST_F(V22bisLine, S1IsHeardInNoise) {
  for (const Ends& ends : kEnds) {
    for (unsigned seed = 1; seed <= 10; ++seed) {
      SCOPED_TRACE(ends.name + std::string(" ") + std::to_string(seed));
      RoughLine line = make(ends, {.noise_dbm0 = -26, .delay = 40 + 3 * seed, .seed = seed});
      ASSERT_TRUE(line.connect(10));
      EXPECT_EQ(line.status(0).rx_bit_rate, 2400u);
      EXPECT_EQ(line.status(1).rx_bit_rate, 2400u);
    }
  }
}

}  // namespace
}  // namespace offhook::test
