// SPDX-License-Identifier: MIT
#include "driver/user_modem/modem.h"

#include <gtest/gtest.h>
#include <malloc.h>

#include <array>
#include <cstddef>
#include <utility>
#include <vector>

#include "dsp/pump/pump_type.h"
#include "offhook/modem.h"
#include "tests/unit/temporary_folder.h"

namespace offhook::modem {
namespace {

/// A pump with a state and rates set by the test. It takes bits and receives nothing.
struct Puppet {
  static inline oh_pump_status now{};
  static inline oh_pump_config given{};
  static inline oh_pump_observer watching{};
  static inline int filled_in = 0, hang_ups = 0;
  static inline std::vector<oh_hold_order> orders;
  static inline std::uint32_t allowed = 0;
  oh_bit_port port{};
  double bits = 0;

  static Puppet& of(void* self) { return *static_cast<Puppet*>(self); }
  static const oh_pump_type* type() {
    static constexpr oh_pump_type kType = {.format_count = 1,
                                           .name = "puppet",
                                           .formats = &kLinear8000,
                                           .roles = kBothRoles,
                                           .fpu = kEveryOperation,
                                           .longest_step = 0,
                                           .size = [](const oh_pump_config*) { return sizeof(Puppet); },
                                           .init =
                                               [](void* self, const oh_pump_config* config) {
                                                 new (self) Puppet{config->port};
                                                 given = *config;
                                                 if (config->observer != nullptr) watching = *config->observer;
                                                 return 0;
                                               },
                                           .process =
                                               [](void* self, const void*, void*, std::size_t n) {
                                                 Puppet& p = of(self);
                                                 p.bits += static_cast<double>(n) * now.tx_bit_rate / 8000;
                                                 for (; now.state == OH_PUMP_DATA && p.bits >= 1; --p.bits)
                                                   oh_port_get_bit(&p.port);
                                               },
                                           .report_gap = [](void*, std::size_t n) { filled_in += static_cast<int>(n); },
                                           .status = [](const void*, oh_pump_status* status) { *status = now; },
                                           .hang_up = [](void*) { ++hang_ups; },
                                           .release = [](void*) {},
                                           .advance = oh_pump_advance_each,
                                           .hold =
                                               [](void*, oh_hold_order order) {
                                                 orders.push_back(order);
                                                 return now.state == OH_PUMP_DATA ? 0 : -22;
                                               },
                                           .allow_hold =
                                               [](void*, std::uint32_t timeout) {
                                                 allowed = timeout;
                                                 return 0;
                                               }};
    return &kType;
  }
};

struct Originator : testing::Test {
  Modem modem{{.pump = Puppet::type(), .role = OH_PUMP_CALL, .link = {.skip_detection = 1}}};
  Originator() { modem.start(); }
  /// @return seconds until V.42's T401 expires again, at most `seconds`
  double run(oh_pump_state state, std::uint32_t bit_rate, double seconds) {
    Puppet::now = {};
    Puppet::now.state = state;
    Puppet::now.tx_bit_rate = Puppet::now.rx_bit_rate = state == OH_PUMP_DATA ? bit_rate : 0;
    const std::uint32_t before = modem.lapm_status().timeouts;
    std::array<std::int16_t, 8> samples{};
    double passed = 0;
    for (; passed < seconds && modem.lapm_status().timeouts == before; passed += 0.001)
      modem.process(samples.data(), samples.data(), samples.size());
    return passed;
  }
};

// Two frames of 1296 bits and a round trip of 1.5 s: 1.58 s and 3.66 s; the XID that starts T401 comes after 16 flags.
TEST_F(Originator, T401FollowsTheRatesAtConnect) {
  EXPECT_NEAR(run(OH_PUMP_DATA, 33'600, 10), 1.58, 0.02);
}
TEST_F(Originator, T401IsLongerOnASlowLine) {
  EXPECT_NEAR(run(OH_PUMP_DATA, 1200, 10), 3.66 + 128. / 1200, 0.02);
}
TEST_F(Originator, T401FollowsTheRatesOfARetrainWhichDoesNotAgeIt) {
  EXPECT_NEAR(run(OH_PUMP_DATA, 33'600, 1), 1, 0.01);
  EXPECT_NEAR(run(OH_PUMP_TRAINING, 0, 20), 20, 0.01);
  EXPECT_NEAR(run(OH_PUMP_DATA, 1200, 10), 3.66 - 1, 0.02);
}

/// For a caller on the simulated pump.
Modem::Config on_puppet(oh_error_control mode) {
  Puppet::now = {};
  Puppet::filled_in = Puppet::hang_ups = 0;
  return {.pump = Puppet::type(), .role = OH_PUMP_CALL, .link = {.error_control = mode}};
}
void step(Modem& modem, int milliseconds = 1) {
  std::array<std::int16_t, 8> samples{};
  for (int ms = 0; ms < milliseconds; ++ms) modem.process(samples.data(), samples.data(), samples.size());
}

TEST(Modem, ThePumpIsGivenWhatTheCallIsToHave) {
  { const Modem modem(on_puppet(OH_ERROR_CONTROL_NONE)); }
  EXPECT_EQ(Puppet::given.max_bit_rate + Puppet::given.min_bit_rate, 0u) << "no limits";
  EXPECT_EQ(Puppet::given.io_delay_samples, 0u);
  EXPECT_EQ(Puppet::given.modulations, 0u) << "all that the pump has";
  Modem::Config config = on_puppet(OH_ERROR_CONTROL_NONE);
  config.role = OH_PUMP_ANSWER;
  config.max_bit_rate = 9600;
  config.min_bit_rate = 4800;
  config.io_delay_samples = 333;
  config.modulations = OH_MODULATION_V21 | OH_MODULATION_V34;
  const Modem modem(config);
  EXPECT_EQ(Puppet::given.role, OH_PUMP_ANSWER);
  EXPECT_EQ(Puppet::given.max_bit_rate, 9600u);
  EXPECT_EQ(Puppet::given.min_bit_rate, 4800u);
  EXPECT_EQ(Puppet::given.io_delay_samples, 333u);
  EXPECT_EQ(Puppet::given.tx_level_dbm0, -12.f);
  EXPECT_EQ(Puppet::given.modulations, std::uint32_t{OH_MODULATION_V21 | OH_MODULATION_V34});
  EXPECT_EQ(Puppet::watching.symbol, nullptr) << "symbols and taps are for the log alone";
  EXPECT_EQ(Puppet::watching.taps, nullptr);
}

TEST(Modem, WhatThePumpMeasuredOfTheLineIsInTheStatus) {
  const Modem modem(on_puppet(OH_ERROR_CONTROL_NONE));
  const auto show = [](oh_instrument what, float value) {
    Puppet::watching.instrument(Puppet::watching.user, what, value);
  };
  show(OH_INSTRUMENT_SNR, 33.5f);
  show(OH_INSTRUMENT_ROUND_TRIP, 40);
  show(OH_INSTRUMENT_RX_SYMBOL_RATE, 3200);
  show(OH_INSTRUMENT_RETRAIN_CAUSE, OH_RETRAIN_FAR);
  show(OH_INSTRUMENT_RETRAIN_CAUSE, OH_RETRAIN_FAR);
  show(OH_INSTRUMENT_RETRAIN_CAUSE, 99);  // from a newer pump
  const oh_modem_end_line line = modem.status().line;
  EXPECT_EQ(line.snr_db, 33.5f);
  EXPECT_EQ(line.round_trip_ms, 40.f);
  EXPECT_EQ(line.rx_symbol_rate, 3200.f);
  EXPECT_EQ(line.retrains[OH_RETRAIN_FAR], 2u);
  EXPECT_EQ(line.retrains[OH_RETRAIN_LOST], 0u);
}

TEST(Modem, WhereV42IsRequiredOnlyModulationsThatHaveItAreUsed) {
  Modem::Config config = on_puppet(OH_ERROR_CONTROL_REQUIRED);
  config.modulations = OH_MODULATION_V21 | OH_MODULATION_V34;
  { const Modem modem(config); }
  EXPECT_EQ(Puppet::given.modulations, std::uint32_t{OH_MODULATION_V34});
  config.modulations = 0;
  { const Modem modem(config); }
  EXPECT_EQ(Puppet::given.modulations & OH_MODULATION_V21, 0u);
  EXPECT_NE(Puppet::given.modulations & OH_MODULATION_V22BIS, 0u);
  config.modulations = OH_MODULATION_V21;
  EXPECT_EQ(test::complaint([&] { const Modem modem(config); }), "V.42 is required, but no modulation supports it");
}

TEST(Modem, ItsEndGivesBackItsMemory) {
  const auto in_use = [] {
    const struct mallinfo2 all = mallinfo2();
    return all.uordblks + all.hblkhd;
  };
  { const Modem first(on_puppet(OH_ERROR_CONTROL_REQUIRED)); }
  const std::size_t before = in_use();
  constexpr std::size_t kModems = 1000, kLeastBlock = 16;
  for (std::size_t k = 0; k < kModems; ++k) const Modem modem(on_puppet(OH_ERROR_CONTROL_REQUIRED));
  EXPECT_LT(in_use(), before + kModems * kLeastBlock / 2) << "malloc keeps a little for itself";
}

TEST(Modem, IsSilentAndLosesNothingBeforeItsStart) {
  Modem modem(on_puppet(OH_ERROR_CONTROL_NONE));
  std::array<std::int16_t, 8> rx{}, tx;
  tx.fill(99);
  modem.process(rx.data(), tx.data(), tx.size());
  EXPECT_EQ(tx, (std::array<std::int16_t, 8>{}));
  modem.report_gap(10);
  EXPECT_EQ(Puppet::filled_in, 0);
  modem.start();
  modem.report_gap(10);
  EXPECT_EQ(Puppet::filled_in, 10);
}

TEST(Modem, ByTheCInterfaceLostSamplesReachThePump) {
  on_puppet(OH_ERROR_CONTROL_NONE);
  oh_modem_config config;
  oh_modem_default_config(&config, OH_PUMP_CALL);
  config.pump = Puppet::type();
  oh_modem* modem = oh_modem_create(&config, nullptr);
  ASSERT_NE(modem, nullptr);
  oh_modem_report_gap(modem, 10);
  EXPECT_EQ(Puppet::filled_in, 10);
  const oh_pump pump = oh_modem_pump(modem);
  pump.report_gap(pump.self, 5);
  EXPECT_EQ(Puppet::filled_in, 15);
  oh_modem_destroy(modem);
}

TEST(Modem, WithoutErrorControlBytesAreStartStopCharactersAtOnce) {
  Modem modem(on_puppet(OH_ERROR_CONTROL_NONE));
  EXPECT_TRUE(modem.direct());
  EXPECT_GT(modem.writable(), 0u);
  const std::uint8_t byte = 'x';
  EXPECT_EQ(modem.write(&byte, 1), 1u);
  modem.start();
  Puppet::now.state = OH_PUMP_DATA;
  Puppet::now.tx_bit_rate = Puppet::now.rx_bit_rate = 2400;
  step(modem);
  EXPECT_EQ(Puppet::hang_ups, 0);
  modem.hang_up();
  EXPECT_FALSE(modem.hung_up());
  step(modem);
  EXPECT_EQ(Puppet::hang_ups, 1) << "there is no link to wait for";
  EXPECT_FALSE(modem.hung_up());
  Puppet::now = {};
  step(modem);
  EXPECT_TRUE(modem.hung_up());
  EXPECT_EQ(Puppet::hang_ups, 1);
}

TEST(Modem, WhereV42MayBeAbsentItIsLookedForForThreeSeconds) {
  Modem modem(on_puppet(OH_ERROR_CONTROL_OPTIONAL));
  modem.start();
  EXPECT_FALSE(modem.direct());
  EXPECT_EQ(modem.writable(), 0u) << "what is under them is not known";
  Puppet::now.state = OH_PUMP_DATA;
  Puppet::now.modulation = OH_MODULATION_V34;
  Puppet::now.tx_bit_rate = Puppet::now.rx_bit_rate = 9600;
  step(modem, 2900);
  EXPECT_FALSE(modem.direct());
  step(modem, 200);
  EXPECT_TRUE(modem.direct());
  EXPECT_GT(modem.writable(), 0u);
  Modem without(on_puppet(OH_ERROR_CONTROL_OPTIONAL));
  without.start();
  Puppet::now.state = OH_PUMP_DATA;
  Puppet::now.modulation = OH_MODULATION_V21;
  Puppet::now.tx_bit_rate = Puppet::now.rx_bit_rate = 300;
  step(without, 2);
  EXPECT_TRUE(without.direct()) << "a modulation that V.42 does not run over";
}

// The far end may train 15 s and five round trips of 1.2 s longer (V.90 9.4.1).
TEST(Modem, WhereV42IsRequiredItIsLookedForAsLongAsTheFarEndMayTrain) {
  for (const oh_pump_role role : {OH_PUMP_CALL, OH_PUMP_ANSWER}) {
    Modem::Config config = on_puppet(OH_ERROR_CONTROL_REQUIRED);
    config.role = role;
    Modem modem(config);
    modem.start();
    Puppet::now.state = OH_PUMP_DATA;
    Puppet::now.tx_bit_rate = Puppet::now.rx_bit_rate = 9600;
    step(modem, 20'900);
    EXPECT_EQ(modem.lapm_status().state, OH_LAPM_DETECTION) << role;
    EXPECT_EQ(modem.failure(), "");
    EXPECT_FALSE(modem.ended());
    step(modem, 200);
    EXPECT_EQ(modem.lapm_status().state, OH_LAPM_UNSUPPORTED) << role;
    EXPECT_EQ(modem.failure(), "found no V.42 at the other end");
    EXPECT_TRUE(modem.ended());
  }
}

/// Two pumps that exchange bits without a line, each from its own beginning of data mode on.
struct Wire {
  struct End {
    oh_bit_port port{};
    oh_pump_state state = OH_PUMP_TRAINING;
    Wire* wire = nullptr;
  };
  static inline Wire* made;  ///< the pair whose ends are being created
  End* ends[2] = {};
  static End& of(void* self) { return *static_cast<End*>(self); }
  static const oh_pump_type* type() {
    static const oh_pump_type kType = [] {
      oh_pump_type t = *Puppet::type();
      t.size = [](const oh_pump_config*) { return sizeof(End); };
      t.init = [](void* self, const oh_pump_config* config) {
        made->ends[config->role] = new (self) End{config->port, OH_PUMP_TRAINING, made};
        return 0;
      };
      t.process = [](void* self, const void*, void*, std::size_t n) {  // one bit per sample of the caller's clock
        End *call = &of(self), *answer = call->wire->ends[1];
        if (call != call->wire->ends[0]) return;
        for (std::size_t k = 0; k < n; ++k) {
          const int down = answer->state == OH_PUMP_DATA ? oh_port_get_bit(&answer->port) : 1;
          const int up = call->state == OH_PUMP_DATA ? oh_port_get_bit(&call->port) : 1;
          if (call->state == OH_PUMP_DATA) oh_port_put_bit(&call->port, down);
          if (answer->state == OH_PUMP_DATA) oh_port_put_bit(&answer->port, up);
        }
      };
      t.status = [](const void* self, oh_pump_status* s) {
        s->state = static_cast<const End*>(self)->state;
        s->tx_bit_rate = s->rx_bit_rate = s->state == OH_PUMP_DATA ? 8000 : 0;
      };
      return t;
    }();
    return &kType;
  }
};

TEST(Modem, AFarEndThatTrainsTenSecondsLongerIsConnected) {
  for (const int late : {0, 1}) {
    Wire wire;
    Wire::made = &wire;
    Modem::Config config = on_puppet(OH_ERROR_CONTROL_REQUIRED);
    config.pump = Wire::type();
    Modem call(config);
    config.role = OH_PUMP_ANSWER;
    Modem answer(config);
    for (Modem* m : {&call, &answer}) m->start();
    wire.ends[1 - late]->state = OH_PUMP_DATA;
    for (int ms = 0; ms < 15'000 && call.lapm_status().state != OH_LAPM_CONNECTED; ++ms) {
      if (ms == 10'000) wire.ends[late]->state = OH_PUMP_DATA;
      step(call);
      step(answer);
    }
    EXPECT_EQ(call.lapm_status().state, OH_LAPM_CONNECTED) << (late == 0 ? "call" : "answer") << " was late";
    EXPECT_EQ(answer.lapm_status().state, OH_LAPM_CONNECTED);
  }
}

TEST(Modem, TheLogHasStatesRatesAndWhatThePumpShows) {
  oh_event_log log;
  std::vector<oh_event> slots(64);
  ASSERT_EQ(oh_event_log_init(&log, slots.data(), slots.size(), 0), 0);
  Modem::Config config = on_puppet(OH_ERROR_CONTROL_NONE);
  config.id = 7;
  config.log = &log;
  config.now_ns = [](void*) -> std::uint64_t { return 42; };
  config.log_symbols = 1;
  Modem modem(config);
  modem.start();
  Puppet::now.state = OH_PUMP_DATA;
  Puppet::now.tx_bit_rate = 2400;
  Puppet::now.rx_bit_rate = 1200;
  step(modem, 2);
  for (int k = 0; k < 9; ++k) Puppet::watching.symbol(Puppet::watching.user, 0.5f, -1.f);
  Puppet::watching.instrument(Puppet::watching.user, OH_INSTRUMENT_CARRIER, -1.25f);
  const float re[] = {0, 0.5f, 0}, im[] = {0, 0, 0.05f};
  Puppet::watching.taps(Puppet::watching.user, re, im, 3);
  Puppet::watching.taps(Puppet::watching.user, &re[1], &im[1], 2);
  struct Seen {
    int kind;
    std::uint32_t argument;
    bool operator==(const Seen&) const = default;
  };
  std::vector<Seen> seen;
  for (oh_event e; oh_event_log_read(&log, &e, 1) == 1;) {
    EXPECT_EQ(e.id, 7);
    EXPECT_EQ(e.time_ns, 42u);
    seen.push_back({e.kind, e.argument});
  }
  const std::uint32_t symbol = 0x0800 | 0xf000u << 16;  // Q4.12
  const std::vector<Seen> expected = {{OH_EV_PUMP_STATE, OH_PUMP_DATA},
                                      {OH_EV_PUMP_RATES, 24 | 12u << 16},
                                      {OH_EV_SYMBOL, symbol},
                                      {OH_EV_SYMBOL, symbol},
                                      {OH_EV_PUMP_INSTRUMENT, 2u << 24 | (0x1000000 - 125)},
                                      {OH_EV_PUMP_TAP, 9000},
                                      {OH_EV_PUMP_TAP, 1u << 24},
                                      {OH_EV_PUMP_TAP, 2u << 24 | 2000},
                                      {OH_EV_PUMP_TAP, 0},
                                      {OH_EV_PUMP_TAP, 1u << 24 | 2000}};
  EXPECT_TRUE(seen == expected);
}

TEST(Modem, AHoldIsThePumpsAndItsStatesAreInTheLog) {
  oh_event_log log;
  std::vector<oh_event> slots(64);
  ASSERT_EQ(oh_event_log_init(&log, slots.data(), slots.size(), 0), 0);
  Puppet::orders.clear();
  Puppet::allowed = 0;
  Modem::Config config = on_puppet(OH_ERROR_CONTROL_REQUIRED);
  config.log = &log;
  config.now_ns = [](void*) -> std::uint64_t { return 0; };
  config.hold_timeout = 7;
  Modem modem(config);
  EXPECT_EQ(Puppet::allowed, 7u);
  modem.start();
  EXPECT_FALSE(modem.hold(OH_HOLD_REQUEST)) << "not in data mode";
  Puppet::now.state = OH_PUMP_DATA;
  Puppet::now.tx_bit_rate = Puppet::now.rx_bit_rate = 28'800;
  step(modem);
  EXPECT_TRUE(modem.hold(OH_HOLD_REQUEST));
  EXPECT_EQ(Puppet::orders, (std::vector{OH_HOLD_REQUEST, OH_HOLD_REQUEST}));
  Puppet::now = {};
  Puppet::now.state = OH_PUMP_TRAINING;
  std::vector<std::uint32_t> seen;
  for (const auto& [hold, timeout] : {std::pair(OH_HOLD_ASKED, 0u), {OH_HOLD_AWAY, 3u}, {OH_HOLD_NONE, 0u}}) {
    Puppet::now.hold = hold;
    Puppet::now.hold_timeout = timeout;
    step(modem, 3);
  }
  for (oh_event e; oh_event_log_read(&log, &e, 1) == 1;)
    if (e.kind == OH_EV_PUMP_HOLD) seen.push_back(e.argument);
  EXPECT_EQ(seen, (std::vector<std::uint32_t>{OH_HOLD_ASKED, OH_HOLD_AWAY | 3u << 16, OH_HOLD_NONE}));
}

// The link would wait for an answer that cannot arrive.
TEST(Modem, WhoHangsUpOnHoldEndsTheConnectionAtOnce) {
  Modem modem(on_puppet(OH_ERROR_CONTROL_REQUIRED));
  modem.start();
  Puppet::now.state = OH_PUMP_TRAINING;
  Puppet::now.hold = OH_HOLD_AWAY;
  step(modem);
  modem.hang_up();
  step(modem);
  EXPECT_EQ(Puppet::hang_ups, 1);
}

TEST(Modem, IsEndedByItsOwnerWhenThePumpHasClearedDown) {
  Modem modem(on_puppet(OH_ERROR_CONTROL_REQUIRED));
  modem.start();
  Puppet::now.state = OH_PUMP_DATA;
  Puppet::now.tx_bit_rate = Puppet::now.rx_bit_rate = 9600;
  step(modem);
  modem.hang_up();
  step(modem);
  EXPECT_EQ(modem.lapm_status().state, OH_LAPM_DISCONNECTED);
  EXPECT_EQ(Puppet::hang_ups, 1);
  EXPECT_FALSE(modem.ended()) << "the far end is still to be told";
  Puppet::now = {};
  step(modem);
  EXPECT_TRUE(modem.ended());
}

// As in the previous version: its struct is shorter, and later memory is not read.
TEST(Modem, APumpWithoutHoldRefusesIt) {
  static oh_pump_type older = *Puppet::type();
  older.struct_size = offsetof(oh_pump_type, hold);
  EXPECT_FALSE(oh_pump_has_hold(&older));
  Puppet::orders.clear();
  Puppet::allowed = 0;
  Modem::Config config = on_puppet(OH_ERROR_CONTROL_NONE);
  config.pump = &older;
  config.hold_timeout = 7;
  Modem modem(config);
  Puppet::now.state = OH_PUMP_DATA;
  EXPECT_FALSE(modem.hold(OH_HOLD_REQUEST));
  EXPECT_TRUE(Puppet::orders.empty());
  EXPECT_EQ(Puppet::allowed, 0u);
  EXPECT_FALSE(oh_pump_has_hold(oh_v34_type()));
}

TEST(Modem, EachEndOfACallHasItsReason) {
  struct Case {
    oh_pump_state pump;
    oh_pump_failure failure;
    std::uint64_t bits_received;
    oh_lapm_cause cause;
    oh_lapm_state link;
    bool direct;
    const char* text;
  };
  constexpr auto kNoFailure = OH_PUMP_FAILURE_NONE;
  for (const Case& c : {
           Case{OH_PUMP_FAILED, OH_PUMP_NOTHING_IN_COMMON, 0, OH_LAPM_NO_CAUSE, OH_LAPM_CONNECTED, false,
                "has no modulation in common with the other end"},
           {OH_PUMP_FAILED, OH_PUMP_TOO_SLOW, 0, OH_LAPM_NO_CAUSE, OH_LAPM_CONNECTED, false,
            "ended the call: the negotiated rate is below the configured minimum"},
           {OH_PUMP_FAILED, kNoFailure, 0, OH_LAPM_NO_CAUSE, OH_LAPM_CONNECTED, true, "could not connect"},
           {OH_PUMP_FAILED, kNoFailure, 1, OH_LAPM_NO_CAUSE, OH_LAPM_CONNECTED, true, "lost the carrier"},
           {OH_PUMP_IDLE, kNoFailure, 1, OH_LAPM_NO_CAUSE, OH_LAPM_CONNECTED, true, "was cleared down by the far end"},
           {OH_PUMP_IDLE, kNoFailure, 0, OH_LAPM_NO_CAUSE, OH_LAPM_CONNECTED, false, ""},
           {OH_PUMP_DATA, kNoFailure, 1, OH_LAPM_NO_CAUSE, OH_LAPM_FAILED, true, ""},
           {OH_PUMP_DATA, kNoFailure, 1, OH_LAPM_NO_CAUSE, OH_LAPM_FAILED, false, "gave up the V.42 link"},
           {OH_PUMP_DATA, kNoFailure, 1, OH_LAPM_NO_CAUSE, OH_LAPM_UNSUPPORTED, false,
            "found no V.42 at the other end"},
           {OH_PUMP_DATA, kNoFailure, 1, OH_LAPM_NO_CLOCK, OH_LAPM_UNSUPPORTED, false,
            "requires V.42, which does not run over this modulation"},
           {OH_PUMP_DATA, kNoFailure, 1, OH_LAPM_NO_CAUSE, OH_LAPM_DISCONNECTED, false, "released the V.42 link"},
           {OH_PUMP_DATA, kNoFailure, 1, OH_LAPM_NO_CAUSE, OH_LAPM_CONNECTED, false, ""},
       }) {
    oh_modem_end_status end;
    end.pump.state = c.pump;
    end.pump.failure = c.failure;
    end.pump.bits_received = c.bits_received;
    end.link.state = c.link;
    end.link.cause = c.cause;
    end.direct = c.direct;
    EXPECT_STREQ(oh_modem_end_failure(&end), c.text);
  }
}

}  // namespace
}  // namespace offhook::modem
