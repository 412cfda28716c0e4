// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <array>
#include <cerrno>
#include <memory>
#include <string>

#include "dsp/v22/pump.h"
#include "dsp/v32/pump.h"
#include "dsp/v34/session/pump.h"
#include "offhook/modem.h"

namespace {

TEST(ModemC, RefusesAConfigurationThatCannotBeMeantAndSaysWhy) {
  const auto refused = [](auto change) {
    oh_modem_config config;
    oh_modem_default_config(&config, OH_PUMP_CALL);
    change(config);
    const char* reason = "";
    oh_modem* modem = oh_modem_create(&config, &reason);
    oh_modem_destroy(modem);
    return modem == nullptr ? std::string(reason) : "accepted";
  };
  EXPECT_EQ(refused([](auto&) {}), "accepted");
  EXPECT_EQ(refused([](auto& c) { c.struct_size -= 4; }), "a configuration of unknown size");
  EXPECT_EQ(refused([](auto& c) { c.pump = nullptr; }), "no pump");
  EXPECT_EQ(refused([](auto& c) { c.window = 65; }), "invalid window; expected 1 to 64 frames");
  EXPECT_EQ(refused([](auto& c) { c.error_control = static_cast<oh_error_control>(3); }),
            "invalid error control; expected none, optional or required");
}

/// Two modems by the C interface, each of which receives the other 10 ms later.
struct Pair {
  struct Destroy {
    void operator()(oh_modem* modem) const { oh_modem_destroy(modem); }
  };
  static oh_modem* make(oh_pump_role role, const oh_pump_type* pump) {
    oh_modem_config config;
    oh_modem_default_config(&config, role);
    config.pump = pump;
    return oh_modem_create(&config, nullptr);
  }
  explicit Pair(const oh_pump_type* pump = oh_v22bis_type())
      : call(make(OH_PUMP_CALL, pump)), answer(make(OH_PUMP_ANSWER, pump)) {}
  std::unique_ptr<oh_modem, Destroy> call, answer;
  std::array<std::int16_t, 80> from_call{}, from_answer{};

  static oh_modem_status status(const std::unique_ptr<oh_modem, Destroy>& modem) {
    oh_modem_status now{};
    now.struct_size = sizeof now;
    EXPECT_EQ(oh_modem_get_status(modem.get(), &now), 0);
    return now;
  }
  template <class Condition>
  bool run_until(Condition condition, double seconds) {
    for (double t = 0; t < seconds && !condition(); t += 0.01) {
      const auto to_call = from_answer, to_answer = from_call;
      oh_modem_process(call.get(), to_call.data(), from_call.data(), from_call.size());
      oh_modem_process(answer.get(), to_answer.data(), from_answer.data(), from_answer.size());
    }
    return condition();
  }
};

// The far end is switched off. The line then has noise, or this end's echo at -14 dB.
TEST(ModemC, AFarEndThatVanishesIsNoticedWithinSeconds) {
  for (const oh_pump_type* pump : {oh_v34_type(), oh_v32bis_type(), oh_v22bis_type(), oh_v22_type()}) {
    for (const bool call : {true, false}) {
      for (const bool echo : {true, false}) {
        SCOPED_TRACE(std::string(pump->name) + (call ? " call" : " answer") + (echo ? " echo" : ""));
        Pair pair(pump);
        const auto connected = [&] { return Pair::status(pair.call).connected && Pair::status(pair.answer).connected; };
        ASSERT_TRUE(pair.run_until(connected, 30));
        ASSERT_TRUE(!pair.run_until([] { return false; }, 1));
        const auto& left = call ? pair.call : pair.answer;
        std::array<std::int16_t, 80> sent{};
        double seconds = 0;
        for (; seconds < 100 && Pair::status(left).ended == 0; seconds += 0.01) {
          std::array<std::int16_t, 80> heard{};
          for (std::size_t k = 0; k < heard.size(); ++k) {
            heard[k] = static_cast<std::int16_t>((echo ? sent[k] / 5 : 0) + static_cast<int>(k % 3) - 1);
          }
          oh_modem_process(left.get(), heard.data(), sent.data(), sent.size());
        }
        EXPECT_LT(seconds, 15);
        EXPECT_STREQ(oh_modem_failure(left.get()), "lost the carrier");
      }
    }
  }
}

TEST(ModemC, TwoConnectExchangeOctetsAndHangUp) {
  Pair pair;
  ASSERT_NE(pair.call, nullptr);
  ASSERT_NE(pair.answer, nullptr);
  oh_modem_status wrong{};
  wrong.struct_size = sizeof wrong - 4;
  EXPECT_EQ(oh_modem_get_status(pair.call.get(), &wrong), -EINVAL);
  EXPECT_EQ(Pair::status(pair.call).connected, 0);
  ASSERT_TRUE(
      pair.run_until([&] { return Pair::status(pair.call).connected && Pair::status(pair.answer).connected; }, 20));
  const oh_modem_status now = Pair::status(pair.call);
  EXPECT_EQ(now.state, OH_PUMP_DATA);
  EXPECT_EQ(now.tx_bit_rate, 2400u);
  EXPECT_EQ(now.rx_bit_rate, 2400u);
  EXPECT_EQ(now.ended, 0);
  EXPECT_EQ(now.unacknowledged, 0u);
  EXPECT_STREQ(oh_modem_failure(pair.call.get()), "");
  const std::string sent = "over the line";
  EXPECT_EQ(oh_modem_write(pair.call.get(), reinterpret_cast<const std::uint8_t*>(sent.data()), sent.size()),
            sent.size());
  EXPECT_GT(Pair::status(pair.call).unacknowledged, 0u);
  std::string got;
  EXPECT_TRUE(pair.run_until(
      [&] {
        std::uint8_t octet;
        while (oh_modem_read(pair.answer.get(), &octet, 1) == 1) got += static_cast<char>(octet);
        return got.size() >= sent.size() && Pair::status(pair.call).unacknowledged == 0;
      },
      5));
  EXPECT_EQ(got, sent);
  oh_modem_hang_up(pair.call.get());
  EXPECT_TRUE(pair.run_until([&] { return Pair::status(pair.call).ended && Pair::status(pair.answer).ended; }, 5));
  EXPECT_EQ(Pair::status(pair.call).state, OH_PUMP_IDLE) << "the far end has been told";
  EXPECT_STREQ(oh_modem_failure(pair.call.get()), "hung up");
  EXPECT_STREQ(oh_modem_failure(pair.answer.get()), "released the V.42 link");
}

}  // namespace
