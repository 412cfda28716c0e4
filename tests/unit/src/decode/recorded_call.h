// SPDX-License-Identifier: MIT
//
// A call of two pumps of our own over a line with little noise, recorded: what each end sent, a channel each.
#pragma once

#include <cstdint>
#include <vector>

#include "offhook/decode.h"
#include "src/decode/call/call.h"
#include "tests/sim/v34_call.h"

namespace offhook::decode {

class RecordedCall : public test::V34Call {
 public:
  explicit RecordedCall(const oh_pump_type* type, std::uint32_t max_bit_rate = 0)
      : V34Call(line(), 1, max_bit_rate, type) {
    record(sent_);
  }
  /// @param to_s  0: to its end
  Recording recording(double from_s = 0, double to_s = 0) const {
    Recording r;
    for (const std::vector<float>& x : sent_) {
      const auto at = [&](double s) { return x.begin() + static_cast<long>(s * kRateHz); };
      r.channel.emplace_back(at(from_s), to_s > 0 ? at(to_s) : x.end());
    }
    r.file_rate_hz = kRateHz;
    r.duration_s = static_cast<double>(r.channel[0].size()) / kRateHz;
    r.peak = r.clipped = {0, 0};
    return r;
  }

 private:
  static hostsim::LineConfig line() {
    hostsim::LineConfig c;
    c.near_echo_db = c.far_echo_db = 200;
    c.noise_dbm0 = -90;
    c.codec = "none";
    return c;
  }
  std::vector<float> sent_[2];
};

}  // namespace offhook::decode
