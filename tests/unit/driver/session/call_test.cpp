// SPDX-License-Identifier: MIT
#include "driver/session/call.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <string>
#include <utility>
#include <vector>

#include "driver/session/session.h"
#include "dsp/v22/pump.h"
#include "dsp/v34/session/pump.h"

namespace offhook::modem {
namespace {

constexpr std::size_t kBlock = 100;

CallConfig dial(std::string digits) {
  return {.pump = oh_v22bis_type(),
          .role = OH_PUMP_CALL,
          .digits = std::move(digits),
          .plan = {.need_dial_tone = false, .pause_s = 2}};
}

TEST(Call, SamplesLostWhileDiallingAreTheDiallersAndNotThePumps) {
  Call call(dial("5"), kLinear8000, 0, nullptr, nullptr);
  std::array<std::int16_t, kBlock> rx{}, tx{};
  const auto process = [&](double seconds) {
    for (double t = 0; t < seconds; t += kBlock / 8000.) call.process(rx.data(), tx.data(), kBlock);
  };
  process(0.5);
  call.report_gap(8000);
  process(0.4);
  EXPECT_TRUE(call.status().dialling) << "1.9 s of the 2 s before the digit";
  process(0.4);
  EXPECT_FALSE(call.status().dialling) << "2 s, and some 0.2 s of the digit";
  EXPECT_LT(call.status().pump.samples, 0.2 * 8000) << "the pump's clock begins with the call's";
  EXPECT_EQ(call.status().pump.filled_in, 0u);
  call.report_gap(80);
  EXPECT_EQ(call.status().pump.filled_in, 80u) << "from then on what is lost is the pump's";
}

// As the pump of a T.38 gateway, whose owner also reads it.
TEST(Call, AnOwnersPumpHasNoLinkAndOutlivesTheCall) {
  const fax::OwnPump pump = fax::make_pump(OH_PUMP_ANSWER);
  {
    Call call({.pump = fax::pump_type(), .role = OH_PUMP_ANSWER, .pump_memory = pump.get()}, kMuLaw8000, 0, nullptr,
              nullptr);
    std::array<std::int16_t, kBlock> rx{}, tx{};
    call.process(rx.data(), tx.data(), kBlock);
    call.report_gap(80);
    EXPECT_TRUE(call.is_bare());
    EXPECT_EQ(call.fax_pump(), nullptr);
    EXPECT_EQ(call.status().pump.samples, kBlock + 80);
  }
  EXPECT_EQ(fax::counters_of(pump.get()).samples, kBlock + 80);
}

TEST(Call, AFaxCallHasItsPumpAndNoLinkOnEveryCard) {
  for (const oh_pump_format& format : {kLinear8000, kLinear16000To8000, kMuLaw8000}) {
    Call call({.pump = fax::pump_type(), .role = OH_PUMP_CALL}, format, 0, nullptr, nullptr);
    std::array<std::int16_t, 2 * kBlock> rx{}, tx{};
    rx.fill(format.rx.encoding == OH_LINEAR16 ? 0 : -1);  // silence
    for (int n = 0; n < 8000; n += kBlock) call.process(rx.data(), tx.data(), kBlock);
    call.report_gap(80);
    EXPECT_FALSE(call.status().connected());
    EXPECT_EQ(call.status().failure(), "");
    EXPECT_EQ(call.status().pump.samples, 8080u);
    EXPECT_EQ(call.status().pump.filled_in, 80u);
    ASSERT_NE(call.fax_pump(), nullptr);
    EXPECT_EQ(fax::counters_of(call.fax_pump()).samples, 8080u);
  }
}

/// 440 + 350 Hz for a second, from the first sample on, in the samples of a card that receives `rate_hz`.
std::vector<std::int16_t> dial_tone(double rate_hz) {
  std::vector<std::int16_t> x(static_cast<std::size_t>(rate_hz));
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double turn = 2 * std::numbers::pi / rate_hz * static_cast<double>(i);
    x[i] = static_cast<std::int16_t>(4000 * (std::sin(350 * turn) + std::sin(440 * turn)));
  }
  return x;
}

TEST(Call, DialsAfterDialToneAlsoWhere16000SamplesAreReceived) {
  for (const oh_pump_format& format : {kLinear8000, kLinear16000To8000}) {
    CallConfig config = dial("5");
    config.plan.need_dial_tone = true;
    Call call(config, format, 0, nullptr, nullptr);
    const std::vector<std::int16_t> heard = dial_tone(format.rx.rate_hz);
    const std::size_t ratio = format.rx.rate_hz / format.tx.rate_hz;
    std::vector<std::int16_t> said(8000);
    for (std::size_t at = 0; at < said.size(); at += kBlock)
      call.process(heard.data() + at * ratio, said.data() + at, kBlock);
    EXPECT_GT(*std::max_element(said.begin(), said.end()), 1000) << "the digit";
    EXPECT_FALSE(call.status().dialling);
  }
}

TEST(Call, DialToneThatDoesNotComeIsSaid) {
  CallConfig config = dial("5");
  config.plan.need_dial_tone = true;
  Call call(config, kLinear8000, 0, nullptr, nullptr);
  std::array<std::int16_t, kBlock> rx{}, tx{};
  call.process(rx.data(), tx.data(), kBlock);
  EXPECT_TRUE(call.status().dialling);
  for (int n = 0; n < 7 * 8000; n += kBlock) call.process(rx.data(), tx.data(), kBlock);
  EXPECT_EQ(call.status().progress, Progress::kNoDialTone);
  EXPECT_FALSE(call.status().dialling);
}

TEST(Call, AnOrderIsTheContextsToGiveAndWhatBecomesOfItIsShown) {
  Call call({.pump = oh_v22bis_type(), .role = OH_PUMP_CALL}, kLinear8000, 0, nullptr, nullptr);
  EXPECT_EQ(call.status().order, OrderStatus::kNone);
  call.hold(OH_HOLD_REQUEST);
  EXPECT_EQ(call.status().order, OrderStatus::kPending);
  call.report_gap(kBlock);
  EXPECT_EQ(call.status().order, OrderStatus::kPending) << "no pump is asked while samples are lost";
  std::array<std::int16_t, kBlock> rx{}, tx{};
  call.process(rx.data(), tx.data(), kBlock);
  EXPECT_EQ(call.status().order, OrderStatus::kRefused) << "V.22bis has none";
}

/// Two modems that receive each other one block later.
struct TwoCalls {
  Call caller{{.pump = oh_v22bis_type(), .role = OH_PUMP_CALL}, kLinear8000, 0, nullptr, nullptr};
  Call answerer{{.pump = oh_v22bis_type(), .role = OH_PUMP_ANSWER}, kLinear8000, 0, nullptr, nullptr};
  std::array<std::int16_t, kBlock> from_caller{}, from_answerer{};

