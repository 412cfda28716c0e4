// SPDX-License-Identifier: MIT
// The dialogues of programs that fax in class 1: two modems with their terminals, and the line between them.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <spandsp.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <vector>

#include "driver/tty/dce.h"
#include "tests/unit/driver/tty/two_places.h"

namespace offhook::modem {
namespace {

const std::string kEnd = "\x10\x03", kLast = "\xFF\x13", kMore = "\xFF\x03";

std::string checked(std::string frame) {
  std::vector<std::uint8_t> octets(frame.begin(), frame.end());
  octets.resize(frame.size() + 2);
  crc_itu16_append(octets.data(), static_cast<int>(frame.size()));
  return {octets.begin(), octets.end()};
}

struct Line : TwoPlaces {
  using TwoPlaces::TwoPlaces;
  /// Connects, sends the last frame, and checks it at the other end.
  void settle() {
    connect();
    EXPECT_EQ(after(b, kLast + "\x80" + kEnd, 1.5), "\r\nOK\r\n");
    EXPECT_EQ(a.heard(), checked(kLast + "\x80") + kEnd + "\r\nOK\r\n");
  }
};

TEST(DceFax, AWholeCallOfFramesAndAPage) {
  Line l;
  l.connect();
  EXPECT_EQ(l.after(l.b, kMore + "\x40" + "1" + kEnd, 0.1), "\r\nCONNECT\r\n");
  EXPECT_EQ(l.after(l.b, kLast + "\x80" + "2" + kEnd, 2), "\r\nOK\r\n");
  EXPECT_EQ(l.a.heard(), checked(kMore + "\x40" + "1") + kEnd + "\r\nOK\r\n");
  EXPECT_EQ(l.after(l.a, "AT+FRH=3\r", 0.1), "\r\nCONNECT\r\n" + checked(kLast + "\x80" + "2") + kEnd + "\r\nOK\r\n");
  l.b.say("AT+FRM=96\r");
  EXPECT_EQ(l.after(l.a, "AT+FTS=8\r", 0.15), "\r\nOK\r\n");
  EXPECT_EQ(l.after(l.a, "AT+FTM=96\r", 0.05), "\r\nCONNECT\r\n");
  l.a.say(std::string(1000, '\0') + kEnd);
  l.run(3);
  EXPECT_EQ(l.a.heard(), "\r\nOK\r\n");
  const std::string page = l.b.heard();
  EXPECT_TRUE(page.starts_with("\r\nCONNECT\r\n"));
  EXPECT_NE(page.find(std::string(999, '\0')), std::string::npos);
  EXPECT_TRUE(page.ends_with(kEnd + "\r\nNO CARRIER\r\n"));
  EXPECT_EQ(l.b.dce.state(), State::kFax) << "of the page's carrier, not of the call's";
  EXPECT_EQ(l.after(l.a, "AT+FRS=1\r", 0.1), "\r\nOK\r\n");
  EXPECT_EQ(l.after(l.a, "ATH\r", 0.1), "\r\nOK\r\n");
  EXPECT_EQ(l.a.dce.state(), State::kOnHook);
  EXPECT_FALSE(l.a.line.call);
}

TEST(DceFax, OperationsNeedACallOfClass1) {
  Line l;
  for (const char* order : {"AT+FTH=3\r", "AT+FRH=3\r", "AT+FTM=96\r", "AT+FRM=96\r", "AT+FTS=1\r", "AT+FRS=1\r"})
    EXPECT_EQ(l.after(l.a, order, 0.05), "\r\nERROR\r\n");
  EXPECT_EQ(l.after(l.a, "AT+FCLASS=0\r", 0.05), "\r\nOK\r\n");
  l.a.say("ATDT5\r");
  l.run(0.5);
  EXPECT_EQ(l.a.line.pump, &kNoPump) << "a data call";
}

TEST(DceFax, ReceptionEndsByACharacterButNotByALineFeedAndByS7) {
  Line l;
  l.settle();
  EXPECT_EQ(l.after(l.a, "AT+FRM=96\r\n", 0.1), "");
  EXPECT_EQ(l.after(l.a, "\r\n", 0.1), "");
  EXPECT_EQ(l.after(l.a, "\x18", 0.05), "\r\nOK\r\n");
  EXPECT_EQ(l.after(l.a, "ATS7=2+FRH=3\r", 1.9), "");
  EXPECT_EQ(l.after(l.a, "", 0.2), "\r\nNO CARRIER\r\n");
  EXPECT_EQ(l.a.dce.state(), State::kFax) << "off hook";
}

TEST(DceFax, FramesInThePlaceOfAPageAreFcerror) {
  Line l;
  l.settle();
  l.a.say("AT+FRM=145\r");
  l.run(0.1);
  EXPECT_EQ(l.after(l.b, "AT+FTH=3\r", 0.1), "\r\nCONNECT\r\n");
  EXPECT_EQ(l.after(l.b, kLast + "\x42" + kEnd, 0.9), "");
  EXPECT_EQ(l.a.heard(), "\r\n+FCERROR\r\n");
  EXPECT_EQ(l.after(l.a, "AT+FRH=3\r", 1), "\r\nCONNECT\r\n" + checked(kLast + "\x42") + kEnd + "\r\nOK\r\n");
}

TEST(DceFax, WithFarFramesInThePlaceOfAPageAreReceived) {
  Line l;
  l.settle();
  EXPECT_EQ(l.after(l.a, "AT+FAR=?;+FAR=1;+FAR?\r", 0.1), "\r\n0,1\r\n\r\n1\r\n\r\nOK\r\n");
  l.a.say("AT+FRM=145\r");
  l.run(0.1);
  EXPECT_EQ(l.after(l.b, "AT+FTH=3\r", 0.1), "\r\nCONNECT\r\n");
  l.after(l.b, kLast + "\x42" + kEnd, 2);
  EXPECT_EQ(l.a.heard(), "\r\n+FRH:3\r\n\r\nCONNECT\r\n" + checked(kLast + "\x42") + kEnd + "\r\nOK\r\n");
}

TEST(DceFax, XoffStopsWhatTheProgramIsGivenAndIsNoCharacterThatAborts) {
  Line l;
  l.settle();
  l.a.say("AT+IFC=1,1\r");
  l.run(0.1);
  l.a.heard();
  EXPECT_EQ(l.after(l.a, "AT+FRH=3\r", 0.1), "");
  EXPECT_EQ(l.after(l.b, "AT+FTH=3\r", 0.1), "\r\nCONNECT\r\n");
  EXPECT_EQ(l.after(l.a, "\x13", 0.1), "");
  l.after(l.b, kLast + "\x42" + kEnd, 2);
  EXPECT_EQ(l.a.heard(), "");
  EXPECT_EQ(l.after(l.a, "\x11", 0.1), "\r\nCONNECT\r\n" + checked(kLast + "\x42") + kEnd + "\r\nOK\r\n");
}

// The control octet of a last frame is 0x13.
TEST(DceFax, XonAndXoffAmongDataAreOctets) {
  Line l;
  l.settle();
  l.a.say("AT+IFC=1,1\r");
  l.b.say("AT+IFC=1,1\r");
  l.run(0.1);
  l.a.heard();
  l.b.heard();
  l.b.say("AT+FRH=3\r");
  EXPECT_EQ(l.after(l.a, "AT+FTH=3\r", 0.1), "\r\nCONNECT\r\n");
  EXPECT_EQ(l.after(l.a, kLast + "\x11\x13" + kEnd, 3), "\r\nOK\r\n");
  EXPECT_EQ(l.b.heard(), "\r\nCONNECT\r\n" + checked(kLast + "\x11\x13") + kEnd + "\r\nOK\r\n");
}

TEST(DceFax, XoffStopsAProgramThatSendsFasterThanTheLine) {
  Line l;
  l.settle();
  l.a.say("AT+IFC=1,1\r");
  l.run(0.1);
  l.a.heard();
  EXPECT_EQ(l.after(l.a, "AT+FTM=24\r", 0.1), "\r\nCONNECT\r\n");
  EXPECT_EQ(l.after(l.a, std::string(1900, 'x'), 0.5), "\x13");
  EXPECT_EQ(l.after(l.a, "", 8), "\x11");
  EXPECT_EQ(l.after(l.a, kEnd, 0.5), "\r\nOK\r\n");
}

TEST(DceFax, AProgramThatStopsInAFrameGetsAnErrorAndMayGoOn) {
  Line l;
  l.settle();
  EXPECT_EQ(l.after(l.a, "AT+FTH=3\r", 0.1), "\r\nCONNECT\r\n");
  EXPECT_EQ(l.after(l.a, kMore + "half", 7), "\r\nERROR\r\n");
  EXPECT_EQ(l.after(l.a, "AT+FTH=3\r", 0.1), "\r\nCONNECT\r\n");
  EXPECT_EQ(l.after(l.a, kLast + "\x5F" + kEnd, 2), "\r\nOK\r\n");
}

TEST(DceFax, ALineThatEndsTheCallEndsTheOperation) {
  Line l;
  l.settle();
  EXPECT_EQ(l.after(l.a, "AT+FTM=96\r", 0.1), "\r\nCONNECT\r\n");
  l.a.say(std::string(300, 'x'));
  l.a.line.failure = "the far end hung up";
  l.run(0.05);
  EXPECT_EQ(l.a.heard(), "\r\nNO CARRIER\r\n");
  EXPECT_EQ(l.a.dce.state(), State::kOnHook);
  EXPECT_FALSE(l.a.line.call);
}

TEST(DceFax, AProgramThatClosesItsTerminalHangsUp) {
  Line l;
  l.settle();
  EXPECT_EQ(l.after(l.a, "AT+FTM=96\r", 0.1), "\r\nCONNECT\r\n");
  close(std::exchange(l.a.program, -1));
  l.run(0.05);
  EXPECT_EQ(l.a.dce.state(), State::kOnHook);
}

TEST(DceFax, AnAdaptiveAnswererFindsACallingFaxMachine) {
  for (const int service : {0, 1}) {
    Line l(kDataCarriers);
    l.after(l.b, "AT+FCLASS=" + std::to_string(service) + ";+FAE=1\r", 0.1);
    l.a.say("ATDT5\r");
    l.run(1.5);
    EXPECT_EQ(l.after(l.b, "ATA\r", 10), "\r\nFAX\r\n\r\nCONNECT\r\n");
    EXPECT_EQ(l.a.heard(), "\r\nCONNECT\r\n");
    EXPECT_EQ(l.after(l.b, kLast + "\x80" + kEnd, 1.5), "\r\nOK\r\n");
    EXPECT_EQ(l.a.heard(), checked(kLast + "\x80") + kEnd + "\r\nOK\r\n");
    EXPECT_EQ(l.after(l.b, "AT+FCLASS?\r", 0.1), "\r\n1\r\n\r\nOK\r\n");
  }
}

TEST(DceFax, AnAdaptiveAnswererFindsACallingDataModem) {
  for (const int service : {0, 1}) {
    Line l(kDataCarriers);
    l.after(l.a, "AT+FCLASS=0;+ES=0\r", 0.1);
    l.after(l.b, "AT+ES=0,,0;+FCLASS=" + std::to_string(service) + ";+FAE=1\r", 0.1);
    l.a.say("ATDT5\r");
    l.run(1.5);
    const std::string data = service == 1 ? "\r\nDATA\r\n" : "";
    EXPECT_EQ(l.after(l.b, "ATA\r", 12), data + "\r\nCONNECT 2400\r\n");
    EXPECT_EQ(l.a.heard(), "\r\nCONNECT 2400\r\n");
    EXPECT_EQ(l.after(l.a, "over the line", 1), "");
    EXPECT_EQ(l.b.heard(), "over the line");
  }
}

TEST(DceFax, ACallMayGetItsPumpOnlyWhenItIsAnswered) {
  Line l;
  l.a.line.answered = false;
  l.a.say("ATD5\r");
  l.run(3);
  EXPECT_EQ(l.a.heard(), "");
  l.a.line.answered = true;
  l.b.say("ATA\r");
  l.run(6);
  EXPECT_EQ(l.a.heard(), "\r\nCONNECT\r\n");
}

/// The least significant bit first: an EOL, 100 lines of one code word, and RTC.
std::string coded_page() {
  std::string bits = "000000000001";
  for (int k = 0; k < 100; ++k)
    bits +=
        "00110101"
        "000000000001";  // white run of 0
  for (int k = 0; k < 5; ++k) bits += "000000000001";
  bits.resize((bits.size() + 7) / 8 * 8, '0');
  std::string octets;
  for (std::size_t i = 0; i < bits.size(); i += 8) {
    int octet = 0;
    for (std::size_t k = 0; k < 8; ++k) octet |= (bits[i + k] - '0') << k;
    octets += static_cast<char>(octet);
  }
  return octets;
}

TEST(DceFax, Class2SendsAndReceivesAPageAndEndsTheCall) {
  Line l;
  for (Place* p : {&l.a, &l.b})
    EXPECT_EQ(l.after(*p, "AT+FCLASS=2.0;+FNR=1,1,1,0;+FCC=1,3,0,2,0,0,0,0;+FLI=\"5551234\";+FBO=0\r", 0.1),
              "\r\nOK\r\n");
  EXPECT_EQ(l.after(l.a, "AT+FDT\r", 0.1), "\r\nERROR\r\n") << "no call";
  l.a.say("ATDT5\r");
  l.run(1.5);
  l.b.say("ATA\r");
  for (int k = 0; k < 100 && l.a.dce.state() != State::kFax; ++k) l.run(0.1);
  EXPECT_EQ(l.a.heard(), "\r\n+FCO\r\n\r\n+FCI:\"5551234\"\r\n\r\n+FIS:1,3,0,2,0,0,0,0\r\n\r\nOK\r\n");
  EXPECT_EQ(l.after(l.a, "AT+FRH=3\r", 0.1), "\r\nERROR\r\n") << "of class 1";
  l.a.say("AT+FDT\r");
  l.run(8);
  EXPECT_EQ(l.a.heard(), "\r\n+FCS:1,3,0,2,0,0,0,0\r\n\r\nCONNECT\r\n");
  EXPECT_EQ(l.b.heard(), "\r\n+FCO\r\n\r\n+FTI:\"5551234\"\r\n\r\n+FCS:1,3,0,2,0,0,0,0\r\n\r\nOK\r\n");
  l.b.say("AT+FDR\r");
  const std::string page = coded_page();
  l.a.say(page + "\x10.");
  l.run(6);
  const std::string got = l.b.heard();
  EXPECT_TRUE(got.starts_with("\r\nCONNECT\r\n"));
  EXPECT_NE(got.find(page), std::string::npos);
  EXPECT_TRUE(got.ends_with(kEnd + "\r\n+FPS:1\r\n\r\n+FET:2\r\n\r\nOK\r\n")) << got;
  EXPECT_EQ(l.after(l.b, "AT+FPS=1\r", 0.05), "\r\nOK\r\n");
  l.b.say("AT+FDR\r");
  l.run(5);
  EXPECT_EQ(l.a.heard(), "\r\n+FHS:00\r\n\r\nOK\r\n");
  EXPECT_EQ(l.b.heard(), "\r\n+FHS:00\r\n\r\nOK\r\n");
  for (const Place* p : {&l.a, &l.b}) EXPECT_EQ(p->dce.last_call().why(), OH_CALL_END_CLEARED_DOWN);
  EXPECT_EQ(l.a.dce.state(), State::kOnHook);
  EXPECT_EQ(l.b.dce.state(), State::kOnHook);
}

TEST(DceFax, ACallOfClass2WithoutAFaxMachineFailsWithAReason) {
  Line l;
  EXPECT_EQ(l.after(l.b, "AT+FCLASS=2.0;+WHY=1\r", 0.1), "\r\nOK\r\n");
  l.b.say("ATA\r");
  l.run(45);
  const std::string said = l.b.heard();
  EXPECT_TRUE(said.starts_with("\r\n+FHS:11\r\n\r\nOK\r\n")) << said;
  EXPECT_NE(said.find("no fax machine for 35 s"), std::string::npos) << said;
  EXPECT_EQ(l.b.dce.last_call().why(), OH_CALL_END_SET_UP_TIME_OUT);
  EXPECT_EQ(l.b.dce.failed_calls(), 1u);
}

TEST(DceFax, Class2EndsASessionByFkAndItsServiceIsNamed) {
  Line l;
  EXPECT_EQ(l.after(l.a, "AT+FCLASS=?\r", 0.1), "\r\n0,1,2.0\r\n\r\nOK\r\n");
  EXPECT_EQ(l.after(l.a, "AT+FCLASS=2\r", 0.1), "\r\nERROR\r\n") << "class 2 is another one";
  EXPECT_EQ(l.after(l.a, "AT+FCLASS=2.0\r", 0.1), "\r\nOK\r\n");
  EXPECT_EQ(l.after(l.a, "AT+FCLASS?\r", 0.1), "\r\n2.0\r\n\r\nOK\r\n");
  EXPECT_EQ(l.after(l.a, "AT+FK\r", 0.1), "\r\nERROR\r\n") << "no session";
  l.b.say("AT+FCLASS=2.0\r");
  l.a.say("ATDT5\r");
  l.run(1.5);
  l.b.say("ATA\r");
  for (int k = 0; k < 100 && l.a.dce.state() != State::kFax; ++k) l.run(0.1);
  l.a.heard();
  l.a.say("AT+FK\r");
  l.run(3);
  EXPECT_EQ(l.a.heard(), "\r\n+FHS:02\r\n\r\nOK\r\n");
  EXPECT_EQ(l.a.dce.state(), State::kOnHook);
  EXPECT_EQ(l.a.dce.last_call().why(), OH_CALL_END_USER);
}

}  // namespace
}  // namespace offhook::modem
