// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "driver/tty/last_call.h"
#include "src/lab/advice/advice.h"
#include "src/page/page.h"
#include "src/report/report.h"
#include "src/report/words.h"
#include "traces/log/event_names.h"

namespace offhook {

using nlohmann::json;

namespace {

double ms(double ns) {
  return ns * 1e-6;
}
double seconds(std::uint64_t ns) {
  return static_cast<double>(ns) * 1e-9;
}

// Times in s with 1 us resolution, in ms with 0.1 us: the shortest decimal, so that the file stays small.
json number(double value, int decimals) {
  const double scale = std::pow(10.0, decimals);
  return std::round(value * scale) / scale;
}

json series_json(const ExtremaSeries& series, int decimals) {
  json t = json::array(), v = json::array();
  for (const SeriesPoint& p : series.points()) {
    t.push_back(number(seconds(p.time_ns), 6));
    v.push_back(number(p.value, decimals));
  }
  return {
      {"t", std::move(t)}, {"v", std::move(v)}, {"count", series.count()}, {"bucket_s", seconds(series.bucket_ns())}};
}

json histogram_json(std::string name, const LogLinearHistogram& h) {
  json bars = json::array();
  for (const HistogramBar& bar : h.bars()) {
    bars.push_back({number(static_cast<double>(bar.low) * 1e-3, 3),
                    number((static_cast<double>(bar.high) + 1) * 1e-3, 3), bar.count});
  }
  const auto us = [](std::uint64_t ns) { return number(static_cast<double>(ns) * 1e-3, 3); };
  return {{"name", std::move(name)},
          {"bars_us", std::move(bars)},
          {"count", h.count()},
          {"p50_us", us(h.quantile(0.5))},
          {"p99_us", us(h.quantile(0.99))},
          {"p999_us", us(h.quantile(0.999))},
          {"mean_us", number(h.mean() * 1e-3, 3)},
          {"max_us", us(h.max())}};
}

std::string entity_name(const CallReport& call, std::uint16_t id) {
  const auto found = call.entities.find(id);
  return found != call.entities.end() ? found->second : fmt::format("entity {}", id);
}

std::string phase_name(const CallReport& call, std::uint32_t phase) {
  static constexpr std::array<const char*, 4> kOfCall = {"on hook", "dialling", "connecting", "connected"};
  const auto found = call.phases.find(phase);
  if (found != call.phases.end()) return found->second;
  return phase < kOfCall.size() ? kOfCall.at(phase) : fmt::format("phase {}", phase);
}

/// Unsigned numbers as octets of seven bits each, the least significant first, then as base64.
class Octets {
 public:
  void put(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) octets_.push_back(static_cast<std::uint8_t>(value | 0x80));
    octets_.push_back(static_cast<std::uint8_t>(value));
  }
  /// Maps small values of both signs to small numbers: 0, -1, 1, -2, ...
  void put_signed(std::int64_t value) {
    put(static_cast<std::uint64_t>(value) << 1 ^ static_cast<std::uint64_t>(value >> 63));
  }
  std::string base64() const {
    static constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::string out;
    out.reserve((octets_.size() + 2) / 3 * 4);
    for (std::size_t i = 0; i < octets_.size(); i += 3) {
      const auto octet = [&](std::size_t k) { return i + k < octets_.size() ? octets_[i + k] : 0u; };
      const std::uint32_t group = octet(0) << 16 | octet(1) << 8 | octet(2);
      for (unsigned k = 0; k < 4; ++k) out += i + k <= octets_.size() ? kDigits[group >> (18 - 6 * k) & 63] : '=';
    }
    return out;
  }

