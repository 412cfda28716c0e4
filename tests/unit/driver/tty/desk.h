// SPDX-License-Identifier: MIT
//
// A DCE, a line behind it that does what a test says, and the program before it.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <stdexcept>
#include <string>
#include <vector>

#include "driver/tty/dce.h"

namespace offhook::modem {

using State = Dce::State;
using Event = Dce::Event;

inline constexpr oh_pump_type kNoPump{};
constexpr Modulation row(oh_modulation id, const char* carrier) {
  return {.id = id,
          .name = carrier,
          .title = carrier,
          .carrier = carrier,
          .v8 = {},
          .min_bit_rate = 0,
          .max_bit_rate = 0,
          .v42_window = 64,
          .alone = false,
          .mark_hz = 0,
          .type = [] { return &kNoPump; },
          .begin = nullptr};
}
inline constexpr Modulation kCarriers[] = {row(OH_MODULATION_V34, "V34"), row(OH_MODULATION_NONE, "")};

struct FakeLine final : CallLine {
  bool can_fax() const override { return true; }
  void* fax_pump() override { return fax.get(); }
  bool ringing() const override { return rings; }
  Caller caller() const override { return who; }
  void begin_call(const CallConfig& call) override {
    if (refuses) throw std::invalid_argument("");
    config = call;
    fax = call.pump == fax::pump_type() ? fax::make_pump(call.role) : nullptr;
    off_hook = true;
    if (clock_ms != nullptr) off_hook_ms = *clock_ms;
  }
  void end_call() override {
    off_hook = false;
    fax.reset();
    now = {};
    if (clock_ms != nullptr) on_hook_ms = *clock_ms += release_ms;
  }
  void hold(oh_hold_order order) override {
    orders.push_back(order);
    now.order = knows_hold ? OrderStatus::kPending : OrderStatus::kRefused;
  }
  bool loop(oh_loop_order order) override {
    loops.push_back(order);
    if (has_loops) now.order = OrderStatus::kPending;
    return has_loops;
  }
  CallStatus status() const override { return now; }
  std::size_t write(const std::uint8_t* bytes, std::size_t n) override {
    sent.append(reinterpret_cast<const char*>(bytes), n);
    return n;
  }
  std::size_t read(std::uint8_t* bytes, std::size_t n) override {
    n = std::min(n, incoming.size());
    std::copy_n(incoming.begin(), n, bytes);
    incoming.erase(0, n);
    return n;
  }
  std::size_t writable() const override { return room; }

