// SPDX-License-Identifier: MIT
#include "src/decode/presentation/timeline.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>

#include "driver/base/csv.h"
#include "driver/base/printable.h"
#include "offhook/decode.h"
#include "src/decode/presentation/fax_words.h"
#include "src/decode/presentation/names.h"

namespace offhook::decode {
namespace {

using Kind = Event::Kind;

class Timeline {
 public:
  void add(Kind kind, double t, double t_end, int channel, std::string event, std::string detail = {}) {
    events_.push_back({kind, t, t_end, channel, std::move(event), std::move(detail)});
  }
  void add(const StartUp& s);
  void add(const Training& training, const Training::Side& side);
  void add(const PcmUpstreamHeard& up, int channel);
  void add(const DownstreamHeard& downstream, const std::vector<Link>& links);
  void add(const Connection::Side& side);
  void add(const Change& c) { add(Kind::kChange, c.t, 0, c.channel, change_name(c), describe(c)); }

  std::vector<Event> in_order() {
    std::stable_sort(events_.begin(), events_.end(), [](const Event& a, const Event& b) { return a.t < b.t; });
    return std::move(events_);
  }

 private:
  void add(const Segment& p, int channel, bool data, bool pcm);
  void add_data(const DataHeard& data, const Link& link, int channel);

