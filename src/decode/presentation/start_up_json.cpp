// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include "dsp/v34/phase2/tones.h"
#include "src/decode/presentation/fields.h"
#include "src/decode/presentation/json_values.h"
#include "src/decode/presentation/v8bis_fields.h"

namespace offhook::decode {
namespace {

Json offset(std::int16_t field) {
  return field == v34::kOffsetUnknown ? Json() : Json(rounded(0.02 * field, 2));
}

void add_info0(Json& j, const v34::Info0& i) {
  j["sr2743"] = static_cast<int>(i.supports_2743);
  j["sr2800"] = static_cast<int>(i.supports_2800);
  j["sr3429"] = static_cast<int>(i.supports_3429);
  j["tx_low_3000"] = static_cast<int>(i.low_carrier_3000);
  j["tx_high_3000"] = static_cast<int>(i.high_carrier_3000);
  j["tx_low_3200"] = static_cast<int>(i.low_carrier_3200);
  j["tx_high_3200"] = static_cast<int>(i.high_carrier_3200);
  j["tx_3429_allowed"] = static_cast<int>(i.may_transmit_3429);
  j["can_reduce_power"] = static_cast<int>(i.can_reduce_power);
  j["max_sr_difference"] = i.max_rate_difference;
  j["cme"] = static_cast<int>(i.cme);
  j["points_1664"] = static_cast<int>(i.supports_1664_points);
  j["ack"] = static_cast<int>(i.acknowledge);
}

Json info_json(const InfoHeard& h) {
  Json j;
  j["raw"] = bit_string(h.bits);
  if (const auto* i0 = std::get_if<v34::Info0>(&h.info)) {
    add_info0(j, *i0);
    j["bits26_27"] = static_cast<int>(i0->clock);
    j["bit26"] = h.bits[26];
    j["bit27"] = h.bits[27];
  } else if (const auto* d = std::get_if<v34::Info0d>(&h.info)) {
    add_info0(j, d->v34);
    j["bit26"] = h.bits[26];
    j["bit27"] = h.bits[27];
    j["short_phase2_request"] = h.bits[26];  // V.92's names of the same bits
    j["v92_capable"] = h.bits[27];
    j["nominal_tx_power_dbm0"] = -6 - d->nominal_power;
    j["max_tx_power_dbm0"] = -0.5 * (d->max_power + 1);
    j["power_at_codec_output"] = static_cast<int>(d->power_at_codec);
    j["pcm_law"] = d->a_law ? "A" : "mu";
    j["upstream_3429"] = static_cast<int>(d->upstream_3429);
    j["bit41"] = h.bits[41];
  } else if (const auto* c = std::get_if<v34::Info1c>(&h.info)) {
    j["min_power_reduction"] = c->min_power_reduction;
    j["additional_power_reduction"] = c->extra_power_reduction;
    j["md_length"] = c->md_length;
    j["md_ms"] = 35 * c->md_length;
    for (int k = 0; k < v34::kSymbolRates; ++k) {
      const auto rate = static_cast<v34::SymbolRate>(k);
      const auto& p = c->probing[k];
      j["rates"][std::to_string(round_hz(symbol_rate_hz(rate)))] = {
          {"high_carrier", static_cast<int>(p.carrier)},
          {"carrier_hz", round_hz(carrier_hz(rate, p.carrier))},
          {"preemphasis", p.pre_emphasis},
          {"projected_max", 2400 * p.max_rate},
      };
    }
    j["freq_offset_hz"] = offset(c->frequency_offset);
  } else if (const auto* a = std::get_if<v34::Info1a>(&h.info)) {
    j["mode"] = "V.34";
    j["min_power_reduction"] = a->min_power_reduction;
    j["additional_power_reduction"] = a->extra_power_reduction;
    j["md_length"] = a->md_length;
    j["md_ms"] = 35 * a->md_length;
    j["high_carrier_tx_1200side"] = static_cast<int>(a->call_to_answer.carrier);
    j["preemphasis_tx_1200side"] = a->call_to_answer.pre_emphasis;
    j["projected_max_tx_1200side"] = 2400 * a->call_to_answer.max_rate;
    j["symbol_rate_tx_2400side"] = round_hz(symbol_rate_hz(a->rate_answer_to_call));
    j["symbol_rate_tx_1200side"] = round_hz(symbol_rate_hz(a->rate_call_to_answer));
    j["freq_offset_hz"] = offset(a->frequency_offset);
    j["idx_2400side"] = static_cast<int>(a->rate_answer_to_call);
    j["idx_1200side"] = static_cast<int>(a->rate_call_to_answer);
  } else if (const auto* v = std::get_if<v34::Info1aV90>(&h.info)) {
    const auto number = [&](int first, int last) {
      int value = 0;
      for (int b = first; b <= last; ++b) value |= h.bits[static_cast<std::size_t>(b)] << (b - first);
      return value;
    };
    j["mode"] = "V.90/V.92 downstream PCM";
    j["md_length"] = v->md_length;
    j["md_ms"] = 35 * v->md_length;
    j["bits12_17"] = number(12, 17);
    j["uinfo"] = v->u_info;
    j["bits32_33"] = number(32, 33);
    j["symbol_rate_analogue_to_digital"] = round_hz(symbol_rate_hz(v->rate_upstream));
    j["symbol_rate_digital_to_analogue"] = 8000;
    j["freq_offset_hz"] = offset(v->frequency_offset);
  }
  j["type"] = h.type();
  j["channel"] = h.channel;
  j["t0"] = time(h.t0);
  j["t1"] = time(h.t1);
  j["crc"] = "good";
  j["amp"] = rounded(h.amplitude, 0);
  return j;
}

// Extension octets of other categories than the modulations, which V.8 has no use for: the category and the octet.
Json other_extensions(const std::vector<std::uint8_t>& octets) {
  Json all = Json::array();
  int tag = 0;
  for (const std::uint8_t o : octets) {
    if (!v8::is_extension(o)) {
      tag = o & 31;
    } else if (tag != v8::kModulation) {
      const char* name = tag == v8::kCallFunction ? "call_function"
                         : tag == v8::kProtocol   ? "protocol"
                         : tag == v8::kAccess     ? "pstn_access"
                         : tag == v8::kPcmModem   ? "pcm"
                                                  : "unknown";
      all.push_back({name, fmt::format("{:02X}", o)});
    }
  }
  return all;
}

Json menu_json(const std::vector<MenuHeard>& heard) {
  if (heard.empty()) return {};
  const MenuHeard& m = heard[0];
  Json items;
  items["modes"] = modulation_names(m.menu);
  items["call_function"] = call_function_name(m.menu);
  if (m.menu.has_protocol) items["protocol"] = m.menu.protocol == v8::kProtocolLapm ? "LAPM" : "other";
  if (m.menu.has_access) {
    items["pstn_access"] = {{"call_cellular", m.menu.access & 1},
                            {"answer_cellular", m.menu.access >> 1 & 1},
                            {"digital_connection", m.menu.access >> 2 & 1}};
  }
  if (m.menu.has_pcm) {
    items["pcm"] = {
        {"v90_v92_analogue", m.menu.pcm & 1}, {"v90_v92_digital", m.menu.pcm >> 1 & 1}, {"v91", m.menu.pcm >> 2 & 1}};
  }
  const Json others = other_extensions(m.octets);
  if (!others.empty()) items["other_extension"] = others;
  return {{"octets", octet_string(m.octets)},
          {"items", items},
          {"identical_sequences", m.identical},
          {"channel", m.channel},
          {"t0", time(m.t0)},
          {"t1", time(m.t1)}};
}

Json quick_connect_json(const v90::QuickConnect& q, int number) {
  Json j = {{"kind", fmt::format("QC{}{}", q.acknowledge ? "A" : "", number)},
            {"side", q.digital ? "digital" : "analogue"},
            {"lapm", static_cast<int>(q.lapm)}};
  if (q.digital) {
    j["anspcm_dbm0"] = q.anspcm_tenth_dbm0 / 10.0;
  } else {
    j["uqts"] = q.uqts > 0 ? Json(q.uqts) : Json("cleardown");
  }
  return j;
}

Json tone_json(const ToneHeard& tone, const std::vector<Probing>& probing) {
  Json j;
  j["channel"] = tone.channel;
  j["segments"] = Json::array();
  for (const auto& [a, b] : tone.segments) j["segments"].push_back({time(a), time(b)});
  j["reversals"] = Json::array();
  for (const double t : tone.reversals) j["reversals"].push_back(time(t));
  j["probing"] = Json::array();
  for (const Probing& p : probing) {
    if (p.channel != tone.channel) continue;
    Json snr = Json::array();
    for (std::size_t k = 0; k < p.snr_db.size(); ++k) {
      snr.push_back(
          {{"hz", p.frequency_hz[k]}, {"tone_db", rounded(p.tone_db[k], 1)}, {"snr_db", rounded(p.snr_db[k], 1)}});
    }
    j["probing"].push_back({{"t0", time(p.t0)},
                            {"t1", time(p.t1)},
                            {"l1_to_l2", time(p.l1_to_l2)},
                            {"level_db", {rounded(p.level_db[0], 1), rounded(p.level_db[1], 1)}},
                            {"tones", snr}});
  }
  return j;
}

}  // namespace

void add_start_up(const StartUp& s, Json& j) {
  j["roles_from"] = s.roles_from.empty() ? Json() : Json(s.roles_from);
  j["call_channel"] = channel_or_null(s.call_channel);
  j["answer_channel"] = channel_or_null(s.answer_channel);
  j["answer_tones"] = Json::array();
  for (const auto& a : s.answer_tones) {
    Json reversals = Json::array();
    for (const double t : a.reversals) reversals.push_back(time(t));
    j["answer_tones"].push_back({{"t0", time(a.t0)},
                                 {"t1", time(a.t1)},
                                 {"amp", rounded(a.amplitude, 0)},
                                 {"reversals", reversals},
                                 {"am15_depth", rounded(a.depth, 3)},
                                 {"freq_hz", rounded(a.frequency_hz, 2)},
                                 {"channel", a.channel},
                                 {"kind", a.kind()}});
  }
  j["cm"] = menu_json(s.cm);
  j["cj"] = s.cj > 0 ? Json(time(s.cj)) : Json();
  j["cj_complete_octets"] = s.cj_octets;
  for (const auto& q : s.quick_connect) {
    Json qc = {{"octet", octet_string({q.octet})}};
    qc.update(quick_connect_json(q.qc, 1));
    qc["channel"] = q.channel;
    qc["t"] = time(q.t);
    qc["repeats"] = q.repeats;
    j[q.qc.acknowledge ? "qca1" : "qc1"] = qc;
  }
  j["jm"] = menu_json(s.jm);
  j["v8bis_signals"] = Json::array();
  for (const auto& signal : s.v8bis_signals) j["v8bis_signals"].push_back(v8bis_json(signal));
  j["v8bis_messages"] = Json::array();
  for (const auto& m : s.v8bis) {
    Json message = v8bis_json(m);
    v90::QuickConnect qc;
    if (v90::decode_qc2(m.octets.data(), static_cast<int>(m.octets.size()), &qc)) {
      message["v92"] = quick_connect_json(qc, 2);
    }
    j["v8bis_messages"].push_back(std::move(message));
  }
  j["channel_1200hz"] = channel_or_null(s.channel_1200);
  j["channel_2400hz"] = channel_or_null(s.channel_2400);
  for (const char* key : {"info0_1200", "info0_2400", "info1_1200", "info1_2400"}) j["info"][key] = Json::array();
  for (const char* key : {"info0c", "info0a", "info1c", "info1a"}) j[key] = Json();
  for (const InfoHeard& i : s.info) {
    const std::string side = i.carrier_hz == v34::kDpskCallHz ? "1200" : "2400";
    const Json info = info_json(i);
    std::string key = i.type();
    key.replace(0, 4, "info");
    // The first of each kind; repeats are in `info`.
    if (!j.contains(key) || j[key].is_null()) j[key] = info;
    j["info"][(i.is_info0() ? "info0_" : "info1_") + side].push_back(info);
  }
  for (const auto& [key, list] : j["info"].items()) j["counts"][key] = list.size();
  if (!s.info.empty()) {
    j["phase2"] = {{"t_start", time(s.info.front().t0)},
                   {"tone_B", tone_json(s.tone_b, s.probing)},
                   {"tone_A", tone_json(s.tone_a, s.probing)}};
  }
}

}  // namespace offhook::decode
