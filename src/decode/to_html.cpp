// SPDX-License-Identifier: MIT
//
// The page of a decoded call. Everything is drawn here, as SVG and as pictures in data URIs, so that it needs no
// script.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "src/decode/call.h"
#include "src/decode/spectrogram.h"
#include "src/report/page.h"

namespace offhook::decode {
namespace {

constexpr int kWidth = 1200;  // of the call's duration, pixels
constexpr int kHeight = 2 * Spectrogram::kRows;

constexpr const char* kStyle =
    "body{font:14px/1.4 system-ui,sans-serif;margin:24px;max-width:1260px;color:#222;background:#fff}"
    "h1{font-size:20px}h2{font-size:16px;margin:28px 0 6px}table{border-collapse:collapse}"
    "td,th{padding:2px 10px 2px 0;text-align:left;vertical-align:top}td.n{text-align:right;font-variant-numeric:"
    "tabular-nums}svg{display:block;background:#fff}.scroll{overflow-x:auto}figure{display:inline-block;margin:0 16px "
    "12px 0}"
    "figcaption{font-size:12px;color:#555}svg text{font:11px system-ui,sans-serif;fill:#222}"
    "@media(prefers-color-scheme:dark){body{background:#181818;color:#ddd}figcaption{color:#aaa}}";

// Colours that also differ in lightness.
const char* colour_of(const std::string& event) {
  if (event.starts_with("V.8bis") || event == "CM" || event == "JM" || event == "CJ") return "#4477aa";
  if (event.starts_with("ANS")) return "#66ccee";
  if (event.starts_with("INFO")) return "#aa3377";
  if (event.starts_with("L1")) return "#ccbb44";
  if (event.starts_with("MP") || event.starts_with("J") || event.starts_with("E ")) return "#ee6677";
  if (event == "data") return "#bbbbbb";
  return "#228833";
}

double x_of(const Call& call, double t) {
  return kWidth * t / std::max(call.recording.duration_s, 1e-3);
}

void seconds_axis(const Call& call, double y, std::string& out) {
  const double step = call.recording.duration_s > 120 ? 20 : call.recording.duration_s > 20 ? 2 : 0.5;
  for (double t = 0; t <= call.recording.duration_s; t += step) {
    const double x = x_of(call, t);
    out += fmt::format("<path d=\"M{0:.1f} {1}v4\" stroke=\"#888\"/><text x=\"{0:.1f}\" y=\"{2}\">{3:g}</text>", x, y,
                       y + 15, t);
  }
}

void draw_timeline(const Call& call, const std::vector<Event>& events, std::string& out) {
  const auto channels = static_cast<int>(call.recording.channel.size());
  constexpr int kLane = 26;
  const int height = 40 + channels * kLane;
  out += fmt::format("<div class=\"scroll\"><svg width=\"{}\" height=\"{}\" role=\"img\" aria-label=\"timeline\">",
                     kWidth + 20, height);
  for (int c = 0; c < channels; ++c) {
    out += fmt::format("<text x=\"0\" y=\"{}\">channel {}</text>", 12 + c * kLane, c);
  }
  for (const Event& e : events) {
    const double x = x_of(call, e.t), width = e.t_end > e.t ? x_of(call, e.t_end) - x : 1;
    out += fmt::format(
        "<rect x=\"{:.1f}\" y=\"{}\" width=\"{:.1f}\" height=\"{}\" fill=\"{}\"><title>{} {:.4f} s{}{}</title></rect>",
        x, e.event == "data" ? 16 + e.channel * kLane : 14 + e.channel * kLane, std::max(width, 1.0),
        e.event == "data" ? 6 : 10, colour_of(e.event), html_escape(e.event), e.t, e.detail.empty() ? "" : ": ",
        html_escape(e.detail));
  }
  seconds_axis(call, 18 + channels * kLane, out);
  out += "</svg></div>";
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
    seconds_axis(call, kHeight, out);
    out +=
        fmt::format("</svg><figcaption>channel {}: 0 to 4000 Hz, 70 dB from white to black</figcaption></figure>", c);
  }
}

void draw_probing(const Probing& p, std::string& out) {
  constexpr int kW = 560, kH = 200;
  const auto x = [](double hz) { return 30 + (kW - 40) * hz / 4000; };
  const auto y = [](double db) { return kH - 20 - (kH - 30) * std::clamp(db + 20, 0.0, 80.0) / 80; };
  out += fmt::format("<figure><svg width=\"{}\" height=\"{}\" role=\"img\" aria-label=\"probing\">", kW, kH);
  for (int db = -20; db <= 60; db += 20) {
    out += fmt::format("<path d=\"M30 {0:.1f}H{1}\" stroke=\"#ddd\"/><text x=\"0\" y=\"{2:.1f}\">{3}</text>", y(db),
                       kW - 10, y(db) + 4, db);
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
      "</svg><figcaption>channel {}, L2 at {:.2f} s: SNR (blue) and level (red), dB over Hz</figcaption></figure>",
      p.channel, p.l1_to_l2);
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

void draw_data(const std::vector<DataHeard>& data, int channel, std::string& out) {
  for (const DataHeard& d : data) {
    draw_constellation(
        d.constellation,
        fmt::format("channel {}, data at {} bit/s: SNR {:.1f} dB", channel, d.parameters.bit_rate, d.snr_db), out);
  }
}

void draw_side(const Training::Side& side, std::string& out) {
  for (const Passage& p : side.passages) {
    if (p.trn_symbols == 0) continue;
    draw_constellation(
        p.constellation,
        fmt::format("channel {}, training at {:.2f} s: {:.1f} dB", side.direction.channel, p.t_trn, p.training_mse_db),
        out);
  }
  draw_data(side.data, side.direction.channel, out);
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
  draw_timeline(call, events, out);
  out += "<h2>Spectrogram</h2>";
  draw_spectrograms(call, out);
  if (!call.start_up.probing.empty()) out += "<h2>Line probing</h2>";
  for (const Probing& p : call.start_up.probing) draw_probing(p, out);
  if (call.modulation() != nullptr) out += "<h2>Constellations</h2>";
  for (const Training& t : call.trainings) {
    draw_side(t.tx_1200side, out);
    draw_side(t.tx_2400side, out);
  }
  for (const Fallback::Side* side : {&call.fallback.call, &call.fallback.answer}) {
    draw_data(side->data, side->channel, out);
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
