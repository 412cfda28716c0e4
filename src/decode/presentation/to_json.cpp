// SPDX-License-Identifier: MIT
#include <algorithm>

#include "src/decode/call/call.h"
#include "src/decode/presentation/json_values.h"
#include "src/decode/presentation/notes.h"

namespace offhook::decode {
namespace {

Json mp_json(const MpHeard& h) {
  const v34::Mp& m = h.mp;
  Json mask = Json::array();
  for (int k = 0; k < 14; ++k) {
    if (m.rate_mask >> k & 1) mask.push_back(2400 * (k + 1));
  }
  Json j = {{"type", static_cast<int>(m.type1)},
            {"max_call_to_answer", 2400 * m.max_call_to_answer},
            {"max_answer_to_call", 2400 * m.max_answer_to_call},
            {"aux", static_cast<int>(m.aux)},
            {"trellis", v34::trellis_states(m.trellis)},
            {"nonlinear", static_cast<int>(m.nonlinear)},
            {"shaping_expanded", static_cast<int>(m.expanded)},
            {"ack", static_cast<int>(m.acknowledge)},
            {"rate_mask", mask},
            {"asymmetric", static_cast<int>(m.asymmetric)},
            {"raw", bit_string(h.bits)}};
  if (m.type1) {
    j["precoder"] = Json::array();
    for (const auto& c : m.precoder.h) j["precoder"].push_back({c.re / 16384.0, c.im / 16384.0});
  }
  j["t_first"] = time(h.t_first);
  j["t_last_end"] = time(h.t_last_end);
  j["count"] = h.count;
  return j;
}

Json cp_json(const CpHeard& h) {
  const v90::Cp& c = h.cp;
  Json mask = Json::array(), points = Json::array();
  for (int k = 0; k < 13; ++k) {
    if (c.upstream_mask >> k & 1) mask.push_back(2400 * (k + 2));
  }
  for (const int i : c.interval) points.push_back(c.constellation[i].points());
  const auto ucodes = [&](const v90::UcodeMask* sets) {
    Json all = Json::array();
    for (int i = 0; i < c.constellations(); ++i) {
      Json set = Json::array();
      for (int u = 0; u < v90::kUcodes; ++u) {
        if (sets[i].has(u)) set.push_back(u);
      }
      all.push_back(set);
    }
    return all;
  };
  Json j = {{"length", c.bits()},
            {"kind", c.data_mode ? "CP" : "CPt"},
            {"drn", c.drn},
            {"rate", downstream_rate(c)},
            {"silence_request", static_cast<int>(c.silence)},
            {"sr", c.shaping_bits},
            {"ack", static_cast<int>(c.acknowledge)},
            {"codec", c.a_law ? "A" : "mu"},
            {"upstream_mask", mask},
            {"lookahead", c.look_ahead},
            {"constellations", c.constellations()},
            {"codec_constellations", static_cast<int>(c.codec_differs)},
            {"k", c.k()},
            {"trn1d_ratio", c.trn1d_ratio / 8192.0},
            {"shaping", {{"a1", c.a1 / 64.0}, {"a2", c.a2 / 64.0}, {"b1", c.b1 / 64.0}, {"b2", c.b2 / 64.0}}},
            {"interval_constellation", c.interval},
            {"interval_points", points},
            {"ucodes", ucodes(c.constellation)}};
  if (c.codec_differs) j["codec_ucodes"] = ucodes(c.codec);
  j["raw"] = bit_string(h.bits);
  j["points"] = h.points;
  j["t_first"] = time(h.t_first);
  j["t_last"] = time(h.t_last);
  j["t_last_end"] = time(h.t_last_end);
  j["count"] = h.count;
  return j;
}

Json data_json(const DataHeard& d, const Link& link) {
  Json j = {{"t0", time(d.t0)},
            {"t1", time(d.t1)},
            {"bit_rate", d.parameters.bit_rate},
            {"b1_errors", d.b1_errors},
            {"bits", d.bits.size()},
            {"snr_db", rounded(d.snr_db, 1)},
            {"v42_detection", link.detection != nullptr ? Json(link.detection) : Json()},
            {"bad_frames", link.bad_frames},
            {"missing_i_frames", link.gaps},
            {"v42bis", link.v42bis},
            {"ppp_frames", link.ppp_frames},
            {"payload_octets", link.payload.size()}};
  j["frames"] = Json::array();
  for (const LapmFrame& f : link.frames) {
    Json frame = {{"t", time(f.t)}, {"kind", f.kind}, {"address", f.address}};
    if (f.ns >= 0) frame["ns"] = f.ns;
    if (f.nr >= 0) frame["nr"] = f.nr;
    frame["pf"] = static_cast<int>(f.poll_final);
    frame["fcs"] = f.fcs32 ? 32 : 16;
    frame["octets"] = f.octets;
    j["frames"].push_back(frame);
  }
  return j;
}

Json v34_data_json(const DataHeard& d, const Link& link) {
  Json j = data_json(d, link);
  const v34::CodingParameters& c = d.parameters.coding;
  j["trellis"] = v34::trellis_states(c.trellis);
  j["nonlinear"] = static_cast<int>(d.parameters.nonlinear);
  j["points"] = c.framing.points();
  j["aux"] = static_cast<int>(c.framing.aux);
  j["b1_match"] = rounded(d.b1_match, 4);
  j["b1_quadrant"] = d.b1_quadrant;
  return j;
}

Json side_json(const Training::Side& side) {
  const Direction& d = side.direction;
  Json j = {{"symbol_rate", rounded(symbol_rate_hz(d.rate), 3)},
            {"carrier_hz", rounded(carrier_hz(d.rate, d.carrier), 3)},
            {"scrambler", d.scrambling == kGpc ? "1+x^-18+x^-23" : "1+x^-5+x^-23"}};
  for (const char* key : {"pp", "trn", "s", "j", "mp", "snr_db"}) j[key] = Json::array();
  j["e"] = Json();
  for (const char* key : {"e_later", "renegotiation"}) j[key] = Json::array();
  j["channel"] = d.channel;
  j["s_in_data_mode"] = Json::array();
  bool data = false;
  for (const Passage& p : side.passages) {
    const int points = p.anchor.points == v34::TrainingPoints::k4 ? 4 : 16;
    const double corr = rounded(p.anchor.correlation, 3);
    if (p.t_pp > 0) j["pp"].push_back({{"t", time(p.t_pp)}, {"corr", corr}});
    if (p.trn_symbols > 0) {
      j["trn"].push_back({{"t", time(p.t_trn)}, {"corr", corr}, {"points", points}});
      const Json phase = p.t_pp > 0 ? Json(3)
                         : data     ? Json("renegotiation/cleardown")
                         : d.v90    ? Json("4/SCR")
                                    : Json(4);
      j["snr_db"].push_back({{"t", time(p.t_trn)},
                             {"phase", phase},
                             {"points", points},
                             {"training_mse_db", rounded(p.training_mse_db, 1)},
                             {"clock_ppm", rounded(p.clock_ppm, 1)},
                             {"frequency_offset_hz", rounded(p.frequency_offset_hz, 2)},
                             {"trn_end", time(p.t_trn_end)},
                             {"trn_symbols", p.trn_symbols}});
    }
    Json mps = Json::array();
    for (const MpHeard& m : p.mp) {
      mps.push_back(mp_json(m));
      Json mp = mp_json(m);
      if (data) mp["cleardown"] = is_cleardown(m);
      j[data ? "renegotiation" : "mp"].push_back(mp);
    }
    if (p.t_s > 0) {
      Json s = {{"t", time(p.t_s)}, {"t_sbar", time(p.t_s_bar)}, {"corr", rounded(p.s_correlation, 3)}};
      j["s"].push_back(s);
      if (data) {
        s["mp"] = mps;
        s["kind"] = s_purpose(p);
        j["s_in_data_mode"].push_back(s);
      }
    }
    if (p.j_points > 0) {
      j["j"].push_back(
          {{"t", time(p.t_j)}, {"t_end", time(p.t_j_end)}, {"points", p.j_points}, {"repeats", p.j_repeats}});
    }
    if (p.t_j_prime > 0) j["jprime"] = time(p.t_j_prime);
    if (p.t_e_end > 0 && !data) {
      j["e"] = {{"t", time(p.t_e)}, {"t_end", time(p.t_e_end)}};
      data = true;
    } else if (p.t_e_end > 0) {
      j["e_later"].push_back({{"t", time(p.t_e)}});
    }
  }
  j["data"] = Json::array();
  for (std::size_t k = 0; k < side.data.size(); ++k) j["data"].push_back(v34_data_json(side.data[k], side.links[k]));
  return j;
}

Json fallback_json(const Fallback::Side& side) {
  if (side.channel < 0) return {};
  Json j = {{"channel", side.channel},
            {"carrier_hz", side.carrier_hz},
            {"frequency_offset_hz", rounded(side.frequency_offset_hz, 2)},
            {"clock_ppm", rounded(side.clock_ppm, 1)},
            {"signals", Json::array()},
            {"data", Json::array()}};
  for (const Fallback::Signal& s : side.signals) {
    j["signals"].push_back({{"t", time(s.t0)}, {"t_end", time(s.t1)}, {"what", s.what}});
    if (!s.detail.empty()) j["signals"].back()["detail"] = s.detail;
  }
  j["rate_signals"] = Json::array();
  for (const RateSignalHeard& r : side.rate_signals) {
    Json rates = Json::array();
    for (int k = 0; k < v32::kPlain9600; ++k) {
      const bool plain = v32::kRates[k].bit_rate == v32::kRates[v32::kPlain9600].bit_rate;
      const int bits = r.signal.rates >> k | (plain ? r.signal.rates >> v32::kPlain9600 : 0);
      if (bits & 1) rates.push_back(v32::kRates[k].bit_rate);
    }
    std::string raw;
    for (int k = 0; k < 16; ++k) raw += (r.bits >> k & 1) != 0 ? '1' : '0';
    j["rate_signals"].push_back({{"name", r.name},
                                 {"t", time(r.t0)},
                                 {"t_end", time(r.t1)},
                                 {"count", r.count},
                                 {"raw", raw},
                                 {"v32bis", r.signal.v32bis},
                                 {"rates", rates},
                                 {"trellis_9600", (r.signal.rates >> 2 & 1) != 0},
                                 {"cleardown", r.signal.rates == 0},
                                 {"after_data", r.after_data}});
  }
  for (std::size_t k = 0; k < side.data.size(); ++k) j["data"].push_back(data_json(side.data[k], side.links[k]));
  return j;
}

Json rate_or_null(int rate) {
  return rate > 0 ? Json(2400 * rate) : Json();
}

Json training_json(const Training& t) {
  Json j = {{"info1a_t", time(t.info1a_t)}, {"mode", t.pcm ? "V.90/V.92 downstream PCM" : "V.34"}};
  const auto add = [&](const char* side, const Training::Side& s) {
    const Direction& d = s.direction;
    const std::string suffix = std::string("_tx_") + side;
    j["symbol_rate" + suffix] = round_hz(symbol_rate_hz(d.rate));
    j["carrier" + suffix] = round_hz(carrier_hz(d.rate, d.carrier));
    j["preemphasis" + suffix] = d.pre_emphasis;
    j["projected_max" + suffix] = d.projected_rate;
  };
  add("2400side", t.tx_2400side);
  if (t.pcm) {
    j["symbol_rate_tx_1200side"] = 8000;
  } else {
    add("1200side", t.tx_1200side);
    j["tx_1200side"] = side_json(t.tx_1200side);
  }
  j["tx_2400side"] = side_json(t.tx_2400side);
  if (t.pcm) {
    j["cp"] = Json::array();
    for (const CpHeard* h : t.tx_2400side.cps()) j["cp"].push_back(cp_json(*h));
    const CpHeard* cp = t.tx_2400side.cp();
    j["downstream_rate"] = cp != nullptr ? Json(downstream_rate(cp->cp)) : Json();
    j["upstream_mask_max"] = cp != nullptr ? Json(upstream_mask_max(cp->cp)) : Json();
  }
  j["final_rate_call_to_answer"] = rate_or_null(t.rates.call_to_answer);
  j["final_rate_answer_to_call"] = rate_or_null(t.rates.answer_to_call);
  return j;
}

// What happened after data mode began, in order of time; and of that, who cleared down, and what was renegotiated.
void add_after_data_mode(const Call& call, Json& j) {
  struct Entry {
    double t;
    Json json;
  };
  std::vector<Entry> entries;
  j["cleardown"] = Json();
  j["rate_renegotiation"] = Json();
  double down_t = 1e9, renegotiation_t = 1e9;
  std::vector<Entry> maxima, downstreams;
  for (const Training& t : call.trainings) {
    for (const Training::Side* side : {&t.tx_1200side, &t.tx_2400side}) {
      bool data = false;
      const int channel = side->direction.channel;
      for (const Passage& p : side->passages) {
        if (data && (!p.mp.empty() || !p.cp.empty())) {
          Json rates = Json::array(), downstream = Json::array();
          for (const MpHeard& m : p.mp) {
            const int c2a = 2400 * m.mp.max_call_to_answer, a2c = 2400 * m.mp.max_answer_to_call;
            const int ack = m.mp.acknowledge;
            rates.push_back({c2a, a2c, ack, m.count});
            entries.push_back({m.t_first,
                               {{"t", time(m.t_first)},
                                {"channel", channel},
                                {"kind", "MP after E"},
                                {"max_rates", {{c2a, a2c, ack, m.count}}}}});
            if (!is_cleardown(m)) {
              renegotiation_t = std::min(renegotiation_t, m.t_first);
              maxima.push_back({m.t_first, {channel, c2a, a2c, ack}});
            }
          }
          for (const CpHeard& h : p.cp) {
            const int rate = downstream_rate(h.cp), ack = h.cp.acknowledge;
            downstream.push_back({rate, ack, h.count});
            entries.push_back({h.t_first,
                               {{"t", time(h.t_first)},
                                {"channel", channel},
                                {"kind", "CP after E"},
                                {"downstream_rates", {{rate, ack, h.count}}}}});
            if (rate > 0) {
              renegotiation_t = std::min(renegotiation_t, h.t_first);
              downstreams.push_back({h.t_first, {channel, rate, ack}});
            }
          }
          const double at = p.t_s > 0 ? p.t_s : p.t_trn;
          Json entry = {{"t", time(at)}, {"channel", channel}, {"kind", s_purpose(p)}};
          if (!p.mp.empty()) entry["max_rates"] = rates;
          if (!p.cp.empty()) entry["downstream_rates"] = downstream;
          entries.push_back({at, entry});
          if (is_cleardown(p) && at < down_t) {
            down_t = at;
            j["cleardown"] = {{"t", time(at)},
                              {"channel", channel},
                              {"by", channel == call.start_up.call_channel ? "call" : "answer"}};
          }
        }
        data |= p.t_e_end > 0;
      }
    }
  }
  for (const Fallback::Change& c : call.fallback.changes) {
    using Kind = Fallback::Change::Kind;
    const Json by = c.by != nullptr ? Json(c.by) : Json();
    const Json rate = c.bit_rate > 0 ? Json(c.bit_rate) : Json();
    const Json change = {{"t", time(c.t)}, {"channel", c.channel}, {"by", by}, {"bit_rate", rate}};
    entries.push_back(
        {c.t, {{"t", time(c.t)}, {"channel", c.channel}, {"kind", c.name()}, {"by", by}, {"bit_rate", rate}}});
    if (c.kind == Kind::kRetrain) j["fallback"]["retrains"].push_back(change);
    if (c.kind == Kind::kCleardown) j["cleardown"] = {{"t", time(c.t)}, {"channel", c.channel}, {"by", by}};
    if (c.kind == Kind::kRenegotiation && j["rate_renegotiation"].is_null()) j["rate_renegotiation"] = change;
  }
  const auto in_time = [](const Entry& a, const Entry& b) { return a.t < b.t; };
  std::stable_sort(entries.begin(), entries.end(), in_time);
  std::stable_sort(maxima.begin(), maxima.end(), in_time);
  j["after_data_mode"] = Json::array();
  for (const Entry& e : entries) j["after_data_mode"].push_back(e.json);
  // An MP with rates that only answers a cleardown renegotiates nothing.
  if (renegotiation_t < down_t) {
    j["rate_renegotiation"] = {{"t", time(renegotiation_t)}, {"new_max", Json::array()}};
    for (const Entry& e : maxima) {
      if (e.t < down_t) j["rate_renegotiation"]["new_max"].push_back(e.json);
    }
    for (const Entry& e : downstreams) {
      if (e.t < down_t) j["rate_renegotiation"]["new_downstream"].push_back(e.json);
    }
  }
}

}  // namespace

Json to_json(const Call& call) {
  const Recording& r = call.recording;
  const StartUp& s = call.start_up;
  Json j;
  j["file"] = r.name;
  j["file_rate_hz"] = r.file_rate_hz;
  j["duration_s"] = rounded(r.duration_s, 3);
  j["truncated"] = r.truncated;
  j["peak"] = r.peak;
  j["clipped_samples"] = r.clipped;
  j["echo"] = Json::array();
  for (std::size_t c = 0; c < call.echo.size(); ++c) {
    for (const EchoPath& e : call.echo[c]) {
      j["echo"].push_back({{"channel", c},
                           {"t0", time(e.t0)},
                           {"t1", time(e.t1)},
                           {"delay_ms", rounded(e.delay_ms(), 1)},
                           {"loss_db", rounded(e.loss_db, 1)},
                           {"taken_off_db", rounded(e.enhancement_db, 1)}});
    }
  }
  add_start_up(s, j);
  j["trainings"] = Json::array();
  for (const Training& t : call.trainings) j["trainings"].push_back(training_json(t));
  j["modulation"] = call.modulation() != nullptr ? Json(call.modulation()) : Json();
  const Training* first = call.trainings.empty() ? nullptr : &call.trainings.front();
  if (first != nullptr && first->pcm) {
    const CpHeard* cp = nullptr;
    for (const Training& t : call.trainings) cp = cp == nullptr ? t.tx_2400side.cp() : cp;
    j["downstream_rate_from_cp"] = cp != nullptr ? Json(downstream_rate(cp->cp)) : Json();
    const Direction& up = first->tx_2400side.direction;
    j["analogue_channel"] = channel_or_null(s.channel_2400);
    j["digital_channel"] = channel_or_null(s.channel_1200);
    j["symbol_rate_analogue_to_digital"] = round_hz(symbol_rate_hz(up.rate));
    j["carrier_analogue_to_digital"] = round_hz(carrier_hz(up.rate, up.carrier));
  } else {
    const auto add = [&](const std::string& suffix, const Training::Side* side, int rate) {
      const Direction* d = side != nullptr ? &side->direction : nullptr;
      j["symbol_rate" + suffix] = d != nullptr ? Json(round_hz(symbol_rate_hz(d->rate))) : Json();
      j["carrier" + suffix] = d != nullptr ? Json(round_hz(carrier_hz(d->rate, d->carrier))) : Json();
      j["preemphasis" + suffix] = d != nullptr ? Json(d->pre_emphasis) : Json();
      j["projected_max" + suffix] = d != nullptr ? Json(d->projected_rate) : Json();
      j["final_rate" + suffix] = rate_or_null(rate);
    };
    add("_call_to_answer", first != nullptr ? &first->tx_1200side : nullptr,
        first != nullptr ? first->rates.call_to_answer : 0);
    add("_answer_to_call", first != nullptr ? &first->tx_2400side : nullptr,
        first != nullptr ? first->rates.answer_to_call : 0);
  }
  if (call.fallback.modulation != nullptr) {
    j["fallback"] = {{"call_to_answer", fallback_json(call.fallback.call)},
                     {"answer_to_call", fallback_json(call.fallback.answer)},
                     {"retrains", Json::array()}};
  }
  add_after_data_mode(call, j);
  const auto rates = name_rates(r.name);
  j["name_rates"] = rates ? Json({rates->first, rates->second}) : Json();
  j["notes"] = notes(call);
  j["depth"] = depth(call);
  j["activity_end"] = Json::array();
  for (const double t : call.activity_end_s) j["activity_end"].push_back(rounded(t, 3));
  j["events"] = Json::array();
  for (const Event& e : timeline(call)) {
    Json event = {{"t", time(e.t)}};
    if (e.t_end > 0) event["t_end"] = time(e.t_end);
    event["channel"] = e.channel;
    event["event"] = e.event;
    const auto probing = std::find_if(s.probing.begin(), s.probing.end(), [&](const Probing& p) {
      return e.event == "L1/L2" && p.t0 == e.t && p.channel == e.channel;
    });
    if (probing != s.probing.end()) {
      event["detail"] = {{"l1_to_l2", time(probing->l1_to_l2)}};
    } else if (!e.detail.empty()) {
      event["detail"] = e.terse.empty() ? e.detail : e.terse;
    }
    j["events"].push_back(event);
  }
  return j;
}

}  // namespace offhook::decode