 private:
  std::vector<std::uint8_t> octets_;
};

/// Four numbers for each segment (page/assets/timeline.js): beginning relative to the end of the previous segment,
/// length (both in units of 0.1 us), entity, CPU.
std::string segments_text(const std::vector<CpuSegment>& segments) {
  constexpr std::int64_t kUnitNs = 100;
  Octets out;
  std::int64_t before = 0;
  for (const CpuSegment& s : segments) {
    const std::int64_t begin = static_cast<std::int64_t>(s.begin_ns) / kUnitNs;
    const std::int64_t end = static_cast<std::int64_t>(s.end_ns) / kUnitNs;
    out.put_signed(begin - before);
    out.put(static_cast<std::uint64_t>(end - begin));
    out.put(s.entity);
    out.put(s.cpu);
    before = end;
  }
  return out.base64();
}

json timeline_json(const CallReport& call, const Timeline& timeline) {
  std::uint64_t bucket_ns = 1;
  for (const auto& e : timeline.entities()) bucket_ns = std::max(bucket_ns, e.share.time.bucket_ns());
  json entities = json::array();
  for (const auto& e : timeline.entities()) {
    SumSeries time = e.share.time;
    time.coarsen(bucket_ns);
    json share = json::array();
    for (const double ns : time.sums()) share.push_back(number(ns / static_cast<double>(bucket_ns), 4));
    entities.push_back({{"id", e.id},
                        {"name", entity_name(call, e.id)},
                        {"serves", e.serves},
                        {"cpu_ms", number(ms(e.share.total_ns), 3)},
                        {"share", std::move(share)}});
  }
  json close_ups = json::array();
  for (const CloseUp& c : timeline.close_ups()) {
    json segments = json::array(), marks = json::array();
    const auto relative_us = [&c](std::uint64_t ns) {
      return number((static_cast<double>(ns) - static_cast<double>(c.centre_ns)) * 1e-3, 3);
    };
    for (const CpuSegment& s : c.segments) {
      if (s.entity != kIdle) segments.push_back({relative_us(s.begin_ns), relative_us(s.end_ns), s.entity, s.cpu});
    }
    for (const oh_event& e : c.marks) marks.push_back({relative_us(e.time_ns), e.kind, e.argument});
    close_ups.push_back({{"title", c.title},
                         {"centre_s", number(seconds(c.centre_ns), 6)},
                         {"segments_us", std::move(segments)},
                         {"marks_us", std::move(marks)}});
  }
  const bool whole = timeline.first_segments_until_ns() == std::numeric_limits<std::uint64_t>::max();
  return {{"bucket_s", seconds(bucket_ns)},
          {"entities", std::move(entities)},
          {"segments", segments_text(timeline.first_segments())},
          {"segments_until_s", whole ? json() : json(number(seconds(timeline.first_segments_until_ns()), 6))},
          {"close_ups", std::move(close_ups)}};
}

json phases_json(const CallReport& call, const Figures& f) {
  json out = json::array();
  const auto row = [&](const PhaseFigures& p, std::string name) {
    const double length_ns = static_cast<double>(p.end_ns - p.begin_ns);
    out.push_back({{"name", std::move(name)},
                   {"begin_s", number(seconds(p.begin_ns), 3)},
                   {"end_s", number(seconds(p.end_ns), 3)},
                   {"interrupts", p.interrupts},
                   {"pending_max", p.pending_max},
                   {"elapsed_max_ms", number(ms(static_cast<double>(p.elapsed_max_ns)), 3)},
                   {"share", length_ns > 0 ? number(p.modem_cpu_ns / length_ns, 5) : json()},
                   {"blocks_late", p.losses.blocks_late},
                   {"samples_late", p.losses.samples_late},
                   {"filled_in", p.losses.samples_filled_in},
                   {"overrun", p.losses.overrun_samples},
                   {"underrun", p.losses.underrun_samples}});
  };
  for (const PhaseFigures& p : f.phases) row(p, phase_name(call, p.phase.value_or(0)));
  if (f.phases.size() != 1) row(f.total, "whole log");
  return out;
}

json ends_json(const Figures& f) {
  static constexpr std::array<const char*, 2> kNames = {"near end", "far end"};
  json out = json::array();
  for (std::size_t i = 0; i < f.ends.size(); ++i) {
    const Figures::End& end = f.ends[i];
    json points = json::array();
    for (const ConstellationPoint& p : end.constellation.items()) {
      points.push_back(number(p.re, 3));
      points.push_back(number(p.im, 3));
    }
    json offers = json::array();
    for (std::size_t k = 0; k < end.sequences.size(); ++k)
      if (!end.sequences[k].empty()) offers.push_back(modem::offer_text(static_cast<oh_sequence>(k), end.sequences[k]));
    json instruments = json::array(), taps = json::array(), causes = json::array();
    for (const SeriesPoint& p : end.instruments[OH_INSTRUMENT_RETRAIN_CAUSE].points())
      causes.push_back(traces::retrain_cause_name(static_cast<std::int32_t>(p.value)));
    for (const ExtremaSeries& series : end.instruments) instruments.push_back(series_json(series, 2));
    for (const float tap : end.taps_db) taps.push_back(number(static_cast<double>(tap), 1));
    out.push_back({{"name", kNames.at(i)},
                   {"offers", std::move(offers)},
                   {"end", end.end ? json(modem::text_of(*end.end)) : json()},
                   {"instruments", std::move(instruments)},
                   {"retrain_causes", std::move(causes)},
                   {"taps_db", std::move(taps)},
                   {"bytes", series_json(end.bytes, 0)},
                   {"bytes_delivered", end.bytes_delivered},
                   {"retransmitted", series_json(end.retransmitted, 0)},
                   {"frames_retransmitted", end.frames_retransmitted},
                   {"recoveries", end.recoveries},
                   {"bad_frames", end.bad_frames},
                   {"bad", series_json(end.bad, 0)},
                   {"symbols", end.constellation.seen()},
                   {"constellation", std::move(points)}});
  }
  return out;
}

json timer_json(const Figures& f) {
  const LinearHistogram& h = f.timer_interval;
  std::size_t used = h.counts().size();
  while (used > 0 && h.counts()[used - 1] == 0) --used;
  const std::vector<std::uint64_t> counts(h.counts().begin(), h.counts().begin() + static_cast<std::ptrdiff_t>(used));
  const double near_2ms =
      h.count() == 0 ? 0 : static_cast<double>(h.count_between(1'750'000, 2'250'000)) / static_cast<double>(h.count());
  return {{"bucket_us", static_cast<double>(h.bucket_width()) * 1e-3},
          {"counts", counts},
          {"beyond", h.beyond()},
          {"count", h.count()},
          {"near_2ms", number(near_2ms, 5)},
          {"max_us", number(static_cast<double>(h.max()) * 1e-3, 3)}};
}

// Key figures: name, value, meaning.
json tiles(const CallReport& call, const Figures& f) {
  json out = json::array();
  const auto tile = [&out](std::string name, std::string value, std::string note, bool over_limit = false) {
    out.push_back({{"name", std::move(name)}, {"value", std::move(value)}, {"note", std::move(note)}});
    if (over_limit) out.back()["over_limit"] = true;
  };
  if (call.device()) {
    tile("Blocks", grouped(f.total.blocks), fmt::format("of the device, {} late", grouped(f.total.losses.blocks_late)));
  } else if (call.complete()) {
    tile("Transfer", *call.complete() ? fmt::format("{:.2f} s", call.run->transfer_s) : "incomplete",
         *call.complete() && call.run->transfer_s > 0
             ? fmt::format("{} bytes, {:.1f} kbit/s", grouped(call.bytes()),
                           8e-3 * static_cast<double>(call.bytes()) / call.run->transfer_s)
             : fmt::format("{} of {} bytes", grouped(bytes_delivered(call, f)), grouped(call.bytes())));
  }
  const RunSummary::Compression* coding = call.run && call.run->coding ? &*call.run->coding : nullptr;
  if (coding != nullptr && (coding->sent || coding->received) && coding->octets > 0 &&
      call.complete().value_or(false)) {
    tile("V.42bis", fmt::format("{:.2f} : 1", static_cast<double>(call.bytes()) / static_cast<double>(coding->octets)),
         fmt::format("{} octets carried these bytes", grouped(coding->octets)));
  }
  tile("Samples pending", grouped(f.total.pending_max),
       call.device() ? fmt::format("at most, after service; {} buffers of {} samples", call.device()->buffers,
                                   grouped(call.device()->buffer_samples))
                     : fmt::format("at most, after service; the ring holds {}", call.ring_samples));
  tile("Late blocks", grouped(f.total.losses.blocks_late),
       fmt::format("{} output samples were late", grouped(f.total.losses.samples_late)));
  tile("Overrun, underrun",
       fmt::format("{} / {}", grouped(f.total.losses.overrun_samples), grouped(f.total.losses.underrun_samples)),
       "samples, by the card's counter");
  if (f.service_run_elapsed.count() > 0) {
    // A pump without a line takes microseconds.
    const auto time = [](double ns) {
      return ns < 1e6 ? fmt::format("{:.3g} us", ns * 1e-3) : fmt::format("{:.2f} ms", ms(ns));
    };
    tile("Service run", time(f.service_run_elapsed.mean()),
         fmt::format("mean elapsed; longest {}", time(static_cast<double>(f.service_run_elapsed.max()))));
  }
  if (f.isr_elapsed.count() > 0) {
    const double longest_us = static_cast<double>(f.isr_elapsed.max()) * 1e-3;
    tile("In the ISR", fmt::format("{:.1f} us", f.isr_elapsed.mean() * 1e-3),
         fmt::format("mean; longest {:.1f} us (PC 99 allows {:g})", longest_us, advice::kPc99InterruptUs),
         longest_us > advice::kPc99InterruptUs);
  }
  if (f.timeline.modem().total_ns > 0) {
    const PhaseFigures& last = f.phases.empty() ? f.total : f.phases.back();
    const double length_ns = static_cast<double>(last.end_ns - last.begin_ns);
    tile("CPU share", fmt::format("{:.1f} %", length_ns > 0 ? 100 * last.modem_cpu_ns / length_ns : 0.0),
         fmt::format("of the {}, {}; {:.0f} % of the busiest 12.5 ms", call.device() ? "device" : "modem",
                     f.phases.empty() ? "whole log" : "phase " + phase_name(call, last.phase.value_or(0)),
                     100 * f.timeline.modem().window_max));
  }
  if (call.device()) return out;
  const std::uint64_t again = f.ends[0].frames_retransmitted + f.ends[1].frames_retransmitted;
  tile("Sent again", grouped(again),
       fmt::format("V.42 frames, in {} recoveries", grouped(f.ends[0].recoveries + f.ends[1].recoveries)));
  return out;
}

}  // namespace

