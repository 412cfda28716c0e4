// SPDX-License-Identifier: MIT
#include "driver/modem/modem.h"

#include <gtest/gtest.h>

#include <array>

#include "dsp/pump/pump_type.h"

namespace offhook::modem {
namespace {

/// A pump in a state and at rates that the test sets: takes bits, hears nothing.
struct Puppet {
  static inline oh_pump_status now{};
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
                                                 return 0;
                                               },
                                           .process =
                                               [](void* self, const void*, void*, std::size_t n) {
                                                 Puppet& p = of(self);
                                                 p.bits += static_cast<double>(n) * now.tx_bit_rate / 8000;
                                                 for (; now.state == OH_PUMP_DATA && p.bits >= 1; --p.bits)
                                                   oh_port_get_bit(&p.port);
                                               },
                                           .fill_in = [](void*, std::size_t) {},
                                           .status = [](const void*, oh_pump_status* status) { *status = now; },
                                           .hang_up = [](void*) {},
                                           .release = [](void*) {},
                                           .advance = oh_pump_advance_each};
    return &kType;
  }
};

struct Originator : testing::Test {
  Modem modem{{.pump = Puppet::type(),
               .role = OH_PUMP_CALL,
               .id = 0,
               .log = nullptr,
               .now_ns = [] { return 0; },
               .error_control = {.detect = false}}};
  Originator() { modem.start(); }
  /// @return seconds until V.42 has waited T401 in vain once more, at most `seconds`
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

}  // namespace
}  // namespace offhook::modem
