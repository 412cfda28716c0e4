// SPDX-License-Identifier: MIT
#include "src/live_page/text.h"

#include <fmt/format.h>

#include <cmath>
#include <iterator>
#include <nlohmann/json.hpp>
#include <utility>

#include "driver/base/printable.h"

namespace offhook::live_page {

namespace {

using Number = std::optional<double>;
using Json = nlohmann::ordered_json;

template <auto kMember>
Number count(const LineView& v) {
  return static_cast<double>(v.*kMember);
}
/// 0: not measured.
template <auto kMember>
Number measured(const LineView& v) {
  return v.*kMember != 0 ? Number(static_cast<double>(v.*kMember)) : Number();
}
template <auto kMember>
Number in_call(const LineView& v) {
  return has_signal(v) ? measured<kMember>(v) : Number();
}
/// Silence has no level.
Number level(const LineView& v) {
  return has_signal(v) && v.rx_level_dbm0 > kSilenceDbm0 ? Number(v.rx_level_dbm0) : Number();
}
template <auto kQuantiles, auto kMember>
Number quantile(const LineView& v) {
  return (v.*kQuantiles).count > 0 ? Number((v.*kQuantiles).*kMember) : Number();
}

constexpr double kUs = 1e-6, kMs = 1e-3;
using V = LineView;
using Q = Quantiles;
constexpr Value kValues[] = {
    {"calls", "calls_total", "", "", "calls begun", true, count<&V::calls>},
    {"calls_failed", "calls_failed_total", "", "", "calls that neither end ended on purpose", true,
     count<&V::calls_failed>},
    {"call_ms", "call_duration_seconds", "", "ms", "age of the call", true, measured<&V::call_ms>, kMs},
    {"tx_bit_rate", "bit_rate", "direction=\"sent\"", "bit/s", "data rate, sent", true, in_call<&V::tx_bit_rate>},
    {"rx_bit_rate", "bit_rate", "direction=\"received\"", "bit/s", "data rate, received", true,
     in_call<&V::rx_bit_rate>},
    {"snr_db", "snr_db", "", "dB", "SNR of the equalised symbols", true, in_call<&V::snr_db>},
    {"rx_level_dbm0", "receive_level_dbm0", "", "dBm0", "received level; not in silence", true, level},
    {"echo_return_loss_db", "echo_return_loss_db", "", "dB", "echo removed by the canceller", true,
     in_call<&V::echo_return_loss_db>},
    {"clock_ppm", "clock_ppm", "", "ppm", "far symbol clock relative to the near one", true, in_call<&V::clock_ppm>},
    {"carrier_hz", "carrier_offset_hz", "", "Hz", "received carrier relative to nominal", true,
     in_call<&V::carrier_hz>},
    {"round_trip_ms", "round_trip_seconds", "", "ms", "round trip of the line", true, in_call<&V::round_trip_ms>, kMs},
    {"tx_symbol_rate", "symbol_rate", "direction=\"sent\"", "1/s", "symbol rate, sent", true,
     in_call<&V::tx_symbol_rate>},
    {"rx_symbol_rate", "symbol_rate", "direction=\"received\"", "1/s", "symbol rate, received", true,
     in_call<&V::rx_symbol_rate>},
    {"slips", "slips", "", "", "slips of the receiver in the call", true, count<&V::slips>},
    {"samples_lost", "call_samples_lost", "", "samples", "received samples lost in the call", true,
     count<&V::samples_lost>},
    {"bytes_sent", "bytes_total", "direction=\"sent\"", "bytes", "user bytes over V.42, sent", true,
     count<&V::bytes_sent>},
    {"bytes_received", "bytes_total", "direction=\"received\"", "bytes", "user bytes over V.42, received", true,
     count<&V::bytes_received>},
    {"frames_again", "frames_sent_again", "", "", "V.42 frames of the call sent again", true, count<&V::frames_again>},
    {"bad_frames", "frames_damaged", "", "", "V.42 frames of the call received damaged", true, count<&V::bad_frames>},
    {"interrupts", "interrupts_total", "", "", "interrupts of the card", false, count<&V::interrupts>},
    {"blocks_served", "blocks_served_total", "", "", "blocks served", false, count<&V::blocks_served>},
    {"blocks_late", "blocks_late_total", "", "", "blocks with output that was too late", false, count<&V::blocks_late>},
    {"samples_late", "samples_late_total", "", "samples", "output samples that were too late", false,
     count<&V::samples_late>},
    {"samples_filled_in", "samples_filled_in_total", "", "samples", "received samples lost before service", false,
     count<&V::samples_filled_in>},
    {"overrun_samples", "overrun_samples_total", "", "samples",
     "received samples that the card overwrote before they were read", false, count<&V::overrun_samples>},
    {"underrun_samples", "underrun_samples_total", "", "samples",
     "samples that the card played before they were written", false, count<&V::underrun_samples>},
    {"pending_samples", "pending_samples", "", "samples", "received samples pending after the last block", false,
     count<&V::pending>},
    {"pending_peak_samples", "pending_peak_samples", "", "samples", "most samples pending, last second", false,
     count<&V::pending_peak>},
    {"pending_max_samples", "pending_max_samples", "", "samples", "most samples pending, since the start", false,
     count<&V::pending_max>},
    {"dispatch_peak_us", "dispatch_latency_peak_seconds", "", "us", "longest dispatch latency, last second", false,
     count<&V::dispatch_peak_us>, kUs},
    {"service_peak_us", "service_time_peak_seconds", "", "us", "longest service with its interruptions, last second",
     false, count<&V::service_peak_us>, kUs},
    {"dispatch_p50_us", "dispatch_latency_seconds", "quantile=\"0.5\"", "us", "dispatch latency, median", false,
     quantile<&V::dispatch, &Q::p50_us>, kUs},
    {"dispatch_p99_us", "dispatch_latency_seconds", "quantile=\"0.99\"", "us", "dispatch latency, 99 %", false,
     quantile<&V::dispatch, &Q::p99_us>, kUs},
    {"dispatch_p999_us", "dispatch_latency_seconds", "quantile=\"0.999\"", "us", "dispatch latency, 99.9 %", false,
     quantile<&V::dispatch, &Q::p999_us>, kUs},
    {"dispatch_max_us", "dispatch_latency_seconds", "quantile=\"1\"", "us", "dispatch latency, maximum", false,
     quantile<&V::dispatch, &Q::max_us>, kUs},
    {"service_p50_us", "service_time_seconds", "quantile=\"0.5\"", "us", "CPU time of a service, median", false,
     quantile<&V::service, &Q::p50_us>, kUs},
    {"service_p99_us", "service_time_seconds", "quantile=\"0.99\"", "us", "CPU time of a service, 99 %", false,
     quantile<&V::service, &Q::p99_us>, kUs},
    {"service_p999_us", "service_time_seconds", "quantile=\"0.999\"", "us", "CPU time of a service, 99.9 %", false,
     quantile<&V::service, &Q::p999_us>, kUs},
    {"service_max_us", "service_time_seconds", "quantile=\"1\"", "us", "CPU time of a service, maximum", false,
     quantile<&V::service, &Q::max_us>, kUs},
    {"yields", "reservation_yields_total", "", "", "times that the budget of a reservation was exhausted", false,
     count<&V::yields>},
    {"throttles", "reservation_throttles_total", "", "", "services that the kernel interrupted", false,
     count<&V::throttles>},
    {"demoted", "watchdog_demoted", "", "", "1: the watchdog demoted the thread", false, count<&V::demoted>},
    {"events_lost", "events_lost_total", "", "", "events lost because the log was full", false, count<&V::events_lost>},
};

constexpr std::string_view kCauses[] = {"of unknown cause", "requested here", "by the far end", "signal lost",
                                        "time-out in a procedure"};
constexpr std::string_view kCauseKeys[] = {"unknown", "own", "far", "lost", "timeout"};
static_assert(std::size(kCauses) == std::size(decltype(LineView::retrains){}) &&
              std::size(kCauseKeys) == std::size(kCauses));

constexpr std::string_view kPhaseNames[] = {"on hook",    "ringing", "connecting", "training", "data",
                                            "retraining", "on hold", "gone",       "running"};
static_assert(std::size(kPhaseNames) == kPhases);

/// The value of a label, in which the format escapes three characters.
std::string label(std::string_view text) {
  std::string out;
  for (const char c : printable(text)) {
    if (c == '\\' || c == '"') out += '\\';
    out += c;
  }
  return out;
}

/// Whole numbers without a fraction; Prometheus accepts both.
std::string number_text(double value) {
  if (!std::isfinite(value)) return "NaN";
  if (value == std::floor(value) && std::fabs(value) < 1e15) return fmt::format("{:.0f}", value);
  return fmt::format("{:.9g}", value);
}
Json number_json(Number value) {
  if (!value || !std::isfinite(*value)) return nullptr;
  if (*value == std::floor(*value) && std::fabs(*value) < 1e15) return static_cast<std::int64_t>(*value);
  return std::round(*value * 1000) / 1000;
}

std::size_t figures_of(const LineView& view) {
  return std::min<std::size_t>(view.figure_count, view.figures.size());
}

class Metrics {
 public:
  explicit Metrics(std::span<const LineView> lines) : lines_(lines) {}
  /// Head of the following samples, written with the first of them.
  void head(std::string_view name, std::string_view what) {
    head_ = fmt::format("# HELP offhook_{0} {1}\n# TYPE offhook_{0} {2}\n", name, what,
                        name.ends_with("_total") ? "counter" : "gauge");
  }
  void sample(std::string_view name, std::size_t line, std::string_view labels, double value) {
    text_ += std::exchange(head_, "");
    text_ += fmt::format("offhook_{}{{line=\"{}\"{}{}}} {}\n", name, line, labels.empty() ? "" : ",", labels,
                         number_text(value));
  }
  /// The rows [first, last) of one metric.
  void rows(std::span<const Value> rows) {
    head(rows.front().metric,
         rows.size() == 1 ? rows.front().what : rows.front().what.substr(0, rows.front().what.find(',')));
    for (std::size_t k = 0; k < lines_.size(); ++k)
      for (const Value& row : rows) {
        if (row.of_calls && lines_[k].has_calls == 0) continue;
        if (const Number value = row.get(lines_[k])) sample(row.metric, k, row.labels, *value * row.scale);
      }
  }
  void states() {
    head("line_info", "The line and its card");
    for (std::size_t k = 0; k < lines_.size(); ++k)
      sample("line_info", k,
             fmt::format("name=\"{}\",card=\"{}\",context=\"{}\"", label(lines_[k].name.view()),
                         label(lines_[k].address.view()), label(lines_[k].context.view())),
             1);
    head("line_phase", "1 for the phase of the line, 0 for the others");
    for (std::size_t k = 0; k < lines_.size(); ++k)
      for (std::size_t p = 0; p < kPhases; ++p)
        if (lines_[k].has_calls == static_cast<std::uint32_t>(p != static_cast<std::size_t>(Phase::kRunning)))
          sample("line_phase", k, fmt::format("phase=\"{}\"", kPhaseNames[p]),
                 static_cast<std::size_t>(lines_[k].phase) == p ? 1 : 0);
    head("retrains", "Retrains of the call by cause");
    for (std::size_t k = 0; k < lines_.size(); ++k)
      for (std::size_t c = 0; c < std::size(kCauses) && lines_[k].has_calls != 0; ++c)
        sample("retrains", k, fmt::format("cause=\"{}\"", kCauseKeys[c]), lines_[k].retrains[c]);
    head("card_figure", "Counts of the card, such as packets lost");
    for (std::size_t k = 0; k < lines_.size(); ++k)
      for (std::size_t f = 0; f < figures_of(lines_[k]); ++f)
        sample("card_figure", k, fmt::format("figure=\"{}\"", label(lines_[k].figures[f].key.view())),
               lines_[k].figures[f].value);
  }
  /// A total over all lines.
  void total(std::string_view name, double value) {
    text_ += std::exchange(head_, "") + fmt::format("offhook_{} {}\n", name, number_text(value));
  }
  const std::string& text() const { return text_; }

