// SPDX-License-Identifier: MIT
//
// Whole dialogues of programs and drivers that dial modems, with the strings that they send: initialisation, the call,
// data, escape and hanging up. A line that is answered by ERROR, or not at all, ends each of them in its script.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/unit/driver/tty/desk.h"

namespace offhook::modem {
namespace {

struct Say {
  enum class What {
    kLine,     ///< a command line, answered by `expected`
    kConnect,  ///< the far end answers; `expected` comes before data
    kRing,     ///< it rings
    kData,     ///< is sent to the far end unchanged
    kEscape,   ///< a pause, the text, a pause
    kHangUp,   ///< done by the far end
    kDtr       ///< the program closes the terminal
  };
  What what;
  std::string text;
  std::string expected;
};
using enum Say::What;

struct Dialogue {
  const char* program;
  std::vector<Say> says;
};

const Dialogue kDialogues[] = {
    {"wvdial 1.61",
     {{kLine, "ATZ\r", "ATZOK"},
      {kLine, "ATQ0 V1 E1 S0=0 &C1 &D2 +FCLASS=0\r", "ATQ0 V1 E1 S0=0 &C1 &D2 +FCLASS=0OK"},
      {kLine, "ATDT5551234\r", "ATDT5551234"},
      {kConnect, "", "CONNECT 28800"},
      {kData, "~\x7f}#", ""},
      {kEscape, "+++", "OK"},
      {kLine, "ATH\r", "ATHOK"}}},
    {"mgetty 1.2",
     {{kDtr, "", ""},
      {kLine, "ATS0=0Q0&D3&C1\r", "ATS0=0Q0&D3&C1OK"},
      {kLine, "AT&FE0X4&C1&D2W2\r", "AT&FE0X4&C1&D2W2OK"},
      {kRing, "", "RING"},
      {kLine, "ATA\r", ""},
      {kConnect, "", "CONNECT 28800"},
      {kData, "login: ", ""},
      {kHangUp, "", "NO CARRIER"}}},
    {"minicom 2.8",
     {{kLine, "AT S7=45 S0=0 L1 V1 X4 &c1 E1 Q0\r", "AT S7=45 S0=0 L1 V1 X4 &c1 E1 Q0OK"},
      {kLine, "ATDT1\r", "ATDT1"},
      {kConnect, "", "CONNECT 28800"},
      {kEscape, "+++", "OK"},
      {kLine, "ATH\r", "ATHOK"},
      {kLine, "ATZ\r", "ATZOK"}}},
    {"pppd's chat, as Solaris has it",
     {{kLine, "AT&F1M0&M5S2=255\r", "AT&F1M0&M5S2=255OK"},
      {kLine, "ATDT5551212\r", "ATDT5551212"},
      {kConnect, "", "CONNECT 28800"},
      {kDtr, "", ""}}},
    {"Windows' Unimodem with a standard .inf",
     {{kLine, "AT\r", "ATOK"},
      {kLine, "ATE0V1\r", "ATE0V1OK"},
      {kLine, "AT\r", "OK"},
      {kLine, "AT&F1E0Q0V1&C1&D2S0=0\r", "OK"},
      {kLine, "ATS7=60S30=0L0M1\\N3%C1&K3B0N1X4\r", "OK"},
      {kLine, "ATDT5551234\r", ""},
      {kConnect, "", "CONNECT 28800"},
      {kEscape, "+++", "OK"},
      {kLine, "ATH\r", "OK"}}},
    {"Rockwell RC336, a terminal program",
     {{kLine, "AT&F&K3&Q5&R1&S1%E2\\V1W2\r", "AT&F&K3&Q5&R1&S1%E2\\V1W2OK"},
      {kLine, "AT+MS=11,1,300,33600\r", "AT+MS=11,1,300,33600OK"},
      {kLine, "ATS36=7S95=47S46=138\r", "ATS36=7S95=47S46=138OK"},
      {kLine, "ATDT9,5551234\r", "ATDT9,5551234"},
      {kConnect, "", "CONNECT 28800/LAPM/V42BIS"},
      {kEscape, "+++", "OK"},
      {kLine, "ATO\r", "ATOCONNECT 28800/LAPM/V42BIS"},
      {kHangUp, "", "NO CARRIER"}}},
    {"USR Courier",
     {{kLine, "AT&F1E0Q0V1X4&A3&B1&C1&D2&H1&I0&K1&M4&N0&R2&S0S0=0\r",
       "AT&F1E0Q0V1X4&A3&B1&C1&D2&H1&I0&K1&M4&N0&R2&S0S0=0OK"},
      {kLine, "ATX7\r", "OK"},
      {kLine, "ATDTW5551234\r", ""},
      {kConnect, "", "CONNECT 28800/ARQ/V34/LAPM/V42BIS"},
      {kEscape, "+++", "OK"},
      {kLine, "ATH0\r", "OK"}}},
    {"Conexant HSF, with its reports",
     {{kLine, "ATE0V1S0=0&D2+ICF=3,3;+EB=1,0,10;+IFC=2,2\r", "ATE0V1S0=0&D2+ICF=3,3;+EB=1,0,10;+IFC=2,2OK"},
      {kLine, "AT+MR=1;+DR=1;+ER=1\r", "OK"},
      {kLine, "AT+VCID=1\r", "OK"},
      {kRing, "", "RINGNMBR = O"},
      {kLine, "ATA\r", ""},
      {kConnect, "", "+MCR: V34+MRR: 0,28800+ER: LAPM+DR: V42BCONNECT 28800"},
      {kData, "hello", ""},
      {kEscape, "+++", "OK"},
      {kLine, "ATH;&V1\r", "end: 90,ended here"}}},
    {"an autodialler that stays in command state",
     {{kLine, "ATE0Q0V1X4S6=4\r", "ATE0Q0V1X4S6=4OK"},
      {kLine, "ATDT5551234;\r", "OK"},
      {kLine, "ATDT99\r", ""},
      {kConnect, "", "CONNECT 28800"},
      {kEscape, "+++", "OK"},
      {kLine, "ATH\r", "OK"}}},
    {"numeric results, as old BBS doors want them",
     {{kLine, "ATE0V0X4\r", "ATE0V0X40"},
      {kRing, "", "2"},
      {kLine, "ATA\r", ""},
      {kConnect, "", "1"},
      {kHangUp, "", "3"}}},
};

/// Performs the action. @return the output that the program reads
std::string act(Desk& desk, const Say& say) {
  switch (say.what) {
    case kLine: {
      const std::string told = desk.say(say.text);
      desk.work(0.3);
      return told + desk.heard();
    }
    case kConnect:
      desk.far_end(OH_PUMP_DATA, 3);
      desk.line.now.pump.modulation = OH_MODULATION_V34;
      desk.work(0.1);
      return desk.heard();
    case kRing: {
      desk.line.rings = true;
      desk.work(1);
      const std::string told = desk.heard();
      desk.line.rings = false;
      desk.work(1);
      return told;
    }
    case kData: {
      desk.line.sent.clear();
      desk.say(say.text);
      EXPECT_EQ(desk.line.sent, say.text);
      return "";
    }
    case kEscape:
      desk.work(1.2);
      desk.say(say.text);
      desk.work(1.2);
      return desk.heard();
    case kHangUp:
      desk.line.now.pump.bits_received = 1;
      desk.line.now.pump.state = OH_PUMP_IDLE;
      desk.work(0.1);
      return desk.heard();
    case kDtr:
      desk.leave();
      desk.work(1);
      EXPECT_FALSE(desk.line.off_hook);
      desk.program = open(desk.terminal.device().c_str(), O_RDWR | O_NOCTTY | O_NONBLOCK);
      desk.work(0.1);
      return desk.heard();
  }
  return "";
}

TEST(Dialogues, OfOldProgramsRunToTheirEnd) {
  for (const Dialogue& dialogue : kDialogues) {
    SCOPED_TRACE(dialogue.program);
    Desk desk;
    for (const Say& say : dialogue.says) {
      const std::string told = act(desk, say);
      EXPECT_NE(told.find(say.expected), std::string::npos) << "after " << say.text << ": " << told;
      EXPECT_EQ(told.find("ERROR"), std::string::npos) << "after " << say.text << ": " << told;
    }
    EXPECT_FALSE(desk.line.off_hook);
  }
}

}  // namespace
}  // namespace offhook::modem
