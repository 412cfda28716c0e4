// SPDX-License-Identifier: MIT
#include "src/decode/presentation/notes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "dsp/v34/phase2/tones.h"

namespace offhook::decode {

std::vector<std::string> notes(const Call& call) {
  const StartUp& s = call.start_up;
  std::vector<std::string> out;
  if (!s.v8.quick_connect.empty()) out.emplace_back("V.92 Quick Connect: QC1 or QCA1 among the octets of V.8");
  for (const AnswerToneHeard& a : s.answer_tones) {
    if (a.kind == AnswerToneHeard::Kind::kAnspcm)
      out.push_back(fmt::format("ANSpcm of V.92: {:.2f} Hz without AM, channel {}", a.frequency_hz, a.channel));
  }
  if (s.info.empty()) return out;
  const auto count = [&](int carrier_hz, bool info0) {
    return std::count_if(s.info.begin(), s.info.end(),
                         [&](const InfoHeard& i) { return i.carrier_hz == carrier_hz && i.is_info0() == info0; });
  };
  const auto call0 = count(v34::kDpskCallHz, true), answer0 = count(v34::kDpskAnswerHz, true);
  if (call0 > 1 || answer0 > 1) {
    out.push_back(
        fmt::format("INFO0 repeated (V.34 11.2.2): {} of the call modem, {} of the answer modem", call0, answer0));
  }
  const auto missing = [&](const char* name, long heard) {
    if (heard == 0) out.push_back(fmt::format("no {} with a good CRC", name));
  };
  missing("INFO0c", call0);
  missing("INFO0a", answer0);
  missing("INFO1c", count(v34::kDpskCallHz, false));
  missing("INFO1a", count(v34::kDpskAnswerHz, false));
  return out;
}

}  // namespace offhook::decode
