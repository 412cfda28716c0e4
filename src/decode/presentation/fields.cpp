// SPDX-License-Identifier: MIT
#include "src/decode/presentation/fields.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "dsp/v34/phase2/tones.h"
#include "src/decode/presentation/fax_words.h"
#include "src/decode/presentation/names.h"
#include "src/decode/presentation/v8bis_fields.h"

namespace offhook::decode {
namespace {

const char* yes_no(bool value) {
  return value ? "yes" : "no";
}

std::string offset(std::int16_t field) {
  return field == v34::kOffsetUnknown ? "not measured" : fmt::format("{:+.2f} Hz", 0.02 * field);
}

std::string bit_rate(int rate) {
  return rate > 0 ? std::to_string(2400 * rate) : "-";
}

std::string symbol_rate(v34::SymbolRate rate) {
  return fmt::format("{:.0f}", symbol_rate_hz(rate));
}

std::string carriers(bool low, bool high) {
  return low && high ? "low, high" : low ? "low" : high ? "high" : "none";
}

FieldTable menus(const StartUp& s) {
  FieldTable t{
      "V.8 menus", {""}, {{"octets"}, {"call function"}, {"modulations"}, {"protocol"}, {"access"}, {"PCM"}}, ""};
  for (const auto* heard : {&s.v8.cm, &s.v8.jm}) {
    if (heard->empty()) continue;
    const v8::Menu& m = heard->front().menu;
    const auto options = [](bool present, int bits, std::array<const char*, 3> names) {
      std::vector<const char*> set;
      for (int k = 0; k < 3; ++k)
        if (bits >> k & 1) set.push_back(names[static_cast<std::size_t>(k)]);
      return !present ? "-" : set.empty() ? "none of these" : fmt::format("{}", fmt::join(set, ", "));
    };
    t.columns.emplace_back(heard == &s.v8.cm ? "CM" : "JM");
    t.rows[0].push_back(octet_string(heard->front().octets));
    t.rows[1].emplace_back(call_function_name(m));
    t.rows[2].push_back(fmt::format("{}", fmt::join(modulation_names(m), ", ")));
    t.rows[3].emplace_back(!m.has_protocol ? "-" : m.protocol == v8::kProtocolLapm ? "LAPM" : "other");
    t.rows[4].push_back(options(m.has_access, m.access, {"caller cellular", "answerer cellular", "digital"}));
    t.rows[5].push_back(options(m.has_pcm, m.pcm, {"V.90/V.92 analogue", "V.90/V.92 digital", "V.91"}));
  }
  return t;
}

FieldTable v8bis_messages(const Call& call) {
  FieldTable t{"V.8bis messages",
               {"from s", "by", "message", "revision", "identification", "standard", "non-standard", "check sequence"},
               {},
               ""};
  for (const V8bisMessage& m : call.start_up.v8bis) {
    const V8bisFields f = v8bis_fields(m);
    const auto or_none = [](const std::string& field) { return field.empty() ? "-" : field; };
    t.rows.push_back({fmt::format("{:.2f}", m.t), speaker(call, m.channel), m.type(),
                      std::to_string(m.message.revision), or_none(f.identification), or_none(f.standard),
                      or_none(f.non_standard), octet_string(m.fcs) + (m.fcs_good ? "" : ", wrong")});
    if (!f.malformed.empty())
      t.note += fmt::format("{}{} at {:.2f} s, {}", t.note.empty() ? "malformed: " : "; ", m.type(), m.t, f.malformed);
  }
  return t;
}

// The last one heard from each modem: its acknowledge bit is the final one.
const InfoHeard* last_info(const StartUp& s, int carrier_hz, bool info0) {
  const InfoHeard* last = nullptr;
  for (const InfoHeard& i : s.info) {
    if (i.carrier_hz == carrier_hz && i.is_info0() == info0) last = &i;
  }
  return last;
}

FieldTable info0(const StartUp& s) {
  FieldTable t{"INFO0: capabilities of each modem", {""}, {}, ""};
  for (const char* row : {"symbol rates", "sends 3000 at carrier", "sends 3200 at carrier", "sends 3429",
                          "can reduce its power", "difference between its two symbol rates, in steps", "CME",
                          "1664 points (over 28 800)", "transmit clock", "V.92", "acknowledges an INFO0"}) {
    t.rows.push_back({row});
  }
  for (const int hz : {v34::kDpskCallHz, v34::kDpskAnswerHz}) {
    const InfoHeard* heard = last_info(s, hz, true);
    if (heard == nullptr) continue;
    const auto* digital = std::get_if<v34::Info0d>(&heard->info);
    const v34::Info0& i = digital != nullptr ? digital->v34 : std::get<v34::Info0>(heard->info);
    t.columns.emplace_back(heard->type());
    std::size_t row = 0;
    const auto put = [&](std::string value) { t.rows[row++].push_back(std::move(value)); };
    put(fmt::format("2400{}{} 3000 3200{}", i.supports_2743 ? " 2743" : "", i.supports_2800 ? " 2800" : "",
                    i.supports_3429 ? " 3429" : ""));
    put(carriers(i.low_carrier_3000, i.high_carrier_3000));
    put(carriers(i.low_carrier_3200, i.high_carrier_3200));
    put(yes_no(i.may_transmit_3429));
    put(yes_no(i.can_reduce_power));
    put(fmt::format("{} at most", i.max_rate_difference));
    put(yes_no(i.cme));
    put(yes_no(i.supports_1664_points));
    put(heard->is_v90() ? "-" : clock_name(i));
    put(!heard->is_v90() ? "-" : heard->v92_short_phase2() ? "short Phase 2" : yes_no(heard->v92_capable()));
    put(yes_no(i.acknowledge));
    if (digital != nullptr) {
      t.note = fmt::format("INFO0d: {} dBm0 in Phase 2, {:.1f} dBm0 at most {}, {}-law, 3429 upstream: {}",
                           -6 - digital->nominal_power, -0.5 * (digital->max_power + 1),
                           digital->power_at_codec ? "at the codec" : "at the terminals", digital->a_law ? "A" : "mu",
                           yes_no(digital->upstream_3429));
    }
  }
  return t;
}

template <class Info>
std::string power_and_md(const Info& i) {
  return fmt::format("power reduction {} dB and up to {} dB more, MD {} ms, frequency offset {}", i.min_power_reduction,
                     i.extra_power_reduction, 35 * i.md_length, offset(i.frequency_offset));
}

FieldTable info1(const InfoHeard& heard) {
  FieldTable t;
  if (const auto* c = std::get_if<v34::Info1c>(&heard.info)) {
    t.title = fmt::format("{}: properties of the line from the answer modem", heard.type());
    t.columns = {"symbol rate", "carrier Hz", "pre-emphasis", "projected bit/s"};
    for (int k = 0; k < v34::kSymbolRates; ++k) {
      const auto rate = static_cast<v34::SymbolRate>(k);
      const v34::ProbingResult& p = c->probing[k];
      t.rows.push_back({symbol_rate(rate), fmt::format("{:.0f}", carrier_hz(rate, p.carrier)),
                        std::to_string(p.pre_emphasis), bit_rate(p.max_rate)});
    }
    t.note = power_and_md(*c);
  } else if (const auto* a = std::get_if<v34::Info1a>(&heard.info)) {
    t.title = "INFO1a: choices of the answer modem";
    t.columns = {"direction", "symbol rate", "carrier Hz", "pre-emphasis", "projected bit/s"};
    t.rows.push_back({"call to answer", symbol_rate(a->rate_call_to_answer),
                      fmt::format("{:.0f}", carrier_hz(a->rate_call_to_answer, a->call_to_answer.carrier)),
                      std::to_string(a->call_to_answer.pre_emphasis), bit_rate(a->call_to_answer.max_rate)});
    t.rows.push_back({"answer to call", symbol_rate(a->rate_answer_to_call), "as in INFO1c", "", ""});
    t.note = power_and_md(*a);
  } else if (const auto* v = std::get_if<v34::Info1aV90>(&heard.info)) {
    t.title = "INFO1a of V.90: choices of the analogue modem";
    t.columns = {"upstream symbol rate", "downstream", "Uinfo", "MD", "frequency offset"};
    t.rows.push_back({v->pcm_upstream ? "PCM, 8000" : symbol_rate(v->rate_upstream), "PCM, 8000",
                      std::to_string(v->u_info), fmt::format("{} ms", 35 * v->md_length), offset(v->frequency_offset)});
  }
  return t;
}

FieldTable probing(const Call& call) {
  FieldTable t{"Line probing: SNR and level (dB) of L2's tones", {"Hz"}, {}, ""};
  for (const Probing& p : call.start_up.probing) {
    t.columns.push_back(fmt::format("{}, {:.1f} s: SNR", speaker(call, p.channel), p.probed_s()));
    t.columns.emplace_back("level");
    for (std::size_t k = 0; k < p.frequency_hz.size(); ++k) {
      if (t.rows.size() <= k) t.rows.push_back({fmt::format("{:.0f}", p.frequency_hz[k])});
      t.rows[k].push_back(fmt::format("{:.1f}", p.snr_db[k]));
      t.rows[k].push_back(fmt::format("{:.1f}", std::round(10 * p.tone_db[k]) / 10 + 0.0));  // no -0.0
    }
  }
  return t;
}

std::string rates_of(std::uint16_t mask) {
  const std::vector<int> rates = bit_rates(mask);
  return rates.size() == 14 ? "all" : rates.empty() ? "none" : fmt::format("{}", fmt::join(rates, " "));
}

std::string taps(const v34::Mp& mp) {
  if (!mp.type1) return "as before";
  std::string out;
  for (const auto& h : mp.precoder.h) {
    out += fmt::format("{}{:.3f}{:+.3f}j", out.empty() ? "" : " ", h.re / 16384.0, h.im / 16384.0);
  }
  return out;
}

FieldTable mps(const Call& call) {
  FieldTable t{"MP: requests of each modem to the other",
               {"from s", "by", "", "type", "c to a", "a to c", "trellis", "non-linear", "shaping", "asymmetric",
                "auxiliary", "rates", "precoder"},
               {},
               ""};
  std::vector<std::pair<int, const MpHeard*>> heard;
  for (const Training& training : call.trainings) {
    for (const Training::Side* side : {&training.from_1200, &training.from_2400}) {
      for (const Segment& p : side->segments)
        for (const MpHeard& m : p.mp) heard.emplace_back(side->direction.channel, &m);
    }
  }
  std::stable_sort(heard.begin(), heard.end(),
                   [](const auto& a, const auto& b) { return a.second->t_first < b.second->t_first; });
  for (const auto& [channel, m] : heard) {
    const v34::Mp& mp = m->mp;
    t.rows.push_back({fmt::format("{:.2f}", m->t_first), speaker(call, channel), mp.acknowledge ? "MP'" : "MP",
                      mp.type1 ? "1" : "0", bit_rate(mp.max_call_to_answer), bit_rate(mp.max_answer_to_call),
                      std::to_string(v34::trellis_states(mp.trellis)), yes_no(mp.nonlinear),
                      mp.expanded ? "expanded" : "minimum", yes_no(mp.asymmetric), yes_no(mp.aux),
                      rates_of(mp.rate_mask), taps(mp)});
  }
  return t;
}

// 3 7 11-13: runs of three and more are drawn together.
std::string ranges(const v90::UcodeMask& set) {
  std::string out;
  for (int u = 0; u < v90::kUcodes; ++u) {
    if (!set.has(u)) continue;
    int last = u;
    while (last + 1 < v90::kUcodes && set.has(last + 1)) ++last;
    out += fmt::format("{}{}", out.empty() ? "" : " ", u);
    if (last > u) out += fmt::format("{}{}", last > u + 1 ? "-" : " ", last);
    u = last;
  }
  return out.empty() ? "none" : out;
}

// Heading, and below it a row of figures; then the points of each interval of the data frame.
FieldTable cp_table(const CpHeard& heard) {
  const v90::Cp& c = heard.cp;
  FieldTable t{
      fmt::format("{} at {:.2f} s: requests of the analogue modem to the digital one", cp_name(c), heard.t_first),
      {"interval", "points", "Ucodes"},
      {},
      ""};
  if (c.codec_differs) t.columns.emplace_back("at the codec");
  for (int i = 0; i < v90::kFrameIntervals; ++i) {
    const int set = c.interval[i];
    t.rows.push_back({std::to_string(i), std::to_string(c.constellation[set].points()), ranges(c.constellation[set])});
    if (c.codec_differs) t.rows.back().push_back(ranges(c.codec[set]));
  }
  t.note = c.drn == 0 ? "cleardown"
                      : fmt::format("downstream {} bit/s (drn {}, K {})", downstream_bit_rate(c), c.drn, c.k());
  if (c.silence) t.note += ", requests silence";
  t.note += fmt::format("; shaping: {} sign bits, look-ahead {}, a {:.3f} {:.3f}, b {:.3f} {:.3f}", c.shaping_bits,
                        c.look_ahead, c.a1 / 64.0, c.a2 / 64.0, c.b1 / 64.0, c.b2 / 64.0);
  t.note += fmt::format("; {}-law codec, TRN1d at the transmitter {:.4f} of that at the codec; upstream: {}",
                        c.a_law ? "A" : "mu", c.trn1d_ratio / 8192.0,
                        rates_of(static_cast<std::uint16_t>(c.upstream_mask << 1)));
  return t;
}

// CP' has the content of the CP before it.
std::vector<FieldTable> cps(const Call& call) {
  std::vector<FieldTable> all;
  for (const Training& training : call.trainings) {
    v90::Cp before{};
    for (const CpHeard* h : training.from_2400.cps()) {
      v90::Cp now = h->cp;
      now.acknowledge = before.acknowledge;
      if (!(now == before)) all.push_back(cp_table(*h));
      before = h->cp;
    }
  }
  return all;
}

}  // namespace

std::vector<FieldTable> field_tables(const Call& call) {
  const StartUp& s = call.start_up;
  std::vector<FieldTable> all = {v8bis_messages(call), menus(s), info0(s)};
  for (const int hz : {v34::kDpskCallHz, v34::kDpskAnswerHz}) {
    if (const InfoHeard* heard = last_info(s, hz, false)) all.push_back(info1(*heard));
  }
  all.push_back(probing(call));
  all.push_back(mps(call));
  for (FieldTable& table : cps(call)) all.push_back(std::move(table));
  all.push_back(fax_pages(call));
  std::erase_if(all, [](const FieldTable& t) { return t.columns.size() < 2 || t.rows.empty(); });
  return all;
}

}  // namespace offhook::decode
