// SPDX-License-Identifier: MIT
//
// Training and data mode in the JSON of a decoded call.
#include "src/decode/presentation/json_values.h"
#include "src/decode/presentation/names.h"

namespace offhook::decode {
namespace {

Json span_json(double start, double end) {
  return {{"start_s", time(start)}, {"end_s", time(end)}};
}

Json frame_json(const LapmFrame& f) {
  Json j = {{"end_s", time(f.t)}, {"name", f.kind}, {"address", f.address}};
  if (f.ns >= 0) j["ns"] = f.ns;
  if (f.nr >= 0) j["nr"] = f.nr;
  j["poll_final"] = f.poll_final;
  j["fcs_bits"] = f.fcs32 ? 32 : 16;
  j["octet_count"] = f.octets;
  return j;
}

Json segment_json(const Segment& p, bool data) {
  Json j = {{"name", segment_name(p, data)}};
  const int points = p.anchor.points == v34::TrainingPoints::k4 ? 4 : 16;
  if (p.t_s > 0)
    j["s"] = {{"start_s", time(p.t_s)}, {"s_bar_s", time(p.t_s_bar)}, {"correlation", rounded(p.s_correlation, 3)}};
  if (p.t_pp > 0) j["pp_s"] = time(p.t_pp);
  if (p.trn_symbols > 0) {
    j["trn"] = span_json(p.t_trn, p.t_trn_end);
    j["trn"].update({{"symbols", p.trn_symbols},
                     {"points", points},
                     {"correlation", rounded(p.anchor.correlation, 3)},
                     {"mse_db", rounded(p.training_mse_db, 1)},
                     {"clock_ppm", rounded(p.clock_ppm, 1)},
                     {"frequency_offset_hz", rounded(p.frequency_offset_hz, 2)}});
  }
  if (p.j_points > 0) {
    j["j"] = span_json(p.t_j, p.t_j_end);
    j["j"].update({{"points", p.j_points}, {"count", p.j_repeats}});
  }
  if (p.t_j_prime > 0) j["j_prime_s"] = time(p.t_j_prime);
  j["mp"] = list(p.mp, mp_json);
  j["cp"] = list(p.cp, cp_json);
  if (p.t_e_end > 0) j["e"] = span_json(p.t_e, p.t_e_end);
  return j;
}

Json v34_data_json(const V34DataHeard& d, const Link& link) {
  Json j = data_json(d, link);
  const v34::CodingParameters& c = d.parameters.coding;
  j["trellis_states"] = v34::trellis_states(c.trellis);
  j["nonlinear"] = d.parameters.nonlinear;
  j["points"] = c.framing.points();
  j["auxiliary_channel"] = c.framing.aux;
  j["b1_match"] = rounded(d.b1_match, 4);
  j["b1_quadrant"] = d.b1_start.quadrant;
  j["b1_trellis_state"] = d.b1_start.trellis_state;
  j["b1_missing_frames"] = d.b1_start.frame;
  return j;
}

// How MP of V.34 and that of V.90 begin, and how they end; between them are the rates.
template <class Heard>
Json mp_head_json(const Heard& h) {
  Json j = span_json(h.t_first, h.t_last_end);
  j.update({{"count", h.count}, {"type", h.mp.type1 ? 1 : 0}, {"acknowledge", h.mp.acknowledge}});
  return j;
}

template <class Heard>
void add_mp_coding(Json& j, const Heard& h) {
  j.update({{"trellis_states", v34::trellis_states(h.mp.trellis)},
            {"nonlinear", h.mp.nonlinear},
            {"expanded_shaping", h.mp.expanded},
            {"bits", bit_string(h.bits)}});
  if (!h.mp.type1) return;
  j["precoder"] = list(h.mp.precoder.h, [](const auto& c) { return Json{c.re / 16384.0, c.im / 16384.0}; });
}

Json downstream_mp_json(const DownstreamMp& h) {
  Json j = mp_head_json(h);
  j.update(
      {{"max_bit_rate", 2400 * h.mp.drn}, {"bit_rates", bit_rates(static_cast<std::uint32_t>(h.mp.rate_mask) << 1)}});
  add_mp_coding(j, h);
  return j;
}

Json side_json(const Training::Side& side, int rate) {
  const Direction& d = side.direction;
  Json j = {{"symbol_rate", rounded(symbol_rate_hz(d.rate), 3)},
            {"carrier_hz", rounded(carrier_hz(d.rate, d.carrier), 3)},
            {"pre_emphasis", d.pre_emphasis},
            {"max_bit_rate", d.projected_rate},
            {"scrambler", d.scrambling == kGpc ? "GPC" : "GPA"},
            {"segments", Json::array()},
            {"data", Json::array()}};
  if (d.channel >= 0) j["channel"] = d.channel;
  if (rate > 0) j["bit_rate"] = 2400 * rate;
  bool data = false;
  for (const Segment& p : side.segments) {
    j["segments"].push_back(segment_json(p, data));
    data |= p.t_e_end > 0;
  }
  for (std::size_t k = 0; k < side.data.size(); ++k) j["data"].push_back(v34_data_json(side.data[k], side.links[k]));
  return j;
}

Json downstream_json(const Training& t) {
  const DownstreamHeard& d = t.downstream;
  Json j = {{"symbol_rate", 8000}, {"mp", list(d.mp, downstream_mp_json)}, {"data", Json::array()}};
  if (const CpHeard* cp = t.from_2400.cp()) j["bit_rate"] = downstream_bit_rate(cp->cp);
  if (d.t_trn1d > 0) j["trn1d"] = {{"start_s", time(d.t_trn1d)}, {"mse_db", rounded(d.training_db, 1)}};
  if (d.learnt > 0) j["learnt_levels"] = d.learnt;
  if (d.jd) {
    j["jd"] = {{"look_ahead", d.jd->look_ahead},
               {"cp_points", d.jd->points16 ? 16 : 4},
               {"cp_points_renegotiation", d.jd->points16_renegotiation ? 16 : 4},
               {"rates", d.jd->rates}};
    if (d.t_jd_end > 0) j["jd"]["end_s"] = time(d.t_jd_end);
  }
  for (std::size_t k = 0; k < d.data.size(); ++k) {
    j["data"].push_back(data_json(d.data[k], t.downstream_links[k]));
    j["data"].back().erase("b1_errors");  // B1d is not looked at
  }
  if (!d.stopped.empty()) j["stopped"] = {{"at_s", time(d.t_lost)}, {"reason", d.stopped}};
  return j;
}

Json rate_signal_json(const RateSignalHeard& r) {
  std::string bits;
  for (int k = 0; k < 16; ++k) bits += (r.bits >> k & 1) != 0 ? '1' : '0';
  Json j = span_json(r.t0, r.t1);
  j.update({{"name", r.name},
            {"count", r.count},
            {"bits", bits},
            {"v32bis", r.signal.v32bis},
            {"bit_rates", bit_rates(r.signal)},
            {"trellis_9600", (r.signal.rates >> 2 & 1) != 0},
            {"after_data", r.after_data}});
  return j;
}

Json side_json(const Connection::Side& side) {
  Json j = {{"channel", side.channel},
            {"carrier_hz", side.carrier_hz},
            {"frequency_offset_hz", rounded(side.frequency_offset_hz, 2)},
            {"clock_ppm", rounded(side.clock_ppm, 1)},
            {"signals", Json::array()},
            {"rate_signals", list(side.rate_signals, rate_signal_json)},
            {"data", Json::array()}};
  for (const Connection::Signal& s : side.signals) {
    Json& signal = j["signals"].emplace_back(span_json(s.t0, s.t1));
    signal["name"] = s.what;
    if (!s.detail.empty()) signal["detail"] = s.detail;
  }
  for (std::size_t k = 0; k < side.data.size(); ++k) j["data"].push_back(data_json(side.data[k], side.links[k]));
  return j;
}

}  // namespace

Json mp_json(const MpHeard& h) {
  const v34::Mp& m = h.mp;
  Json j = mp_head_json(h);
  j.update({{"call_to_answer_max_bit_rate", 2400 * m.max_call_to_answer},
            {"answer_to_call_max_bit_rate", 2400 * m.max_answer_to_call},
            {"bit_rates", bit_rates(m.rate_mask)},
            {"asymmetric", m.asymmetric},
            {"auxiliary_channel", m.aux}});
  add_mp_coding(j, h);
  return j;
}

Json cp_json(const CpHeard& h) {
  const v90::Cp& c = h.cp;
  const auto ucodes = [&](const v90::UcodeMask* sets) {
    return list(std::span(sets, static_cast<std::size_t>(c.constellations())), [](const v90::UcodeMask& set) {
      Json one = Json::array();
      for (int u = 0; u < v90::kUcodes; ++u) {
        if (set.has(u)) one.push_back(u);
      }
      return one;
    });
  };
  Json j = span_json(h.t_first, h.t_last_end);
  j.update({{"last_start_s", time(h.t_last)},
            {"count", h.count},
            {"training_points", h.points},
            {"name", c.data_mode ? "CP" : "CPt"},
            {"acknowledge", c.acknowledge},
            {"drn", c.drn},
            {"bit_rate", downstream_bit_rate(c)},
            {"k", c.k()},
            {"silence", c.silence},
            {"shaping_bits", c.shaping_bits},
            {"look_ahead", c.look_ahead},
            {"shaping_filter", {c.a1 / 64.0, c.a2 / 64.0, c.b1 / 64.0, c.b2 / 64.0}},
            {"codec_law", c.a_law ? "A" : "mu"},
            {"trn1d_ratio", c.trn1d_ratio / 8192.0},
            {"upstream_bit_rates", upstream_bit_rates(c)},
            {"interval_constellation", c.interval},
            {"constellations", ucodes(c.constellation)},
            {"bits", bit_string(h.bits)}});
  if (c.codec_differs) j["codec_constellations"] = ucodes(c.codec);
  return j;
}

Json data_json(const DataHeard& d, const Link& link) {
  Json j = span_json(d.t0, d.t1);
  j.update({{"bit_rate", d.bit_rate},
            {"bit_count", d.bits.size()},
            {"snr_db", rounded(d.snr_db, 1)},
            {"b1_errors", d.b1_errors},
            {"frames", list(link.frames, frame_json)},
            {"bad_frames", link.bad_frames},
            {"missing_i_frames", link.gaps},
            {"v42bis", link.v42bis},
            {"v44", link.v44},
            {"ppp_frames", link.ppp_frames},
            {"octet_count", link.payload.size()}});
  if (!link.format.empty()) {
    j["format"] = link.format;
    j["character_count"] = link.characters.size();
  }
  if (link.detection != nullptr) j["v42_detection"] = {{"name", link.detection}, {"end_s", time(link.detection_t)}};
  return j;
}

Json connection_json(const Connection& c) {
  Json j;
  if (c.call.channel >= 0) j["call_to_answer"] = side_json(c.call);
  if (c.answer.channel >= 0) j["answer_to_call"] = side_json(c.answer);
  return j;
}

Json training_json(const Training& t) {
  Json j = Json::object();
  if (!t.begins_in_data && !t.without_info1a) j["info1a_s"] = time(t.info1a_t);
  j.update({{"modulation", t.pcm ? "V.90/V.92 downstream PCM" : "V.34"}});
  if (!t.pcm) {
    j["call_to_answer"] = side_json(t.from_1200, t.rates.call_to_answer);
    j["answer_to_call"] = side_json(t.from_2400, t.rates.answer_to_call);
    return j;
  }
  j["upstream"] = side_json(t.from_2400, 0);
  j["downstream"] = downstream_json(t);
  return j;
}

}  // namespace offhook::decode
