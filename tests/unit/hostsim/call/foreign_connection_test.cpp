// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "driver/user_modem/modem.h"
#include "hostsim/call/call.h"
#include "hostsim/call/call_events.h"
#include "hostsim/call/connection.h"
#include "hostsim/call/modem_config.h"
#include "hostsim/call/random_file.h"

namespace offhook::hostsim {
namespace {

/// Another modem program; a call sees only its samples. Here it is our own modem, and its user answers with a file.
class OtherProgram final : public ForeignModem {
 public:
  OtherProgram(const Scenario& s, const std::vector<std::uint8_t>& file)
      : modem_({.pump = far_type(s), .role = OH_PUMP_ANSWER, .link = link_of(s, modulation_of(s.modem))}), file_(file) {
    modem_.start();
  }
  std::vector<std::uint8_t> heard;

  std::string failure() const override { return ""; }
  void process(const std::int16_t* rx, std::int16_t* tx, std::size_t n) override {
    modem_.process(rx, tx, n);
    data_samples_ = modem_.pump_status().state == OH_PUMP_DATA ? data_samples_ + n : 0;
    if (data_samples_ > kUserWaits) sent_ += modem_.write(file_.data() + sent_, file_.size() - sent_);
    std::array<std::uint8_t, 256> bytes;
    while (const std::size_t got = modem_.read(bytes.data(), bytes.size())) {
      heard.insert(heard.end(), bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(got));
    }
  }

 private:
  static constexpr std::size_t kUserWaits = 8000;
  modem::Modem modem_;
  const std::vector<std::uint8_t>& file_;
  std::size_t data_samples_ = 0, sent_ = 0;
};

struct Made {
  CallResult result;
  std::vector<std::uint8_t> received, heard_there;
};

std::vector<std::uint8_t> file_of(std::uint64_t seed, std::size_t bytes) {
  Scenario s;
  s.seed = seed;
  s.bytes = bytes;
  return random_file(s);
}

/// Some of the phases of a call before its modems connect: 0.1 s each.
CostProfile profile() {
  constexpr Ns kMs = 1'000'000;
  CostProfile p;
  p.phases[0] = p.phases[1] = p.phases[2] = {8000, {100}, kMs, 0, 100 * kMs};
  p.phases[3] = {8000, {100}, kMs, 0, 0};
  return p;
}

Made make_call(const Scenario& scenario, const std::vector<std::uint8_t>& send, const std::vector<std::uint8_t>& expect,
               const std::vector<std::uint8_t>& other_sends) {
  CallEvents log;
  OtherProgram other(scenario, other_sends);
  Made made;
  ForeignCall call{near_type(scenario), send, expect, {}, {}};
  call.received = [&](std::span<const std::uint8_t> bytes) {
    made.received.insert(made.received.end(), bytes.begin(), bytes.end());
  };
  Call whole(scenario, profile(), make_foreign_connection(scenario, call, other, log.log()), log.log(), Logged::kAll);
  while (!log.over()) log.advance(whole);
  made.result = whole.result();
  made.heard_there = other.heard;
  return made;
}

Scenario scenario_of(oh_error_control error_control) {
  Scenario s;
  s.pump = PumpKind::kReal;
  s.modem = OH_MODULATION_V32BIS;
  s.role = OH_PUMP_CALL;
  s.link.error_control = error_control;
  s.line.loss_db = 6;
  s.line.delay_ms = 20;
  s.time_limit_s = 60;
  return s;
}

TEST(ForeignConnection, BothFilesArriveWithV42AndWithout) {
  const auto ours = file_of(1, 2500), theirs = file_of(2, 1200);
  for (const oh_error_control control : {OH_ERROR_CONTROL_REQUIRED, OH_ERROR_CONTROL_OPTIONAL, OH_ERROR_CONTROL_NONE}) {
    Made m = make_call(scenario_of(control), ours, theirs, theirs);
    EXPECT_TRUE(m.result.completed) << static_cast<int>(control) << ": " << m.result.transfer.failure;
    EXPECT_EQ(m.received, theirs) << static_cast<int>(control);
    // Without V.42 the end of the connection sounds like characters.
    if (control == OH_ERROR_CONTROL_NONE && m.heard_there.size() > ours.size()) m.heard_there.resize(ours.size());
    EXPECT_EQ(m.heard_there, ours) << static_cast<int>(control);
    EXPECT_EQ(m.result.transfer.bytes_delivered, ours.size() + theirs.size());
  }
}

// 14 400 bit/s: eight bits a byte with V.42, ten as start-stop characters.
TEST(ForeignConnection, KnowsWhatTheLineWouldTake) {
  const auto ours = file_of(3, 1800), theirs = file_of(4, 900);
  const Made with = make_call(scenario_of(OH_ERROR_CONTROL_REQUIRED), ours, theirs, theirs);
  EXPECT_NEAR(with.result.transfer.at_line_rate_s, 1.0, 1e-9);
  const Made without = make_call(scenario_of(OH_ERROR_CONTROL_NONE), ours, theirs, theirs);
  EXPECT_NEAR(without.result.transfer.at_line_rate_s, 1.25, 1e-9);
  EXPECT_GE(without.result.transfer_s, 1.25) << "no character leaves sooner";
  EXPECT_LT(without.result.transfer_s, 1.5);
}

TEST(ForeignConnection, WithoutV42AWrongByteEndsTheCall) {
  const auto ours = file_of(5, 500), theirs = file_of(6, 500);
  auto other = theirs;
  other[250] ^= 1;
  const Made m = make_call(scenario_of(OH_ERROR_CONTROL_NONE), ours, theirs, other);
  EXPECT_FALSE(m.result.completed);
  EXPECT_EQ(m.result.transfer.failure, "bytes arrived that were not expected");
}

}  // namespace
}  // namespace offhook::hostsim