 private:
  std::span<const LineView> lines_;
  std::string text_, head_;
};

}  // namespace

std::string_view name_of(Phase phase) {
  return kPhaseNames[std::min<std::size_t>(static_cast<std::size_t>(phase), kPhases - 1)];
}

std::span<const Value> values() {
  return kValues;
}

std::string_view cause_text(std::size_t cause) {
  return kCauses[cause < std::size(kCauses) ? cause : 0];
}

Json points_json(const LineView& view, std::uint64_t from) {
  Json points = Json::array();
  const std::uint64_t oldest = view.symbols > LineView::kPoints ? view.symbols - LineView::kPoints : 0;
  for (std::uint64_t k = std::max(from, oldest); k < view.symbols; ++k)
    for (const std::int16_t x : view.points[k % LineView::kPoints]) points.push_back(x);
  return points;
}

Json line_json(const LineView& view, std::size_t line, Points points) {
  Json json = {{"line", line},
               {"name", of_one_direction(view.name.view())},
               {"card", of_one_direction(view.address.view())},
               {"context", of_one_direction(view.context.view())},
               {"phase", name_of(view.phase)},
               {"state", of_one_direction(view.state.view())},
               {"rate_hz", view.rate_hz}};
  if (view.has_calls != 0) {
    json["caller"] = of_one_direction(view.caller.view());
    json["modulation"] = of_one_direction(view.carrier.view());
    json["last_end"] = of_one_direction(view.last_end.view());
  }
  for (const Value& value : kValues)
    if (!value.of_calls || view.has_calls != 0) json[std::string(value.key)] = number_json(value.get(view));
  if (view.has_calls != 0)
    for (std::size_t c = 0; c < std::size(kCauses); ++c)
      json["retrain_causes"][std::string(kCauseKeys[c])] = view.retrains[c];
  if (view.figure_count > 0) {
    Json& network = json["network"];
    for (std::size_t f = 0; f < figures_of(view); ++f)
      network[of_one_direction(view.figures[f].key.view())] = number_json(view.figures[f].value);
  }
  json["symbols"] = view.symbols;
  if (points == Points::kWith) json["constellation"] = points_json(view, 0);
  return json;
}

std::string metrics_text(std::span<const LineView> lines, std::uint32_t clients) {
  Metrics metrics(lines);
  metrics.states();
  for (std::size_t k = 0; k < std::size(kValues);) {
    std::size_t end = k + 1;
    while (end < std::size(kValues) && kValues[end].metric == kValues[k].metric) ++end;
    metrics.rows(std::span(kValues).subspan(k, end - k));
    k = end;
  }
  metrics.head("page_clients", "Pages that are open");
  metrics.total("page_clients", clients);
  return metrics.text();
}

}  // namespace offhook::live_page
