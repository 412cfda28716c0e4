// SPDX-License-Identifier: MIT
//
// The JSON of a decoded call (offhook.decode/1) under the keys of the recordings' truth.json, as far as both have it.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace offhook::decode::test {

using Json = nlohmann::ordered_json;

inline Json or_null(const Json& object, const char* key) {
  return object.contains(key) ? object[key] : Json();
}
inline int number(const std::string& bits, std::size_t first, std::size_t last) {
  int value = 0;
  for (std::size_t k = first; k <= last; ++k) value |= (bits[k] - '0') << (k - first);
  return value;
}
inline int hz(const Json& value) {
  return static_cast<int>(std::lround(value.get<double>()));
}

inline Json truth_menu(const Json& v8, const char* key) {
  if (!v8.contains(key)) return {};
  const Json& m = v8[key];
  Json items = {{"modes", m["modulations"]}, {"call_function", m["call_function"]}};
  if (m.contains("protocol")) items["protocol"] = m["protocol"];
  if (m.contains("pstn_access")) {
    items["pstn_access"] = {{"call_cellular", m["pstn_access"]["call_cellular"].get<int>()},
                            {"answer_cellular", m["pstn_access"]["answer_cellular"].get<int>()},
                            {"digital_connection", m["pstn_access"]["digital"].get<int>()}};
  }
  if (m.contains("pcm")) {
    for (const auto& [name, value] : m["pcm"].items()) items["pcm"][name] = value.get<int>();
  }
  for (const Json& e : m["extensions"]) {
    const Json category = e["category"] == "call function"            ? "call_function"
                          : e["category"] == "PSTN access"            ? "pstn_access"
                          : e["category"] == "PCM modem availability" ? "pcm"
                                                                      : e["category"];
    items["other_extension"].push_back({category, e["octet"]});
  }
  return {{"octets", m["octets"]},   {"items", items},     {"identical_sequences", m["count"]},
          {"channel", m["channel"]}, {"t0", m["start_s"]}, {"t1", m["end_s"]}};
}

inline Json truth_quick_connect(const Json& q) {
  Json j = {{"kind", q["name"]}, {"side", q["modem"]}, {"lapm", q["lapm"].get<int>()}};
  if (q.contains("uqts")) j["uqts"] = q["uqts"];
  if (q.contains("anspcm_level_dbm0")) j["anspcm_level_dbm0"] = q["anspcm_level_dbm0"];
  for (const auto& [from, to] :
       {std::pair{"octet", "octet"}, {"channel", "channel"}, {"start_s", "t"}, {"count", "repeats"}}) {
    if (q.contains(from)) j[to] = q[from];
  }
  return j;
}

inline Json truth_info(const Json& i) {
  const std::string name = i["name"], bits = i["bits"];
  Json j = {{"type", name},     {"raw", bits},   {"channel", i["channel"]}, {"t0", i["start_s"]},
            {"t1", i["end_s"]}, {"crc", "good"}, {"amp", i["amplitude"]}};
  const auto take = [&](const char* to, const char* from) {
    j[to] = i[from].is_boolean() ? Json(i[from].get<int>()) : i[from];
  };
  if (name.starts_with("INFO0")) {
    take("sr2743", "supports_2743");
    take("sr2800", "supports_2800");
    take("sr3429", "supports_3429");
    take("tx_low_3000", "low_carrier_3000");
    take("tx_high_3000", "high_carrier_3000");
    take("tx_low_3200", "low_carrier_3200");
    take("tx_high_3200", "high_carrier_3200");
    take("tx_3429_allowed", "may_transmit_3429");
    take("can_reduce_power", "can_reduce_power");
    take("max_sr_difference", "max_symbol_rate_difference");
    take("cme", "cme");
    take("points_1664", "supports_1664_points");
    take("ack", "acknowledge");
    for (const std::size_t bit : {26u, 27u, 41u}) {
      if (bit < bits.size()) j["bit" + std::to_string(bit)] = number(bits, bit, bit);
    }
    j["bits26_27"] = number(bits, 26, 27);
    if (name != "INFO0d") return j;
    take("short_phase2_request", "v92_short_phase2");
    take("v92_capable", "v92_capable");
    take("nominal_tx_power_dbm0", "nominal_power_dbm0");
    take("max_tx_power_dbm0", "max_power_dbm0");
    take("power_at_codec_output", "power_at_codec");
    take("pcm_law", "codec_law");
    take("upstream_3429", "upstream_3429");
    return j;
  }
  j["md_ms"] = hz(1000 * i["md_s"].get<double>());
  j["md_length"] = hz(i["md_s"].get<double>() / 0.035);
  j["freq_offset_hz"] = or_null(i, "frequency_offset_hz");
  if (i.contains("min_power_reduction_db")) {
    take("min_power_reduction", "min_power_reduction_db");
    take("additional_power_reduction", "extra_power_reduction_db");
  }
  if (i.contains("symbol_rates")) {
    for (std::size_t k = 0; k < i["symbol_rates"].size(); ++k) {
      const Json& p = i["symbol_rates"][k];
      j["rates"][std::to_string(hz(p["symbol_rate"]))] = {{"high_carrier", number(bits, 25 + 9 * k, 25 + 9 * k)},
                                                          {"carrier_hz", hz(p["carrier_hz"])},
                                                          {"preemphasis", p["pre_emphasis"]},
                                                          {"projected_max", p["max_bit_rate"]}};
    }
  } else if (i.contains("call_to_answer")) {
    const Json& p = i["call_to_answer"];
    const auto index = [](int rate) {
      return rate < 2500 ? 0 : rate < 2750 ? 1 : rate < 2900 ? 2 : rate < 3100 ? 3 : rate < 3300 ? 4 : 5;
    };
    j["mode"] = "V.34";
    j["high_carrier_tx_1200side"] = number(bits, 25, 25);
    j["preemphasis_tx_1200side"] = p["pre_emphasis"];
    j["projected_max_tx_1200side"] = p["max_bit_rate"];
    j["symbol_rate_tx_1200side"] = hz(p["symbol_rate"]);
    j["symbol_rate_tx_2400side"] = hz(i["answer_to_call_symbol_rate"]);
    j["idx_1200side"] = index(hz(p["symbol_rate"]));
    j["idx_2400side"] = index(hz(i["answer_to_call_symbol_rate"]));
  } else {
    j["mode"] = "V.90/V.92 downstream PCM";
    j["bits12_17"] = number(bits, 12, 17);
    j["bits32_33"] = number(bits, 32, 33);
    take("uinfo", "u_info");
    j["symbol_rate_analogue_to_digital"] = hz(i["upstream_symbol_rate"]);
    j["symbol_rate_digital_to_analogue"] = 8000;
  }
  return j;
}

