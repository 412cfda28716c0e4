// SPDX-License-Identifier: MIT
#include "driver/sip/session_timer.h"

#include <gtest/gtest.h>

namespace offhook::sip {
namespace {

using Side = TransactionSide;

TEST(SessionTimer, AnIntervalHasSecondsAndPerhapsARefresher) {
  const SessionInterval plain{1800, Side::kUnnamed}, client{90, Side::kClient}, server{90, Side::kServer};
  EXPECT_EQ(parse_session_interval("1800"), plain);
  EXPECT_EQ(parse_session_interval(" 90 ; refresher = UAC;x=1"), client);
  EXPECT_EQ(parse_session_interval("90;x;refresher=uas"), server);
  EXPECT_EQ(parse_session_interval("1800;refresher=both"), plain);
  for (const char* text : {"", ";", "x", "-1", "18 00", "99999999999", "90s"})
    EXPECT_FALSE(parse_session_interval(text)) << text;
  for (const SessionInterval& each : {plain, client, server})
    EXPECT_EQ(parse_session_interval(session_interval_text(each)), each);
}

// RFC 4028, Table 2.
TEST(SessionTimer, AClientThatCannotRefreshIsNotTheRefresher) {
  EXPECT_EQ(accepted_interval({600, Side::kUnnamed}, true).refresher, Side::kClient);
  EXPECT_EQ(accepted_interval({600, Side::kClient}, true).refresher, Side::kClient);
  EXPECT_EQ(accepted_interval({600, Side::kServer}, true).refresher, Side::kServer);
  EXPECT_EQ(accepted_interval({600, Side::kUnnamed}, false).refresher, Side::kServer);
  EXPECT_EQ(accepted_interval({600, Side::kUnnamed}, true).seconds, 600u);
}

TEST(SessionTimer, ACallThatIsNotRefreshedEndsBeforeTheIntervalIsOver) {
  EXPECT_EQ(refresh_after_ms(1800), 900'000u);
  EXPECT_EQ(end_after_ms(1800), 1'768'000u);
  EXPECT_EQ(end_after_ms(90), 60'000u) << "a third is less than 32 s";
}

}  // namespace
}  // namespace offhook::sip
