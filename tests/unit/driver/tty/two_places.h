// SPDX-License-Identifier: MIT
// Two modems with their terminals and programs, and the line between them.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <memory>
#include <string>

#include "driver/tty/dce.h"
#include "tests/unit/driver/tty/desk.h"

namespace offhook::modem {

constexpr std::size_t kBlock = 80;  // 10 ms

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
  bool loop(oh_loop_order order) override { return call && call->loop(order); }
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
  bool answered = true;  // otherwise as with SIP: the pump is not on the line yet
  std::string failure;
  std::array<std::int16_t, kBlock> tx{};
};

constexpr Modulation v22bis() {
  Modulation v22bis = row(OH_MODULATION_V22BIS, "V22B");
  v22bis.type = oh_v22bis_type;
  v22bis.loops = &kLoopsOfV22bis;
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

struct TwoPlaces {
  explicit TwoPlaces(Carriers carriers = kCarriers) : a(carriers), b(carriers) {
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
  /// Both ends have CONNECT: the calling end receives flags, the answering end sends them.
  void connect() {
    a.say("ATDT5\r");
    run(1.5);
    EXPECT_EQ(after(b, "ATA\r", 6), "\r\nCONNECT\r\n");
    EXPECT_EQ(a.heard(), "\r\nCONNECT\r\n");
  }
  Place a, b;
  std::int64_t now_ms = 1'000'000;
};

}  // namespace offhook::modem