  template <class Condition>
  bool run_until(Condition condition, double seconds) {
    for (double t = 0; t < seconds && !condition(); t += kBlock / 8000.) {
      const auto to_caller = from_answerer, to_answerer = from_caller;
      caller.process(to_caller.data(), from_caller.data(), kBlock);
      answerer.process(to_answerer.data(), from_answerer.data(), kBlock);
    }
    return condition();
  }
  bool connect() {
    return run_until([&] { return caller.status().connected() && answerer.status().connected(); }, 20);
  }
};

std::string bytes(std::size_t n, int first) {
  std::string all(n, ' ');
  for (std::size_t i = 0; i < n; ++i) all[i] = static_cast<char>(first + static_cast<int>(i * i % 251));
  return all;
}

TEST(Call, BytesOfBothEndsArriveInOrder) {
  TwoCalls calls;
  ASSERT_TRUE(calls.connect());
  const std::string out = bytes(1500, 0), back = bytes(1500, 7);
  std::string heard, heard_back;
  const auto write = [](Call& call, const std::string& text) {
    return call.write(reinterpret_cast<const std::uint8_t*>(text.data()), text.size());
  };
  const auto read = [](Call& call, std::string& to) {
    std::array<std::uint8_t, 100> some;
    const std::size_t n = call.read(some.data(), some.size());
    to.append(reinterpret_cast<const char*>(some.data()), n);
  };
  const std::size_t room = calls.caller.writable();
  EXPECT_EQ(write(calls.caller, out), out.size());
  EXPECT_EQ(calls.caller.writable(), room - out.size());
  EXPECT_EQ(write(calls.answerer, back), back.size());
  EXPECT_TRUE(calls.run_until(
      [&] {
        read(calls.answerer, heard);
        read(calls.caller, heard_back);
        return heard.size() >= out.size() && heard_back.size() >= back.size();
      },
      20));
  EXPECT_EQ(heard, out);
  EXPECT_EQ(heard_back, back);
  EXPECT_EQ(calls.caller.writable(), room);
}

TEST(Call, ReleasedByOneEndItIsReleasedAtBoth) {
  TwoCalls calls;
  ASSERT_TRUE(calls.connect());
  EXPECT_FALSE(calls.caller.released());
  calls.caller.release();
  EXPECT_TRUE(calls.run_until([&] { return calls.caller.released(); }, 5));
  EXPECT_FALSE(calls.answerer.status().connected());
  EXPECT_EQ(calls.answerer.status().link.state, OH_LAPM_DISCONNECTED);
}

// A live call waits for the cleardown for its maximum duration (V.34 11.7), even over a satellite.
TEST(Call, ACleardownOverALongRoundTripIsDoneBeforeTheLineIsLeft) {
  Call caller{{.pump = oh_v34_type(), .role = OH_PUMP_CALL}, kLinear8000, 0, nullptr, nullptr};
  Call answerer{{.pump = oh_v34_type(), .role = OH_PUMP_ANSWER}, kLinear8000, 0, nullptr, nullptr};
  constexpr std::size_t kDelay = 4800;
  std::vector<std::int16_t> to_caller(kDelay, 0), to_answerer(kDelay, 0);
  const auto run_until = [&](auto condition, double seconds) {
    double t = 0;
    for (std::size_t at = 0; t < seconds && !condition(); t += kBlock / 8000., at = (at + kBlock) % kDelay) {
      std::array<std::int16_t, kBlock> a, b;
      caller.process(&to_caller[at], a.data(), kBlock);
      answerer.process(&to_answerer[at], b.data(), kBlock);
      for (std::size_t k = 0; k < kBlock; ++k) {
        to_answerer[at + k] = static_cast<std::int16_t>(a[k] / 2);
        to_caller[at + k] = static_cast<std::int16_t>(b[k] / 2);
      }
    }
    return t;
  };
  static_assert(kDelay % kBlock == 0);
  const auto connected = [&] { return caller.status().connected() && answerer.status().connected(); };
  ASSERT_LT(run_until(connected, 40), 40);
  caller.release();
  const double seconds = run_until([&] { return caller.released(); }, 20);
  EXPECT_GT(seconds, 1.2);
  EXPECT_LT(seconds, Session::kReleaseMs / 1000.);
  run_until([] { return false; }, 2);
  EXPECT_EQ(answerer.status().pump.state, OH_PUMP_IDLE) << "the far end has cleared down, too";
}

/// Repeats half a second of busy tone and half a second of silence. @return whether it was detected within `seconds`
bool hears_busy(Call& call, double seconds) {
  std::array<std::int16_t, kBlock> rx{}, tx{};
  for (int n = 0; n < seconds * 8000; n += kBlock) {
    for (std::size_t i = 0; i < kBlock; ++i) {
      const double t = (n + static_cast<double>(i)) / 8000;
      const double tone = std::sin(2 * std::numbers::pi * 480 * t) + std::sin(2 * std::numbers::pi * 620 * t);
      rx[i] = static_cast<std::int16_t>(std::fmod(t, 1) < 0.5 ? 4000 * tone : 0);
    }
    call.process(rx.data(), tx.data(), kBlock);
    if (call.status().progress == Progress::kBusy) return true;
  }
  return false;
}

// The far modem's signals could be mistaken for tones, so detection is off during the first training.
TEST(Call, TheExchangesToneIsHeardBeforeTheFarModemAndAgainWhenDataModeIsOver) {
  TwoCalls first, second, third;
  EXPECT_TRUE(hears_busy(first.caller, 4));
  ASSERT_TRUE(second.run_until([&] { return second.caller.status().pump.state == OH_PUMP_TRAINING; }, 20));
  EXPECT_FALSE(hears_busy(second.caller, 4) && second.caller.status().pump.state == OH_PUMP_TRAINING);
  ASSERT_TRUE(third.connect());
  EXPECT_EQ(third.caller.status().progress, Progress::kNothing);
  EXPECT_TRUE(hears_busy(third.caller, 30));
}

/// A pump of linear samples on a card of octets gets their exact values: the call equals a linear one.
TEST(Call, OctetsOfG711CarryAModemOfLinearSamples) {
  for (const oh_pump_format& format : {kMuLaw8000, kALaw8000}) {
    Call caller({.pump = oh_v22bis_type(), .role = OH_PUMP_CALL}, format, 0, nullptr, nullptr);
    Call answerer({.pump = oh_v22bis_type(), .role = OH_PUMP_ANSWER}, format, 0, nullptr, nullptr);
    std::array<std::uint8_t, kBlock> from_caller, from_answerer;
    from_caller.fill(oh_silence(format.rx.encoding));
    from_answerer = from_caller;
    for (double t = 0; t < 20 && !(caller.status().connected() && answerer.status().connected()); t += kBlock / 8000.) {
      const auto to_caller = from_answerer, to_answerer = from_caller;
      caller.process(to_caller.data(), from_caller.data(), kBlock);
      answerer.process(to_answerer.data(), from_answerer.data(), kBlock);
    }
    EXPECT_TRUE(caller.status().connected());
    EXPECT_EQ(caller.status().pump.rx_bit_rate, 2400u);
    EXPECT_NEAR(caller.status().pump.rx_level_dbm0, answerer.status().pump.rx_level_dbm0, 3);
  }
}

}  // namespace
}  // namespace offhook::modem
