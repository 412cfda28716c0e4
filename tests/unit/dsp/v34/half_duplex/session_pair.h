// SPDX-License-Identifier: MIT
// A source and a recipient after Phase 2, whose results are given, and the simplest line: delay, loss, a little noise.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <random>

#include "dsp/v34/half_duplex/session.h"
#include "tests/unit/driver/user_modem/pump_pair.h"

namespace offhook::v34 {

struct HalfDuplexPair {
  explicit HalfDuplexPair(bool source_calls = true, uint8_t trn_length = 30) {
    for (const bool is_source : {true, false}) {
      HalfDuplexConfig c;
      c.source = is_source;
      c.role = is_source == source_calls ? OH_PUMP_CALL : OH_PUMP_ANSWER;
      c.margin = 1.084;
      auto& end = is_source ? source : recipient;
      auto& bits = is_source ? source_bits : recipient_bits;
      bits[0].tx = 0x4321, bits[1].tx = 0x8765;
      end = std::make_unique<HalfDuplexSession>(c, bits[0].port(), bits[1].port());
    }
    outcome.own_info0 = outcome.far_info0 = kAllCapabilities;
    outcome.infoh = {0, trn_length, Carrier::kLow, 0, SymbolRate::k3200, false};
    outcome.tx_symbol_rate = outcome.rx_symbol_rate = SymbolRate::k3200;
  }
  void begin() {
    source->begin(outcome);
    recipient->begin(outcome);
  }
  /// @return whether `until` became true within `seconds`
  bool run(double seconds, const std::function<bool()>& until) {
    for (const int64_t end = now + static_cast<int64_t>(seconds * 8000); now < end; ++now) {
      if (until()) return true;
      const auto heard = [&](std::deque<float>* line, bool muted) {
        const float x = line->front();
        line->pop_front();
        return (muted ? 0 : 0.3f * x) + normal(random);
      };
      const float a = heard(&to_source, mute_recipient), b = heard(&to_recipient, mute_source);
      to_recipient.push_back(source->process(a));
      to_source.push_back(recipient->process(b));
    }
    return until();
  }
  bool reach(HalfDuplexState s, double seconds = 8) {
    return run(seconds, [&] { return source->state() == s && recipient->state() == s; });
  }
  bool reach_control(double seconds = 8) { return reach(HalfDuplexState::kControl, seconds); }
  bool reach_page() {
    recipient->turn();
    source->turn();
    return run(3, [this] { return source->in_primary() && recipient->in_primary(); });
  }
  /// Milliseconds until the end leaves `state`; -1 if not within 10 s.
  double ms_until_left(const HalfDuplexSession& end, HalfDuplexState state) {
    const int64_t from = now;
    return run(10, [&] { return end.state() != state; }) ? static_cast<double>(now - from) / 8 : -1;
  }

  Phase2Outcome outcome{};
  test::BitTester source_bits[2], recipient_bits[2];  ///< primary, control
  std::unique_ptr<HalfDuplexSession> source, recipient;
  bool mute_source = false, mute_recipient = false;  ///< the line loses the signal of that end
  int64_t now = 0;
  std::deque<float> to_source = std::deque<float>(80), to_recipient = std::deque<float>(80);
  std::mt19937 random{1};
  std::normal_distribution<float> normal{0, 1};
};

}  // namespace offhook::v34
