// SPDX-License-Identifier: MIT
//
// Calls that fail, each in its own way: the real terminal, the real modem and, at the other end of the line, an
// exchange or another modem. What the program reads has to tell a technician what to look for.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cmath>
#include <functional>
#include <memory>
#include <numbers>
#include <random>
#include <string>
#include <utility>

#include "driver/tty/dce.h"
#include "driver/user_modem/modulations.h"

namespace offhook::modem {
namespace {

constexpr std::size_t kBlock = 80;  // 10 ms
using Block = std::array<std::int16_t, kBlock>;
/// Answers a block at the other end of the line. @param off_hook  whether the near end is
using FarEnd = std::function<Block(const Block& heard, bool off_hook)>;

/// The line of a call without threads; each block is processed by hand.
class Wire final : public CallLine {
 public:
  bool ringing() const override { return false; }
  void begin_call(const CallConfig& config) override {
    call_ = std::make_unique<Call>(config, kLinear8000, kBlock, nullptr, nullptr);
  }
  void end_call() override { call_.reset(); }
  void note_end(oh_call_end why) override { noted = why; }
  void hold(oh_hold_order order) override { call_->hold(order); }
  CallStatus status() const override { return call_ ? call_->status() : CallStatus{}; }
  std::size_t write(const std::uint8_t* bytes, std::size_t n) override { return call_ ? call_->write(bytes, n) : 0; }
  std::size_t read(std::uint8_t* bytes, std::size_t n) override { return call_ ? call_->read(bytes, n) : 0; }
  std::size_t writable() const override { return call_ ? call_->writable() : 0; }
  void pass(const FarEnd& far) {
    Block tx{};
    const Block heard = far(from_near_, call_ != nullptr);
    if (call_) call_->process(heard.data(), tx.data(), kBlock);
    from_near_ = tx;
  }
  oh_call_end noted = OH_CALL_END_UNIDENTIFIED;

 private:
  std::unique_ptr<Call> call_;
  Block from_near_{};
};

/// Tones with a cadence, -13 dBm0 each.
FarEnd tones(std::vector<double> hz, double on_s, double off_s) {
  return [hz = std::move(hz), on_s, off_s, n = 0](const Block&, bool) mutable {
    Block x{};
    for (auto& sample : x) {
      const double t = n++ / 8000.;
      if (std::fmod(t, on_s + off_s) >= on_s) continue;
      double v = 0;
      for (const double f : hz) v += 5100 * std::sin(2 * std::numbers::pi * f * t);
      sample = static_cast<std::int16_t>(v);
    }
    return x;
  };
}

FarEnd silence() {
  return [](const Block&, bool) { return Block{}; };
}

CallConfig answerer(oh_modulation modulation) {
  CallConfig config{.pump = modulation_of(modulation).type(), .role = OH_PUMP_ANSWER};
  config.link.error_control = OH_ERROR_CONTROL_OPTIONAL;
  return config;
}
/// A modem that answers by V.8 with only this modulation.
CallConfig answers_by_v8(oh_modulation modulation) {
  CallConfig config = answerer(modulation);
  config.pump = kModulations.back().type();
  config.modulations = modulation;
  return config;
}

/// A modem that goes off hook after the digits, and the changes that a test makes to its line.
struct FarModem {
  explicit FarModem(const CallConfig& config)
      : call(std::make_shared<Call>(config, kLinear8000, kBlock, nullptr, nullptr)) {}
  FarEnd end() {
    return [this](const Block& heard, bool off_hook) {
      Block tx{};
      if (off_hook) call->process(heard.data(), tx.data(), kBlock);
      for (auto& sample : tx) sample = static_cast<std::int16_t>(gain * sample + noise * normal(random));
      return tx;
    };
  }
  std::shared_ptr<Call> call;
  double gain = 0.5, noise = 5;
  std::mt19937 random{1};
  std::normal_distribution<double> normal{0, 1};
};

/// The program at its terminal.
struct Office {
  ~Office() { leave(); }
  void leave() {
    if (program >= 0) close(program);
    program = -1;
  }
  void open_again() { program = open(terminal.device().c_str(), O_RDWR | O_NOCTTY | O_NONBLOCK); }
  std::string heard() {
    std::string text;
    std::array<char, 2048> bytes;
    for (ssize_t n; (n = read(program, bytes.data(), bytes.size())) > 0;)
      text.append(bytes.data(), static_cast<std::size_t>(n));
    return text;
  }
  void pass(const FarEnd& far) {
    wire.pass(far);
    dce.work(now_ms += 10);
  }
  std::string command(const std::string& text) {
    heard();
    EXPECT_EQ(write(program, text.data(), text.size()), static_cast<ssize_t>(text.size()));
    for (int k = 0; k < 3; ++k) dce.work(now_ms += 10);
    return heard();
  }
  /// Dials, and waits for a final result. @return everything that the program read
  std::string call(const std::string& settings, const FarEnd& far, double most_s) {
    command("ATE0+WHY=1;" + settings + "\r");
    std::string text = command("ATD5\r");
    return text + wait(far, most_s);
  }
  std::string wait(const FarEnd& far, double most_s) {
    std::string text;
    for (double t = 0; t < most_s; t += 0.01) {
      pass(far);
      text += heard();
      if (text.find("+WHY: ") != std::string::npos || text.find("CONNECT") != std::string::npos) break;
    }
    return text;
  }
  template <class Condition>
  bool until(Condition condition, const FarEnd& far, double most_s) {
    for (double t = 0; t < most_s && !condition(); t += 0.01) pass(far);
    return condition();
  }