inline Json truth_tone(const Json& phase2, const char* key) {
  const Json& t = phase2[key];
  Json j = {{"channel", t["channel"]},
            {"reversals", t["reversals_s"]},
            {"segments", Json::array()},
            {"probing", Json::array()}};
  for (const Json& s : t["segments"]) j["segments"].push_back({s["start_s"], s["end_s"]});
  for (const Json& p : phase2["probing"]) {
    if (p["channel"] != t["channel"]) continue;
    j["probing"].push_back({{"t0", p["l1_start_s"]},
                            {"t1", p["end_s"]},
                            {"l1_to_l2", or_null(p, "l2_start_s")},
                            {"level_db", {p["l1_level_db"], p["l2_level_db"]}}});
  }
  return j;
}

inline Json truth_mp(const Json& m) {
  Json j = {{"type", m["type"]},
            {"max_call_to_answer", m["call_to_answer_max_bit_rate"]},
            {"max_answer_to_call", m["answer_to_call_max_bit_rate"]},
            {"aux", m["auxiliary_channel"].get<int>()},
            {"trellis", m["trellis_states"]},
            {"nonlinear", m["nonlinear"].get<int>()},
            {"shaping_expanded", m["expanded_shaping"].get<int>()},
            {"ack", m["acknowledge"].get<int>()},
            {"rate_mask", m["bit_rates"]},
            {"asymmetric", m["asymmetric"].get<int>()},
            {"raw", m["bits"]},
            {"t_first", m["start_s"]},
            {"t_last_end", m["end_s"]},
            {"count", m["count"]}};
  if (m.contains("precoder")) j["precoder"] = m["precoder"];
  return j;
}

inline Json truth_cp(const Json& c) {
  return {{"length", c["bits"].get<std::string>().size() + 3},
          {"kind", c["name"]},
          {"drn", c["drn"]},
          {"rate", c["bit_rate"]},
          {"silence_request", c["silence"].get<int>()},
          {"sr", c["shaping_bits"]},
          {"ack", c["acknowledge"].get<int>()},
          {"codec", c["codec_law"]},
          {"upstream_mask", c["upstream_bit_rates"]},
          {"lookahead", c["look_ahead"]},
          {"constellations", c["constellations"].size()},
          {"codec_constellations", static_cast<int>(c.contains("codec_constellations"))},
          {"raw", c["bits"]},
          {"points", c["training_points"]},
          {"t_first", c["start_s"]},
          {"t_last", c["last_start_s"]},
          {"t_last_end", c["end_s"]},
          {"count", c["count"]}};
}