std::string call_page(const CallReport& call, const Figures& f) {
  const CallVerdict verdict = judge(call, f);
  // The colour of a page depends on the events: green only if nothing was lost, red only if samples were lost.
  const bool lost = f.total.losses.any();
  std::string_view colour = verdict.verdict ? to_string(*verdict.verdict) : "";
  if (verdict.verdict == Verdict::kSufficient && lost) colour = to_string(Verdict::kMarginal);
  if (verdict.verdict == Verdict::kInsufficient && !lost && !call.device() && !call.dmt()) colour = "";
  json data = page_head("call", call.title, colour, verdict.headline, verdict.reasons);
  data["warnings"] = call.warnings;
  data.update({{"host", call.host},
               {"settings", call.settings},
               {"begin_s", number(seconds(f.begin_ns), 6)},
               {"end_s", number(seconds(f.end_ns), 6)},
               {"events", f.events},
               {"ring_samples", call.ring_samples},
               {"tiles", tiles(call, f)},
               {"phases", phases_json(call, f)},
               {"pending", series_json(f.pending, 0)},
               {"elapsed_ms", series_json(f.service_run_elapsed_over_time, 4)},
               {"isr_ms", series_json(f.isr_elapsed_over_time, 4)},
               {"latency_ms", series_json(f.output_latency_over_time, 4)},
               {"period_ms", series_json(f.interrupt_period_over_time, 4)},
               {"window_share", series_json(f.timeline.modem().window_share, 4)},
               {"late", series_json(f.samples_late_over_time, 0)},
               {"filled_in", series_json(f.samples_filled_in_over_time, 0)},
               {"overruns", series_json(f.overruns_over_time, 0)},
               {"underruns", series_json(f.underruns_over_time, 0)},
               {"latencies",
                {histogram_json("interrupt to ISR", f.interrupt_to_isr),
                 histogram_json("interrupt to service", f.interrupt_to_service),
                 histogram_json("interrupt to output", f.interrupt_to_output),
                 histogram_json("elapsed in the ISR", f.isr_elapsed),
                 histogram_json("elapsed in a service run", f.service_run_elapsed)}},
               {"timer", timer_json(f)},
               {"timeline", timeline_json(call, f.timeline)},
               {"ends", ends_json(f)},
               {"bytes", call.bytes()}});
  if (call.dmt()) data["dmt"] = record::to_json(kDmtStatus, call.dmt());
  if (call.radio()) data["radio"] = record::to_json(kRadioStatus, call.radio());
  if (call.pump()) data["pump"] = record::to_json(kPumpStatus, call.pump());
  if (call.fax()) data["fax"] = record::to_json(kFaxStatus, call.fax());
  if (call.device())
    data["device"] = {{"buffers", call.device()->buffers}, {"buffer_samples", call.device()->buffer_samples}};
  if (call.transmit_lead_samples) data["lead_samples"] = *call.transmit_lead_samples;
  return page_around(call.title + " - Offhook", data);
}

}  // namespace offhook