  Wire wire;
  PseudoTerminal terminal{""};
  Dce dce{wire, terminal, kModulations};
  int program = open(terminal.device().c_str(), O_RDWR | O_NOCTTY | O_NONBLOCK);
  std::int64_t now_ms = 1'000'000;
};

void expect_all(const std::string& text, std::initializer_list<const char*> parts) {
  for (const char* part : parts) EXPECT_NE(text.find(part), std::string::npos) << part << "\nin " << text;
}

TEST(FailedCalls, NoDialTone) {
  Office office;
  const std::string told = office.call("X4", silence(), 20);
  expect_all(told, {"NO DIALTONE", "+WHY: 47,no dial tone: check the line; X3 dials without; reached: dialling"});
  expect_all(office.command("AT#UD\r"), {"callProgressResult{1}", "callTerminate{47}", "cm{NULL}"});
  EXPECT_EQ(office.wire.noted, OH_CALL_END_NO_DIAL_TONE);
}

TEST(FailedCalls, BusyTone) {
  Office office;
  const std::string told = office.call("X3", tones({480, 620}, 0.5, 0.5), 20);
  expect_all(told, {"BUSY", "+WHY: 51,busy tone; reached: dialled"});
  expect_all(office.command("AT#UD\r"), {"callProgressResult{4}", "callTerminate{51}"});
}

TEST(FailedCalls, ItRingsAndNobodyAnswers) {
  Office office;
  const std::string told = office.call("X3S7=20", tones({440, 480}, 2, 4), 40);
  expect_all(told, {"NO CARRIER", "+WHY: 44,no connection within S7: 20 s; reached: ringback heard"});
  EXPECT_EQ(told.find("offered"), std::string::npos) << told;
}

TEST(FailedCalls, SomebodyAnswersWithoutAnAnswerTone) {
  Office office;
  const std::string told = office.call("X3S7=15", silence(), 40);
  expect_all(told, {"NO CARRIER", "+WHY: 44,no connection within S7: 15 s; reached: dialled, nothing recognised"});
}

TEST(FailedCalls, AnAnswerToneWithoutAModemBehindIt) {
  Office office;
  const std::string told = office.call("X3S7=15", tones({2100}, 100, 1), 40);
  expect_all(told, {"NO CARRIER", "+WHY: 44,", "reached: modem heard; no tone AA or AC of the far end"});
  expect_all(office.command("AT#UD\r"), {"callProgressResult{6}", "v8ResultCode{2}"});
}

TEST(FailedCalls, NoModulationInCommon) {
  Office office;
  FarModem far(answers_by_v8(OH_MODULATION_V22BIS));
  const std::string told = office.call("X3+MS=V34,0", far.end(), 40);
  expect_all(told, {"NO CARRIER", "+WHY: 62,no modulation in common", "offered: CM V.34, JM no modulation"});
  expect_all(office.command("AT#UD\r"), {"callTerminate{62}", "v8ResultCode{1}", "callProgressResult{7}", "cm{C1;45"});
  expect_all(office.command("AT&V1\r"), {"offered: CM V.34; JM no modulation"});
}

// The far end becomes silent in the middle of Phase 2 or 3.
TEST(FailedCalls, TrainingFailsInAPhaseThatIsNamed) {
  struct Case {
    std::uint32_t at;  // silent from here on
    const char* missing;
  };
  for (const Case& c :
       {Case{OH_START_UP_MENUS, "Phase 2: no INFO0"},
        Case{OH_START_UP_PROBING, "Phase 2: INFO0 was received, but line probing did not end"},
        Case{OH_START_UP_FAR_TRAINING, "Phase 3: S was received, but the far end's training was not"}}) {
    SCOPED_TRACE(c.missing);
    Office office;
    FarModem far(answers_by_v8(OH_MODULATION_V34));
    const FarEnd end = far.end();
    const std::string told = office.call(
        "X3+MS=V34,0",
        [&](const Block& heard, bool off_hook) {
          const oh_modem_end_line line = office.wire.status().line;
          if (line.start_up >= c.at && line.sequence_octets[OH_SEQUENCE_JM] > 0) far.gain = 0;
          return end(heard, off_hook);
        },
        100);
    expect_all(told, {"NO CARRIER", c.missing, "CM V.34, JM V.34"});
    EXPECT_TRUE(told.find("+WHY: 61,") != std::string::npos || told.find("+WHY: 44,") != std::string::npos) << told;
    const bool info0 = c.at > OH_START_UP_INFO0;
    EXPECT_EQ(office.command("AT#UD\r").find("iNFO0Rx{NULL}") == std::string::npos, info0);
    if (info0) expect_all(told, {"INFO0 received 2400 2743 2800 3000 3200 3429 symbols/s, 1664 points"});
  }
}

TEST(FailedCalls, TheRateIsBelowTheLeastOfMs) {
  Office office;
  CallConfig config = answers_by_v8(OH_MODULATION_V34);
  config.max_bit_rate = 9600;
  FarModem far(config);
  const std::string told = office.call("X3+MS=V34,0,14400", far.end(), 60);
  expect_all(told, {"NO CARRIER", "+WHY: 61,training failed", "the negotiated rate is below the configured minimum"});
}

TEST(FailedCalls, V42IsRequiredAndTheFarEndHasNone) {
  Office office;
  CallConfig config = answerer(OH_MODULATION_V22BIS);
  config.link.error_control = OH_ERROR_CONTROL_NONE;
  FarModem far(config);
  const std::string told = office.call("X3+MS=V22B,0;\\N4", far.end(), 60);
  expect_all(told, {"NO CARRIER", "+WHY: 80,", "found no V.42 at the other end", "reached: data"});
}

TEST(FailedCalls, TheFarEndVanishes) {
  Office office;
  FarModem far(answerer(OH_MODULATION_V22BIS));
  ASSERT_NE(office.call("X3+MS=V22B,0", far.end(), 60).find("CONNECT"), std::string::npos);
  far.gain = 0;
  const std::string told = office.wait(far.end(), 40);
  expect_all(told, {"NO CARRIER", "+WHY: 60,the carrier was lost", "reached: data"});
}

TEST(FailedCalls, TheFarEndClearsDown) {
  Office office;
  FarModem far(answerer(OH_MODULATION_V22BIS));
  ASSERT_NE(office.call("X3+MS=V22B,0", far.end(), 60).find("CONNECT"), std::string::npos);
  far.call->release();
  const std::string told = office.wait(far.end(), 20);
  expect_all(told, {"NO CARRIER", "+WHY: 65,the far end cleared down", "reached: data"});
}

// A line that became noise: a signal is received, but cannot be trained on.
TEST(FailedCalls, ARetrainDoesNotEnd) {
  Office office;
  FarModem far(answers_by_v8(OH_MODULATION_V32BIS));
  ASSERT_NE(office.call("X3+MS=V32B,0", far.end(), 60).find("CONNECT"), std::string::npos);
  far.gain = 0;
  far.noise = 3000;
  const std::string told = office.wait(far.end(), 60);
  expect_all(told, {"NO CARRIER", "+WHY: 63,a retrain failed", "reached: data"});
  expect_all(office.command("AT&V1\r"), {"retrains: ", "signal lost"});
}

TEST(FailedCalls, TheProgramClosesTheTerminal) {
  Office office;
  FarModem far(answerer(OH_MODULATION_V22BIS));
  ASSERT_NE(office.call("X3&D2+MS=V22B,0", far.end(), 60).find("CONNECT"), std::string::npos);
  office.leave();
  EXPECT_TRUE(office.until([&] { return office.dce.state() == Dce::State::kOnHook; }, far.end(), 5));
  EXPECT_EQ(office.wire.noted, OH_CALL_END_DTR_OFF);
  office.open_again();
  expect_all(office.command("AT&V1\r"), {"end: 32,the program closed the terminal"});
}

}  // namespace
}  // namespace offhook::modem