  std::vector<Event> events_;
};

void Timeline::add(const StartUp& s) {
  for (const auto& g : s.v8bis_signals) {
    add(Kind::kMenu, g.t0, g.t1, g.channel, std::string("V.8bis ") + g.name,
        fmt::format("{} station, {} Hz from {:.4f} s", g.responding ? "responding" : "initiating", g.tone_hz,
                    g.t_segment2));
  }
  for (const auto& m : s.v8bis) {
    add(Kind::kMenu, m.t, 0, m.channel, "V.8bis " + m.type(),
        octet_string(m.octets) + (m.fcs_good ? "" : ", check sequence wrong"));
  }
  for (const auto& a : s.answer_tones) {
    add(Kind::kAnswerTone, a.t0, a.t1, a.channel,
        std::string(a.name()) + (a.reversals.empty() ? "" : " with reversals"));
  }
  for (const auto& q : s.v8.quick_connect)
    add(Kind::kMenu, q.t, 0, q.channel, q.qc.acknowledge ? "V.92 QCA1" : "V.92 QC1", describe(q.qc));
  for (const auto& m : s.v8.cm) add(Kind::kMenu, m.t0, m.t1, m.channel, "CM", octet_string(m.octets));
  for (const auto& m : s.v8.jm) add(Kind::kMenu, m.t0, m.t1, m.channel, "JM", octet_string(m.octets));
  if (s.v8.cj > 0) add(Kind::kMenu, s.v8.cj, s.v8.cj_end(), s.v8.cm[0].channel, "CJ");
  for (const auto& i : s.info) add(Kind::kInfo, i.t0, i.t1, i.channel, i.type());
  for (const auto& h : s.hold) {
    const std::string detail = describe(h.message);
    add(Kind::kInfo, h.t0, h.t1, h.channel, std::string("V.92 ") + name(h.message.signal),
        fmt::format("{}{}{} times", detail, detail.empty() ? "" : ", ", h.count));
  }
  for (const double t : s.tone_a.reversals) add(Kind::kInfo, t, 0, s.tone_a.channel, "Tone A phase reversal");
  for (const double t : s.tone_b.reversals) add(Kind::kInfo, t, 0, s.tone_b.channel, "Tone B phase reversal");
  for (const auto& p : s.probing) {
    add(Kind::kProbing, p.t0, p.t1, p.channel, "L1/L2",
        p.l1_to_l2 > 0 ? fmt::format("L2 from {:.4f} s, {:.1f} dB", p.l1_to_l2, p.level_db[1])
                       : fmt::format("without a step, {:.1f} dB", p.level_db[0]));
  }
}

// @param data  whether data mode came before  @param pcm  of V.90
void Timeline::add(const Segment& p, int channel, bool data, bool pcm) {
  if (p.t_s > 0 && data) {
    const char* purpose = !p.is_cleardown() ? "rate renegotiation / response"
                          : p.cp.empty()    ? "cleardown request (MP rates 0)"
                                            : "cleardown request (CP drn 0)";
    add(Kind::kTraining, p.t_s, p.t_s_bar, channel, "S in data mode", purpose);
  } else if (p.t_s > 0) {
    add(Kind::kTraining, p.t_s, p.t_s_bar, channel, "S");
    add(Kind::kTraining, p.t_s_bar, 0, channel, "S-bar");
  }
  if (p.t_pp > 0) add(Kind::kTraining, p.t_pp, 0, channel, "PP");
  if (p.trn_symbols > 0) {
    add(Kind::kTraining, p.t_trn, p.t_trn_end, channel,
        fmt::format("TRN {}{} ({}-point)", segment_name(p, data), pcm && !data && p.t_pp == 0 ? " (SCR)" : "",
                    p.anchor.points == v34::TrainingPoints::k4 ? "4" : "16"));
  }
  if (p.j_points > 0) add(Kind::kSequence, p.t_j, p.t_j_end, channel, fmt::format("J ({}-point)", p.j_points));
  if (p.t_j_prime > 0) add(Kind::kSequence, p.t_j_prime, 0, channel, "J'");
  const std::string later = data ? fmt::format(" ({})", segment_name(p, data)) : "";
  for (const MpHeard& m : p.mp) {
    add(Kind::kSequence, m.t_first, m.t_last_end, channel, (m.mp.acknowledge ? "MP'" : "MP") + later,
        fmt::format("{} x, at most {} bit/s call to answer, {} answer to call", m.count, 2400 * m.mp.max_call_to_answer,
                    2400 * m.mp.max_answer_to_call));
  }
  for (const CpHeard& h : p.cp) {
    add(Kind::kSequence, h.t_first, h.t_last_end, channel, cp_name(h.cp) + later,
        fmt::format("{} x, downstream {} bit/s", h.count, downstream_bit_rate(h.cp)));
  }
  if (p.t_e_end > 0) add(Kind::kSequence, p.t_e, p.t_e_end, channel, "E (data follows)");
}

void Timeline::add(const Training& training, const Training::Side& side) {
  const int channel = side.direction.channel;
  bool data = false;
  for (const Segment& p : side.segments) {
    add(p, channel, data, training.pcm);
    data |= p.t_e_end > 0;
  }
  for (std::size_t k = 0; k < side.data.size(); ++k) {
    add_data(side.data[k], side.links[k], channel);
    for (const auto& [t, samples] : side.data[k].slips) {
      add(Kind::kData, t, 0, channel, "slip",
          fmt::format("{} sample{} {}", std::abs(samples), std::abs(samples) == 1 ? "" : "s",
                      samples < 0 ? "lost" : "put in"));
    }
  }
}

void Timeline::add(const PcmUpstreamHeard& up, int channel) {
  if (up.t_ru_bar > 0) add(Kind::kTraining, up.t_ru_bar, 0, channel, "Ru-bar (TRN1u follows)");
  if (up.t_ja_end > 0) add(Kind::kSequence, up.t_ja_end, 0, channel, "Ja");
  if (up.t_trn1u > 0) add(Kind::kTraining, up.t_trn1u, 0, channel, "TRN1u (second)");
  if (up.t_e1u > 0) {
    add(Kind::kSequence, up.t_e1u, 0, channel, "E1u (TRN2u follows)",
        fmt::format("symbols with an error of {:.1f} dB", up.training_db));
  }
}

void Timeline::add(const DownstreamHeard& d, const std::vector<Link>& links) {
  if (d.t_trn1d == 0) return;
  add(Kind::kTraining, d.t_trn1d, 0, d.channel, "TRN1d", fmt::format("equalised to {:.1f} dB", d.training_db));
  if (d.t_jd_end > 0) add(Kind::kSequence, d.t_jd_end, 0, d.channel, "Jd' (DIL follows)");
  for (const DownstreamMp& m : d.mp) {
    add(Kind::kSequence, m.t_first, m.t_last_end, d.channel, m.mp.acknowledge ? "MP'" : "MP",
        fmt::format("{} x, at most {} bit/s upstream", m.count, 2400 * m.mp.drn));
  }
  for (std::size_t k = 0; k < d.data.size(); ++k) add_data(d.data[k], links[k], d.channel);
}

void Timeline::add(const Connection::Side& side) {
  for (const Connection::Signal& s : side.signals) {
    const bool tone = s.what == "AA" || s.what == "AC";
    const bool sequence = s.what == "E" || std::any_of(side.rate_signals.begin(), side.rate_signals.end(),
                                                       [&](const RateSignalHeard& r) { return r.name == s.what; });
    add(tone ? Kind::kInfo : sequence ? Kind::kSequence : Kind::kTraining, s.t0, s.t1, side.channel, s.what, s.detail);
  }
  for (std::size_t k = 0; k < side.data.size(); ++k) add_data(side.data[k], side.links[k], side.channel);
}

void Timeline::add_data(const DataHeard& d, const Link& link, int channel) {
  if (d.bits.empty()) return;
  add(Kind::kData, d.t0, d.t1, channel, "data",
      fmt::format("{} bit/s, SNR {:.1f} dB, {}", d.bit_rate, d.snr_db, describe(link)));
  for (const auto& [from, to] : d.spoilt)
    add(Kind::kData, from, to, channel, "data spoilt", "the points could no longer be distinguished");
  if (link.detection != nullptr) add(Kind::kData, link.detection_t, 0, channel, fmt::format("V.42 {}", link.detection));
  for (const LapmFrame& f : link.frames) {
    if (f.nr < 0) add(Kind::kData, f.t, 0, channel, "LAPM " + f.kind);
  }
}

}  // namespace

std::vector<Event> timeline(const Call& call) {
  Timeline all;
  all.add(call.start_up);
  for (const CallingTone& t : call.fax.cng) {
    if (call.is_fax()) all.add(Kind::kAnswerTone, t.t0, t.t1, t.channel, "CNG");
  }
  for (const FaxFrame& f : call.fax.frames) {
    if (f.packets) continue;  // with the frames of T.38
    all.add(Kind::kMenu, f.t, 0, f.channel, "T.30 " + f.name,
            octet_string(f.received.octets) +
                (f.meaning.empty() ? std::string() : fmt::format(" ({})", fmt::join(f.meaning, ", "))));
  }
  for (const FaxFrame& f : call.fax.damaged) {
    if (f.packets) continue;
    all.add(Kind::kMenu, f.t, 0, f.channel, fmt::format("T.30 {}, wrong check sequence", f.name),
            octet_string(f.received.octets));
  }
  for (const FaxCarrier& c : call.fax.sent.carriers) {
    all.add(c.test ? Kind::kTraining : Kind::kData, c.t0, c.t1, c.channel,
            fmt::format("{} {}", name_of(c.rate.modem), c.test ? "TCF" : "page"), describe(c));
  }
  for (const RtpStream& stream : call.recording.rtp) {
    for (const RtpEvent& e : stream.events) all.add(Kind::kChange, e.t, e.t_end, stream.channel, e.what, e.detail);
  }
  for (const T38Frame& f : call.recording.t38) {
    const std::vector<std::string> meaning = fax_meaning(t38_name(f), f.octets);
    all.add(
        Kind::kMenu, f.t, 0, f.channel,
        fmt::format("T.38 {}{}", t38_name(f), f.fcs_good ? "" : ", wrong check sequence"),
        octet_string(f.octets) + (meaning.empty() ? std::string() : fmt::format(" ({})", fmt::join(meaning, ", "))));
  }
  for (const CallSignal& s : call.signals) all.add(Kind::kAnswerTone, s.t0, s.t1, s.channel, s.name, s.detail);
  for (const FskHeard& f : call.fsk) {
    all.add(Kind::kData, f.t0, f.t1, f.channel, f.modulation,
            (f.one_band ? fmt::format("{} bit/s", f.bit_rate)
                        : fmt::format("{} station, {} bit/s", f.calling ? "calling" : "answering", f.bit_rate)) +
                (f.text.format.empty() ? std::string()
                                       : fmt::format(", {} characters, {}: {}", f.text.characters.size(), f.text.format,
                                                     preview(f.text.characters))));
  }
  for (const Training& t : call.trainings) {
    all.add(t, t.from_1200);
    all.add(t, t.from_2400);
    all.add(t.pcm_upstream, t.from_2400.direction.channel);
    all.add(t.downstream, t.downstream_links);
  }
  all.add(call.connection.call);
  all.add(call.connection.answer);
  for (const Change& c : call.connection.changes) all.add(c);
  return all.in_order();
}

std::string to_csv(const Call& call) {
  const Recording& r = call.recording;
  std::string out;
  for (const Event& e : timeline(call)) {
    out += fmt::format("{},{},{:.4f},{},{},{},{}\n", csv_field(r.name), std::max(1, r.call), r.start_s + e.t,
                       e.t_end > 0 ? fmt::format("{:.4f}", r.start_s + e.t_end) : "", e.channel, csv_field(e.event),
                       csv_field(e.detail));
  }
  return out;
}

std::string to_labels(const Call& call) {
  const double start_s = call.recording.start_s;
  std::string out;
  for (const Event& e : timeline(call)) {
    out +=
        fmt::format("{:.6f}\t{:.6f}\t{}\n", start_s + e.t, start_s + std::max(e.t, e.t_end),
                    printable(fmt::format("{}: {}{}{}", e.channel, e.event, e.detail.empty() ? "" : ": ", e.detail)));
  }
  return out;
}

}  // namespace offhook::decode
