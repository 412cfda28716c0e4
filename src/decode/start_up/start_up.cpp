// SPDX-License-Identifier: MIT
#include "src/decode/start_up/start_up.h"

#include <algorithm>
#include <span>

#include "dsp/v34/phase2/tones.h"
#include "src/decode/line/spectrum.h"
#include "src/decode/start_up/echoes.h"

namespace offhook::decode {
namespace {

void assign_roles(const Recording& r, StartUp& s) {
  const int channels = static_cast<int>(r.channel.size());
  const auto other = [channels](int c) { return channels == 2 ? 1 - c : -1; };
  double best[2]{};
  for (const InfoHeard& i : s.info) {
    const int side = i.carrier_hz == v34::kDpskAnswerHz;
    if (i.amplitude > best[side]) {
      best[side] = i.amplitude;
      (side ? s.channel_2400 : s.channel_1200) = i.channel;
    }
  }
  if (s.channel_1200 < 0 && s.channel_2400 >= 0) s.channel_1200 = other(s.channel_2400);
  if (s.channel_2400 < 0 && s.channel_1200 >= 0) s.channel_2400 = other(s.channel_1200);
  if (!s.v8.cm.empty()) {
    s.call_channel = s.v8.cm[0].channel;
    // One channel may hold both directions.
    s.answer_channel = s.v8.jm.empty() || channels == 2 ? other(s.call_channel) : s.v8.jm[0].channel;
    s.roles_from = "V.8: V.21(L) CM";
  } else if (!s.v8.jm.empty()) {
    s.answer_channel = s.v8.jm[0].channel;
    s.call_channel = other(s.answer_channel);
    s.roles_from = "V.8: V.21(H) JM";
  } else if (!s.answer_tones.empty()) {
    const auto loudest = std::max_element(s.answer_tones.begin(), s.answer_tones.end(),
                                          [](const auto& a, const auto& b) { return a.amplitude < b.amplitude; });
    s.answer_channel = loudest->channel;
    s.call_channel = other(s.answer_channel);
    s.roles_from = "answer tone";
  } else if (s.channel_1200 >= 0) {
    s.call_channel = s.channel_1200;
    s.answer_channel = s.channel_2400;
    s.roles_from = "Phase 2 carriers";
  }
}

bool asks_for_quick_connect(const StartUp& s) {
  v90::QuickConnect qc;
  return !s.v8.quick_connect.empty() || std::any_of(s.v8bis.begin(), s.v8bis.end(), [&](const V8bisMessage& m) {
    return m.fcs_good && v90::decode_qc2(m.octets.data(), static_cast<int>(m.octets.size()), &qc);
  });
}

// Probing holds a tone near 2100 Hz; training and data may hold anything.
void forget_what_phase2_rules_out(StartUp& s) {
  const double phase2 = s.info.front().t0;
  const auto later = [&](const auto& x) { return x.t0 > phase2; };
  std::erase_if(s.answer_tones, [&](const AnswerToneHeard& a) { return a.t1 > phase2; });
  std::erase_if(s.v8bis, [&](const V8bisMessage& m) { return m.t > phase2; });
  std::erase_if(s.v8bis_signals, later);
  std::erase_if(s.v8.quick_connect, [&](const QuickConnectHeard& q) { return q.t > phase2; });
  std::erase_if(s.v8.cm, later);
  std::erase_if(s.v8.jm, later);
  if (s.v8.cm.empty()) s.v8.cj = 0;
  for (auto* menus : {&s.v8.cm, &s.v8.jm}) {
    for (MenuHeard& m : *menus) {
      for (const InfoHeard& i : s.info) {
        if (i.channel == m.channel) m.t1 = std::min(m.t1, i.t0);
      }
    }
  }
}

// Modem-on-hold needs a digital modem, whose INFO0 is INFO0d.
bool may_have_hold(const StartUp& s) {
  const auto any_info0 = [&](std::size_t index) {
    return std::any_of(s.info.begin(), s.info.end(), [&](const InfoHeard& i) {
      return i.carrier_hz == v34::kDpskCallHz && i.is_info0() && i.info.index() == index;
    });
  };
  return !s.info.empty() && (any_info0(1) || !any_info0(0));
}

// Whether an INFO sequence is in other data: its sender's tone A or B neither ends where it begins, nor begins where it
// ends. In hours of data, one sequence has a good check sequence by chance.
bool is_in_other_data(const Recording& r, const InfoHeard& info) {
  constexpr double kBesideS = 0.2, kCloseS = 0.04;
  const std::span<const float> x = r.samples(static_cast<std::size_t>(info.channel));
  const auto tones = [&](double from_s, double to_s) {
    const auto sample = [&](double t) {
      return std::min(x.size(), static_cast<std::size_t>(std::max(0.0, t) * kRateHz));
    };
    return find_tone_stretches(x.subspan(sample(from_s), sample(to_s) - sample(from_s)), info.carrier_hz);
  };
  const double from = std::max(0.0, info.t0 - kBesideS);
  const auto before = tones(from, info.t0), after = tones(info.t1, info.t1 + kBesideS);
  return (before.empty() || from + before.back().second < info.t0 - kCloseS) &&
         (after.empty() || after.front().first > kCloseS);
}

// Phase 1, which INFO sequences end: only the samples before them are searched.
void listen_phase1(Recording& r, StartUp& s) {
  constexpr double kAfterS = 1;  // a detector may name a signal only when it is over
  const std::size_t most = r.most;
  if (!s.info.empty()) r.most = std::min(most, static_cast<std::size_t>((s.info.front().t0 + kAfterS) * kRateHz));
  s.v8bis_signals = v8bis_signals(r);
  s.v8bis = v8bis_messages(r, s.v8bis_signals);
  s.v8 = find_v8(r);
  s.answer_tones = find_answer_tones(r, asks_for_quick_connect(s));
  r.most = most;
}

}  // namespace

StartUp listen_start_up(Recording& r) {
  StartUp s;
  s.info = find_infos(r);
  listen_phase1(r, s);
  const bool alone = s.info.size() == 1 && s.v8.cm.empty() && s.v8.jm.empty() && s.v8bis.empty();
  if (alone && is_in_other_data(r, s.info.front())) {
    s = {};
    listen_phase1(r, s);
  }
  if (may_have_hold(s)) s.hold = find_hold(r);
  if (!s.info.empty()) forget_what_phase2_rules_out(s);
  assign_roles(r, s);
  if (s.info.empty()) return s;
  if (s.channel_2400 >= 0) s.tone_a = find_tone(r, s.channel_2400, v34::kToneAHz, s.info);
  if (s.channel_1200 >= 0) s.tone_b = find_tone(r, s.channel_1200, v34::kToneBHz, s.info);
  for (std::size_t c = 0; c < r.channel.size(); ++c) {
    for (Probing& p : find_probing(r.channel[c], s.info.front().t0 - kBeforeInfoS, s.info.back().t1 + kAfterInfoS)) {
      p.channel = static_cast<int>(c);
      s.probing.push_back(std::move(p));
    }
  }
  drop_echoes(s.probing, [](const Probing& p, const Probing& of) {
    return of.level_db[0] > p.level_db[0] + 6 && p.t0 < of.t1 && p.t1 > of.t0;
  });
  std::sort(s.probing.begin(), s.probing.end(), [](const auto& a, const auto& b) { return a.t0 < b.t0; });
  return s;
}

}  // namespace offhook::decode
