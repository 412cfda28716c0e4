// SPDX-License-Identifier: MIT
#include "driver/tty/at.h"

#include <gtest/gtest.h>

namespace offhook::modem {
namespace {

struct FakeModem final : AtHost {
  std::string_view carriers() const override { return "V22B,V34"; }
  void dial(std::string_view digits, bool stay) override {
    log += "dial " + std::string(digits) + (stay ? " and stay;" : ";");
  }
  std::vector<std::string> last_call(bool objects) const override {
    return {objects ? "callTerminate{60}" : "end: 60"};
  }
  void answer() override { log += "answer;"; }
  bool go_online() override { return online; }
  void hang_up() override { log += "hang up;"; }
  bool request_hold() override { return log += "hold;", online; }
  bool can_fax() const override { return faxes; }
  bool fax(FaxOrder order, int value) override {
    log += "fax " + std::to_string(static_cast<int>(order)) + " " + std::to_string(value) + ";";
    return true;
  }
  bool faxes = false;
  std::string log;
  bool online = false;
};

struct At : testing::Test {
  FakeModem host;
  std::string seen;
  AtInterpreter at{host, [this](std::string_view s) { seen += s; }};
  At() { say("ATE0"); }
  /// The answer to a command line, without echo.
  std::string say(std::string_view line) {
    seen.clear();
    for (const char c : line) at.put(c);
    at.put('\r');
    return seen;
  }
};

constexpr const char* kOk = "\r\nOK\r\n";
constexpr const char* kError = "\r\nERROR\r\n";

TEST_F(At, EchoesUntilItIsToldNotTo) {
  EXPECT_EQ(say("ATE1"), kOk);
  EXPECT_EQ(say("AT"), std::string("AT\r") + kOk);
}

TEST_F(At, TakesManyCommandsOnALineAndStopsAtTheFirstError) {
  EXPECT_EQ(say("at s0=2 x3 &c1&d2 \\n3 %c1 m0 l1"), kOk);
  EXPECT_EQ(at.s(0), 2);
  EXPECT_EQ(at.settings().extended, 3);
  EXPECT_EQ(say("ATX9S0=5"), kError);
  EXPECT_EQ(say("AT S3 = 13 S0 = 2"), kOk);
  EXPECT_EQ(at.s(0), 2);
}

TEST_F(At, DialsWhatIsADigitAndReportsByItself) {
  EXPECT_EQ(say("ATDT 0-800,(555)#*A;"), "");
  EXPECT_EQ(host.log, "dial 0800,555#*A and stay;");
  at.report(Result::kConnect, 33'600);
  EXPECT_EQ(seen, "\r\nCONNECT 33600\r\n");
  EXPECT_EQ(say("ATX0D"), "");
  at.report(Result::kConnect, 33'600);
  EXPECT_EQ(seen, "\r\nCONNECT\r\n");
}

TEST_F(At, ResultCodesFollowQVAndX) {
  EXPECT_EQ(say("ATV0"), "0\r");
  at.report(Result::kNoCarrier);
  EXPECT_EQ(seen, "0\r3\r");
  say("ATV1X0");
  seen.clear();
  at.report(Result::kBusy);
  EXPECT_EQ(seen, "\r\nNO CARRIER\r\n");
  say("ATX4");
  seen.clear();
  at.report(Result::kBusy);
  EXPECT_EQ(seen, "\r\nBUSY\r\n");
  EXPECT_EQ(say("ATQ1"), "");
  EXPECT_EQ(say("ATFOO"), "");
}

TEST_F(At, RegistersAreReadWrittenAndGuarded) {
  EXPECT_EQ(say("ATS7?"), "\r\n060\r\n\r\nOK\r\n");
  EXPECT_EQ(say("ATS7=30S7?"), "\r\n030\r\n\r\nOK\r\n");
  EXPECT_EQ(say("ATS=9"), kOk);
  EXPECT_EQ(at.s(7), 9);
  EXPECT_EQ(say("ATS3=200"), kError);
  EXPECT_EQ(say("ATS0?"), "\r\n000\r\n\r\nOK\r\n");
  for (const char* none : {"ATS111?", "ATS111=1", "ATS256=1", "ATS7?S999?"})
    EXPECT_TRUE(say(none).ends_with(kError)) << none << ": V.250 5.3.2";
  EXPECT_EQ(say("ATS?"), "\r\n009\r\n\r\nOK\r\n") << "the last register that there is";
  EXPECT_EQ(say("ATS30=7S110=255S30?"), "\r\n007\r\n\r\nOK\r\n") << "of other makers: stored";
  EXPECT_EQ(say("ATS30=256"), kError);
  EXPECT_EQ(say("ATS0=256"), kError);
  EXPECT_EQ(say("AT&FE0"), kOk);
  EXPECT_EQ(at.s(7), 60);
}

// Hayes' &W and Z use the user's profile; &F is the factory profile.
TEST_F(At, AProfileIsStoredAndComesBackByZ) {
  EXPECT_EQ(say("ATS7=30X3+MS=V34,0;&W"), kOk);
  EXPECT_EQ(say("ATS7=40X1+MS=V22B,1"), kOk);
  EXPECT_EQ(say("ATZ"), kOk);
  EXPECT_EQ(say("ATS7?;+MS?"), "\r\n030\r\n\r\n+MS: V34,0,0,0,0,0\r\n\r\nOK\r\n");
  EXPECT_EQ(say("AT&FE0S7?"), "\r\n060\r\n\r\nOK\r\n");
  EXPECT_EQ(say("ATZS7?"), "\r\n030\r\n\r\nOK\r\n") << "&F does not touch the profile";
  EXPECT_EQ(say("AT&W2"), kError);
}

TEST_F(At, ModulationIsCheckedAgainstWhatTheModemHas) {
  say("ATE0");
  EXPECT_EQ(say("AT+MS=?"),
            "\r\n+MS: (V22B,V34),(0,1),(0,75-56000),(0,75-56000),(0,75-56000),(0,75-56000)\r\n\r\nOK\r\n");
  EXPECT_EQ(say("AT+MS?"), "\r\n+MS: V34,1,0,0,0,0\r\n\r\nOK\r\n") << "the fastest, and automode";
  EXPECT_EQ(say("AT+MS=v34,0,,28800"), kOk);
  EXPECT_EQ(say("AT+MS?"), "\r\n+MS: V34,0,0,28800,0,0\r\n\r\nOK\r\n");
  EXPECT_EQ(say("AT+MS=V92"), kError);
  EXPECT_EQ(say("AT+MS=V34,2"), kError);
  EXPECT_EQ(say("AT+MS=V34,0,33600,9600"), kError);
  EXPECT_EQ(say("AT+MS=,,,,33600,9600"), kError);
  EXPECT_EQ(say("AT+MS=,,74"), kError);
  EXPECT_EQ(say("AT+MS?"), "\r\n+MS: V34,0,0,28800,0,0\r\n\r\nOK\r\n");
}

TEST_F(At, AReceiversOwnLimitsAreTakenWhereBothLeaveARate) {
  EXPECT_EQ(say("AT+MS=V34,1,300,28800,300,33600"), kOk);
  EXPECT_EQ(say("AT+MS?"), "\r\n+MS: V34,1,300,28800,300,33600\r\n\r\nOK\r\n");
  EXPECT_EQ(say("AT+MS=V34,1,9600,28800,0,0"), kOk);
  for (const char* none : {"AT+MS=,,,,,4800", "AT+MS=,,,,31200", "AT+MS=V34,1,0,2400,4800"})
    EXPECT_EQ(say(none), kError) << none;
  EXPECT_EQ(say("AT+MS?"), "\r\n+MS: V34,1,9600,28800,0,0\r\n\r\nOK\r\n");
}

// Rockwell's numbers of +MS, and those of slmodemd.
TEST_F(At, CarriersHaveTheirOldNumbersToo) {
  for (const auto& [number, name] : {std::pair("11", "V34"), {"34", "V34"}, {"2", "V22B"}, {"122", "V22B"}}) {
    EXPECT_EQ(say(std::string("AT+MS=") + number + ",0"), kOk) << number;
    EXPECT_EQ(at.settings().modulation, name);
  }
  EXPECT_EQ(say("AT+MS=132,0"), kError) << "V.32bis is none of this modem's";
}

TEST_F(At, NumbersAreStoredAndDialled) {
  EXPECT_EQ(say("ATDL"), kError) << "nothing was dialled";
  EXPECT_EQ(say("ATDS=0"), kError) << "nothing is stored";
  EXPECT_EQ(host.log, "");
  EXPECT_EQ(say("AT&Z0=5551234"), kOk);
  EXPECT_EQ(say("AT&Z3=9,1"), kOk);
  EXPECT_EQ(say("AT&Z4=1"), kError);
  EXPECT_EQ(say("AT&Z0?"), "\r\n5551234\r\n\r\nOK\r\n");
  say("ATDS=3");
  say("ATDTS=0;");
  say("ATDL");
  say("ATDS");
  say("ATDP5@6!7");
  say("ATDTL");
  EXPECT_EQ(host.log, "dial 9,1;dial 5551234 and stay;dial 5551234;dial 5551234;dial 567;dial 567;");
}

TEST_F(At, TheLastCallIsToldByTwoCommands) {
  EXPECT_EQ(say("AT&V1"), "\r\nend: 60\r\n\r\nOK\r\n");
  EXPECT_EQ(say("AT#UD"), "\r\ncallTerminate{60}\r\n\r\nOK\r\n");
  EXPECT_EQ(say("AT+ADLY=18;+ADLY?;+ADLY=?"), "\r\n+ADLY: 18\r\n\r\n+ADLY: (0-50)\r\n\r\nOK\r\n");
  EXPECT_EQ(say("AT+WHY=1;+WHY?"), "\r\n+WHY: 1\r\n\r\nOK\r\n");
}

// Programs send these, and a modem that answers ERROR ignores the rest of the line.
TEST_F(At, InitialisationStringsOfOldProgramsAreTaken) {
  for (const char* line : {"ATZ",                                                 // wvdial
                           "ATQ0 V1 E0 S0=0 &C1 &D2 +FCLASS=0",                   // wvdial
                           "ATS0=0Q0&D3&C1",                                      // mgetty
                           "AT&FE0X4&C1&D2W2",                                    // mgetty with a Rockwell modem
                           "ATE0 S7=45 S0=0 L1 V1 X4 &c1 Q0",                     // minicom
                           "AT&F1E0M0&M5S2=255",                                  // Solaris' pppd
                           "AT&FE0V1&D2&C1S95=47S0=0",                            // Windows, Rockwell
                           "ATS7=60S30=0L0M1\\N3%C1&K3B0N1X4",                    // Windows
                           "ATW2B0Y0&Q5&R1&S1%E2\\V1S36=7",                       // Rockwell
                           "AT&F1E0Q0V1X4&A3&B1&C1&D2&H1&I0&K1&M4&N0&R2&S0S0=0",  // USR
                           "AT&FE0\\G0\\J0\\K5\\Q3\\N3%C3",                       // Microcom
                           "AT+ICF=3,3;+EB=1,0,10;+MR=1;+DR=1;+ER=1;S0 = 0"}) {   // Conexant
    const std::string answer = say(line);                                         // ATZ restores the echo
    EXPECT_TRUE(answer.ends_with(kOk)) << line << ": " << answer;
  }
  EXPECT_EQ(say("AT&Q1"), kError) << "synchronous";
  EXPECT_EQ(say("AT&M2"), kError) << "synchronous";
}

TEST_F(At, AParityBitIsIgnored) {
  std::string seven("ATS7=31");
  for (char& c : seven)
    if (__builtin_popcount(static_cast<unsigned char>(c)) % 2 != 0) c = static_cast<char>(c | 0x80);
  say(seven);
  EXPECT_EQ(at.s(7), 31);
}

TEST_F(At, ErrorControlByEitherSyntax) {
  EXPECT_EQ(say("AT+ES?;\\N?"), "\r\n+ES: 3,0,2\r\n\r\n3\r\n\r\nOK\r\n");
  EXPECT_EQ(say("AT\\N0+ES?"), "\r\n+ES: 1,0,1\r\n\r\nOK\r\n") << "start-stop characters";
  EXPECT_EQ(say("AT\\N4+ES?"), "\r\n+ES: 3,3,5\r\n\r\nOK\r\n") << "LAPM or nothing";
  EXPECT_EQ(say("AT+ES=3,2,4;\\N?"), "\r\n2\r\n\r\nOK\r\n");
  EXPECT_EQ(say("AT+ES=0;\\N?"), "\r\n1\r\n\r\nOK\r\n");
  EXPECT_EQ(say("AT+ES=,,0"), kOk) << "the others stay";
  EXPECT_EQ(at.settings().es_answerer, 0);
  EXPECT_EQ(say("AT\\N5+ES?;\\N?"), "\r\n+ES: 4,4,6\r\n\r\n5\r\n\r\nOK\r\n") << "MNP or nothing";
  EXPECT_EQ(say("AT+ES=5"), kError);
  EXPECT_EQ(say("AT+ES=4,5"), kError);
  EXPECT_EQ(say("AT+ES=3,0,7"), kError);
  EXPECT_EQ(say("AT\\N6"), kError);
  EXPECT_EQ(say("AT\\A1"), kOk);
  EXPECT_EQ(at.settings().link.mnp_block, 128u);
  EXPECT_EQ(say("AT+DS=3,0,2048,32;+ER=1;+DR=1;+MR=1"), kOk);
  EXPECT_TRUE(at.settings().report_error_control && at.settings().report_compression);
  EXPECT_EQ(say("AT+DS=2,1,65535,250;+DS?"), "\r\n+DS: 2,1,65535,250\r\n\r\nOK\r\n");
  EXPECT_EQ(say("AT+DS=3,0,511"), kError);
  EXPECT_EQ(say("AT+DS=3,0,,251"), kError);
  EXPECT_EQ(say("AT%C0+DS?"), "\r\n+DS: 0,1,65535,250\r\n\r\nOK\r\n");
  EXPECT_EQ(say("AT+DS44=3,1,0,256,2000,32,255,512,65535;+DS44?"),
            "\r\n+DS44: 3,1,0,256,2000,32,255,512,65535\r\n\r\nOK\r\n");
  EXPECT_EQ(say("AT+DS44=3,0,1"), kError) << "no method for packets";
  EXPECT_EQ(say("AT+DS44=3,0,0,255"), kError);
  EXPECT_EQ(say("AT+DS44=3,0,0,,,31"), kError);
  EXPECT_EQ(say("AT+DS44=3,0,0,,,,,,511"), kError);
  EXPECT_EQ(say("AT%C0"), kOk);
  EXPECT_EQ(at.settings().link.v44, 0u) << "no compression is none of either";
  EXPECT_EQ(say("AT+ILRR=1;+ILRR?"), "\r\n+ILRR: 1\r\n\r\nOK\r\n");
  EXPECT_EQ(say("AT+ER=2"), kError);
}

TEST_F(At, FlowControlByEitherSyntax) {
  EXPECT_EQ(say("AT+IFC?"), "\r\n+IFC: 2,2\r\n\r\nOK\r\n");
  EXPECT_EQ(say("AT&K4+IFC?"), "\r\n+IFC: 1,1\r\n\r\nOK\r\n");
  EXPECT_EQ(say("AT&K0+IFC?"), "\r\n+IFC: 0,0\r\n\r\nOK\r\n");
  EXPECT_NE(say("AT+IFC=3,1;&V").find("&K5"), std::string::npos);
  EXPECT_EQ(say("AT+IFC=4"), kError);
  EXPECT_EQ(say("AT&K7"), kError);
  EXPECT_EQ(say("AT\\Q1+IFC?"), "\r\n+IFC: 1,1\r\n\r\nOK\r\n");
  EXPECT_EQ(say("AT\\Q3+IFC?"), "\r\n+IFC: 2,2\r\n\r\nOK\r\n");
}

TEST_F(At, IdentifiesItselfAsProbesAsk) {
  EXPECT_EQ(say("ATI"), "\r\nOffhook\r\n\r\nOK\r\n");
  EXPECT_NE(say("ATI3").find("Offhook soft modem"), std::string::npos);
  EXPECT_EQ(say("AT+GMM"), "\r\nOffhook soft modem\r\n\r\nOK\r\n");
  EXPECT_EQ(say("AT+GMM=?"), kOk);
  EXPECT_EQ(say("AT+GMM?"), kError) << "information alone: V.250 5.4.3";
  EXPECT_EQ(say("AT+GMI"), "\r\nOffhook\r\n\r\nOK\r\n");
  EXPECT_EQ(say("AT+FCLASS=?"), "\r\n0\r\n\r\nOK\r\n");
  EXPECT_EQ(say("AT+FCLASS?"), "\r\n0\r\n\r\nOK\r\n");
  EXPECT_EQ(say("AT+FCLASS=1"), kError);
  EXPECT_EQ(say("AT+FAE=1"), kError);
  EXPECT_EQ(say("AT+NOSUCH"), kError);
}

TEST_F(At, FaxCommandsAreTestedReadAndChecked) {
  EXPECT_EQ(say("AT+FTM=96"), kError) << "not in class 1";
  host.faxes = true;
  EXPECT_EQ(say("AT+FCLASS=?;+FCLASS?"), "\r\n0,1,2.0\r\n\r\n0\r\n\r\nOK\r\n");
  for (const char* bad : {"=2", "=", "=1.0", "=1,", "=-1", "1", ""})
    EXPECT_EQ(say("AT+FCLASS" + std::string(bad)), kError) << bad;
  EXPECT_EQ(say("AT+FTM=96"), kError) << "not in class 1";
  EXPECT_EQ(say("AT+FCLASS=1"), kOk);
  EXPECT_EQ(say("AT+FCLASS?"), "\r\n1\r\n\r\nOK\r\n");
  for (const char* page : {"AT+FTM=?", "AT+FRM=?"})
    EXPECT_EQ(say(page), "\r\n24,48,72,73,74,96,97,98,121,122,145,146\r\n\r\nOK\r\n");
  EXPECT_EQ(say("AT+FTH=?;+FRH=?"), "\r\n3\r\n\r\n3\r\n\r\nOK\r\n");
  EXPECT_EQ(say("AT+FTS=?;+FRS=?"), "\r\n0-255\r\n\r\n0-255\r\n\r\nOK\r\n");
  for (const char* bad : {"+FTM=3", "+FTM=25", "+FRM=147", "+FRM=", "+FTM", "+FTM?", "+FTH=4", "+FRH=33", "+FTS=256",
                          "+FRS=x", "+FTS=8x", "+FTM=99999999999999"})
    EXPECT_EQ(say("AT" + std::string(bad)), kError) << bad;
  EXPECT_EQ(host.log, "");
  for (const char* good : {"AT+FTM=146", "AT+FRM=24", "AT+FTH=3", "AT+FRH=3", "AT+FTS=255", "AT+FRS=0"})
    EXPECT_EQ(say(good), "") << "the result comes from the modem";
  EXPECT_EQ(host.log, "fax 4 146;fax 5 24;fax 2 3;fax 3 3;fax 0 255;fax 1 0;");
  EXPECT_EQ(say("AT+FLO=1;+FLO?;+IFC?"), "\r\n1\r\n\r\n+IFC: 1,1\r\n\r\nOK\r\n");
  EXPECT_EQ(say("AT+FLO=3"), kError);
  EXPECT_EQ(say("AT+FAE=1;+FAR=0;+FAE=?;+FAE?"), "\r\n0,1\r\n\r\n1\r\n\r\nOK\r\n");
  EXPECT_EQ(say("AT+FAE=2"), kError);
  EXPECT_EQ(say("AT&F+FCLASS?"), "\r\n0\r\n\r\nOK\r\n");
}

TEST_F(At, TheOtherCarrierIsAResultWithItsOwnNumber) {
  seen.clear();
  at.report(Result::kOtherCarrier);
  EXPECT_EQ(seen, "\r\n+FCERROR\r\n");
  say("ATV0");
  seen.clear();
  at.report(Result::kOtherCarrier);
  EXPECT_EQ(seen, "+F4\r");
}

TEST_F(At, SettingsAreShownTogether) {
  EXPECT_EQ(say("ATX3S7=30&V"),
            "\r\nB0 E0 Q0 V1 X3 &C1 &D2 &G0 &K3 S0=0 S1=0 S2=43 S3=13 S4=10 S5=8 S6=2 S7=30 S8=2 S9=0 S10=14 S11=95 "
            "S12=50\r\n"
            "\r\nOK\r\n");
}

TEST_F(At, EveryCommandIsInTheListWithItsRange) {
  const std::string all = say("AT$");
  for (const char* line : {"\r\nE0-1  echo of the command line (V.250 6.2.4)\r\n", "\r\n&W0-1  ", "\r\n\\N  ",
                           "\r\nS3=0-127  ", "\r\n+GMI  manufacturer (V.250 ", "\r\n+MS=(V22B,V34),(0,1),(0,75-56000),",
                           "\r\n+FCLASS=0  service: 0 data, 1 fax of class 1, 2.0 of class 2.0 (T.31)\r\n"})
    EXPECT_NE(all.find(line), std::string::npos) << line;
  EXPECT_TRUE(all.ends_with(kOk));
}

TEST_F(At, TheListIsTheLastOfItsLine) {
  EXPECT_EQ(say("AT$$"), kError);
  EXPECT_EQ(say("AT$I0"), kError);
  EXPECT_TRUE(say("ATI0$").starts_with("\r\nOffhook\r\n\r\n"));
}

// As in modems of V.92: T1 by its code of Table 33.
TEST_F(At, ModemOnHoldIsAskedForInACallWhereItIsEnabledAlone) {
  EXPECT_EQ(say("AT+PMH=?;+PMHT=?;+PMHR=?"), "\r\n+PMH: (0,1)\r\n\r\n+PMHT: (0-13)\r\n\r\nOK\r\n");
  EXPECT_EQ(say("AT+PMH?;+PMHT?"), "\r\n+PMH: 1\r\n\r\n+PMHT: 0\r\n\r\nOK\r\n");
  host.online = true;
  EXPECT_EQ(say("AT+PMHR"), kError) << "it is disabled";
  EXPECT_EQ(host.log, "");
  EXPECT_EQ(say("AT+PMH=0"), kOk);
  EXPECT_EQ(say("AT+PMHR=3"), kError);
  EXPECT_EQ(host.log, "");
  EXPECT_EQ(say("AT+PMHR"), "") << "the answer comes when the far end has given it";
  EXPECT_EQ(host.log, "hold;");
  host.online = false;
  EXPECT_EQ(say("AT+PMHR"), kError) << "there is no call";
  EXPECT_EQ(say("AT+PMHT=13"), kOk);
  EXPECT_EQ(at.settings().hold_timeout, 13);
  EXPECT_EQ(say("AT+PMHT=14"), kError);
}

// The values are those of V.92 modems; Conexant's and Multi-Tech's manuals list them.
TEST_F(At, ChoicesOfV92HaveTheRangesAndDefaultsOfOtherModems) {
  EXPECT_EQ(say("AT+PIG=?;+PQC=?;+PSS=?"), "\r\n+PIG: (0,1)\r\n\r\n+PQC: (0-3)\r\n\r\n+PSS: (0-2)\r\n\r\nOK\r\n");
  EXPECT_EQ(say("AT+PIG?;+PQC?;+PSS?"), "\r\n+PIG: 1\r\n\r\n+PQC: 3\r\n\r\n+PSS: 0\r\n\r\nOK\r\n");
  for (const char* wrong : {"AT+PIG=2", "AT+PQC=4", "AT+PSS=3", "AT+PQC", "AT+PQC=0,0", "AT+PQC=x", "AT+PMHF"})
    EXPECT_EQ(say(wrong), kError) << wrong;
  EXPECT_EQ(say("AT+PIG=0;+PQC=0;+PSS=2;&W"), kOk);
  EXPECT_EQ(say("AT&FE0+PQC?"), "\r\n+PQC: 3\r\n\r\nOK\r\n");
  EXPECT_EQ(say("ATZ+PQC?;+PIG?;+PSS?"), "\r\n+PQC: 0\r\n\r\n+PIG: 0\r\n\r\n+PSS: 2\r\n\r\nOK\r\n");
}

TEST_F(At, RepeatsTheLastLineForASlash) {
  say("ATDT5");
  host.log.clear();
  at.put('A');
  at.put('/');
  EXPECT_EQ(host.log, "dial 5;");
}

TEST_F(At, EditsAndBoundsTheLine) {
  EXPECT_EQ(say("ATX\b\b\b\b\bS7?"), "\r\n060\r\n\r\nOK\r\n") << "the prefix cannot be taken back";
  EXPECT_EQ(say("ATXX\b4"), kOk);
  EXPECT_EQ(say("AT" + std::string(400, 'X')), kError);
  EXPECT_EQ(say("AT"), kOk);
}

TEST(Escape, NeedsThreeCharactersBetweenTwoPauses) {
  const AtSettings settings;
  EscapeDetector d;
  EXPECT_FALSE(d.process("data", 0, settings));
  EXPECT_FALSE(d.process("+++", 500, settings));  // too soon after data
  EXPECT_FALSE(d.process("", 2000, settings));
  EXPECT_FALSE(d.process("+", 3000, settings));
  EXPECT_FALSE(d.process("++", 3100, settings));
  EXPECT_FALSE(d.process("", 3500, settings));
  EXPECT_TRUE(d.process("", 4200, settings));
  EXPECT_FALSE(d.process("", 6000, settings));
  EXPECT_FALSE(d.process("++++", 8000, settings));
  EXPECT_FALSE(d.process("", 9900, settings));
  EXPECT_FALSE(d.process("+++", 11'500, settings));
  EXPECT_FALSE(d.process("x", 11'600, settings));
  EXPECT_FALSE(d.process("", 13'000, settings));
  EXPECT_FALSE(d.process("abc", 15'000, settings));  // three others
  EXPECT_FALSE(d.process("", 17'000, settings));
  AtSettings off;
  off.s[2] = 128;
  EscapeDetector never;
  EXPECT_FALSE(never.process("\x80\x80\x80", 5000, off));
  EXPECT_FALSE(never.process("", 9000, off));
}

}  // namespace
}  // namespace offhook::modem
