// SPDX-License-Identifier: MIT
// Half-duplex V.34 over simulated lines: echo, noise, codecs, frequency offset, two clocks, delay.
#include "offhook/v34_half_duplex.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>
#include <string>

#include "dsp/pump/pump_type.h"
#include "tests/sim/v34_pair.h"
#include "tests/unit/driver/user_modem/pump_pair.h"

namespace offhook::test {
namespace {

/// One end of the call, with test patterns on both channels.
class End {
 public:
  End(bool source, oh_pump_role role, uint32_t max_bit_rate)
      : type_(source ? oh_v34_source_type() : oh_v34_recipient_type()) {
    page.tx = 0x2468, control.tx = role == OH_PUMP_CALL ? 0x1357 : 0x3579;
    oh_pump_config config{};
    config.format = kLinear8000;
    config.role = role;
    config.max_bit_rate = max_bit_rate;
    config.tx_level_dbm0 = -12;
    config.port = page.port();
    self_.reset(std::aligned_alloc(64, type_->size(&config)));
    EXPECT_EQ(type_->init(self_.get(), &config), 0);
    const oh_bit_port port = control.port();
    oh_v34_half_duplex_set_control_port(self_.get(), &port);
  }
  float process(float rx) {
    const auto x = static_cast<int16_t>(rx);
    int16_t tx = 0;
    type_->process(self_.get(), &x, &tx, 1);
    return tx;
  }
  oh_v34_half_duplex_status status() const {
    oh_v34_half_duplex_status s{};
    s.struct_size = sizeof s;
    oh_v34_half_duplex_get_status(self_.get(), &s);
    return s;
  }
  bool turn() { return oh_v34_half_duplex_turn(self_.get()) == 0; }

  BitTester page, control;

 private:
  const oh_pump_type* type_;
  std::unique_ptr<void, decltype(&std::free)> self_{nullptr, &std::free};
};

struct Case {
  std::string name;
  hostsim::LineConfig line;
  uint32_t least_bit_rate;  ///< of the page
};

class V34HalfDuplexLines : public testing::TestWithParam<Case> {};

// Three pages of one second each, with messages between them.
TEST_P(V34HalfDuplexLines, CarryPagesFromEitherEnd) {
  for (const bool near_is_source : {true, false}) {
    SCOPED_TRACE(near_is_source ? "the caller is the source" : "the answerer is the source");
    End near(near_is_source, OH_PUMP_CALL, 0), far(!near_is_source, OH_PUMP_ANSWER, 0);
    End &source = near_is_source ? near : far, &recipient = near_is_source ? far : near;
    LinePair<End, End> pair(GetParam().line, 5, near, far);
    const auto reach = [&](oh_v34_channel channel, double seconds) {
      return pair.run(seconds, [&] { return near.status().channel == channel && far.status().channel == channel; });
    };
    const auto errors = [&](BitTester& bits, double seconds) {
      pair.run(0.1, [] { return false; });
      const uint64_t bad = bits.bad, good = bits.good;
      pair.run(seconds, [] { return false; });
      return static_cast<double>(bits.bad - bad) / static_cast<double>(bits.bad + bits.good - bad - good);
    };
    ASSERT_TRUE(reach(OH_V34_CHANNEL_CONTROL, 25));
    EXPECT_GE(source.status().primary_bit_rate, GetParam().least_bit_rate);
    for (int page = 0; page < 3; ++page) {
      EXPECT_EQ(errors(near.control, 0.5), 0) << page;
      EXPECT_EQ(errors(far.control, 0.5), 0) << page;
      ASSERT_TRUE(recipient.turn());
      ASSERT_TRUE(source.turn());
      ASSERT_TRUE(reach(OH_V34_CHANNEL_PRIMARY, 3)) << page;
      EXPECT_LT(errors(recipient.page, 1), 3e-3) << page;
      ASSERT_TRUE(source.turn());
      ASSERT_TRUE(reach(OH_V34_CHANNEL_CONTROL, 4)) << page;
    }
    EXPECT_EQ(near.status().control_retrains + far.status().control_retrains, 0u);
    EXPECT_EQ(near.status().primary_retrains + far.status().primary_retrains, 0u);
  }
}

std::vector<Case> cases() {
  std::vector<Case> all;
  const auto add = [&all](const char* name, uint32_t least, auto&& change) {
    Case c{name, {}, least};
    change(c.line);
    all.push_back(c);
  };
  add("Usual", 28800, [](hostsim::LineConfig&) {});
  add("Noise", 19200, [](hostsim::LineConfig& l) { l.noise_dbm0 = -45; });
  add("FrequencyOffset", 26400, [](hostsim::LineConfig& l) { l.frequency_offset_hz = 7; });
  add("ClockFast", 26400, [](hostsim::LineConfig& l) { l.clock_ppm = 100; });
  add("ClockSlow", 26400, [](hostsim::LineConfig& l) { l.clock_ppm = -100; });
  add("Delay", 26400, [](hostsim::LineConfig& l) { l.delay_ms = 280; });
  add("NearEcho", 26400, [](hostsim::LineConfig& l) { l.near_echo_db = 6; });
  add("Edd1", 14400, [](hostsim::LineConfig& l) { l.channel = "v56bis-ad1-edd1"; });
  // DC and hum with its harmonics, of a converter. The signal is received at -22 dBm0, with DC at -28 dBm0. 60 Hz: the
  // fourth and fifth harmonic are next to the lower line of S at 3429 symbols/s, 245 Hz.
  add("Dc", 24000, [](hostsim::LineConfig& l) { l.dc_percent = 1.5, l.loss_db = 16; });
  add("Hum50AboveTheSignal", 19200, [](hostsim::LineConfig& l) { l.hum_hz = 50, l.hum_dbm0 = -20; });
  add("Hum50BelowTheSignal", 26400, [](hostsim::LineConfig& l) { l.hum_hz = 50, l.hum_dbm0 = -26; });
  add("Hum60BelowTheSignal", 21600, [](hostsim::LineConfig& l) { l.hum_hz = 60, l.hum_dbm0 = -26; });
  add("Hum60FarBelowTheSignal", 26400, [](hostsim::LineConfig& l) { l.hum_hz = 60, l.hum_dbm0 = -32; });
  return all;
}
INSTANTIATE_TEST_SUITE_P(Every, V34HalfDuplexLines, testing::ValuesIn(cases()),
                         [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace offhook::test
