// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include "src/decode/call.h"

namespace offhook::decode {

std::string to_text(const Call& call) {
  const Recording& r = call.recording;
  const StartUp& s = call.start_up;
  std::string out = fmt::format("{}: {:.1f} s, {} at {} Hz{}\n", r.name, r.duration_s,
                                r.channel.size() == 2 ? "both directions" : "one direction", r.file_rate_hz,
                                r.truncated ? ", truncated" : "");
  const auto events = timeline(call);
  if (events.empty()) return out + "nothing found: no answer tone, V.8bis, V.8, INFO sequence or probing signal\n";
  if (s.call_channel >= 0 && r.channel.size() == 2) {
    out += fmt::format("call modem: channel {}, answer modem: channel {} (from {})\n", s.call_channel, s.answer_channel,
                       s.roles_from);
  }
  out += "\n    from s       to s  ch  what\n";
  for (const Event& e : events) {
    out += fmt::format("{:>10.4f} {:>10}  {:>2}  {}{}{}\n", e.t, e.t_end > 0 ? fmt::format("{:.4f}", e.t_end) : "",
                       e.channel, e.event, e.detail.empty() ? "" : ": ", e.detail);
  }
  return out;
}

}  // namespace offhook::decode
