// SPDX-License-Identifier: MIT
#include "driver/tty/dce.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "tests/unit/driver/tty/desk.h"

namespace offhook::modem {
namespace {

struct Step {
  State state;
  Event event;
  State next;
  std::string text;
};

TEST(DceHook, TheLineIsOnHookForAQuarterOfASecondHoweverLongTheReleaseTook) {
  Desk d;
  d.bring_to(State::kOnlineCommand);
  d.line.clock_ms = &d.now_ms;
  d.line.release_ms = 1000;
  d.say("ATH\r");
  ASSERT_FALSE(d.line.off_hook);
  d.say("ATD123\r");
  d.work(1);
  ASSERT_TRUE(d.line.off_hook);
  EXPECT_GE(d.line.off_hook_ms - d.line.on_hook_ms, 250);
}

/// By hand, independent of the table: what V.250 and programs expect.
const std::vector<Step> kSteps = {
    {State::kOnHook, Event::kOrder, State::kConnecting, ""},  // after a guard time that is over
    {State::kGuardTime, Event::kLineReady, State::kConnecting, ""},
    {State::kGuardTime, Event::kRefused, State::kOnHook, "ERROR"},
    {State::kGuardTime, Event::kCharacter, State::kOnHook, "NO CARRIER"},
    {State::kGuardTime, Event::kDtrOff, State::kOnHook, ""},
    {State::kConnecting, Event::kNoDialTone, State::kOnHook, "NO DIALTONE"},
    {State::kConnecting, Event::kBusy, State::kOnHook, "BUSY"},
    {State::kConnecting, Event::kNoAnswer, State::kOnHook, "NO ANSWER"},
    {State::kConnecting, Event::kFailed, State::kOnHook, "NO CARRIER"},
    {State::kConnecting, Event::kIncompatible, State::kOnHook, "NO CARRIER"},
    {State::kConnecting, Event::kConnected, State::kOnline, "CONNECT 28800"},
    {State::kDialled, Event::kOrder, State::kConnecting, ""},
    {State::kDialled, Event::kRefused, State::kDialled, "ERROR"},
    {State::kDialled, Event::kHangUp, State::kOnHook, "OK"},
    {State::kDialled, Event::kDtrOff, State::kOnHook, ""},
    {State::kConnecting, Event::kTooLong, State::kOnHook, "NO CARRIER"},
    {State::kConnecting, Event::kCharacter, State::kOnHook, "NO CARRIER"},
    {State::kConnecting, Event::kDtrOff, State::kOnHook, ""},
    {State::kOnline, Event::kFailed, State::kOnHook, "NO CARRIER"},
    {State::kOnline, Event::kLost, State::kOnHook, "NO CARRIER"},
    {State::kOnline, Event::kEscape, State::kOnlineCommand, "OK"},
    {State::kOnline, Event::kDtrOff, State::kOnHook, ""},
    {State::kOnlineCommand, Event::kFailed, State::kOnHook, "NO CARRIER"},
    {State::kOnlineCommand, Event::kLost, State::kOnHook, "NO CARRIER"},
    {State::kOnlineCommand, Event::kReturn, State::kOnline, "CONNECT 28800"},
    {State::kOnlineCommand, Event::kHangUp, State::kOnHook, "OK"},
    {State::kOnlineCommand, Event::kDtrOff, State::kOnHook, ""},
    {State::kOnlineCommand, Event::kAskHold, State::kAskingHold, ""},
    {State::kAskingHold, Event::kHoldGranted, State::kOnHold, "+PMHR: 3OK"},
    {State::kAskingHold, Event::kHoldDenied, State::kOnlineCommand, "+PMHR: 0OK"},
    {State::kAskingHold, Event::kFailed, State::kOnHook, "NO CARRIER"},
    {State::kAskingHold, Event::kDtrOff, State::kOnHook, ""},
    {State::kOnHold, Event::kReturn, State::kReturning, ""},
    {State::kOnHold, Event::kFailed, State::kOnHook, "NO CARRIER"},
    {State::kOnHold, Event::kHangUp, State::kOnHook, "OK"},
    {State::kOnHold, Event::kDtrOff, State::kOnHook, ""},
    {State::kReturning, Event::kBack, State::kOnline, "CONNECT 28800"},
    {State::kReturning, Event::kFailed, State::kOnHook, "NO CARRIER"},
    {State::kReturning, Event::kLost, State::kOnHook, "NO CARRIER"},
    {State::kReturning, Event::kCharacter, State::kOnHook, "NO CARRIER"},
    {State::kReturning, Event::kDtrOff, State::kOnHook, ""},
    {State::kOnlineCommand, Event::kAskLoop, State::kAskingLoop, ""},
    {State::kAskingLoop, Event::kLooped, State::kOnlineCommand, "OK"},
    {State::kAskingLoop, Event::kTesting, State::kOnline, "CONNECT 28800"},
    {State::kAskingLoop, Event::kLoopDenied, State::kOnlineCommand, "ERROR"},
    {State::kAskingLoop, Event::kFailed, State::kOnHook, "NO CARRIER"},
    {State::kAskingLoop, Event::kDtrOff, State::kOnHook, ""},
    {State::kConnecting, Event::kFaxCaller, State::kConnecting, "FAX"},
    {State::kConnecting, Event::kFaxConnected, State::kFaxData, "CONNECT"},
    {State::kConnecting, Event::kFaxOver, State::kOnHook, "+FHS:11OK"},
    {State::kFaxData, Event::kFaxDone, State::kFax, "OK"},
    {State::kFaxData, Event::kFailed, State::kOnHook, "NO CARRIER"},
    {State::kFaxData, Event::kDtrOff, State::kOnHook, ""},
    {State::kFax, Event::kFaxOrder, State::kFaxData, "CONNECT"},
    {State::kFax, Event::kFailed, State::kOnHook, "NO CARRIER"},
    {State::kFax, Event::kHangUp, State::kOnHook, "OK"},
    {State::kFax, Event::kDtrOff, State::kOnHook, ""},
    // No rows.
    {State::kFax, Event::kOrder, State::kFax, "ERROR"},
    {State::kFax, Event::kReturn, State::kFax, "ERROR"},
    {State::kOnHook, Event::kFaxOrder, State::kOnHook, "ERROR"},
    {State::kOnlineCommand, Event::kFaxOrder, State::kOnlineCommand, "ERROR"},
    {State::kAskingHold, Event::kHangUp, State::kAskingHold, ""},
    {State::kOnHold, Event::kOrder, State::kOnHold, "ERROR"},
    {State::kOnHook, Event::kHangUp, State::kOnHook, "OK"},
    {State::kOnHook, Event::kReturn, State::kOnHook, "ERROR"},
    {State::kOnHook, Event::kDtrOff, State::kOnHook, ""},
    {State::kOnline, Event::kBusy, State::kOnline, ""},
    {State::kOnlineCommand, Event::kOrder, State::kOnlineCommand, "ERROR"},
};

TEST(Dce, FollowsEveryCallFromStateToState) {
  for (const Step& step : kSteps) {
    SCOPED_TRACE(testing::Message() << "state " << int(step.state) << ", event " << int(step.event));
    Desk desk;
    desk.bring_to(step.state);
    ASSERT_EQ(desk.dce.state(), step.state);
    EXPECT_EQ(desk.happen(step.event), step.text);
    EXPECT_EQ(desk.dce.state(), step.next);
    EXPECT_EQ(desk.line.off_hook, step.next >= State::kConnecting);
  }
}

TEST(Dce, NoRowOfTheTableIsUntested) {
  std::set<std::pair<State, Event>> rows;
  for (const Dce::Transition& t : Dce::kTransitions) {
    EXPECT_TRUE(rows.insert({t.state, t.event}).second) << "two rows for one event";
    EXPECT_TRUE(std::any_of(kSteps.begin(), kSteps.end(),
                            [&t](const Step& s) { return s.state == t.state && s.event == t.event; }) ||
                t.event == Event::kDigitsOut ||                              // DceDial has it
                (t.state == State::kFaxData && t.event == Event::kFaxOver))  // DceFax has it
        << int(t.state) << " " << int(t.event);
  }
}

TEST(Dce, AnswersAfterTheRingsOfS0AndReportsEach) {
  Desk desk;
  desk.say("ATE0S0=2\r");
  for (int ring = 1; ring <= 2; ++ring) {
    desk.line.rings = true;
    desk.work(2);
    EXPECT_EQ(desk.heard(), "RING");
    desk.line.rings = false;
    desk.work(4);
  }
  EXPECT_EQ(desk.dce.state(), State::kConnecting);
  EXPECT_EQ(desk.line.config.role, OH_PUMP_ANSWER);
}

TEST(Dce, ARingThatItShallNotHeedIsNeitherReportedNorAnswered) {
  Desk desk;
  desk.say("ATE0S0=1\r");
  desk.dce.heed_ring(false);
  desk.line.rings = true;
  desk.work(4);
  EXPECT_EQ(desk.heard(), "");
  EXPECT_EQ(desk.dce.state(), State::kOnHook);
  desk.dce.heed_ring(true);
  desk.work(4);
  EXPECT_EQ(desk.heard(), "RING");
  EXPECT_EQ(desk.dce.state(), State::kConnecting);
}

TEST(Dce, WithoutCommandsWhatComesOutsideOfDataIsDropped) {
  Desk desk;
  desk.say("ATE0S0=1\r");
  desk.dce.heed_commands(false);
  desk.say("ATD5551234\r");
  EXPECT_EQ(desk.heard(), "");
  EXPECT_EQ(desk.dce.state(), State::kOnHook);
  desk.line.rings = true;
  desk.work(4);
  EXPECT_EQ(desk.dce.state(), State::kConnecting);
  desk.say("x");  // the rest of a program of the call before
  EXPECT_EQ(desk.dce.state(), State::kConnecting);
}

TEST(Dce, SaysWhoCallsAfterTheFirstRingWhereAskedFor) {
  Desk desk;
  desk.line.who = {"0301234", "a\nb\x1b[2J"};
  const auto ring = [&desk] {
    desk.line.rings = true;
    desk.work(2);
    desk.line.rings = false;
    desk.work(4);
    return desk.heard();
  };
  desk.say("ATE0\r");
  EXPECT_EQ(ring(), "RING");
  desk.say("ATS1=0+VCID=1\r");
  EXPECT_EQ(ring(), "RINGNMBR = 0301234NAME = a\\x0ab\\x1b[2J");
  EXPECT_EQ(ring(), "RING");
  desk.line.who = {};
  desk.say("ATS1=0\r");
  EXPECT_EQ(ring(), "RINGNMBR = O") << "out of the area, V.253";
}

TEST(Dce, TheReasonOfALineThatEndsTheCallIsToldAfterTheResult) {
  Desk desk;
  desk.say("ATE0+WHY=1\r");
  desk.say("ATD5\r");
  desk.work();
  desk.line.now.line_failure = "404 Not Found";
  desk.work();
  EXPECT_EQ(desk.heard(), "NO CARRIER+WHY: 0,unknown (the line: 404 Not Found); reached: dialled, nothing recognised");
}

TEST(Dce, TheCallIsAsTheSettingsSay) {
  Desk desk;
  desk.say(
      "ATE0X3&G2S6=3S8=4S11=70+MS=V34,1,2400,28800;+ES=3,2;+DS=1,0,1024,20;+DS44=2,0,0,300,400,50,60,700,800;D12,3\r");
  const CallConfig& call = desk.line.config;
  EXPECT_EQ(call.role, OH_PUMP_CALL);
  EXPECT_EQ(call.digits, "12,3");
  EXPECT_FALSE(call.plan.need_dial_tone);
  EXPECT_EQ(call.plan.pause_s, 3);
  EXPECT_EQ(call.plan.comma_s, 4);
  EXPECT_EQ(call.plan.digit_ms, 70);
  EXPECT_EQ(call.guard_tone_hz, 1800u);
  EXPECT_EQ(call.min_bit_rate, 2400u);
  EXPECT_EQ(call.max_bit_rate, 28'800u);
  EXPECT_EQ(call.link.error_control, OH_ERROR_CONTROL_REQUIRED);
  EXPECT_EQ(call.link.compression, 1u);
  EXPECT_EQ(call.link.codewords, 1024u);
  EXPECT_EQ(call.link.max_string, 20u);
  EXPECT_EQ(call.link.v44, 2u);
  EXPECT_EQ(call.link.v44_tx.codewords, 300u);
  EXPECT_EQ(call.link.v44_tx.max_string, 50u);
  EXPECT_EQ(call.link.v44_tx.history, 700u);
  EXPECT_EQ(call.link.v44_rx.codewords, 400u);
  EXPECT_EQ(call.link.v44_rx.max_string, 60u);
  EXPECT_EQ(call.link.v44_rx.history, 800u);
}

// V.250 6.5.1.
TEST(Dce, ErrorControlPermitsTheProtocolsOfEs) {
  struct Case {
    const char* settings;
    bool call;
    oh_error_control control;
    unsigned protocols;
  };
  constexpr auto kNone = OH_ERROR_CONTROL_NONE, kOptional = OH_ERROR_CONTROL_OPTIONAL,
                 kRequired = OH_ERROR_CONTROL_REQUIRED;
  constexpr unsigned kV42 = OH_PROTOCOL_V42, kMnp = OH_PROTOCOL_MNP, kBoth = kV42 | kMnp;
  for (const Case& c : std::vector<Case>{{"+ES=3,0", true, kOptional, kBoth},
                                         {"+ES=3,2", true, kRequired, kBoth},
                                         {"+ES=3,3", true, kRequired, kV42},
                                         {"+ES=3,4", true, kRequired, kMnp},
                                         {"+ES=4,0", true, kOptional, kMnp},
                                         {"+ES=4,4", true, kRequired, kMnp},
                                         {"+ES=1,4", true, kNone, kMnp},
                                         {"+ES=,,0", false, kNone, kBoth},
                                         {"+ES=,,2", false, kOptional, kBoth},
                                         {"+ES=4,4,3", false, kOptional, kBoth},
                                         {"+ES=,,4", false, kRequired, kBoth},
                                         {"+ES=,,5", false, kRequired, kV42},
                                         {"+ES=,,6", false, kRequired, kMnp}}) {
    Desk desk;
    desk.say(std::string("ATE0X3") + c.settings + (c.call ? ";D1\r" : ";A\r"));
    EXPECT_EQ(desk.line.config.link.error_control, c.control) << c.settings;
    EXPECT_EQ(desk.line.config.link.protocols, c.protocols) << c.settings;
  }
}

// V.250 6.6.2: which compression, and in which directions; required values are mandatory.
TEST(Dce, TheCompressionIsReportedByItsName) {
  struct Case {
    const char* settings;
    int compression, v44;
    const char* report;
  };
  for (const Case& c : {Case{"+DS44=3", 3, 1, "+DR: V44"}, Case{"+DS44=1,1", 1, 1, "+DR: V44 TD"},
                        Case{"+DS44=2;+DS=3,1", 2, 1, "+DR: V44 RD"}, Case{"+DS44=3", 3, 0, "+DR: V42B"},
                        Case{"+DS44=3", 0, 0, "+DR: NONE"}, Case{"+DS44=3,1", 3, 0, ""}, Case{"+DS44=3,1", 1, 1, ""},
                        Case{"+DS44=3;+DS=3,1", 1, 1, ""}}) {
    Desk desk;
    desk.say(std::string("AT&FE0+DR=1;") + c.settings + ";D5\r");
    desk.line.now.link.v44 = static_cast<std::uint8_t>(c.v44);
    desk.far_end(OH_PUMP_DATA, c.compression);
    desk.work();
    const std::string told = desk.heard();
    if (*c.report == 0) {
      EXPECT_EQ(told.find("CONNECT"), std::string::npos) << c.settings << ": " << told;
    } else {
      EXPECT_NE(told.find(std::string(c.report) + "CONNECT"), std::string::npos) << c.settings << ": " << told;
    }
  }
}

TEST(Dce, ConnectNamesTheProtocolWithTheCommandsOfOtherMakers) {
  struct Case {
    const char* settings;
    bool direct;
    unsigned mnp_class, compression;
    const char* result;
  };
  for (const Case& c :
       {Case{"", false, 4, 0, "CONNECT 28800"}, Case{"\\V1", false, 4, 0, "CONNECT 28800/MNP"},
        Case{"\\V1", false, 5, 3, "CONNECT 28800/MNP/MNP5"}, Case{"\\V1", false, 0, 3, "CONNECT 28800/LAPM/V42BIS"},
        Case{"\\V1", true, 0, 0, "CONNECT 28800"}, Case{"\\V1\\V0", false, 4, 0, "CONNECT 28800"},
        Case{"&A1", false, 4, 0, "CONNECT 28800/ARQ"}, Case{"&A1", true, 0, 0, "CONNECT 28800"},
        Case{"&A2", false, 4, 0, "CONNECT 28800/ARQ/V34"}, Case{"&A2", true, 0, 0, "CONNECT 28800/V34"},
        Case{"&A3", false, 5, 3, "CONNECT 28800/ARQ/V34/MNP/MNP5"}, Case{"X0&A3", false, 5, 3, "CONNECT"},
        Case{"V0&A3", false, 5, 3, "1"}}) {
    Desk desk;
    desk.say(std::string("AT&FE0") + c.settings + "+DS=3,0;D5\r");
    desk.line.now.pump.modulation = OH_MODULATION_V34;
    desk.line.now.direct = c.direct;
    desk.line.now.link.mnp_class = static_cast<std::uint8_t>(c.mnp_class);
    desk.far_end(OH_PUMP_DATA, static_cast<int>(c.compression));
    desk.work();
    EXPECT_EQ(desk.heard(), c.result) << c.settings;
  }
}

// V.250 6.3.1: the semicolon. The modem stays off hook, and another D continues.
TEST(DceDial, ASemicolonDialsAndStaysInTheCommandState) {
  Desk desk;
  desk.say("ATE0X4\r");
  desk.line.now.dialling = true;
  EXPECT_EQ(desk.say("ATDT555;\r"), "");
  EXPECT_EQ(desk.dce.state(), State::kConnecting);
  EXPECT_TRUE(desk.line.config.digits_only);
  EXPECT_TRUE(desk.line.config.plan.need_dial_tone);
  desk.line.now.dialling = false;
  desk.work();
  EXPECT_EQ(desk.heard(), "OK");
  EXPECT_EQ(desk.dce.state(), State::kDialled);
  EXPECT_TRUE(desk.line.off_hook);
  EXPECT_EQ(desk.say("ATS7?\r"), "060OK");
  desk.say("ATD1234\r");
  EXPECT_EQ(desk.dce.state(), State::kConnecting);
  EXPECT_EQ(desk.line.config.digits, "1234");
  EXPECT_FALSE(desk.line.config.digits_only);
  EXPECT_FALSE(desk.line.config.plan.need_dial_tone) << "there is no second dial tone";
  desk.far_end(OH_PUMP_DATA, 3);
  desk.work();
  EXPECT_EQ(desk.dce.state(), State::kOnline);
}

// V.250 6.2.7: busy is detected only under X3 and X4.
TEST(DceDial, BusyEndsACallUnderX3AndX4Alone) {
  for (int x = 0; x <= 4; ++x) {
    Desk desk;
    desk.say("ATE0X" + std::to_string(x) + "\r");
    desk.say("ATD5\r");
    desk.line.now.progress = Progress::kBusy;
    desk.work(1);
    EXPECT_EQ(desk.dce.state(), x >= 3 ? State::kOnHook : State::kConnecting) << x;
    EXPECT_EQ(desk.heard(), x >= 3 ? "BUSY" : "") << x;
  }
}

// V.34's Phase 3 is silent for seconds if this end's echo is low. A far end that has left is silent for longer.
TEST(DceS10, SilenceInARetrainIsNoLostCarrier) {
  for (const char* s10 : {"1", "14", "50"}) {
    Desk desk;
    desk.bring_to(State::kOnline);
    desk.work(1.1);
    desk.say("+++");
    desk.work(1.1);
    desk.say(std::string("ATS10=") + s10 + "O\r");
    desk.far_end(OH_PUMP_TRAINING, 3, -90);
    desk.work(5.5);
    EXPECT_EQ(desk.dce.state(), State::kOnline) << s10;
    desk.far_end(OH_PUMP_DATA, 3);
    desk.work(1);
    desk.far_end(OH_PUMP_TRAINING, 3, -90);
    desk.work(9);
    EXPECT_EQ(desk.dce.state(), State::kOnHook) << s10;
  }
}

TEST(DceS10, LongerThanARetrainItCountsAnd255IsNever) {
  for (const int s10 : {120, 255}) {
    Desk desk;
    desk.say("AT&FE0S10=" + std::to_string(s10) + "\r");
    desk.say("ATD5\r");
    desk.far_end(OH_PUMP_DATA, 3);
    desk.work(0.1);
    desk.far_end(OH_PUMP_TRAINING, 3, -90);
    desk.work(11.5);
    EXPECT_EQ(desk.dce.state(), State::kOnline) << s10;
    desk.work(1);
    EXPECT_EQ(desk.dce.state(), s10 == 255 ? State::kOnline : State::kOnHook) << s10;
  }
}

struct Ending {
  Event event;
  const char* why;
  const char* terminate;
};

// Source of the codes: V.59, Table 17.
TEST(DceLastCall, EveryFailedCallHasAReason) {
  for (const Ending& e :
       {Ending{Event::kNoDialTone, "+WHY: 47,no dial tone", "callTerminate{47}"},
        Ending{Event::kBusy, "+WHY: 51,busy tone", "callTerminate{51}"},
        Ending{Event::kFailed, "+WHY: 61,training failed (the modem could not connect)", "callTerminate{61}"},
        Ending{Event::kTooLong, "+WHY: 44,no connection within S7", "callTerminate{44}"},
        Ending{Event::kIncompatible, "+WHY: 80,error control or compression", "callTerminate{80}"},
        Ending{Event::kCharacter, "+WHY: 90,ended here", "callTerminate{90}"}}) {
    Desk desk;
    EXPECT_EQ(desk.say("ATE0#UD\r"), "ATE0#UDcallProgressResult{0}OK");
    desk.say("AT&FE0+DS=3,1;+WHY=1\r");
    desk.say("ATD5\r");
    const std::string told = desk.happen(e.event);
    EXPECT_NE(told.find(e.why), std::string::npos) << told;
    EXPECT_NE(desk.say("AT#UD\r").find(e.terminate), std::string::npos);
    EXPECT_NE(desk.say("AT&V1\r").find("end: "), std::string::npos);
  }
}

TEST(DceLastCall, KeepsWhatDataModeReachedAndHowItEnded) {
  Desk desk;
  desk.say("AT&FE0\r");
  desk.say("ATD5\r");
  desk.far_end(OH_PUMP_DATA, 3);
  desk.line.now.pump.modulation = OH_MODULATION_V34;
  desk.line.now.pump.tx_bit_rate = 26'400;
  desk.line.now.pump.bits_received = 1;
  desk.line.now.line.snr_db = 34.5;
  desk.line.now.line.round_trip_ms = 40;
  desk.line.now.line.tx_symbol_rate = 24000.f / 7;
  desk.line.now.line.rx_symbol_rate = 3200;
  desk.line.now.link.retransmitted = 7;
  desk.work(2);
  desk.far_end(OH_PUMP_TRAINING, 3);
  desk.line.now.line.snr_db = 12;
  desk.line.now.line.retrains[OH_RETRAIN_LOST] = 1;
  desk.line.now.pump.filled_in = 160;
  desk.line.now.pump.retrains = 1;
  desk.work(1);
  desk.work(0.1);
  desk.far_end(OH_PUMP_DATA, 3);
  desk.line.now.line.snr_db = 33.2f;
  desk.work(1);
  desk.heard();
  desk.line.now.pump.state = OH_PUMP_IDLE;
  desk.work(0.1);
  EXPECT_EQ(desk.heard(), "NO CARRIER");
  const std::string objects = desk.say("AT#UD\r");
  for (const char* object :
       {"callProgressResult{40}", "callTerminate{65}", "txCarrier{V34}", "txDataHistory{26400}", "rxDataHistory{28800}",
        "rxLevelEstimate{-20dBm0}", "retrainRequests{1}", "retrainSuccesses{1}", "duration{00H00M04S}", "caller{TRUE}",
        "txSymbolRate{1}", "rxSymbolRate{3}", "roundTripDelay{40ms}", "framesRetransmitted{7}"})
    EXPECT_NE(objects.find(object), std::string::npos) << object << " in " << objects;
  const std::string facts = desk.say("AT&V1\r");
  EXPECT_NE(facts.find("26400 bit/s sent, 28800 bit/s received"), std::string::npos) << facts;
  for (const char* fact :
       {"the far end cleared down", "symbol rates: 3429 sent, 3200 received", "SNR: 33.2 dB", "round trip: 40 ms",
        "retrains: 1, recovered 1; 1 signal lost", "7 sent again", "samples lost by this host: 160"})
    EXPECT_NE(facts.find(fact), std::string::npos) << fact << " in " << facts;
}

TEST(Dce, BusyToneInsteadOfDataEndsTheCall) {
  Desk desk;
  desk.bring_to(State::kOnline);
  desk.line.now.progress = Progress::kBusy;
  desk.work(1);
  EXPECT_EQ(desk.dce.state(), State::kOnline) << "data are no tone";
  desk.far_end(OH_PUMP_TRAINING, 3);
  desk.work(0.1);
  EXPECT_EQ(desk.heard(), "NO CARRIER");
  EXPECT_EQ(desk.dce.state(), State::kOnHook);
}

TEST(Dce, WhatTheCardCannotHaveIsSaidBesideTheSettings) {
  Desk desk{.not_offered = "V90 (needs 8000 octets/s)"};
  desk.say("ATE0\r");
  EXPECT_EQ(desk.say("AT+MS?\r"), "+MS: V34,1,0,0,0,0not offered: V90 (needs 8000 octets/s)OK");
  EXPECT_EQ(desk.say("AT+ES?\r"), "+ES: 3,0,2OK");
}

/// A serial port with lines to which nobody writes.
struct WiredTerminal final : Terminal {
  std::uint32_t rate() const override { return 115'200; }
  void set_lines(const Lines& now) override { lines = now; }
  void carrier_lost() override {}
  Lines lines;
};

TEST(Dce, APortWithLinesShowsRingAndCarrier) {
  FakeLine line;
  WiredTerminal terminal;
  Dce dce(line, terminal, kCarriers);
  std::int64_t now_ms = 0;
  const auto shown = [&] {
    dce.work(now_ms += 500);
    return terminal.lines;
  };
  EXPECT_EQ(shown(), (Lines{}));
  line.rings = true;
  EXPECT_EQ(shown(), (Lines{.ring = true}));
  line.rings = false;
  EXPECT_EQ(shown(), (Lines{}));
}

TEST(Dce, WhatTheProgramWritesOnlineGoesToTheFarEnd) {
  Desk desk;
  desk.bring_to(State::kOnline);
  desk.say("hello ++ there");
  EXPECT_EQ(desk.line.sent, "hello ++ there");
  desk.say("x");
  EXPECT_EQ(desk.line.sent, "hello ++ therex");
}

// V.250 6.2.12: XON and XOFF of the program are data, are obeyed, or are obeyed and also sent to the far end.
TEST(Dce, FlowControlCharactersAreObeyedWhereTheyAreAskedForAlone) {
  const std::string xon(1, '\x11'), xoff(1, '\x13');
  for (int by_dte = 0; by_dte <= 3; ++by_dte) {
    SCOPED_TRACE(by_dte);
    const bool obeyed = by_dte == 1 || by_dte == 3, passed = by_dte != 1;
    Desk desk;
    desk.say("ATE0+IFC=" + std::to_string(by_dte) + ",0\r");
    desk.say("ATD5\r");
    desk.far_end(OH_PUMP_DATA, 3);
    desk.work();
    ASSERT_EQ(desk.dce.state(), State::kOnline);
    desk.say("a" + xoff + "b");
    EXPECT_EQ(desk.line.sent, passed ? "a" + xoff + "b" : "ab");
    desk.line.incoming = "from afar";
    desk.work(0.1);
    EXPECT_EQ(desk.heard(), obeyed ? "" : "from afar");
    desk.line.sent.clear();
    desk.say(xon);
    EXPECT_EQ(desk.line.sent, passed ? xon : "");
    desk.work(0.1);
    EXPECT_TRUE(desk.line.incoming.empty()) << "the far end is heard again";
  }
}

// V.90 7 and Table 6, whose numbers mean "the functional equivalent": 103 and 104 are bytes from and to the program;
// 106 bytes are accepted, 133 bytes are delivered; 107 CONNECT; 108/2 the program has the terminal open; 109 and 125
// are lines of the port.
TEST(DceCircuits, OfTable6AreWhereTheProgramFindsThem) {
  Desk desk;
  desk.say("ATE0+IFC=1,2\r");
  desk.say("ATD5\r");
  desk.say("");
  desk.far_end(OH_PUMP_DATA, 3);
  desk.work();
  EXPECT_EQ(desk.heard().substr(0, 7), "CONNECT");  // 107 ON
  desk.say("to");
  EXPECT_EQ(desk.line.sent, "to");  // 103
  desk.line.room = 0;
  desk.say("wait");
  EXPECT_EQ(desk.line.sent, "to");  // 106 OFF
  desk.line.room = 1000;
  desk.work(0.03);
  EXPECT_EQ(desk.line.sent, "towait");
  desk.line.incoming = "from";
  desk.work(0.03);
  EXPECT_EQ(desk.heard(), "from");  // 104
  desk.say(std::string(1, '\x13'));
  desk.line.incoming = "later";
  desk.work(0.1);
  EXPECT_EQ(desk.heard(), "");  // 133 OFF
  desk.say(std::string(1, '\x11'));
  desk.work(0.1);
  EXPECT_TRUE(desk.line.incoming.empty());
  EXPECT_TRUE(desk.line.off_hook);
  desk.leave();
  desk.work();
  EXPECT_FALSE(desk.line.off_hook);  // 108/2 OFF
}

/// A terminal at which somebody types.
struct TypedTerminal final : Terminal {
  TypedTerminal() {
    std::array<int, 2> pair{};
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, pair.data()), 0);
    fd_ = pair[0];
    program = pair[1];
  }
  ~TypedTerminal() override {
    close(fd_);
    close(program);
  }
  std::uint32_t rate() const override { return 115'200; }
  void set_lines(const Lines& now) override { lines = now; }
  void carrier_lost() override {}
  Lines lines;
  int program = -1;
};

// "Thresholds and response times are not applicable": 109 is ON in data mode, even for a weak signal.
TEST(DceCircuits, Circuit109HasNoThreshold) {
  for (const float level_dbm0 : {-10.f, -43.f, -70.f}) {
    FakeLine line;
    TypedTerminal terminal;
    Dce dce(line, terminal, kCarriers);
    std::int64_t now_ms = 1'000'000;
    ASSERT_EQ(write(terminal.program, "ATD5\r", 5), 5);
    for (int k = 0; k < 50; ++k) dce.work(now_ms += 20);
    ASSERT_EQ(dce.state(), State::kConnecting);
    EXPECT_FALSE(terminal.lines.carrier);
    line.now.pump.state = OH_PUMP_DATA;
    line.now.pump.rx_bit_rate = 50'666;
    line.now.pump.rx_level_dbm0 = level_dbm0;
    line.now.link.state = OH_LAPM_CONNECTED;
    for (int k = 0; k < 500; ++k) dce.work(now_ms += 20);
    EXPECT_EQ(dce.state(), State::kOnline);
    EXPECT_TRUE(terminal.lines.carrier);
    line.now.pump.state = OH_PUMP_FAILED;
    dce.work(now_ms += 20);
    EXPECT_FALSE(terminal.lines.carrier);
  }
}

}  // namespace
}  // namespace offhook::modem
