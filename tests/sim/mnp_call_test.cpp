// SPDX-License-Identifier: MIT
//
// Whole calls with MNP: a far end without V.42, over real pumps, in several contexts.
#include <gtest/gtest.h>

#include <algorithm>

#include "dsp/link/lapm.h"
#include "tests/sim/calls.h"

namespace offhook {
namespace {

constexpr std::uint32_t kBoth = OH_PROTOCOL_V42 | OH_PROTOCOL_MNP;

bool connected_by(const test::Recorded& call, std::uint32_t mnp_class) {
  return std::any_of(call.events.begin(), call.events.end(), [mnp_class](const oh_event& e) {
    return e.kind == OH_EV_LINK_STATE && e.argument == (OH_LAPM_CONNECTED | mnp_class << 8);
  });
}

class MnpCall : public testing::TestWithParam<oh_modulation> {};

TEST_P(MnpCall, TheFileArrivesInTheClassOfTheFarEnd) {
  const auto file = test::random_file(GetParam() == OH_MODULATION_V22BIS ? 3000 : 12'000);
  for (const std::uint32_t mnp_class : {2u, 3u, 4u, 5u}) {
    hostsim::Scenario s = test::scenario("DPC");
    s.modem = GetParam();
    s.link.protocols = kBoth;
    s.far_protocols = OH_PROTOCOL_MNP;
    s.link.mnp_class = mnp_class;
    s.link.compression = mnp_class == 5 ? OH_LAPM_COMPRESS_SENT | OH_LAPM_COMPRESS_RECEIVED : 0;
    const test::Recorded call = test::run(s, file);
    EXPECT_TRUE(call.result.completed) << call.result.transfer.failure;
    EXPECT_TRUE(call.result.transfer.intact);
    EXPECT_EQ(call.result.transfer.bytes_delivered, file.size());
    EXPECT_EQ(call.result.transfer.mnp_class, mnp_class);
    EXPECT_TRUE(connected_by(call, mnp_class));
  }
}

TEST_P(MnpCall, TheFileArrivesInAReservation) {
  const auto file = test::random_file(GetParam() == OH_MODULATION_V22BIS ? 3000 : 12'000);
  hostsim::Scenario s = test::scenario("RES 2/8");
  s.modem = GetParam();
  s.link.protocols = OH_PROTOCOL_MNP;
  s.time_limit_s = 400;
  const test::Recorded call = test::run(s, file);
  EXPECT_TRUE(call.result.transfer.intact);
  EXPECT_TRUE(call.result.completed) << call.result.transfer.failure;
}

INSTANTIATE_TEST_SUITE_P(Modulations, MnpCall, testing::Values(OH_MODULATION_V22BIS, OH_MODULATION_V32BIS));

}  // namespace
}  // namespace offhook