  /// 10 ms of a silent line for the pump of a fax.
  void run() {
    std::array<std::int16_t, 80> rx{}, tx{};
    if (fax) fax::pump_type()->process(fax.get(), rx.data(), tx.data(), rx.size());
  }
  fax::OwnPump fax;
  std::size_t room = 1000;
  bool rings = false, refuses = false, off_hook = false, knows_hold = true, has_loops = true;
  std::vector<oh_loop_order> loops;
  std::vector<oh_hold_order> orders;
  CallConfig config{};
  Caller who;
  CallStatus now;
  std::string sent, incoming;
  std::int64_t* clock_ms = nullptr;  // continues while a call is released
  std::int64_t release_ms = 0, on_hook_ms = 0, off_hook_ms = 0;
};

/// A DCE, the line at one side and the program at the other; 10 ms per step.
struct Desk {
  ~Desk() { leave(); }
  void leave() {
    if (program >= 0) close(program);
    program = -1;
  }
  void work(double seconds = 0.01) {
    for (double t = 0; t < seconds - 0.005; t += 0.01) {
      line.run();
      dce.work(now_ms += 10);
    }
  }
  /// The answer of the DCE without line ends.
  std::string heard() {
    std::string text;
    std::array<char, 512> bytes;
    for (ssize_t n; (n = read(program, bytes.data(), bytes.size())) > 0;)
      text.append(bytes.data(), static_cast<std::size_t>(n));
    std::erase(text, '\n');
    std::erase(text, '\r');
    return text;
  }
  std::string say(const std::string& text) {
    heard();
    EXPECT_EQ(write(program, text.data(), text.size()), static_cast<ssize_t>(text.size()));
    work(0.03);
    return heard();
  }
  /// A modem in data mode under V.42, or something else at the other end.
  void far_end(oh_pump_state state, int compression, float level_dbm0 = -20) {
    line.now.pump.state = state;
    line.now.link.compression = static_cast<std::uint8_t>(compression);
    line.now.pump.rx_level_dbm0 = level_dbm0;
    line.now.pump.rx_bit_rate = 28'800;
    line.now.link.state = state == OH_PUMP_DATA ? OH_LAPM_CONNECTED : line.now.link.state;
  }
  /// For a new DCE, as by programs.
  void bring_to(State state) {
    say("AT&FE0+DS=3,1\r");
    if (state >= State::kFax) {
      answer_fax();
      if (state == State::kFax) say("\x10\x03"), work(3);
      heard();
      return;
    }
    if (state == State::kAskingLoop) {
      bring_to(State::kOnlineCommand);
      happen(Event::kAskLoop);
      return;
    }
    if (state == State::kGuardTime) {  // there is one only after a call
      say("ATD5\r");
      say("x");
    }
    if (state >= State::kGuardTime) say("ATD5\r");
    if (state == State::kDialled) {
      work();
      say("ATH\r");
      work(0.3);
      say("ATD5;\r");
    }
    if (state >= State::kOnline) far_end(OH_PUMP_DATA, 3);
    work();
    if (state >= State::kOnlineCommand) {
      work(1.1);
      say("+++");
      work(1.1);
    }
    if (state >= State::kAskingHold) say("AT+PMH=0\r"), say("AT+PMHR\r");
    if (state >= State::kOnHold) happen(Event::kHoldGranted);
    if (state >= State::kReturning) {
      say("ATO\r");
      on_hold(OH_HOLD_NONE, OH_PUMP_TRAINING);
      work();
    }
    heard();
  }
  /// CED, then frames.
  std::string answer_fax() {
    say("AT+FCLASS=1\r");
    say("ATA\r");
    work(6);
    return heard();
  }
  /// The pump's status, with the command in progress.
  void on_hold(oh_hold_state hold, oh_pump_state state) {
    line.now.order = OrderStatus::kNone;
    line.now.pump.hold = hold;
    line.now.pump.hold_timeout = hold == OH_HOLD_AWAY ? 3 : 0;
    line.now.pump.state = state;
  }
  /// Performs the action. @return the output for the program
  std::string happen(Event event) {
    switch (event) {
      case Event::kOrder:
        return say("ATD5\r");
      case Event::kLineReady:
        work(0.3);
        break;
      case Event::kRefused:
        line.refuses = true;
        if (dce.state() == State::kDialled) return say("ATD5\r");
        work(0.3);
        break;
      case Event::kNoDialTone:
        line.now.progress = Progress::kNoDialTone;
        break;
      case Event::kBusy:
        line.now.progress = Progress::kBusy;
        break;
      case Event::kNoAnswer:
        line.now.progress = Progress::kNoAnswer;
        break;
      case Event::kFailed:
        line.now.pump.state = OH_PUMP_FAILED;
        break;
      case Event::kIncompatible:
        far_end(OH_PUMP_DATA, 0);
        break;
      case Event::kConnected:
        far_end(OH_PUMP_DATA, 3);
        break;
      case Event::kDigitsOut:
        line.now.dialling = false;
        break;
      case Event::kTooLong:
        work(60);
        break;
      case Event::kLost:
        far_end(OH_PUMP_TRAINING, 3, -90);
        work(9);
        break;
      case Event::kCharacter:
        return say("x");
      case Event::kEscape:
        work(1.1);
        say("+++");
        work(1.1);
        break;
      case Event::kReturn:
        return say("ATO\r");
      case Event::kHangUp:
        return say("ATH\r");
      case Event::kAskHold:
        say("AT+PMH=0\r");
        return say("AT+PMHR\r");
      case Event::kHoldGranted:
        on_hold(OH_HOLD_AWAY, OH_PUMP_TRAINING);
        break;
      case Event::kHoldDenied:
        on_hold(OH_HOLD_DENIED, OH_PUMP_TRAINING);
        break;
      case Event::kBack:
        on_hold(OH_HOLD_NONE, OH_PUMP_DATA);
        break;
      case Event::kAskLoop:
        line.now.direct = 1;
        return say("AT&T6\r");
      case Event::kLooped:
      case Event::kTesting:
      case Event::kLoopDenied:
        line.now.order = OrderStatus::kNone;
        line.now.loop = event == Event::kLooped    ? OH_LOOP_LOOPED
                        : event == Event::kTesting ? OH_LOOP_TESTING
                                                   : OH_LOOP_REFUSED;
        break;
      case Event::kFaxCaller:
        say("x");
        say("AT+FAE=1\r");
        say("ATA\r");
        work(0.5);
        heard();
        line.now.progress = Progress::kFaxCaller;
        break;
      case Event::kFaxConnected:
        say("x");
        return answer_fax();
      case Event::kFaxOrder:
        return say("AT+FTH=3\r");
      case Event::kFaxDone:
        return say("\x10\x03");
      case Event::kFaxOver:
        say("x");
        say("AT+FCLASS=2.0\r");
        say("ATA\r");
        work(45);  // T1 of T.30 and the last DIS
        break;
      case Event::kDtrOff:
        leave();
        break;
    }
    work();
    return program < 0 ? "" : heard();
  }
  FakeLine line{};
  PseudoTerminal terminal{""};
  std::string not_offered;
  Dce dce{line, terminal, kCarriers, not_offered};
  int program = open(terminal.device().c_str(), O_RDWR | O_NOCTTY | O_NONBLOCK);
  std::int64_t now_ms = 1'000'000;
};

}  // namespace offhook::modem
