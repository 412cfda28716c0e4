// SPDX-License-Identifier: MIT
// A source and a recipient of half-duplex V.34 on the simplest line, with test patterns on all channels.
#pragma once

#include <array>
#include <string>

#include "offhook/v34_half_duplex.h"
#include "tests/unit/driver/user_modem/pump_pair.h"

namespace offhook::test {

class HalfDuplexCall {
 public:
  /// @param source  end 0 calls, end 1 answers
  explicit HalfDuplexCall(int source, LineConfig line = {}) : source_(source), pair_(types(source), line, ports()) {
    for (const int end : {0, 1}) {
      control_[end].tx = 0x1357u + static_cast<uint32_t>(end);
      const oh_bit_port port = control_[end].port();
      oh_v34_half_duplex_set_control_port(pair_.pump(end), &port);
    }
    page_[source].tx = 0x2468;
  }

  int source() const { return source_; }
  int recipient() const { return 1 - source_; }
  PumpPair& pair() { return pair_; }
  oh_v34_half_duplex_status status(int end) {
    oh_v34_half_duplex_status s{};
    s.struct_size = sizeof s;
    oh_v34_half_duplex_get_status(pair_.pump(end), &s);
    return s;
  }
  /// @return whether both ends reached the channel within `seconds`
  bool reach(oh_v34_channel channel, double seconds) {
    for (double t = 0; t < seconds; t += 0.005) {
      if (status(0).channel == channel && status(1).channel == channel) return true;
      pair_.run(40);
    }
    return false;
  }
  /// Both ends leave the control channel, the recipient first.
  bool turn_to_page() { return turn(recipient()) && turn(source()) && reach(OH_V34_CHANNEL_PRIMARY, 3); }
  /// The source changes the channel, and the recipient detects it.
  bool turn_to_control(double seconds = 3) { return turn(source()) && reach(OH_V34_CHANNEL_CONTROL, seconds); }
  bool turn(int end) { return oh_v34_half_duplex_turn(pair_.pump(end)) == 0; }

  /// Time on the channel in use. @return wrong bits per received bit, without those used for synchronisation
  double page_errors(double seconds) { return errors(&page_[recipient()], seconds); }
  double control_errors(int end, double seconds) { return errors(&control_[end], seconds); }

 private:
  static std::array<const oh_pump_type*, 2> types(int source) {
    const std::array both = {oh_v34_source_type(), oh_v34_recipient_type()};
    return source == 0 ? both : std::array{both[1], both[0]};
  }
  std::array<oh_bit_port, 2> ports() { return {page_[0].port(), page_[1].port()}; }
  double errors(BitTester* tester, double seconds) {
    pair_.run(400);
    const uint64_t good = tester->good, bad = tester->bad;
    pair_.run(static_cast<size_t>(8000 * seconds));
    const double wrong = static_cast<double>(tester->bad - bad);
    const double all = wrong + static_cast<double>(tester->good - good);
    return all < 100 ? 1 : wrong / all;
  }

  int source_;
  BitTester page_[2], control_[2];
  PumpPair pair_;
};

}  // namespace offhook::test
