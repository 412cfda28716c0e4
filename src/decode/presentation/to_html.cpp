// SPDX-License-Identifier: MIT
//
// The page of a decoded call. Everything is drawn here, as SVG and as pictures in data URIs, so that it needs no
// script.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "src/decode/call/call.h"
#include "src/decode/line/spectrogram.h"
#include "src/decode/presentation/fields.h"
#include "src/page/page.h"

namespace offhook::decode {
namespace {

constexpr int kWidth = 1200;  // of the call's duration, pixels
constexpr int kHeight = 2 * Spectrogram::kRows;

constexpr const char* kStyle =
    "body{font:14px/1.4 system-ui,sans-serif;margin:24px;max-width:1260px;color:#222;background:#fff}"
    "h1{font-size:20px}h2{font-size:16px;margin:28px 0 6px}table{border-collapse:collapse}"
    "h3{font-size:14px;margin:16px 0 4px}td,th{padding:2px 14px 2px 0;text-align:left;vertical-align:top}th{color:#555;"
    "font-weight:600}.key span{display:inline-block;margin-right:16px}.key "
    "i{display:inline-block;width:10px;height:10px;"
    "margin-right:5px}.fields{display:flex;flex-wrap:wrap;gap:0 48px}td.n{text-align:right;font-variant-numeric:"
    "tabular-nums}svg{display:block;background:#fff}.scroll{overflow-x:auto}figure{display:inline-block;margin:0 16px "
    "12px 0}"
    "figcaption{font-size:12px;color:#555}svg text{font:11px system-ui,sans-serif;fill:#222}svg "
    "text.in{fill:#fff;font-weight:600;paint-order:stroke;stroke:#0006;stroke-width:2px}"
    "@media(prefers-color-scheme:dark){body{background:#181818;color:#ddd}figcaption,th{color:#aaa}}";

// What the timeline's colours stand for; they also differ in lightness.
struct Kind {
  const char* name;
  const char* colour;
};
constexpr Kind kKinds[] = {{"answer tone", "#66ccee"},
                           {"V.8bis, V.8", "#4477aa"},
                           {"INFO, tones A and B, AA, AC", "#aa3377"},
                           {"L1, L2", "#ccbb44"},
                           {"S, PP, TRN", "#228833"},
                           {"J, MP, CP, R1 to R5, E", "#ee6677"},
                           {"data and what is in it", "#bbbbbb"},
                           {"renegotiation, retrain, cleardown", "#332288"}};

const Kind& kind_of(const std::string& event) {
  if (event.starts_with("ANS")) return kKinds[0];
  if (event.starts_with("V.8bis") || event.starts_with("V.92") || event == "CM" || event == "JM" || event == "CJ")
    return kKinds[1];
  if (event.starts_with("INFO") || event.starts_with("Tone") || event == "AA" || event == "AC") return kKinds[2];
  if (event.starts_with("L1")) return kKinds[3];
  if (event == "retrain" || event == "rate renegotiation" || event == "cleardown") return kKinds[7];
  const bool rate_signal = event.size() > 1 && event[0] == 'R' && event[1] >= '1' && event[1] <= '5';
  if (event.starts_with("MP") || event.starts_with("CP") || event.starts_with("J") || event.starts_with("E ") ||
      event == "E" || rate_signal) {
    return kKinds[5];
  }
  if (event == "data" || event.starts_with("LAPM") || event.starts_with("V.42")) return kKinds[6];
  return kKinds[4];
}

// A stretch of the call, drawn kWidth wide.
struct Stretch {
  double t0, t1;
  double x(double t) const { return kWidth * (t - t0) / std::max(t1 - t0, 1e-3); }
};

void seconds_axis(const Stretch& s, double y, std::string& out) {
  const double duration = s.t1 - s.t0;
  const double step = duration > 120 ? 20 : duration > 20 ? 2 : 0.5;
  for (double t = step * std::ceil(s.t0 / step); t <= s.t1; t += step) {
    const double x = s.x(t);
    out += fmt::format("<path d=\"M{0:.1f} {1}v4\" stroke=\"#888\"/><text x=\"{0:.1f}\" y=\"{2}\">{3:g}</text>", x, y,
                       y + 15, t);
  }
}

// One lane a channel; an event's name stands in its box where it has room.
void draw_timeline(const Call& call, const std::vector<Event>& events, const Stretch& s, std::string& out) {
  const auto channels = static_cast<int>(call.recording.channel.size());
  constexpr int kLane = 44, kBox = 20;
  out += fmt::format("<div class=\"scroll\"><svg width=\"{}\" height=\"{}\" role=\"img\" aria-label=\"timeline\">",
                     kWidth + 20, 26 + channels * kLane);
  for (int c = 0; c < channels; ++c) {
    out += fmt::format("<text x=\"0\" y=\"{}\">{}</text>", 12 + c * kLane, speaker(call, c));
  }
  for (const Event& e : events) {
    if (e.t > s.t1 || std::max(e.t, e.t_end) < s.t0) continue;
    const double x = std::max(s.x(e.t), 0.0);
    const double width = std::max(e.t_end > e.t ? std::min(s.x(e.t_end), kWidth + 0.0) - x : 1, 1.0);
    const int y = 16 + e.channel * kLane;
    const std::string label = html_escape(e.event);
    out += fmt::format(
        "<g><title>{} {:.4f} s{}{}</title><rect x=\"{:.1f}\" y=\"{}\" width=\"{:.1f}\" height=\"{}\" "
        "fill=\"{}\"/>",
        label, e.t, e.detail.empty() ? "" : ": ", html_escape(e.detail), x, e.event == "data" ? y + 4 : y, width,
        e.event == "data" ? kBox - 8 : kBox, kind_of(e.event).colour);
    const std::string first_word = label.substr(0, label.find(' '));
    constexpr double kCharacter = 8;  // pixels of a wide one
    const std::string& shown = kCharacter * static_cast<double>(label.size()) < width ? label : first_word;
    if (kCharacter * static_cast<double>(shown.size()) < width) {
      out += fmt::format("<text x=\"{:.1f}\" y=\"{}\" class=\"in\">{}</text>", x + 3, y + 14, shown);
    }
    out += "</g>";
  }
  seconds_axis(s, 20 + channels * kLane - 12, out);
  out += "</svg></div>";
}

void draw_timelines(const Call& call, const std::vector<Event>& events, std::string& out) {
  out += "<p class=\"key\">";
  for (const Kind& k : kKinds) out += fmt::format("<span><i style=\"background:{}\"></i>{}</span>", k.colour, k.name);
  out += "</p>";
  const Stretch whole{0, call.recording.duration_s};
  draw_timeline(call, events, whole, out);
  // All that is short happens before data mode.
  const auto data = std::find_if(events.begin(), events.end(), [](const Event& e) { return e.event == "data"; });
  if (data == events.end() || data == events.begin()) return;
  const Stretch start_up{std::max(events.front().t - 0.2, 0.0), std::min(data->t + 0.5, whole.t1)};
  if (start_up.t1 - start_up.t0 > 0.8 * whole.t1) return;
  out += "<h3>Start-up</h3>";
  draw_timeline(call, events, start_up, out);
}

void draw_spectrograms(const Call& call, std::string& out) {
  for (std::size_t c = 0; c < call.recording.channel.size(); ++c) {
    const Spectrogram s = make_spectrogram(call.recording.channel[c], kWidth);
    out += fmt::format(
        "<figure class=\"scroll\"><svg width=\"{}\" height=\"{}\" role=\"img\" aria-label=\"spectrogram\">"
        "<image width=\"{}\" height=\"{}\" preserveAspectRatio=\"none\" href=\"{}\"/>",
        kWidth + 40, kHeight + 20, kWidth, kHeight, to_data_uri(s));
    for (int hz = 0; hz <= 4000; hz += 1000) {
      out += fmt::format("<text x=\"{}\" y=\"{}\">{}</text>", kWidth + 4,
                         kHeight - kHeight * hz / 4000 + (hz == 4000 ? 10 : 0), hz);
    }
    seconds_axis({0, call.recording.duration_s}, kHeight, out);
    out += fmt::format("</svg><figcaption>{}: 0 to 4000 Hz, 70 dB from black to white</figcaption></figure>",
                       speaker(call, static_cast<int>(c)));
  }
}

void draw_probing(const Call& call, const Probing& p, std::string& out) {
  constexpr int kW = 580, kH = 200;
  const auto x = [](double hz) { return 30 + (kW - 60) * hz / 4000; };
  const auto y = [](double db) { return kH - 20 - (kH - 30) * std::clamp(db + 20, 0.0, 80.0) / 80; };
  out += fmt::format("<figure><svg width=\"{}\" height=\"{}\" role=\"img\" aria-label=\"probing\">", kW, kH);
  for (int db = -20; db <= 60; db += 20) {
    out += fmt::format("<path d=\"M30 {0:.1f}H{1}\" stroke=\"#ddd\"/><text x=\"0\" y=\"{2:.1f}\">{3}</text>", y(db),
                       kW - 30, y(db) + 4, db);
  }
  for (int hz = 0; hz <= 4000; hz += 1000)
    out += fmt::format("<text x=\"{:.1f}\" y=\"{}\">{}</text>", x(hz), kH - 4, hz);
  for (const auto& [values, colour] : {std::pair{&p.snr_db, "#4477aa"}, std::pair{&p.tone_db, "#ee6677"}}) {
    std::string path;
    for (std::size_t k = 0; k < values->size(); ++k) {
      path += fmt::format("{}{:.1f} {:.1f}", k == 0 ? "M" : "L", x(p.frequency_hz[k]), y((*values)[k]));
    }
    out += fmt::format("<path d=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"1.5\"/>", path, colour);
  }
  out += fmt::format(
      "</svg><figcaption>L2 of the {} at {:.2f} s: SNR (blue) and level (red), dB over Hz</figcaption></figure>",
      speaker(call, p.channel), p.l1_to_l2);
}

void draw_constellation(const std::vector<Cf>& points, const std::string& caption, std::string& out) {
  if (points.empty()) return;
  constexpr int kSize = 260;
  constexpr std::size_t kShown = 2500;
  std::vector<float> size;
  for (const Cf p : points) size.push_back(std::max(std::abs(p.real()), std::abs(p.imag())));
  std::nth_element(size.begin(), size.begin() + static_cast<long>(size.size() * 99 / 100), size.end());
  const float extent = std::max(1.15f * size[size.size() * 99 / 100], 1e-3f);
  std::string path;
  for (std::size_t k = 0; k < points.size(); k += 1 + points.size() / kShown) {
    const float x = points[k].real() / extent, y = points[k].imag() / extent;
    if (std::max(std::abs(x), std::abs(y)) > 1) continue;
    path += fmt::format("M{:.1f} {:.1f}h1.3", kSize / 2 * (1 + x), kSize / 2 * (1 - y));
  }
  out += fmt::format(
      "<figure><svg width=\"{0}\" height=\"{0}\" role=\"img\" aria-label=\"constellation\"><path d=\"M0 {1}H{0}M{1} "
      "0V{0}\" stroke=\"#ddd\"/><path d=\"{2}\" stroke=\"#4477aa\" stroke-width=\"1.3\"/></svg><figcaption>{3}"
      "</figcaption></figure>",
      kSize, kSize / 2, path, html_escape(caption));
}

void draw_data(const Call& call, const std::vector<DataHeard>& data, int channel, std::string& out) {
  for (const DataHeard& d : data) {
    draw_constellation(
        d.constellation,
        fmt::format("{}, data at {} bit/s: SNR {:.1f} dB", speaker(call, channel), d.parameters.bit_rate, d.snr_db),
        out);
  }
}

void draw_side(const Call& call, const Training::Side& side, std::string& out) {
  for (const Passage& p : side.passages) {
    if (p.trn_symbols == 0) continue;
    draw_constellation(p.constellation,
                       fmt::format("{}, from TRN at {:.2f} s: SNR {:.1f} dB", speaker(call, side.direction.channel),
                                   p.t_trn, -p.training_mse_db),
                       out);
  }
  draw_data(call, side.data, side.direction.channel, out);
}

void draw_table(const FieldTable& table, std::string& out) {
  out += fmt::format("<div class=\"scroll\"><h3>{}</h3><table>", html_escape(table.title));
  const auto add = [&](const std::vector<std::string>& row, const char* tag) {
    out += "<tr>";
    for (const std::string& cell : row) out += fmt::format("<{0}>{1}</{0}>", tag, html_escape(cell));
    out += "</tr>";
  };
  add(table.columns, "th");
  for (const auto& row : table.rows) add(row, "td");
  out += "</table>";
  if (!table.note.empty()) out += fmt::format("<p>{}</p>", html_escape(table.note));
  out += "</div>";
}

}  // namespace

std::string to_html(const Call& call) {
  const std::string title = html_escape(call.recording.name);
  const std::vector<Event> events = timeline(call);
  std::string out = fmt::format(
      "<!doctype html>\n<html lang=\"en\"><head><meta "
      "charset=\"utf-8\"><title>{0}</title><style>{1}</style></head><body>"
      "<h1>{0}</h1><pre>{2}</pre>",
      title, kStyle, html_escape(summary(call)));
  out += "<h2>Timeline</h2>";
  draw_timelines(call, events, out);
  out += "<h2>Spectrogram</h2>";
  draw_spectrograms(call, out);
  if (!call.start_up.probing.empty()) out += "<h2>Line probing</h2>";
  for (const Probing& p : call.start_up.probing) draw_probing(call, p, out);
  const std::vector<FieldTable> tables = field_tables(call);
  if (!tables.empty()) out += "<h2>What they told each other</h2><div class=\"fields\">";
  for (const FieldTable& table : tables) draw_table(table, out);
  if (!tables.empty()) out += "</div>";
  if (call.modulation() != nullptr) out += "<h2>Constellations</h2>";
  for (const Training& t : call.trainings) {
    draw_side(call, t.tx_1200side, out);
    draw_side(call, t.tx_2400side, out);
  }
  for (const Fallback::Side* side : {&call.fallback.call, &call.fallback.answer}) {
    draw_data(call, side->data, side->channel, out);
  }
  out += "<h2>Events</h2><table><tr><th>from s</th><th>to s</th><th>channel</th><th>what</th><th></th></tr>";
  for (const Event& e : events) {
    out += fmt::format(
        "<tr><td class=\"n\">{:.4f}</td><td class=\"n\">{}</td><td class=\"n\">{}</td><td>{}</td><td>{}</td></tr>", e.t,
        e.t_end > 0 ? fmt::format("{:.4f}", e.t_end) : "", e.channel, html_escape(e.event), html_escape(e.detail));
  }
  return out + "</table></body></html>\n";
}

}  // namespace offhook::decode
