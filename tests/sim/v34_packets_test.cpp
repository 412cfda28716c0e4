// SPDX-License-Identifier: MIT
//
// Calls of V.34 between a modem on a line card and one on the network, whose packets go through playout buffers that
// move.
#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <vector>

#include "driver/user_modem/modem.h"
#include "hostsim/call/line_between.h"
#include "hostsim/call/modem_config.h"
#include "hostsim/call/scenario.h"

namespace offhook::test {
namespace {

using hostsim::Scenario;

/// Both modems send all the time; the near modem is on the line card.
class Call {
 public:
  static constexpr std::uint32_t kBlock = 80;
  explicit Call(const Scenario& scenario)
      : near_(hostsim::near_modem(scenario, hostsim::near_type(scenario))),
        far_(hostsim::far_modem(scenario, hostsim::far_type(scenario))),
        line_(hostsim::make_line_between(
            scenario, [this](const void* rx, void* tx, std::size_t n) { far_.process(rx, tx, n); })) {
    near_.start();
    far_.start();
  }
  void run(double seconds) {
    std::array<std::int16_t, kBlock> sent{}, heard = heard_;
    for (auto left = static_cast<int>(seconds * 8000 / kBlock); left > 0; --left) {
      near_.process(heard.data(), sent.data(), kBlock);
      line_->exchange(sent.data(), heard.data(), kBlock);
      for (modem::Modem* end : {&near_, &far_}) {
        std::array<std::uint8_t, 1024> bytes{};
        while (end->read(bytes.data(), bytes.size()) > 0) {
        }
        end->write(bytes.data(), end->writable() < bytes.size() ? end->writable() : bytes.size());
      }
    }
    heard_ = heard;
  }
  std::uint32_t slips() const { return near_.status().line.slips + far_.status().line.slips; }
  std::uint32_t retrains() const { return near_.pump_status().retrains + far_.pump_status().retrains; }
  bool in_data() const { return near_.pump_status().state == OH_PUMP_DATA && far_.pump_status().state == OH_PUMP_DATA; }

 private:
  modem::Modem near_, far_;
  std::unique_ptr<hostsim::LineBetween> line_;
  std::array<std::int16_t, kBlock> heard_{};
};

// The network drops samples of its own clock: 160 of them are 160.008 samples of a modem whose clock is 50 ppm slower.
TEST(V34Packets, AJumpBetweenTwoClocksIsFoundLikeOneOfASingleClock) {
  for (const double clock_ppm : {0., 50., -50.}) {
    for (const double jump_ms : {10., 20.}) {
      SCOPED_TRACE(testing::Message() << jump_ms << " ms, " << clock_ppm << " ppm");
      Scenario s;
      s.line_kind = hostsim::LineKind::kDigitalTrunk;
      s.modem = OH_MODULATION_V34;
      s.transmit_lead_samples = Call::kBlock;
      s.trunk.noise_dbm0 = -80;
      s.trunk.clock_ppm = clock_ppm;
      s.trunk.network = {.packet_ms = 20, .jump_every_s = 12, .jump_ms = jump_ms};
      Call call(s);
      call.run(30);  // a jump spoils a training
      ASSERT_TRUE(call.in_data());
      const std::uint32_t slips = call.slips(), retrains = call.retrains();
      call.run(48);
      EXPECT_TRUE(call.in_data());
      EXPECT_EQ(call.retrains(), retrains);
      EXPECT_EQ(call.slips(), slips + 4);
    }
  }
}

}  // namespace
}  // namespace offhook::test