/// One direction of a training. truth.json lists what is alike, whatever training segment it is of.
inline Json truth_side(const Json& s) {
  Json j = {{"symbol_rate", s["symbol_rate"]},
            {"carrier_hz", s["carrier_hz"]},
            {"scrambler", s["scrambler"] == "GPC" ? "1+x^-18+x^-23" : "1+x^-5+x^-23"},
            {"channel", or_null(s, "channel")},
            {"e", Json()}};
  for (const char* key : {"pp", "trn", "s", "j", "mp", "renegotiation"}) j[key] = Json::array();
  for (const Json& p : s["segments"]) {
    const bool data = !j["e"].is_null();
    if (p.contains("s")) j["s"].push_back({{"t", p["s"]["start_s"]}, {"t_sbar", p["s"]["s_bar_s"]}});
    if (p.contains("pp_s")) j["pp"].push_back({{"t", p["pp_s"]}});
    if (p.contains("trn")) j["trn"].push_back({{"t", p["trn"]["start_s"]}, {"points", p["trn"]["points"]}});
    if (p.contains("j"))
      j["j"].push_back({{"t", p["j"]["start_s"]}, {"t_end", p["j"]["end_s"]}, {"points", p["j"]["points"]}});
    for (const Json& m : p["mp"]) j[data ? "renegotiation" : "mp"].push_back(truth_mp(m));
    if (p.contains("e") && !data) j["e"] = {{"t", p["e"]["start_s"]}, {"t_end", p["e"]["end_s"]}};
  }
  return j;
}

inline Json truth_training(const Json& t) {
  Json j = {{"info1a_t", t["info1a_s"]}, {"mode", t["modulation"]}};
  if (t.contains("call_to_answer")) {
    j["tx_1200side"] = truth_side(t["call_to_answer"]);
    j["tx_2400side"] = truth_side(t["answer_to_call"]);
    return j;
  }
  j["tx_2400side"] = truth_side(t["upstream"]);
  j["cp"] = Json::array();
  j["upstream_mask_max"] = Json();
  for (const Json& p : t["upstream"]["segments"]) {
    for (const Json& c : p["cp"]) {
      j["cp"].push_back(truth_cp(c));
      const bool last = c["bit_rate"] == or_null(t["downstream"], "bit_rate") && c["name"] == "CP";
      if (last && !c["upstream_bit_rates"].empty()) j["upstream_mask_max"] = c["upstream_bit_rates"].back();
    }
  }
  j["downstream_rate"] = or_null(t["downstream"], "bit_rate");
  return j;
}

