// SPDX-License-Identifier: MIT
#include "hostsim/loop/cable.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "hostsim/loop/crosstalk.h"
#include "tests/unit/hostsim/loop/dsl_reference.h"

namespace offhook::hostsim {
namespace {

double db(std::complex<double> z) {
  return 20 * std::log10(std::abs(z));
}

/// As reference_rates.py: integer bits, gap 9.75 dB + 6 dB - 3 dB, 4000 symbols a second.
int kbit_s(const Cable& cable, const std::vector<Disturbers>& disturbers, int first, int last, int pilot, double dbm_hz,
           int most) {
  int bits = 0;
  for (int k = first; k <= last; ++k) {
    if (k == pilot) continue;
    double noise = std::pow(10, -14.0);
    for (const Disturbers& d : disturbers) noise += crosstalk_psd(d, cable, k * 4312.5);
    const double snr = std::pow(10, dbm_hz / 10) * std::norm(insertion_gain(cable, k * 4312.5)) / noise;
    const int b = static_cast<int>(std::log2(1 + snr / std::pow(10, 1.275)));
    bits += b < 2 ? 0 : std::min(b, most);
  }
  return 4 * bits;
}

TEST(Cable, CarriesTheRatesOfTheReferenceInEveryCell) {
  const auto rates = test::reference_rates();
  if (rates.empty()) GTEST_SKIP() << "no " << test::dsl_reference();
  EXPECT_EQ(rates.size(), 30u);
  for (const test::ReferenceRate& r : rates) {
    SCOPED_TRACE(r.cable + ", " + r.noise);
    const Cable cable = cable_named(r.cable);
    const auto disturbers = disturbers_named(r.noise == "AWGN" ? "" : r.noise);
    EXPECT_EQ(kbit_s(cable, disturbers, 33, 127, 64, -40, 8), r.lite_down);
    EXPECT_EQ(kbit_s(cable, disturbers, 33, 255, 64, -40, 15), r.full_down);
    EXPECT_EQ(kbit_s(cable, disturbers, 6, 31, 16, -38, 8), r.up);
  }
}

TEST(Cable, ShortLineAtLowFrequencyIsAVoltageDivider) {
  // 1 kft of 26 AWG at 1 Hz is its resistance alone: 286.17578 ohm/km.
  const double r = 286.17578 * kKmPerKft;
  const auto h = insertion_gain(cable_named("26:1"), 1);
  EXPECT_NEAR(h.real(), 200 / (200 + r), 1e-6);
  EXPECT_NEAR(h.imag(), 0, 1e-4);
}

TEST(Cable, AttenuatesByItsPropagationConstantWhenLong) {
  // Far from both ends each further kilofoot costs Re(gamma), whatever the mismatch.
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
  // The AMI pulse of 3.6 V into 100 ohm with half of the bits ones, half a period wide.
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
