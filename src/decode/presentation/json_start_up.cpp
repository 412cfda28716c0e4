// SPDX-License-Identifier: MIT
//
// V.8bis, V.8 and Phase 2 in the JSON of a decoded call.
#include "dsp/v34/phase2/tones.h"
#include "src/decode/presentation/json_values.h"
#include "src/decode/presentation/names.h"
#include "src/decode/presentation/v8bis_fields.h"

namespace offhook::decode {
namespace {

// QC1 and QCA1 in the octets of V.8, QC2 and QCA2 as messages of V.8bis.
Json quick_connect_json(const v90::QuickConnect& q, int number) {
  Json j = {{"name", std::string(q.acknowledge ? "QCA" : "QC") + std::to_string(number)},
            {"modem", q.digital ? "digital" : "analogue"},
            {"lapm", q.lapm}};
  if (q.digital) {
    j["anspcm_level_dbm0"] = q.anspcm_tenth_dbm0 / 10.0;
  } else if (q.uqts > 0) {
    j["uqts"] = q.uqts;
  } else {
    j["cleardown"] = true;
  }
  return j;
}

Json parameters_json(const V8bisParameters& p) {
  Json j;
  if (!p.name.empty()) j["name"] = p.name;
  j["parameters"] = p.parameters;
  j["fields"] = list(p.fields, parameters_json);
  return j;
}

Json non_standard_json(const v8bis::NonStandard& block) {
  const V8bisNonStandard n = v8bis_non_standard(block);
  Json j = {{"country_code", n.country_code}, {"provider_code", n.provider_code}, {"octets", n.octets}};
  if (!n.country.empty()) j["country"] = n.country;
  if (!n.provider.empty()) j["provider"] = n.provider;
  return j;
}

Json message_json(const V8bisMessage& heard) {
  const v8bis::Message& m = heard.message;
  Json j = {{"name", heard.type()},
            {"type", m.type},
            {"revision", m.revision},
            {"channel", heard.channel},
            {"band", heard.high_band ? "V.21 high" : "V.21 low"},
            {"start_s", time(heard.t)},
            {"amplitude", rounded(heard.amplitude, 0)},
            {"octets", octet_string(heard.octets)},
            {"fcs", octet_string(heard.fcs)},
            {"fcs_good", heard.fcs_good}};
  if (heard.malformed) j["malformed"] = {{"octet", heard.malformed.octet}, {"expected", heard.malformed.expected}};
  v90::QuickConnect qc;
  if (v90::decode_qc2(heard.octets.data(), static_cast<int>(heard.octets.size()), &qc))
    j["quick_connect"] = quick_connect_json(qc, 2);
  if (!m.has_parameters()) return j;
  j["identification"] = parameters_json(v8bis_parameters(m, v8bis::Field::kIdentification));
  j["standard"] = parameters_json(v8bis_parameters(m, v8bis::Field::kStandard));
  j["non_standard"] = list(std::span(m.non_standard, static_cast<std::size_t>(m.non_standards)), non_standard_json);
  return j;
}

Json signal_json(const V8bisSignal& s) {
  return {{"name", s.name},
          {"station", s.responding ? "responding" : "initiating"},
          {"channel", s.channel},
          {"start_s", time(s.t0)},
          {"segment2_s", time(s.t_segment2)},
          {"end_s", time(s.t1)},
          {"tone_hz", s.tone_hz},
          {"amplitude", rounded(s.amplitude, 0)}};
}

// Extension octets that V.8 has no use for: those of other categories than the modulations.
Json extensions_json(const std::vector<std::uint8_t>& octets) {
  Json all = Json::array();
  const char* category = nullptr;
  bool modulation = false;
  for (const std::uint8_t o : octets) {
    const int tag = o & 31;
    if (v8::is_extension(o)) {
      if (!modulation)
        all.push_back({{"category", category != nullptr ? category : "unknown"}, {"octet", octet_string({&o, 1})}});
      continue;
    }
    modulation = tag == v8::kModulation;
    category = tag == v8::kCallFunction ? "call function"
               : tag == v8::kProtocol   ? "protocol"
               : tag == v8::kAccess     ? "PSTN access"
               : tag == v8::kPcmModem   ? "PCM modem availability"
                                        : "unknown";
  }
  return all;
}

Json menu_json(const MenuHeard& m) {
  Json confidence = Json::array();
  for (const double c : m.confidence) confidence.push_back(rounded(c, 2));
  Json j = {{"channel", m.channel},
            {"start_s", time(m.t0)},
            {"end_s", time(m.t1)},
            {"count", m.identical},
            {"octets", octet_string(m.octets)},
            {"octet_confidence", confidence},
            {"call_function", call_function_name(m.menu)},
            {"modulations", modulation_names(m.menu)},
            {"extensions", extensions_json(m.octets)}};
  if (m.menu.has_protocol) j["protocol"] = m.menu.protocol == v8::kProtocolLapm ? "LAPM" : "other";
  const auto bit = [](int set, int k) { return (set >> k & 1) != 0; };
  if (m.menu.has_access) {
    j["pstn_access"] = {{"call_cellular", bit(m.menu.access, 0)},
                        {"answer_cellular", bit(m.menu.access, 1)},
                        {"digital", bit(m.menu.access, 2)}};
  }
  if (m.menu.has_pcm) {
    j["pcm"] = {
        {"v90_v92_analogue", bit(m.menu.pcm, 0)}, {"v90_v92_digital", bit(m.menu.pcm, 1)}, {"v91", bit(m.menu.pcm, 2)}};
  }
  return j;
}

Json answer_tone_json(const AnswerToneHeard& a) {
  return {{"name", a.name()},
          {"channel", a.channel},
          {"start_s", time(a.t0)},
          {"end_s", time(a.t1)},
          {"frequency_hz", rounded(a.frequency_hz, 2)},
          {"amplitude", rounded(a.amplitude, 0)},
          {"modulation_depth", rounded(a.depth, 3)},
          {"reversals_s", times(a.reversals)}};
}

void add_info0(Json& j, const v34::Info0& i) {
  j["supports_2743"] = i.supports_2743;
  j["supports_2800"] = i.supports_2800;
  j["supports_3429"] = i.supports_3429;
  j["low_carrier_3000"] = i.low_carrier_3000;
  j["high_carrier_3000"] = i.high_carrier_3000;
  j["low_carrier_3200"] = i.low_carrier_3200;
  j["high_carrier_3200"] = i.high_carrier_3200;
  j["may_transmit_3429"] = i.may_transmit_3429;
  j["can_reduce_power"] = i.can_reduce_power;
  j["max_symbol_rate_difference"] = i.max_rate_difference;
  j["cme"] = i.cme;
  j["supports_1664_points"] = i.supports_1664_points;
  j["acknowledge"] = i.acknowledge;
}

// What INFO1c, INFO1d and INFO1a have at their beginning and end.
template <class Info>
void add_info1(Json& j, const Info& i) {
  j["md_s"] = rounded(0.035 * i.md_length, 3);
  if (i.frequency_offset != v34::kOffsetUnknown) j["frequency_offset_hz"] = rounded(0.02 * i.frequency_offset, 2);
  if constexpr (requires { i.min_power_reduction; }) {
    j["min_power_reduction_db"] = i.min_power_reduction;
    j["extra_power_reduction_db"] = i.extra_power_reduction;
  }
}

Json probing_result_json(v34::SymbolRate rate, const v34::ProbingResult& p) {
  return {{"symbol_rate", rounded(symbol_rate_hz(rate), 3)},
          {"carrier_hz", rounded(carrier_hz(rate, p.carrier), 3)},
          {"pre_emphasis", p.pre_emphasis},
          {"max_bit_rate", 2400 * p.max_rate}};
}

Json info_json(const InfoHeard& h) {
  Json j = {{"name", h.type()},          {"channel", h.channel}, {"carrier_hz", h.carrier_hz},
            {"start_s", time(h.t0)},     {"end_s", time(h.t1)},  {"amplitude", rounded(h.amplitude, 0)},
            {"bits", bit_string(h.bits)}};
  if (h.is_v90()) {
    j["v92_short_phase2"] = h.v92_short_phase2();
    j["v92_capable"] = h.v92_capable();
  }
  if (const auto* i0 = std::get_if<v34::Info0>(&h.info)) {
    add_info0(j, *i0);
    if (!h.is_v90()) j["transmit_clock"] = clock_name(*i0);
  } else if (const auto* d = std::get_if<v34::Info0d>(&h.info)) {
    add_info0(j, d->v34);
    j["nominal_power_dbm0"] = -6 - d->nominal_power;
    j["max_power_dbm0"] = -0.5 * (d->max_power + 1);
    j["power_at_codec"] = d->power_at_codec;
    j["codec_law"] = d->a_law ? "A" : "mu";
    j["upstream_3429"] = d->upstream_3429;
  } else if (const auto* c = std::get_if<v34::Info1c>(&h.info)) {
    add_info1(j, *c);
    j["symbol_rates"] = Json::array();
    for (int k = 0; k < v34::kSymbolRates; ++k)
      j["symbol_rates"].push_back(probing_result_json(static_cast<v34::SymbolRate>(k), c->probing[k]));
  } else if (const auto* a = std::get_if<v34::Info1a>(&h.info)) {
    add_info1(j, *a);
    j["call_to_answer"] = probing_result_json(a->rate_call_to_answer, a->call_to_answer);
    j["answer_to_call_symbol_rate"] = rounded(symbol_rate_hz(a->rate_answer_to_call), 3);
  } else if (const auto* v = std::get_if<v34::Info1aV90>(&h.info)) {
    add_info1(j, *v);
    j["u_info"] = v->u_info;
    j["upstream_symbol_rate"] = rounded(symbol_rate_hz(v->rate_upstream), 3);
  }
  return j;
}

Json tone_json(const ToneHeard& tone) {
  return {{"channel", tone.channel},
          {"segments", list(tone.segments,
                            [](const auto& s) {
                              return Json{{"start_s", time(s.first)}, {"end_s", time(s.second)}};
                            })},
          {"reversals_s", times(tone.reversals)}};
}

Json probing_json(const Probing& p) {
  Json tones = Json::array();
  for (std::size_t k = 0; k < p.snr_db.size(); ++k) {
    tones.push_back({{"frequency_hz", p.frequency_hz[k]},
                     {"level_db", rounded(p.tone_db[k], 1)},
                     {"snr_db", rounded(p.snr_db[k], 1)}});
  }
  Json j = {{"channel", p.channel},
            {"l1_start_s", time(p.t0)},
            {"end_s", time(p.t1)},
            {"l1_level_db", rounded(p.level_db[0], 1)},
            {"l2_level_db", rounded(p.level_db[1], 1)},
            {"tones", tones}};
  if (p.l1_to_l2 > 0) j["l2_start_s"] = time(p.l1_to_l2);
  return j;
}

// An MH sequence of V.92, Table 32.
Json hold_json(const HoldHeard& h) {
  Json j = {{"name", name(h.message.signal)},
            {"modem", h.carrier_hz == v34::kDpskCallHz ? "digital" : "analogue"},
            {"channel", h.channel},
            {"start_s", time(h.t0)},
            {"end_s", time(h.t1)},
            {"amplitude", rounded(h.amplitude, 0)},
            {"count", h.count},
            {"information", h.message.information}};
  if (const std::string meaning = describe(h.message); !meaning.empty()) j["meaning"] = meaning;
  return j;
}

}  // namespace

Json v8bis_json(const StartUp& s) {
  return {{"signals", list(s.v8bis_signals, signal_json)}, {"messages", list(s.v8bis, message_json)}};
}

Json v8_json(const StartUp& s) {
  Json j = {{"answer_tones", list(s.answer_tones, answer_tone_json)},
            {"quick_connect", list(s.v8.quick_connect, [](const QuickConnectHeard& q) {
               Json one = {{"channel", q.channel},
                           {"start_s", time(q.t)},
                           {"count", q.repeats},
                           {"octet", octet_string({&q.octet, 1})}};
               one.update(quick_connect_json(q.qc, 1));
               return one;
             })}};
  if (!s.v8.cm.empty()) j["cm"] = menu_json(s.v8.cm[0]);
  if (s.v8.cj > 0) j["cj"] = {{"start_s", time(s.v8.cj)}, {"octet_count", s.v8.cj_octets}};
  if (!s.v8.jm.empty()) j["jm"] = menu_json(s.v8.jm[0]);
  return j;
}

Json phase2_json(const StartUp& s) {
  Json j = {{"info", list(s.info, info_json)},
            {"probing", list(s.probing, probing_json)},
            {"modem_on_hold", list(s.hold, hold_json)}};
  if (s.channel_1200 >= 0) j["channel_1200_hz"] = s.channel_1200;
  if (s.channel_2400 >= 0) j["channel_2400_hz"] = s.channel_2400;
  if (!s.info.empty() && s.channel_2400 >= 0) j["tone_a"] = tone_json(s.tone_a);
  if (!s.info.empty() && s.channel_1200 >= 0) j["tone_b"] = tone_json(s.tone_b);
  return j;
}

}  // namespace offhook::decode
