// SPDX-License-Identifier: MIT
#include "src/decode/presentation/notes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "dsp/v34/phase2/tones.h"

namespace offhook::decode {
namespace {

// V.92 8.3.1: 79 periods in 301 samples of the network's clock; that is 0.33 Hz below ANS.
constexpr double kAnsPcmHz = 8000.0 * 79 / 301;
constexpr double kHzClose = 0.12;

int infos(const StartUp& s, int carrier_hz, bool info0) {
  return static_cast<int>(std::count_if(s.info.begin(), s.info.end(), [&](const InfoHeard& i) {
    return i.carrier_hz == carrier_hz && i.is_info0() == info0;
  }));
}

void add_rates(const Call& call, std::vector<std::string>& out) {
  const auto name = name_rates(call.recording.name);
  if (!name || call.trainings.empty()) return;
  const Training& t = call.trainings.front();
  const int a2c = 2400 * t.rates.answer_to_call, c2a = 2400 * t.rates.call_to_answer;
  if (a2c > 0 && c2a > 0) {
    const bool equal = name->first == a2c && name->second == c2a;
    out.push_back(fmt::format("MP rates (answer>call, call>answer) [{}, {}] {} the file name", a2c, c2a,
                              equal ? "equal" : "differ from"));
  }
  const auto exceeds = [&](const char* way, int rate, int projected) {
    if (projected > 0 && rate > projected) {
      out.push_back(fmt::format("{} rate in the name exceeds the INFO1 projection {}", way, projected));
    }
  };
  exceeds("answer_to_call", name->first, t.tx_2400side.direction.projected_rate);
  exceeds("call_to_answer", name->second, t.tx_1200side.direction.projected_rate);
}

}  // namespace

std::optional<std::pair<int, int>> name_rates(const std::string& name) {
  int rate[2];
  std::string rest = name.substr(0, name.rfind('.'));
  for (int k = 1; k >= 0; --k) {
    const auto dash = rest.rfind('-');
    if (dash == std::string::npos) return {};
    const std::string digits = rest.substr(dash + 1);
    if (digits.size() < 3 || digits.size() > 5 || digits.find_first_not_of("0123456789") != std::string::npos)
      return {};
    rate[k] = std::stoi(digits);
    rest.resize(dash);
  }
  return std::pair{rate[0], rate[1]};
}

std::vector<std::string> notes(const Call& call) {
  const StartUp& s = call.start_up;
  std::vector<std::string> out;
  std::string v8bis;
  for (const V8bisMessage& m : s.v8bis) {
    v8bis += fmt::format("{}{} ch{}", v8bis.empty() ? "" : ", ", m.type(), m.channel);
  }
  if (!v8bis.empty()) out.push_back("V.8bis before V.8: " + v8bis);
  if (!s.quick_connect.empty()) out.emplace_back("V.92 QC1/QCA1 octets in V.8");
  for (const AnswerToneHeard& a : s.answer_tones) {
    if (!a.ansam && std::abs(a.frequency_hz - kAnsPcmHz) < kHzClose) {
      out.push_back(fmt::format("ANSpcm of V.92: {:.2f} Hz without AM, ch{}", a.frequency_hz, a.channel));
    }
  }
  if (s.call_channel == 1) out.emplace_back("call modem is channel 1 (right), answer modem channel 0");
  const int info0_1200 = infos(s, v34::kDpskCallHz, true), info0_2400 = infos(s, v34::kDpskAnswerHz, true);
  if (info0_1200 > 1 || info0_2400 > 1) {
    out.push_back(fmt::format("INFO0 repeated (11.2.2 recovery): {} / {} copies", info0_1200, info0_2400));
  }
  const struct {
    const char* key;
    int count;
  } kinds[] = {{"info0c", info0_1200},
               {"info0a", info0_2400},
               {"info1c", infos(s, v34::kDpskCallHz, false)},
               {"info1a", infos(s, v34::kDpskAnswerHz, false)}};
  for (const auto& [key, count] : kinds) {
    if (count == 0) out.push_back(fmt::format("{}: no CRC-correct frame", key));
  }
  add_rates(call, out);
  return out;
}

std::string depth(const Call& call) {
  const StartUp& s = call.start_up;
  std::vector<std::string> read;
  if (!s.cm.empty() || !s.jm.empty()) read.emplace_back("V.8");
  if (!s.info.empty()) read.emplace_back("INFO0/1");
  const auto trained = [](const Training::Side& side) {
    return std::any_of(side.passages.begin(), side.passages.end(), [](const Passage& p) { return p.trn_symbols > 0; });
  };
  bool training = false, pcm = false, cp = false;
  int most_mp = 0;
  for (const Training& t : call.trainings) {
    training |= trained(t.tx_1200side) || trained(t.tx_2400side);
    pcm |= t.pcm;
    cp |= !t.tx_2400side.cps().empty();
    most_mp = std::max(most_mp, (t.tx_1200side.mp() != nullptr) + (t.tx_2400side.mp() != nullptr));
  }
  if (training) read.emplace_back(pcm ? "Phase 3" : "Phase 3/4");
  if (cp) read.emplace_back("CP");
  if (most_mp > 0) read.emplace_back(most_mp == 2 ? "MP both" : "MP one");
  if (call.fallback.modulation != nullptr) read.emplace_back(call.fallback.modulation);
  if (read.empty()) return s.answer_tones.empty() ? "nothing" : "answer tone only";
  return fmt::format("{}", fmt::join(read, "+"));
}

}  // namespace offhook::decode
