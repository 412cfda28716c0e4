// SPDX-License-Identifier: MIT
#include "hostsim/channel/channel.h"

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <stdexcept>
#include <string>

#include "tests/unit/hostsim/channel/tone.h"

namespace offhook::hostsim {
namespace {

using Complex = std::complex<double>;

struct Response {
  double loss_db;
  double delay_ms;
  double image_db;  ///< of the analytic signal: the rest at -f relative to f
};

Response response(const ChannelFilter& filter, double hz) {
  Complex sum, weighted, upper, lower;
  for (std::size_t n = 0; n < kChannelTaps; ++n) {
    const auto t = static_cast<double>(n);
    const Complex e = std::polar(1.0, -test::kTwoPi * hz * t / 8000);
    const Complex tap(filter.in_phase[n], filter.quadrature[n]);
    sum += tap.real() * e;
    weighted += t * tap.real() * e;
    upper += tap * e;
    lower += tap * std::conj(e);
  }
  return {-test::db(std::abs(sum)), (weighted / sum).real() / 8, test::db(std::abs(lower / upper))};
}

class Channels : public testing::TestWithParam<std::string_view> {};

TEST_P(Channels, MeetTheirPointsFrom300To3400Hz) {
  const ChannelCharacteristic wanted = channel_characteristic(GetParam());
  const ChannelFilter filter = design_channel(wanted);
  for (const auto& [hz, db] : wanted.attenuation_db)
    if (hz >= 300 && hz <= 3400) {
      EXPECT_NEAR(response(filter, hz).loss_db, db, hz > 300 ? 0.15 : 0.3) << hz;
    }
  for (const auto& [hz, ms] : wanted.delay_ms) {
    if (hz >= 300) {
      EXPECT_NEAR(response(filter, hz).delay_ms, kChannelDelay / 8.0 + ms, hz > 300 ? 0.15 : 0.2) << hz;
    }
  }
  EXPECT_GT(response(filter, 50).loss_db, 15);
  EXPECT_GT(response(filter, 3950).loss_db, 25);
}

TEST_P(Channels, QuadratureFilterSuppressesTheOtherSideband) {
  const ChannelFilter filter = design_channel(channel_characteristic(GetParam()));
  for (double hz = 300; hz <= 3400; hz += 25) EXPECT_LT(response(filter, hz).image_db, -55) << hz;
}

// 256 taps near the characteristic's corners: the filter has 3.4 dB at its 3 dB. In the middle of the straight lines it
// has their values, and the edge is the flat channel's, moved. The comparison is of amplitudes, because the omitted
// taps cause an error of amplitude: at most the 0.15 dB of design_channel() where nothing is attenuated.
TEST(Channel, AnUpperEdgeMovesTheBandsEndAndLeavesTheRest) {
  const auto amplitude = [](double loss_db) { return std::pow(10, -loss_db / 20); };
  const double error = 1 - amplitude(0.15);
  const ChannelFilter whole = design_channel(channel_characteristic("flat"));
  for (const double edge : {2400., 3000., 3200.}) {
    const ChannelFilter filter = design_channel(with_upper_edge(channel_characteristic("flat"), edge));
    for (double hz = 300; hz <= edge; hz += 100) {
      EXPECT_NEAR(response(filter, hz).loss_db, response(whole, hz).loss_db, 0.1) << hz;
    }
    EXPECT_NEAR(amplitude(response(filter, edge + 100).loss_db), amplitude(3 / 2.), error) << edge;
    EXPECT_NEAR(amplitude(response(filter, edge + 350).loss_db), amplitude((3 + 30) / 2.), error) << edge;
    for (double past = 0; past <= 500; past += 50) {
      EXPECT_NEAR(amplitude(response(filter, edge + past).loss_db),
                  amplitude(response(whole, kUpperEdgeHz + past).loss_db), error)
          << edge << " + " << past;
    }
    for (double hz = edge + 500; hz < 4000; hz += 50) EXPECT_GT(response(filter, hz).loss_db, 29) << edge << ", " << hz;
  }
  EXPECT_EQ(design_channel(with_upper_edge(channel_characteristic("flat"), kUpperEdgeHz)).in_phase, whole.in_phase);
}

/// Of a characteristic's values: the sum, and the sum of each times its index, in `unit`.
struct Sums {
  long plain, numbered;
  bool operator==(const Sums&) const = default;
};
Sums sums(const std::vector<ChannelPoint>& points, double unit) {
  double plain = 0, numbered = 0;
  for (std::size_t k = 0; k < points.size(); ++k) {
    plain += points[k].value;
    numbered += static_cast<double>(k + 1) * points[k].value;
  }
  return {std::lround(plain / unit), std::lround(numbered / unit)};
}

// The tables of V.56bis at the time when each number had been compared with a second transcription.
TEST(Channel, NoNumberOfV56bisHasChanged) {
  constexpr Sums kAttenuation[] = {{745, 24156},  {1094, 35414}, {1673, 54910},
                                   {1849, 60590}, {1289, 35730}, {2577, 71347}};  // 0.1 dB
  constexpr Sums kDelay[] = {{1784, 20032}, {1754, 22627}, {5440, 62710}};        // 0.01 ms
  for (std::size_t k = 1; k < kChannelNames.size(); ++k) {
    const ChannelCharacteristic c = channel_characteristic(kChannelNames[k]);
    EXPECT_EQ(sums(c.attenuation_db, 0.1), kAttenuation[(k - 1) / 3]) << kChannelNames[k];
    EXPECT_EQ(sums(c.delay_ms, 0.01), kDelay[(k - 1) % 3]) << kChannelNames[k];
    EXPECT_EQ(c.attenuation_db.front().hz, 200);
    EXPECT_EQ(c.delay_ms.front().hz, (k - 1) % 3 == 0 ? 200 : 300);
  }
}

INSTANTIATE_TEST_SUITE_P(Named, Channels, testing::ValuesIn(kChannelNames));

TEST(Channel, UnknownNameIsAnErrorThatNamesTheKnownOnes) {
  try {
    channel_characteristic("v56bis-ad2-edd1");
    FAIL();
  } catch (const std::invalid_argument& e) {
    EXPECT_NE(std::string(e.what()).find("\"v56bis-ad2-edd1\": expected \"flat\" or \"v56bis-adA-eddE\""),
              std::string::npos);
  }
}

}  // namespace
}  // namespace offhook::hostsim
