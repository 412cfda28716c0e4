// SPDX-License-Identifier: MIT
// Test loops by AT&T: two modems with V.22bis, their programs, and the line between them.
#include <gtest/gtest.h>

#include <string>

#include "driver/user_modem/modulations.h"
#include "tests/unit/driver/tty/two_places.h"

namespace offhook::modem {
namespace {

struct Loop : TwoPlaces {
  explicit Loop(Carriers carriers = kDataCarriers, const std::string& modulation = "") : TwoPlaces(carriers) {
    a.say("AT+FCLASS=0;+ES=0" + modulation + "\r");
    b.say("AT+FCLASS=0;+ES=0,,0" + modulation + "\r");
    run(0.1);
    a.heard(), b.heard();
    a.say("ATDT5\r");
    run(1.5);
    EXPECT_EQ(after(b, "ATA\r", 12), kData);
    EXPECT_EQ(a.heard(), kData);
  }
  void escape(Place& p) {
    run(1.1);
    p.heard();  // the far end's escape sequence
    p.say("+++");
    run(1.1);
    EXPECT_TRUE(p.heard().ends_with("\r\nOK\r\n"));  // in a loop it returns earlier
  }
  void expect_data() {
    EXPECT_EQ(after(a, "from a", 0.6), "");
    EXPECT_EQ(b.heard(), "from a");
    EXPECT_EQ(after(b, "from b", 0.6), "");
    EXPECT_EQ(a.heard(), "from b");
  }
  static constexpr const char* kData = "\r\nCONNECT 2400\r\n";
};

TEST(DceLoop, DataComeBackWholeAndTheCallContinues) {
  Loop l;
  l.escape(l.b);
  EXPECT_EQ(l.after(l.b, "AT&T4O\r", 0.1), Loop::kData);
  l.escape(l.a);
  l.b.heard();
  EXPECT_EQ(l.after(l.a, "AT&T6\r", 2), Loop::kData);
  l.b.heard();  // the first bits of the request
  EXPECT_NE(l.b.dce.state_text().find("test loop"), std::string::npos);
  EXPECT_EQ(l.after(l.b, "later", 1), "") << "the far end's user gets nothing";
  std::string text;
  for (int k = 0; k < 40; ++k) text += "line " + std::to_string(k) + " of the test; ";
  EXPECT_EQ(l.after(l.a, text, 6), text);
  l.run(40);
  EXPECT_EQ(l.b.heard(), "");
  l.escape(l.a);
  EXPECT_EQ(l.after(l.a, "AT&T0\r", 1), "\r\nOK\r\n");
  EXPECT_EQ(l.after(l.a, "ATO\r", 0.1), Loop::kData + std::string("later"));
  l.expect_data();
}

TEST(DceLoop, AutomodeHasTheLoopsOfTheModulationInUse) {
  Loop l(kModulations, ";+MS=V22B");
  l.escape(l.b);
  EXPECT_EQ(l.after(l.b, "AT&T4O\r", 0.1), Loop::kData);
  l.escape(l.a);
  EXPECT_EQ(l.after(l.a, "AT&T6\r", 2), Loop::kData);
  EXPECT_EQ(l.after(l.a, "and back", 1), "and back");
}

TEST(DceLoop, IsRefusedByDefaultAndTheCallContinues) {
  Loop l;
  l.escape(l.a);
  l.b.heard();
  EXPECT_EQ(l.after(l.a, "AT&T6\r", 2), "");
  EXPECT_EQ(l.after(l.a, "", 0.5), "\r\nERROR\r\n");
  EXPECT_EQ(l.after(l.a, "AT&T0O\r", 0.5), Loop::kData);
  l.b.heard();
  l.expect_data();
}

TEST(DceLoop, TheLocalLoopSendsReceivedDataBack) {
  Loop l;
  l.escape(l.b);
  EXPECT_EQ(l.after(l.b, "AT&T3\r", 0.5), "\r\nOK\r\n");
  l.a.heard();
  EXPECT_EQ(l.after(l.a, "and back", 1), "and back");
  EXPECT_EQ(l.b.heard(), "");
  EXPECT_EQ(l.after(l.b, "AT&T0\r", 0.1), "\r\nOK\r\n");
  EXPECT_EQ(l.after(l.b, "ATO\r", 0.5), Loop::kData);
  l.a.heard();
  l.expect_data();
}

TEST(DceLoop, IsAnErrorWhereThereIsNone) {
  Desk desk;
  EXPECT_EQ(desk.say("ATE0&T0\r").substr(7), "OK");
  for (const char* test : {"AT&T1\r", "AT&T2\r", "AT&T3\r", "AT&T6\r", "AT&T7\r", "AT&T8\r"})
    EXPECT_EQ(desk.say(test), "ERROR") << test;
  EXPECT_TRUE(desk.line.loops.empty());
  Desk with_v42;
  with_v42.bring_to(State::kOnlineCommand);
  EXPECT_EQ(with_v42.say("AT&T6\r"), "ERROR") << "the call has error control";
  with_v42.line.now.direct = 1;
  with_v42.line.has_loops = false;
  EXPECT_EQ(with_v42.say("AT&T6\r"), "ERROR") << "the modulation has no procedure";
  EXPECT_EQ(with_v42.dce.state(), State::kOnlineCommand);
}

}  // namespace
}  // namespace offhook::modem
