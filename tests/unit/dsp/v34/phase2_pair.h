// SPDX-License-Identifier: MIT
// Two Phase 2 machines and the simplest line: delay, loss and a little noise. Keeps what either end sent.
#pragma once

#include <cstdint>
#include <functional>
#include <random>
#include <string_view>
#include <vector>

#include "dsp/v34/phase2/phase2.h"

namespace offhook::v34 {

struct Phase2Pair {
  explicit Phase2Pair(Phase2Config call_config = {}, Phase2Config answer_config = {})
      : call(call_config), answer([&] {
          answer_config.role = OH_PUMP_ANSWER;
          return answer_config;
        }()) {}

  void start() { call.start(), answer.start(); }
  bool done() const { return call.done() && answer.done(); }

  /// @return whether `until` became true within `seconds`
  bool run(double seconds, const std::function<bool()>& until) {
    for (const int64_t end = now + static_cast<int64_t>(seconds * 8000); now < end; ++now) {
      if (until()) return true;
      const auto heard = [&](const std::vector<float>& far, bool muted) {
        const auto at = static_cast<size_t>(now - 1 - delay);
        return (now > delay && !muted ? 0.3f * far[at] : 0) + normal(random);
      };
      const float a = heard(sent_answer, mute_answer), b = heard(sent_call, mute_call);
      heard_call.push_back(a);
      heard_answer.push_back(b);
      sent_call.push_back(call.process(a));
      sent_answer.push_back(answer.process(b));
    }
    return until();
  }
  bool run_to_end(double seconds = 20) {
    return run(seconds, [this] { return done(); });
  }
  double seconds() const { return static_cast<double>(now) / 8000; }
  double round_trip_ms() const { return 2 * (delay + 1) / 8.; }

  Phase2 call, answer;
  int delay = 79;          // one way, minus one sample
  bool mute_call = false;  // the line loses the call modem's signal
  bool mute_answer = false;
  int64_t now = 0;
  std::vector<float> sent_call, sent_answer, heard_call, heard_answer;
  std::mt19937 random{1};
  std::normal_distribution<float> normal{0, 3};
};

/// Of V.92's short Phase 2.
inline bool is_of_short_phase2(const Phase2::Transition& row) {
  return std::string_view(row.clause).starts_with("V.92 9.4");
}

}  // namespace offhook::v34
