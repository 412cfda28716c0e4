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
#include "tests/unit/driver/tty/desk.h"

namespace offhook::modem {
namespace {

constexpr std::size_t kBlock = 80;  // 10 ms
const std::string kEnd = "\x10\x03", kLast = "\xFF\x13", kMore = "\xFF\x03";

std::string checked(std::string frame) {
  std::vector<std::uint8_t> octets(frame.begin(), frame.end());
  octets.resize(frame.size() + 2);
  crc_itu16_append(octets.data(), static_cast<int>(frame.size()));
  return {octets.begin(), octets.end()};
}

/// A line whose call runs without threads.
struct Wire final : CallLine {
  bool ringing() const override { return false; }
  bool can_fax() const override { return true; }
  void* fax_pump() override { return call && answered ? call->fax_pump() : nullptr; }
  void begin_call(const CallConfig& config) override {
    pump = config.pump;
    if (pump != &kNoPump) call = std::make_unique<Call>(config, kLinear8000, 0, nullptr, nullptr);
  }
  void end_call() override { call.reset(); }
  void hold(oh_hold_order order) override { call->hold(order); }
  CallStatus status() const override {
    CallStatus now = call ? call->status() : CallStatus{};
    now.line_failure = failure;
    return now;
  }
  std::size_t write(const std::uint8_t* bytes, std::size_t n) override { return call ? call->write(bytes, n) : 0; }
  std::size_t read(std::uint8_t* bytes, std::size_t n) override { return call ? call->read(bytes, n) : 0; }
  std::size_t writable() const override { return call ? call->writable() : 0; }

  const oh_pump_type* pump = nullptr;
  std::unique_ptr<Call> call;
  bool answered = true;  // else as by SIP: the pump is not on the line yet
  std::string failure;
  std::array<std::int16_t, kBlock> tx{};
};

constexpr Modulation v22bis() {
  Modulation v22bis = row(OH_MODULATION_V22BIS, "V22B");
  v22bis.type = oh_v22bis_type;
  return v22bis;
}
constexpr Modulation kDataCarriers[] = {v22bis(), v22bis()};

/// A modem and its program.
struct Place {
  explicit Place(Carriers carriers) : dce(line, terminal, carriers) {}
  ~Place() { close(program); }
  std::string heard() {
    std::array<char, 512> bytes;
    std::string text;
    for (ssize_t n; (n = read(program, bytes.data(), bytes.size())) > 0;)
      text.append(bytes.data(), static_cast<std::size_t>(n));
    return text;
  }
  void say(const std::string& text) {
    ASSERT_EQ(write(program, text.data(), text.size()), static_cast<ssize_t>(text.size()));
  }
  Wire line;
  PseudoTerminal terminal{""};
  Dce dce;
  int program = open(terminal.device().c_str(), O_RDWR | O_NOCTTY | O_NONBLOCK);
};

struct Line {
  explicit Line(Carriers carriers = kCarriers) : a(carriers), b(carriers) {
    for (Place* p : {&a, &b}) p->say("AT&FE0X3S6=1+FCLASS=1\r");
    run(0.1);
    EXPECT_TRUE(a.heard().ends_with("\r\nOK\r\n"));
    EXPECT_TRUE(b.heard().ends_with("\r\nOK\r\n"));
  }
  void run(double seconds) {
    for (double t = 0; t < seconds - 0.005; t += 0.01) {
      const auto to_a = b.line.tx, to_b = a.line.tx;
      pass(a, to_a);
      pass(b, to_b);
      now_ms += 10;
      a.dce.work(now_ms);
      b.dce.work(now_ms);
    }
  }
  static void pass(Place& p, const std::array<std::int16_t, kBlock>& rx) {
    p.line.tx = {};
    if (p.line.call) p.line.call->process(rx.data(), p.line.tx.data(), kBlock);
  }
  std::string after(Place& p, const std::string& text, double seconds) {
    p.say(text);
    run(seconds);
    return p.heard();
  }
  /// Both ends have CONNECT: the calling one hears flags, the answering one sends them.
  void connect() {
    a.say("ATDT5\r");
    run(1.5);
    EXPECT_EQ(after(b, "ATA\r", 6), "\r\nCONNECT\r\n");
    EXPECT_EQ(a.heard(), "\r\nCONNECT\r\n");
  }
  /// And neither has an operation.
  void settle() {
    connect();
    EXPECT_EQ(after(b, kLast + "\x80" + kEnd, 1.5), "\r\nOK\r\n");
    EXPECT_EQ(a.heard(), checked(kLast + "\x80") + kEnd + "\r\nOK\r\n");
  }
  Place a, b;
  std::int64_t now_ms = 1'000'000;
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

}  // namespace
}  // namespace offhook::modem
