// SPDX-License-Identifier: MIT
#include "src/decode/call/call.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "src/decode/call/trainings.h"

namespace offhook::decode {
namespace {

// The end of the last 10 ms that are louder than a hundredth of the loudest.
double activity_end(const std::vector<float>& x) {
  constexpr std::size_t kBlock = kRateHz / 100;
  std::vector<double> power;
  for (std::size_t i = 0; i < x.size(); i += kBlock) {
    double sum = 0;
    for (std::size_t k = i; k < std::min(x.size(), i + kBlock); ++k) sum += static_cast<double>(x[k]) * x[k];
    power.push_back(sum / kBlock);
  }
  const double loudest = power.empty() ? 0 : *std::max_element(power.begin(), power.end());
  for (std::size_t k = power.size(); k > 0; --k) {
    if (power[k - 1] > 1e-4 * loudest && power[k - 1] > 16) {
      return static_cast<double>(std::min(x.size(), k * kBlock)) / kRateHz;
    }
  }
  return 0;
}

// The recording with each channel free of the other's echo, as far as it could be learnt.
Recording take_echo_off(Call& call) {
  Recording clean = call.recording;
  const auto& x = call.recording.channel;
  call.echo.resize(x.size());
  for (std::size_t c = 0; x.size() == 2 && c < 2; ++c) {
    call.echo[c] = find_echo_paths(x[c], x[1 - c]);
    clean.channel[c] = without_echo(x[c], x[1 - c], call.echo[c]);
  }
  return clean;
}

// An answer tone alone may pass for V.22bis.
bool only_answer_tones(const Call& call) {
  bool any = false;
  for (const Fallback::Side* side : {&call.fallback.call, &call.fallback.answer}) {
    for (const DataHeard& d : side->data) {
      const bool tone = std::any_of(call.start_up.answer_tones.begin(), call.start_up.answer_tones.end(),
                                    [&](const AnswerToneHeard& a) {
                                      const double both = std::min(a.t1, d.t1) - std::max(a.t0, d.t0);
                                      return a.channel == side->channel && both > 0.8 * (d.t1 - d.t0);
                                    });
      if (!tone) return false;
      any = true;
    }
  }
  return any;
}

}  // namespace

Call analyse(Recording recording, const std::function<void(double, const std::string&)>& progress) {
  const auto say = [&](double share, const std::string& what) {
    if (progress) progress(share, what);
  };
  Call call;
  call.recording = std::move(recording);
  for (const auto& x : call.recording.channel) call.activity_end_s.push_back(activity_end(x));
  say(0.02, "answer tone, V.8, INFO, probing");
  call.start_up = listen_start_up(call.recording);
  say(0.25, "echo");
  const Recording clean = take_echo_off(call);
  say(0.3, "training");
  call.trainings = find_trainings(clean, call.start_up);
  if (call.trainings.empty()) {
    say(0.6, "V.32bis");
    call.fallback = find_v32bis(clean);
    say(0.8, "V.22bis");
    if (call.fallback.modulation == nullptr) {
      call.fallback = find_v22bis(clean);
      if (only_answer_tones(call)) call.fallback = {};
    }
    const Fallback& f = call.fallback;
    StartUp& s = call.start_up;
    if (f.modulation != nullptr && s.call_channel < 0 && s.answer_channel < 0) {
      s.call_channel = f.call.channel;
      s.answer_channel = f.answer.channel;
      s.roles_from = "the training";
    }
    // Data that repeat themselves may have a line at 2100 Hz, and S1 in the high band has.
    std::erase_if(s.answer_tones, [&](const AnswerToneHeard& a) {
      const std::vector<DataHeard>& data = (a.channel == f.call.channel ? f.call : f.answer).data;
      return !data.empty() && a.t1 > data.front().t0;
    });
    std::erase_if(s.answer_tones, [&](const AnswerToneHeard& a) {
      return std::any_of(f.answer.signals.begin(), f.answer.signals.end(), [&](const Fallback::Signal& b) {
        return a.channel == f.answer.channel && a.t1 > b.t0 && a.t0 > b.t0 - 0.5;
      });
    });
  }
  return call;
}

const char* Call::modulation() const {
  if (trainings.empty()) return fallback.modulation;
  return trainings.back().pcm ? "V.90/V.92 downstream PCM" : "V.34";
}

namespace {

template <class Add>
void add_passage(const Passage& p, int channel, bool& data, bool pcm, Add&& add) {
  const char* points = p.anchor.points == v34::TrainingPoints::k4 ? "4" : "16";
  if (p.t_s > 0 && data) {
    add(p.t_s, p.t_s_bar, channel, "S in data mode", s_purpose(p));
  } else if (p.t_s > 0) {
    add(p.t_s, p.t_s_bar, channel, "S");
    add(p.t_s_bar, 0, channel, "S-bar");
  }
  if (p.t_pp > 0) add(p.t_pp, 0, channel, "PP");
  if (p.trn_symbols > 0) {
    const char* phase = p.t_pp > 0 ? "3" : data ? "renegotiation/cleardown" : pcm ? "4/SCR" : "4";
    add(p.t_trn, p.t_trn_end, channel, fmt::format("TRN phase {} ({}-point)", phase, points));
  }
  if (p.j_points > 0) add(p.t_j, p.t_j_end, channel, fmt::format("J ({}-point)", p.j_points));
  if (p.t_j_prime > 0) add(p.t_j_prime, 0, channel, "J'");
  for (const MpHeard& m : p.mp) {
    add(m.t_first, m.t_last_end, channel,
        std::string(m.mp.acknowledge ? "MP'" : "MP") + (data ? " (renegotiation/cleardown)" : ""),
        fmt::format("{} x, at most {} bit/s call to answer, {} answer to call", m.count, 2400 * m.mp.max_call_to_answer,
                    2400 * m.mp.max_answer_to_call),
        fmt::format("{} x, max c2a {} a2c {}", m.count, 2400 * m.mp.max_call_to_answer,
                    2400 * m.mp.max_answer_to_call));
  }
  for (const CpHeard& h : p.cp) {
    add(h.t_first, h.t_last_end, channel, std::string(cp_name(h.cp)) + (data ? " (renegotiation/cleardown)" : ""),
        fmt::format("{} x, downstream {} bit/s", h.count, downstream_rate(h.cp)));
  }
  if (p.t_e_end > 0) {
    add(p.t_e, p.t_e_end, channel, "E (data follows)");
    data = true;
  }
}

template <class Side, class Add>
void add_data(const Side& side, int channel, Add&& add) {
  for (std::size_t k = 0; k < side.data.size(); ++k) {
    const DataHeard& d = side.data[k];
    const Link& link = side.links[k];
    if (d.bits.empty()) continue;
    add(d.t0, d.t1, channel, "data",
        fmt::format("{} bit/s, SNR {:.1f} dB, {}", d.parameters.bit_rate, d.snr_db, describe(link)));
    if (link.detection != nullptr) add(link.detection_t, 0, channel, fmt::format("V.42 {}", link.detection));
    for (const LapmFrame& f : link.frames) {
      if (f.nr < 0) add(f.t, 0, channel, "LAPM " + f.kind);
    }
  }
}

}  // namespace

std::string describe(const v90::QuickConnect& q) {
  return fmt::format("{}, {}{}", q.digital ? "digital" : "analogue",
                     q.digital    ? fmt::format("ANSpcm at {:.1f} dBm0", q.anspcm_tenth_dbm0 / 10.0)
                     : q.uqts > 0 ? fmt::format("UQTS {}", q.uqts)
                                  : std::string("cleardown"),
                     q.lapm ? ", LAPM" : "");
}

std::string describe(const Link& link) {
  if (link.frames.empty()) return "no frames";
  std::string s =
      fmt::format("{} LAPM frames, {} bad, {} octets", link.frames.size(), link.bad_frames, link.payload.size());
  if (link.v42bis) s += " out of V.42bis";
  if (link.gaps > 0) s += fmt::format(" with {} I frames missing", link.gaps);
  if (link.ppp_frames > 0) s += fmt::format(", {} PPP frames in them, {} bad", link.ppp_frames, link.ppp_bad);
  return s;
}

const char* cp_name(const v90::Cp& cp) {
  return !cp.data_mode ? "CPt" : cp.acknowledge ? "CP'" : "CP";
}

int downstream_rate(const v90::Cp& cp) {
  return (2 * cp.rate_thirds() + 3) / 6;
}

int upstream_mask_max(const v90::Cp& cp) {
  for (int k = 12; k >= 0; --k) {
    if (cp.upstream_mask >> k & 1) return 2400 * (k + 2);
  }
  return 0;
}

std::string describe(const Fallback::Change& c) {
  std::string s = c.by != nullptr ? fmt::format("by the {} modem", c.by) : "";
  if (c.by != nullptr && std::string_view(c.by) == "both") s = "by both at once";
  if (c.bit_rate > 0) s += fmt::format("{}{} bit/s then", s.empty() ? "" : ", ", c.bit_rate);
  return s;
}

bool is_cleardown(const Passage& p) {
  return std::any_of(p.mp.begin(), p.mp.end(), [](const MpHeard& m) { return is_cleardown(m); }) ||
         std::any_of(p.cp.begin(), p.cp.end(), [](const CpHeard& h) { return h.cp.drn == 0; });
}

const char* s_purpose(const Passage& p) {
  if (!is_cleardown(p)) return "rate renegotiation / response";
  return p.cp.empty() ? "cleardown request (MP rates 0)" : "cleardown request (CP drn 0)";
}

bool is_cleardown(const MpHeard& m) {
  return m.mp.max_call_to_answer == 0 && m.mp.max_answer_to_call == 0;
}

std::vector<std::pair<std::string, std::vector<std::uint8_t>>> payloads(const Call& call) {
  std::vector<std::pair<std::string, std::vector<std::uint8_t>>> files;
  for (const bool answer : {false, true}) {
    std::vector<std::uint8_t> octets, bits;
    std::size_t n = 0;
    const auto take = [&](const auto& side) {
      for (const Link& link : side.links) octets.insert(octets.end(), link.payload.begin(), link.payload.end());
      for (const DataHeard& d : side.data) {
        for (const std::uint8_t bit : d.bits) {
          if (n % 8 == 0) bits.push_back(0);
          bits.back() = static_cast<std::uint8_t>(bits.back() | bit << n++ % 8);
        }
      }
    };
    for (const Training& t : call.trainings) {
      take(answer ? t.tx_2400side : t.tx_1200side);
    }
    take(answer ? call.fallback.answer : call.fallback.call);
    if (n == 0) continue;
    const std::string name = answer ? "answer" : "call";
    files.emplace_back(name + ".bin", std::move(octets));
    files.emplace_back(name + ".bits", std::move(bits));
  }
  return files;
}

std::vector<Event> timeline(const Call& call) {
  std::vector<Event> all;
  const auto add = [&](double t, double t_end, int channel, std::string event, std::string detail = {},
                       std::string terse = {}) {
    all.push_back({t, t_end, channel, std::move(event), std::move(detail), std::move(terse)});
  };
  const StartUp& s = call.start_up;
  for (const auto& g : s.v8bis_signals) {
    add(g.t0, g.t1, g.channel, std::string("V.8bis ") + g.name,
        fmt::format("{} station, {} Hz from {:.4f} s", g.responding ? "responding" : "initiating", g.tone_hz,
                    g.t_segment2));
  }
  for (const auto& m : s.v8bis) {
    add(m.t, 0, m.channel, "V.8bis " + m.type(),
        fmt::format("{:02X}{}", fmt::join(m.octets, " "), m.fcs_good ? "" : ", check sequence wrong"));
  }
  for (const auto& a : s.answer_tones) add(a.t0, a.t1, a.channel, a.kind());
  for (const auto& q : s.quick_connect) {
    add(q.t, 0, q.channel, q.qc.acknowledge ? "V.92 QCA1" : "V.92 QC1", describe(q.qc));
  }
  for (const auto& m : s.cm) add(m.t0, m.t1, m.channel, "CM", fmt::format("{:02X}", fmt::join(m.octets, " ")));
  for (const auto& m : s.jm) add(m.t0, m.t1, m.channel, "JM", fmt::format("{:02X}", fmt::join(m.octets, " ")));
  if (s.cj > 0) add(s.cj, s.cj + 0.1, s.cm[0].channel, "CJ");
  for (const auto& i : s.info) add(i.t0, i.t1, i.channel, i.type());
  for (const double t : s.tone_a.reversals) add(t, 0, s.tone_a.channel, "Tone A phase reversal");
  for (const double t : s.tone_b.reversals) add(t, 0, s.tone_b.channel, "Tone B phase reversal");
  for (const auto& p : s.probing) {
    add(p.t0, p.t1, p.channel, "L1/L2", fmt::format("L2 from {:.4f} s, {:.1f} dB", p.l1_to_l2, p.level_db[1]));
  }
  for (const Training& t : call.trainings) {
    for (const Training::Side* side : {&t.tx_1200side, &t.tx_2400side}) {
      bool data = false;
      const int channel = side->direction.channel;
      for (const Passage& p : side->passages) add_passage(p, channel, data, t.pcm, add);
      add_data(*side, channel, add);
    }
  }
  for (const Fallback::Side* side : {&call.fallback.call, &call.fallback.answer}) {
    for (const Fallback::Signal& signal : side->signals) {
      add(signal.t0, signal.t1, side->channel, signal.what, signal.detail);
    }
    add_data(*side, side->channel, add);
  }
  for (const Fallback::Change& c : call.fallback.changes) add(c.t, 0, c.channel, c.name(), describe(c));
  std::stable_sort(all.begin(), all.end(), [](const Event& a, const Event& b) { return a.t < b.t; });
  return all;
}

}  // namespace offhook::decode
