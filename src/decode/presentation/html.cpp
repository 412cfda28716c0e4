// SPDX-License-Identifier: MIT
//
// The page of a decoded call: the data for src/page/assets/decode.js.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>

#include "offhook/decode.h"
#include "src/decode/call/verdict.h"
#include "src/decode/line/spectrogram.h"
#include "src/decode/presentation/fields.h"
#include "src/decode/presentation/names.h"
#include "src/decode/presentation/notes.h"
#include "src/decode/presentation/timeline.h"
#include "src/page/page.h"

namespace offhook::decode {
namespace {

using PageJson = nlohmann::json;

PageJson event_json(const Event& e) {
  return {{"kind", static_cast<int>(e.kind)},
          {"t", e.t},
          {"t_end", e.t_end},
          {"channel", e.channel},
          {"event", e.event},
          {"detail", e.detail}};
}

PageJson probing_json(const Call& call, const Probing& p) {
  return {{"title", fmt::format("L2 of the {} at {:.2f} s", speaker(call, p.channel), p.probed_s())},
          {"hz", p.frequency_hz},
          {"snr_db", p.snr_db},
          {"level_db", p.tone_db}};
}

void add_constellation(const std::vector<Cf>& points, std::string title, PageJson& all) {
  constexpr std::size_t kShown = 2500;
  if (points.empty()) return;
  PageJson xy = PageJson::array();
  for (std::size_t k = 0; k < points.size(); k += 1 + points.size() / kShown) {
    xy.push_back(points[k].real());
    xy.push_back(points[k].imag());
  }
  all.push_back({{"title", std::move(title)}, {"points", std::move(xy)}});
}

void add_data(const Call& call, const auto& data, int channel, PageJson& all) {
  for (const DataHeard& d : data) {
    add_constellation(d.constellation,
                      fmt::format("{}, data at {} bit/s: SNR {:.1f} dB", speaker(call, channel), d.bit_rate, d.snr_db),
                      all);
  }
}

PageJson constellations(const Call& call) {
  PageJson all = PageJson::array();
  for (const Training& t : call.trainings) {
    for (const Training::Side* side : {&t.from_1200, &t.from_2400}) {
      const int channel = side->direction.channel;
      for (const Segment& p : side->segments) {
        if (p.trn_symbols == 0) continue;
        add_constellation(
            p.constellation,
            fmt::format("{}, from TRN at {:.2f} s: SNR {:.1f} dB", speaker(call, channel), p.t_trn, -p.training_mse_db),
            all);
      }
      add_data(call, side->data, channel, all);
    }
  }
  for (const Connection::Side* side : {&call.connection.call, &call.connection.answer})
    add_data(call, side->data, side->channel, all);
  return all;
}

}  // namespace

std::string to_html(const Call& call) {
  PageJson data = {{"kind", "decode"},
                   {"title", call.recording.name},
                   {"verdict", ""},
                   {"headline", verdict_of(call).technology},
                   {"reasons", PageJson::array()},
                   {"warnings", notes(call)},
                   {"settings", PageJson::array()},
                   {"duration_s", call.recording.duration_s},
                   {"channels", PageJson::array()},
                   {"spectrograms", PageJson::array()},
                   {"events", PageJson::array()},
                   {"probing", PageJson::array()},
                   {"tables", PageJson::array()},
                   {"constellations", constellations(call)}};
  std::istringstream lines(summary(call));
  for (std::string line; std::getline(lines, line);) data["reasons"].push_back(line);
  for (std::size_t c = 0; c < call.recording.channel.size(); ++c) {
    data["channels"].push_back(speaker(call, static_cast<int>(c)));
    data["spectrograms"].push_back(c < call.spectrograms.size() ? call.spectrograms[c] : std::string());
  }
  for (const Event& e : timeline(call)) data["events"].push_back(event_json(e));
  for (const Probing& p : call.start_up.probing) data["probing"].push_back(probing_json(call, p));
  for (const FieldTable& t : field_tables(call))
    data["tables"].push_back({{"title", t.title}, {"columns", t.columns}, {"rows", t.rows}, {"note", t.note}});
  return page_around(call.recording.name + " - Offhook", data);
}

}  // namespace offhook::decode
