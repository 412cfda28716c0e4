// SPDX-License-Identifier: MIT
#include "hostsim/channel/cable.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "hostsim/call/loop_rates.h"
#include "hostsim/channel/crosstalk.h"
#include "tests/unit/hostsim/channel/dsl_reference.h"

namespace offhook::hostsim {
namespace {

double db(std::complex<double> z) {
  return 20 * std::log10(std::abs(z));
}

TEST(Cable, CarriesTheRatesOfTheReferenceInEveryCell) {
  const auto rates = test::reference_rates();
  if (rates.empty()) GTEST_SKIP() << "no " << test::dsl_reference();
  EXPECT_EQ(rates.size(), 30u);
  for (const test::ReferenceRate& r : rates) {
    SCOPED_TRACE(r.cable + ", " + r.noise);
    LoopConfig loop;
    loop.cable = cable_named(r.cable);
    loop.disturbers = disturbers_named(r.noise == "AWGN" ? "" : r.noise);
    const auto kbit_s = [&loop](const dmt::Band& band) { return loop_rates(loop, band).whole_bits / 1000; };
    EXPECT_EQ(kbit_s(dmt::kLiteDown), r.lite_down);
    EXPECT_EQ(kbit_s(dmt::kFullDown), r.full_down);
    EXPECT_EQ(kbit_s(dmt::kLiteUp), r.up);
  }
}

TEST(LoopRates, CapacityIsThatOfEqualTonesAndNeverBelowWholeBits) {
  // A cable of length 0 and noise 40 dB below every tone: log2(1 + 10^4) bits on each of 94.
  LoopConfig flat;
  flat.cable = cable_named("none");
  flat.noise_dbm_hz = static_cast<double>(dmt::kLiteDown.dbm_hz) - 40;
  EXPECT_NEAR(loop_rates(flat, dmt::kLiteDown).capacity, 94 * 4000 * std::log2(1 + 1e4), 1);
  // Water-filling is never worse than equal power on all tones.
  LoopConfig loop;
  loop.disturbers = disturbers_named("24 HDSL");
  for (const std::string& name : cable_names()) {
    loop.cable = cable_named(name);
    const LoopRates rates = loop_rates(loop, dmt::kFullDown);
    EXPECT_GT(rates.capacity, rates.whole_bits) << name;
    double even = 0;
    for (int k = dmt::kFullDown.first; k <= dmt::kFullDown.last; ++k) {
      if (!dmt::kFullDown.carries(k)) continue;
      const double hz = k * kAdslToneHz;
      const double noise = 1e-14 + crosstalk_psd(loop.disturbers[0], loop.cable, hz);
      even += 4000 * std::log2(1 + 1e-4 * std::norm(insertion_gain(loop.cable, hz)) / noise);
    }
    EXPECT_GE(rates.capacity, even * 0.999999) << name;
  }
}

TEST(Cable, ShortLineAtLowFrequencyIsAVoltageDivider) {
  // 1 kft of 26 AWG at 1 Hz has only its resistance: 286.17578 ohm/km.
  const double r = 286.17578 * kKmPerKft;
  const auto h = insertion_gain(cable_named("26:1"), 1);
  EXPECT_NEAR(h.real(), 200 / (200 + r), 1e-6);
  EXPECT_NEAR(h.imag(), 0, 1e-4);
}

TEST(Cable, AttenuatesByItsPropagationConstantWhenLong) {
  // Far from both ends each further kilofoot costs Re(gamma), for any mismatch.
  for (const double hz : {100e3, 300e3, 1e6}) {
    const double step = db(insertion_gain(cable_named("26:30"), hz)) - db(insertion_gain(cable_named("26:31"), hz));
    EXPECT_NEAR(step, 20 * std::log10(std::exp(1)) * cable_constants(Gauge::kAwg26, hz).gamma.real() * kKmPerKft, 1e-6);
  }
}

TEST(Cable, TapANotchesWhereItIsAQuarterOfAWavelength) {
  const double kft = 0.8, km = kft * kKmPerKft;
  double notch = 0, deepest = 0;
  for (double hz = 50e3; hz < 400e3; hz += 500) {
    const double loss =
        db(insertion_gain(cable_named("26:1"), hz)) - db(insertion_gain(cable_named("26:1 26/0.8"), hz));
    if (loss > deepest) deepest = loss, notch = hz;
  }
  EXPECT_GT(deepest, 6);
  EXPECT_NEAR(cable_constants(Gauge::kAwg26, notch).gamma.imag() * km, 3.14159265 / 2, 0.1);
}

TEST(Cable, ElementaryFunctionsAgreeWithTheMathematicsLibrary) {
  for (const double hz : {1.0, 137.0, 4312.5, 1.1e6, 3e7}) {
    EXPECT_NEAR(power(hz, 0.9293) / std::pow(hz, 0.9293), 1, 1e-13);
    const std::complex<double> z(-hz / 1e6, hz / 1e3);
    EXPECT_LT(std::abs(complex_exp(z) - std::exp(z)), 1e-11 * std::abs(std::exp(z)));
  }
}

TEST(Cable, RefusesWhatItCannotReadAndSaysWhere) {
  for (const char* text : {"27:9", "26:", "26:-1", "26:101", "26:9x", "26", "24:1 ?", "T1.601 8", "", "26:9 "}) {
    if (std::string(text) == "26:9 ") {
      EXPECT_EQ(cable_named(text).size(), 1u);
      continue;
    }
    try {
      cable_named(text);
      FAIL() << text;
    } catch (const std::invalid_argument& e) {
      EXPECT_NE(std::string(e.what()).find("T1.601 7"), std::string::npos) << e.what();
    }
  }
  try {
    cable_named("24:1 25:3");
    FAIL();
  } catch (const std::invalid_argument& e) {
    EXPECT_NE(std::string(e.what()).find("\"25:3\" at character 6"), std::string::npos) << e.what();
  }
  EXPECT_EQ(cable_named("none").size(), 0u);
  EXPECT_EQ(insertion_gain({}, 1e5), std::complex<double>(1));
}

TEST(Crosstalk, NearEndGrowsByTheSixTenthsPowerOfDisturbers) {
  const Disturbers one{Service::kHdsl, 1, false}, many{Service::kHdsl, 24, false};
  EXPECT_NEAR(crosstalk_psd(many, {}, 2e5) / crosstalk_psd(one, {}, 2e5), std::pow(24, 0.6), 1e-9);
  EXPECT_NEAR(crosstalk_psd(one, {}, 2e5) / transmit_psd(Service::kHdsl, 2e5), 0.8536e-14 * std::pow(2e5, 1.5), 1e-15);
}

TEST(Crosstalk, FarEndIsAttenuatedByTheLoop) {
  const Cable cable = cable_named("26:10");
  const Disturbers d{Service::kAdslDown, 49, true};
  const double expected = 1e-4 * std::norm(insertion_gain(cable, 3e5)) * 8e-20 * 10'000 * 9e10;
  EXPECT_NEAR(crosstalk_psd(d, cable, 3e5) / expected, 1, 1e-9);
}

TEST(Crosstalk, T1HasItsPowerBetweenItsNulls) {
  EXPECT_LT(transmit_psd(Service::kT1, 1.544e6), 1e-9 * transmit_psd(Service::kT1, 0.772e6));
  // The AMI pulse of 3.6 V into 100 ohm, half a period wide; half of the bits are ones.
  double mw = 0;
  for (double hz = 500; hz < 12e6; hz += 1000) mw += 1000 * transmit_psd(Service::kT1, hz);
  EXPECT_GT(mw, 20);
  EXPECT_LT(mw, 65);
}

TEST(Crosstalk, RefusesWhatItCannotRead) {
  EXPECT_EQ(disturbers_named("24 ISDN, 10 HDSL FEXT").size(), 2u);
  EXPECT_TRUE(disturbers_named("24 ISDN, 10 HDSL FEXT")[1].far_end);
  EXPECT_TRUE(disturbers_named("").empty());
  for (const char* text : {"ISDN", "24", "24 ", "0 ISDN", "50 ISDN", "3 VDSL", "24 ISDN,,1 T1", "24 ISDN 3"})
    EXPECT_THROW(disturbers_named(text), std::invalid_argument) << text;
}

}  // namespace
}  // namespace offhook::hostsim