/// Who asked for what after data mode: the first MP with rates, and what all those before a cleardown ask for.
inline Json truth_renegotiation(const Json& d, const Json& cleardown) {
  std::vector<std::pair<double, Json>> maxima;
  for (const Json& t : d["trainings"]) {
    for (const char* way : {"call_to_answer", "answer_to_call"}) {
      if (!t.contains(way)) continue;
      bool data = false;
      for (const Json& p : t[way]["segments"]) {
        for (const Json& m : p["mp"]) {
          const Json c2a = m["call_to_answer_max_bit_rate"], a2c = m["answer_to_call_max_bit_rate"];
          if (data && (c2a != 0 || a2c != 0))
            maxima.emplace_back(m["start_s"], Json{or_null(t[way], "channel"), c2a, a2c, m["acknowledge"].get<int>()});
        }
        data |= p.contains("e");
      }
    }
  }
  std::stable_sort(maxima.begin(), maxima.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  if (!cleardown.is_null()) std::erase_if(maxima, [&](const auto& m) { return m.first > cleardown["t"]; });
  if (maxima.empty()) return {};
  Json j = {{"t", maxima.front().first}, {"new_max", Json::array()}};
  for (const auto& [t, m] : maxima) j["new_max"].push_back(m);
  return j;
}

/// "V.8+INFO0/1+Phase 3/4+MP both": the phases that were read.
inline std::string truth_depth(const Json& d) {
  std::string depth;
  const auto add = [&](bool there, const std::string& what) {
    if (there) depth += (depth.empty() ? "" : "+") + what;
  };
  bool trained = false, pcm = false, cp = false;
  int most_mp = 0;
  for (const Json& t : d["trainings"]) {
    int mp = 0;
    for (const char* way : {"call_to_answer", "answer_to_call", "upstream"}) {
      if (!t.contains(way)) continue;
      bool any = false;
      for (const Json& p : t[way]["segments"]) {
        trained |= p.contains("trn");
        cp |= !p["cp"].empty();
        any |= !p["mp"].empty();
      }
      mp += any;
    }
    pcm |= t.contains("upstream");
    most_mp = std::max(most_mp, mp);
  }
  add(d["v8"].contains("cm") || d["v8"].contains("jm"), "V.8");
  add(!d["phase2"]["info"].empty(), "INFO0/1");
  add(trained, pcm ? "Phase 3" : "Phase 3/4");
  add(cp, "CP");
  add(most_mp > 0, most_mp == 2 ? "MP both" : "MP one");
  return depth;
}

inline Json under_truths_keys(const Json& d) {
  const Json &v8 = d["v8"], &phase2 = d["phase2"];
  Json j = {{"call_channel", or_null(d["roles"], "call_channel")},
            {"answer_channel", or_null(d["roles"], "answer_channel")},
            {"roles_from", or_null(d["roles"], "determined_by")},
            {"channel_1200hz", or_null(phase2, "channel_1200_hz")},
            {"channel_2400hz", or_null(phase2, "channel_2400_hz")},
            {"duration_s", d["recording"]["duration_s"]},
            {"modulation", or_null(d, "modulation")},
            {"cj_complete_octets", v8.contains("cj") ? v8["cj"]["octet_count"] : Json(0)},
            {"cm", truth_menu(v8, "cm")},
            {"jm", truth_menu(v8, "jm")},
            {"depth", truth_depth(d)},
            {"cleardown", Json()}};
  for (const Json& c : d["recording"]["channels"]) {
    j["peak"].push_back(c["peak"]);
    j["clipped_samples"].push_back(c["clipped_samples"]);
  }
  j["answer_tones"] = Json::array();
  for (const Json& a : v8["answer_tones"]) {
    j["answer_tones"].push_back(
        {{"t0", a["start_s"]},
         {"t1", a["end_s"]},
         {"reversals", a["reversals_s"]},
         {"am15_depth", a["modulation_depth"]},
         {"freq_hz", a["frequency_hz"]},
         {"channel", a["channel"]},
         {"kind", a["name"] == "ANSpcm"
                      ? "ANSpcm (V.92)"
                      : a["name"].get<std::string>() + (a["reversals_s"].empty() ? "" : " with reversals")}});
  }
  for (const Json& q : v8["quick_connect"]) j[q["name"] == "QC1" ? "qc1" : "qca1"] = truth_quick_connect(q);
  j["v8bis_messages"] = Json::array();
  for (const Json& m : d["v8bis"]["messages"]) {
    Json& one = j["v8bis_messages"].emplace_back(Json{{"t", m["start_s"]},
                                                      {"octets", m["octets"]},
                                                      {"type", m["name"]},
                                                      {"channel", m["channel"]},
                                                      {"band", m["band"] == "V.21 high" ? "V.21H" : "V.21L"}});
    if (m.contains("quick_connect")) one["v92"] = truth_quick_connect(m["quick_connect"]);
  }
  for (const char* key : {"info0_1200", "info0_2400", "info1_1200", "info1_2400"}) j["info"][key] = Json::array();
  for (const Json& i : phase2["info"]) {
    const std::string name = i["name"], number = name.substr(4, 1);
    const Json info = truth_info(i);
    if (!j.contains("info" + name.substr(4))) j["info" + name.substr(4)] = info;
    j["info"]["info" + number + "_" + std::to_string(i["carrier_hz"].get<int>())].push_back(info);
  }
  for (const auto& [key, all] : j["info"].items()) j["counts"][key] = all.size();
  for (const auto& [to, from] : {std::pair{"tone_A", "tone_a"}, {"tone_B", "tone_b"}}) {
    if (phase2.contains(from)) j["phase2"][to] = truth_tone(phase2, from);
  }
  j["trainings"] = Json::array();
  for (const Json& t : d["trainings"]) j["trainings"].push_back(truth_training(t));
  if (!d["trainings"].empty()) {
    const Json& first = d["trainings"][0];
    for (const std::string way : {"call_to_answer", "answer_to_call"}) {
      if (!first.contains(way)) continue;
      const Json& s = first[way];
      j["symbol_rate_" + way] = hz(s["symbol_rate"]);
      j["carrier_" + way] = hz(s["carrier_hz"]);
      j["preemphasis_" + way] = s["pre_emphasis"];
      j["projected_max_" + way] = s["max_bit_rate"];
      j["final_rate_" + way] = or_null(s, "bit_rate");
    }
    if (first.contains("upstream")) {
      j["symbol_rate_analogue_to_digital"] = hz(first["upstream"]["symbol_rate"]);
      j["carrier_analogue_to_digital"] = hz(first["upstream"]["carrier_hz"]);
      j["analogue_channel"] = j["channel_2400hz"];
      j["digital_channel"] = j["channel_1200hz"];
      j["downstream_rate_from_cp"] = or_null(first["downstream"], "bit_rate");
    }
  }
  for (const Json& c : d["changes"]) {
    if (c["name"] == "cleardown" && j["cleardown"].is_null())
      j["cleardown"] = {{"t", c["start_s"]}, {"channel", c["channel"]}, {"by", or_null(c, "by")}};
  }
  j["rate_renegotiation"] = truth_renegotiation(d, j["cleardown"]);
  return j;
}

}  // namespace offhook::decode::test
