// SPDX-License-Identifier: MIT
//
// What V.42 makes of modem-on-hold (V.92 9.10.3, Amendment 2): it stands still, and goes on where it was.
#include <gtest/gtest.h>

#include <memory>
#include <numeric>
#include <vector>

#include "driver/user_modem/modem.h"
#include "dsp/pump/pump_type.h"
#include "dsp/v90/session/pump.h"
#include "hostsim/channel/digital_trunk.h"

namespace offhook {
namespace {

constexpr uint8_t kOneMinute = 5;  // code of Table 33

class Calls : public hostsim::DigitalEnd {
 public:
  Calls() : analogue_(config(kLinear16000To8000, OH_PUMP_CALL)), digital_(config(kMuLaw8000, OH_PUMP_ANSWER)) {
    for (modem::Modem* m : {&analogue_, &digital_}) {
      const oh_v90_options options{.hold_timeout = kOneMinute};
      oh_v90_set_options(m->pump_memory(), &options);
      m->start();
      oh_v90_begin(m->pump_memory());
    }
    hostsim::DigitalTrunkConfig trunk;
    trunk.noise_dbm0 = -85;
    trunk_ = std::make_unique<hostsim::DigitalTrunk>(trunk, 1, *this);
  }
  void run(double seconds) {
    for (int n = 0; n < static_cast<int>(seconds * 8000); ++n) {
      int16_t captured[hostsim::DigitalTrunk::kReceivedRatio];
      trunk_->exchange(played_, captured);
      analogue_.process(captured, &played_, 1);
      exchange_bytes();
    }
  }
  template <class Condition>
  bool until(double seconds, const Condition& is_so) {
    for (double t = 0; t < seconds && !is_so(); t += 0.05) run(0.05);
    return is_so();
  }
  bool connected() const {
    return analogue_.lapm_status().state == OH_LAPM_CONNECTED && digital_.lapm_status().state == OH_LAPM_CONNECTED;
  }
  bool in_data() const {
    return analogue_.pump_status().state == OH_PUMP_DATA && digital_.pump_status().state == OH_PUMP_DATA;
  }
  modem::Modem& analogue() { return analogue_; }
  modem::Modem& digital() { return digital_; }
  /// Both directions carry 0, 1, 2, ... endlessly.
  size_t received(int direction) const { return received_[direction]; }
  bool all_right() const { return all_right_; }

 private:
  static modem::Modem::Config config(const oh_pump_format& format, oh_pump_role role) {
    modem::Modem::Config c{};
    c.pump = oh_v90_type();
    c.role = role;
    c.format = format;
    c.link.error_control = OH_ERROR_CONTROL_REQUIRED;
    if (role == OH_PUMP_CALL) c.io_delay_samples = 1;  // this loop's own
    return c;
  }
  uint8_t process(uint8_t rx) override {
    uint8_t tx;
    digital_.process(&rx, &tx, 1);
    return tx;
  }
  void exchange_bytes() {
    modem::Modem* const ends[] = {&analogue_, &digital_};
    for (int k = 0; k < 2; ++k) {
      while (ends[k]->writable() > 0) {
        const auto next = static_cast<uint8_t>(sent_[k]);
        sent_[k] += ends[k]->write(&next, 1);
      }
      uint8_t byte;
      while (ends[1 - k]->read(&byte, 1) == 1) all_right_ &= byte == static_cast<uint8_t>(received_[k]++);
    }
  }

  modem::Modem analogue_, digital_;
  std::unique_ptr<hostsim::DigitalTrunk> trunk_;
  int16_t played_ = 0;
  size_t sent_[2]{}, received_[2]{};
  bool all_right_ = true;
};

TEST(V92HoldLink, StandsStillWhileTheCallIsOnHoldAndGoesOnWhereItWas) {
  for (const bool analogue_asks : {true, false}) {
    Calls calls;
    ASSERT_TRUE(calls.until(25, [&] { return calls.connected(); }));
    calls.run(2);
    void* const asker = (analogue_asks ? calls.analogue() : calls.digital()).pump_memory();
    const uint32_t timeouts[] = {calls.analogue().lapm_status().timeouts, calls.digital().lapm_status().timeouts};
    ASSERT_EQ(oh_v90_hold(asker, OH_HOLD_REQUEST), 0);
    calls.run(30);
    uint8_t timeout = 0;
    ASSERT_EQ(oh_v90_hold_state(asker, &timeout), OH_HOLD_AWAY);
    EXPECT_TRUE(calls.connected());
    EXPECT_EQ(calls.analogue().lapm_status().timeouts, timeouts[0]);
    EXPECT_EQ(calls.digital().lapm_status().timeouts, timeouts[1]);
    const size_t before[] = {calls.received(0), calls.received(1)};
    ASSERT_EQ(oh_v90_hold(asker, OH_HOLD_RESUME), 0);
    // It stays connected: no new XID, no new SABME, and so the roles of the first call.
    for (double t = 0; t < 25 && !calls.in_data(); t += 0.05) {
      calls.run(0.05);
      ASSERT_TRUE(calls.connected());
    }
    calls.run(5);
    EXPECT_TRUE(calls.connected());
    EXPECT_TRUE(calls.all_right());
    EXPECT_GT(calls.received(0), before[0] + 5000);
    EXPECT_GT(calls.received(1), before[1] + 10000);
  }
}

}  // namespace
}  // namespace offhook
