// SPDX-License-Identifier: MIT
#include "src/decode/presentation/json.h"

#include "offhook/decode.h"
#include "src/decode/call/verdict.h"
#include "src/decode/presentation/json_values.h"
#include "src/decode/presentation/names.h"
#include "src/decode/presentation/notes.h"
#include "src/decode/presentation/timeline.h"

namespace offhook::decode {
namespace {

Json rtp_json(const RtpStream& s) {
  Json j = {{"channel", s.channel},
            {"from", s.from},
            {"to", s.to},
            {"codec", s.codec},
            {"packet_count", s.packets},
            {"lost_count", s.lost},
            {"reordered_count", s.reordered},
            {"duplicate_count", s.duplicates},
            {"jitter_s", time(s.jitter_s)}};
  if (s.clock_ppm) j["clock_ppm"] = rounded(*s.clock_ppm, 1);
  j["events"] = list(s.events, [](const RtpEvent& e) {
    Json one = {{"event", e.what}, {"start_s", time(e.t)}};
    if (e.t_end > 0) one["end_s"] = time(e.t_end);
    one["detail"] = e.detail;
    return one;
  });
  return j;
}

Json recording_json(const Call& call) {
  const Recording& r = call.recording;
  Json j = {{"name", r.name},
            {"sample_rate_hz", r.file_rate_hz},
            {"duration_s", rounded(r.duration_s, 3)},
            {"start_s", rounded(r.start_s, 3)},
            {"truncated", r.truncated},
            {"channels", Json::array()}};
  if (r.call > 0) j["call"] = r.call;
  for (std::size_t c = 0; c < r.peak.size(); ++c) {
    Json channel = {{"peak", r.peak[c]}, {"clipped_samples", r.clipped[c]}};
    if (c < call.activity_end_s.size()) channel["signal_end_s"] = rounded(call.activity_end_s[c], 3);
    j["channels"].push_back(channel);
  }
  if (!r.rtp.empty()) j["rtp"] = list(r.rtp, rtp_json);
  return j;
}

Json verdict_json(const Verdict& v) {
  Json j = {{"technology", v.technology}, {"evidence", v.evidence},
            {"retrains", v.retrains},     {"rate_renegotiations", v.renegotiations},
            {"cleardowns", v.cleardowns}, {"directions", Json::array()}};
  for (const Verdict::Direction& d : v.directions) {
    Json& one = j["directions"].emplace_back(Json{{"name", d.name}, {"rate_from", d.rate_from}, {"data", describe(d)}});
    if (d.channel >= 0) one["channel"] = d.channel;
    if (d.bit_rate > 0) one["bit_rate"] = d.bit_rate;
    if (!d.to_the_end) {
      one["since_s"] = rounded(d.since_s, 1);
      one["reason"] = d.reason;
    }
    if (!d.format.empty()) one["format"] = d.format;
    if (!d.format.empty()) one["character_count"] = d.characters;
    one["good_frames"] = d.good_frames;
    one["bad_frames"] = d.bad_frames;
  }
  return j;
}

constexpr std::size_t kMostText = 4096;  // characters; --payload has all

Json fsk_json(const FskHeard& f) {
  Json j = {{"modulation", f.modulation}, {"channel", f.channel}, {"bit_rate", f.bit_rate},
            {"start_s", time(f.t0)},      {"end_s", time(f.t1)},  {"amplitude", rounded(f.amplitude, 0)}};
  if (!f.text.format.empty()) {
    j["format"] = f.text.format;
    j["text"] = preview(f.text.characters, kMostText);
    j["octet_count"] = f.text.characters.size();
  }
  if (!f.one_band) j["station"] = f.calling ? "calling" : "answering";
  return j;
}

Json fax_json(const FaxHeard& fax) {
  return {{"cng", list(fax.cng,
                       [](const CallingTone& t) {
                         return Json{{"channel", t.channel}, {"start_s", time(t.t0)}, {"end_s", time(t.t1)}};
                       })},
          {"frames", list(fax.frames, [](const FaxFrame& f) {
             return Json{{"name", f.name},
                         {"channel", f.channel},
                         {"start_s", time(f.t)},
                         {"octets", octet_string(f.received.octets)},
                         {"meaning", f.meaning}};
           })}};
}

Json roles_json(const StartUp& s) {
  Json j = Json::object();
  if (s.call_channel >= 0) j["call_channel"] = s.call_channel;
  if (s.answer_channel >= 0) j["answer_channel"] = s.answer_channel;
  if (s.roles_from != nullptr) j["determined_by"] = s.roles_from;
  return j;
}

Json echo_json(const Call& call) {
  Json all = Json::array();
  for (std::size_t c = 0; c < call.echo.size(); ++c) {
    for (const EchoPath& e : call.echo[c]) {
      all.push_back({{"channel", c},
                     {"start_s", time(e.t0)},
                     {"end_s", time(e.t1)},
                     {"delay_s", rounded(e.delay_ms() / 1000, 4)},
                     {"loss_db", rounded(e.loss_db, 1)},
                     {"enhancement_db", rounded(e.enhancement_db, 1)}});
    }
  }
  return all;
}

Json symbol_clock_json(const SymbolClock& c) {
  return {{"channel", c.channel},
          {"symbol_rate", c.symbol_rate},
          {"clock_ppm", rounded(c.clock_ppm, 1)},
          {"carrier_hz", rounded(c.carrier_hz, 0)},
          {"start_s", time(c.t0)},
          {"end_s", time(c.t1)},
          {"over_noise_db", rounded(c.over_noise_db, 1)}};
}

Json change_json(const Change& c) {
  Json j = {{"name", change_name(c)}, {"start_s", time(c.t)}, {"channel", c.channel}};
  if (c.by != nullptr) j["by"] = c.by;
  if (c.bit_rate > 0) j["bit_rate"] = c.bit_rate;
  return j;
}

Json event_json(const Event& e) {
  Json j = {{"start_s", time(e.t)}};
  if (e.t_end > 0) j["end_s"] = time(e.t_end);
  j["channel"] = e.channel;
  j["event"] = e.event;
  if (!e.detail.empty()) j["detail"] = e.detail;
  return j;
}

}  // namespace

Json json_of(const Call& call) {
  Json j = {{"schema", "offhook.decode/1"},
            {"recording", recording_json(call)},
            {"verdict", verdict_json(verdict_of(call))},
            {"roles", roles_json(call.start_up)}};
  if (call.modulation() != nullptr) j["modulation"] = call.modulation();
  j["notes"] = notes(call);
  j["echo"] = echo_json(call);
  j["v8bis"] = v8bis_json(call.start_up);
  j["v8"] = v8_json(call.start_up);
  j["phase2"] = phase2_json(call.start_up);
  j["trainings"] = list(call.trainings, training_json);
  if (call.connection.modulation != nullptr) j["connection"] = connection_json(call.connection);
  if (call.is_fax()) j["fax"] = fax_json(call.fax);
  j["fsk"] = list(call.fsk, fsk_json);
  j["signals"] = list(call.signals, [](const CallSignal& s) {
    return Json{
        {"name", s.name}, {"detail", s.detail}, {"channel", s.channel}, {"start_s", time(s.t0)}, {"end_s", time(s.t1)}};
  });
  j["symbol_clocks"] = list(call.symbol_clocks, symbol_clock_json);
  j["changes"] = list(call.changes(), change_json);
  j["events"] = list(timeline(call), event_json);
  return j;
}

std::string to_json(const Call& call) {
  return json_of(call).dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace offhook::decode
