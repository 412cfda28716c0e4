// SPDX-License-Identifier: MIT
#include "traces/scenario/latency.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>
#include <cmath>
#include <map>
#include <mutex>
#include <optional>
#include <stdexcept>

#include "driver/base/line_reader.h"
#include "traces/scenario/data.h"

namespace offhook::config {

using hostsim::HostLatencies;
using hostsim::LatencyDistribution;
using hostsim::LatencyPoint;

namespace {

struct Service {
  std::vector<double> ms;
  double least_ms = 0;
};

struct Table {
  Service interrupt, dpc, thread, high_thread;
  std::vector<double> use_hours;
  double measurements = 0, waits_per_s = 1, use_per_load = 1, virus_scanner_factor = 1;
  int high_priority = 28, thread_priority = 0;
};

KeyTable table_keys() {
  using T = Table;
  constexpr double kLongest = 1e6;
  return {
      key<T>("interrupt_ms", 1e-6, kLongest,
             "latency from the hardware interrupt to its ISR: one worst case per duration in use_hours; none: as late "
             "as a DPC or a thread",
             [](T& t) -> Field { return &t.interrupt.ms; }),
      key<T>("interrupt_least_ms", 1e-6, kLongest, "least such latency",
             [](T& t) -> Field { return &t.interrupt.least_ms; }),
      key<T>("dpc_ms", 1e-6, kLongest, "latency of a DPC; none: the host has no DPCs",
             [](T& t) -> Field { return &t.dpc.ms; }),
      key<T>("dpc_least_ms", 1e-6, kLongest, "", [](T& t) -> Field { return &t.dpc.least_ms; }),
      key<T>("thread_ms", 1e-6, kLongest, "to a thread", [](T& t) -> Field { return &t.thread.ms; }),
      key<T>("thread_least_ms", 1e-6, kLongest, "", [](T& t) -> Field { return &t.thread.least_ms; }),
      key<T>("high_thread_ms", 1e-6, kLongest, "latency of a thread of high_priority; none: like any other",
             [](T& t) -> Field { return &t.high_thread.ms; }),
      key<T>("high_thread_least_ms", 1e-6, kLongest, "", [](T& t) -> Field { return &t.high_thread.least_ms; }),
      key<T>("high_priority", 0, 255, "priority of a thread with the shorter latency", &T::high_priority),
      key<T>("thread_priority", 0, 255,
             "priority of the measured thread; less urgent threads are not covered; 0: unknown", &T::thread_priority),
      key<T>("use_hours", 1e-9, 1e6, "duration of use that each worst case covers", &T::use_hours),
      key<T>("use_per_load", 1e-3, 1e6, "hours of use that one hour of the measured load represents", &T::use_per_load),
      key<T>("waits_per_s", 1e-3, 1e6, "measurements per second of the load", &T::waits_per_s),
      key<T>("measurements", 0, 1e12,
             "number of measurements; above 0: each list is the least, the mean and the greatest of them",
             &T::measurements),
      key<T>("virus_scanner_factor", 1, 1e6,
             "factor by which thread latencies are more frequent with the virus scanner", &T::virus_scanner_factor),
  };
}

/// A row of [[latency.thread]].
struct ThreadRow {
  std::string scheduling = "fifo";
  int priority = 0;
  std::vector<double> use_hours;
  Service service;
};

KeyTable thread_row_keys() {
  using T = ThreadRow;
  constexpr double kLongest = 1e6;
  return {
      key<T>("class", "scheduling class of the measured thread: fifo, deadline or other", &T::scheduling),
      key<T>("priority", 0, 255, "its priority, for fifo", &T::priority),
      key<T>("use_hours", 1e-9, 1e6, "duration that each worst case covers", &T::use_hours),
      key<T>("ms", 1e-6, kLongest, "latency: one worst case per duration", [](T& t) -> Field { return &t.service.ms; }),
      key<T>("least_ms", 1e-6, kLongest, "least such latency", [](T& t) -> Field { return &t.service.least_ms; }),
  };
}

LatencyDistribution fit(const Table& t, const Service& service, std::string_view name) {
  if (t.measurements > 0) {
    if (service.ms.size() != 3) throw Error(fmt::format("{}_ms: expected least, mean and greatest", name));
    return LatencyDistribution::through_moments(service.ms[0], service.ms[1], service.ms[2], t.measurements);
  }
  if (service.ms.size() != t.use_hours.size())
    throw Error(fmt::format("{}_ms: expected one worst case for each of use_hours", name));
  if (service.least_ms <= 0) throw Error(fmt::format("{}_least_ms: expected a least latency", name));
  std::vector<double> waits;
  for (const double hours : t.use_hours) waits.push_back(hours * 3600 * t.waits_per_s / t.use_per_load);
  return LatencyDistribution::through_worst_cases(service.least_ms, service.ms, waits);
}

std::optional<double> take_number(std::string_view& text) {
  text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || !std::isfinite(value) || value < 0) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return value;
}

/// Waits up to each latency become points; half a wait exceeds the longest.
class Counted {
 public:
  void add(double latency_ms, double count) {
    seen_ += count;
    if (latency_ms > 0 && count > 0) steps_.push_back({seen_, latency_ms});
  }
  bool rises(double latency_ms) const { return steps_.empty() || latency_ms > steps_.back().latency_ms; }
  double seen() const { return seen_; }
  LatencyDistribution distribution(std::string_view file) const {
    if (steps_.empty()) throw Error(fmt::format("{}: no latency above 0", file));
    std::vector<LatencyPoint> points = {{1, steps_.front().latency_ms}};
    for (const Step& step : steps_) {
      const double longer = std::max(seen_ - step.seen, 0.5) / seen_;
      if (longer < points.back().longer * (1 - 1e-12)) points.push_back({longer, step.latency_ms});
    }
    points.back().latency_ms = steps_.back().latency_ms;
    try {
      return LatencyDistribution(std::move(points));
    } catch (const std::invalid_argument& e) {
      throw Error(fmt::format("{}: {}", file, e.what()));
    }
  }

 private:
  struct Step {
    double seen, latency_ms;
  };
  std::vector<Step> steps_;
  double seen_ = 0;
};

/// The rows [[latency.thread]]: further threads, real-time ones by ascending priority.
std::vector<HostLatencies::MeasuredThread> read_threads(const std::vector<Document>& rows, const Table& defaults) {
  using hostsim::ThreadKind;
  std::vector<HostLatencies::MeasuredThread> out;
  for (const Document& row : rows) {
    ThreadRow r;
    row.apply(thread_row_keys(), &r);
    Table t = defaults;
    t.use_hours = r.use_hours;
    const ThreadKind kind = r.scheduling == "deadline" ? ThreadKind::kDeadline
                            : r.scheduling == "other"  ? ThreadKind::kNormal
                                                       : ThreadKind::kRealTime;
    if (kind == ThreadKind::kRealTime && r.scheduling != "fifo")
      throw Error(
          fmt::format("{}: class is \"{}\"; expected fifo, deadline or other", row.position("class"), r.scheduling));
    if (kind == ThreadKind::kRealTime && r.priority <= defaults.thread_priority)
      throw Error(fmt::format("{}: priority is {}; expected one above thread_priority, {}", row.position("priority"),
                              r.priority, defaults.thread_priority));
    out.push_back({kind, r.priority, fit(t, r.service, "thread")});
  }
  std::stable_sort(out.begin(), out.end(), [](const auto& a, const auto& b) { return a.priority < b.priority; });
  return out;
}

}  // namespace

HostLatencies read_latencies(Document table, bool virus_scanner) {
  Table t;
  const std::vector<Document> rows = table.take_rows("thread");
  table.apply(table_keys(), &t);
  try {
    if (t.high_thread.ms.empty()) t.high_thread = t.thread;
    std::optional<LatencyDistribution> dpc;
    if (!t.dpc.ms.empty()) dpc = fit(t, t.dpc, "dpc");
    // An unmeasured latency is assumed to be as long as possible: at most the next stage's.
    if (t.interrupt.ms.empty()) t.interrupt = t.dpc.ms.empty() ? t.high_thread : t.dpc;
    const double factor = virus_scanner ? t.virus_scanner_factor : 1;
    return {fit(t, t.interrupt, "interrupt"),
            std::move(dpc),
            fit(t, t.thread, "thread").more_often(factor),
            fit(t, t.high_thread, "high_thread").more_often(factor),
            t.high_priority,
            t.waits_per_s,
            t.use_per_load,
            t.thread_priority,
            read_threads(rows, t)};
  } catch (const std::invalid_argument& e) {
    throw Error(fmt::format("{}: [latency]: {}", table.name(), e.what()));
  } catch (const Error& e) {
    throw Error(fmt::format("{}: [latency]: {}", table.name(), e.what()));
  }
}

std::vector<std::string> latency_hosts() {
  std::vector<std::string> names;
  for (std::string& name : data_names("hosts"))
    if (Document::read_file(data_file("hosts", name)).has("latency")) names.push_back(std::move(name));
  return names;
}

namespace {

struct Registered {
  std::mutex mutex;
  std::map<std::string, HostLatencies, std::less<>> by_name;
};

Registered& registered() {
  static Registered all;
  return all;
}

}  // namespace

void register_latencies(const std::string& name, HostLatencies latencies) {
  Registered& all = registered();
  const std::lock_guard lock(all.mutex);
  all.by_name.insert_or_assign(name, std::move(latencies));
}

HostLatencies load_latencies(std::string_view host, bool virus_scanner) {
  {
    Registered& all = registered();
    const std::lock_guard lock(all.mutex);
    if (const auto found = all.by_name.find(host); found != all.by_name.end()) return found->second;
  }
  const bool is_file = host.ends_with(".toml");
  if (auto table =
          Document::read_file(is_file ? std::filesystem::path(host) : data_file("hosts", host)).take_table("latency"))
    return read_latencies(std::move(*table), virus_scanner);
  const std::string hosts = fmt::format("{}", fmt::join(latency_hosts(), ", "));
  if (is_file) {
    throw Error(fmt::format(
        "{}: has no table [latency]; expected a file of offhook measure host-profile, or one of: {}", host, hosts));
  }
  throw Error(fmt::format("host \"{}\" has no latency distributions; expected one of: {}", host, hosts));
}

LatencyDistribution parse_hgrm(std::string_view text, std::string_view file, double unit_ms) {
  LineReader lines{text};
  Counted counted;
  double before = 0;
  while (const auto line = lines.next()) {
    const auto fail = [&](std::string_view expected) {
      return Error(fmt::format("{}:{}: expected {}", file, lines.number, expected));
    };
    std::string_view rest = *line;
    rest.remove_prefix(std::min(rest.find_first_not_of(" \t"), rest.size()));
    if (rest.empty() || rest.starts_with('#') || rest.starts_with("Value")) continue;
    const auto value = take_number(rest), percentile = take_number(rest), seen = take_number(rest);
    if (!value || !percentile || !seen || *percentile > 1)
      throw fail("a value, a percentile of at most 1 and a total count (HdrHistogram's percentile output)");
    if (*seen < before || *seen >= kAnyMax) throw fail("a total count that does not fall, below 2^53");
    const double latency_ms = *value * unit_ms;
    // many lines have the same value, one for each percentile
    if (*seen > before) {
      if (!counted.rises(latency_ms)) throw fail("values that rise with the count");
      counted.add(latency_ms, *seen - before);
    }
    before = *seen;
  }
  return counted.distribution(file);
}

LatencyDistribution parse_latency_csv(std::string_view text, std::string_view file) {
  LineReader lines{text};
  const std::string_view header = lines.next().value_or("");
  const double unit_ms = header == "latency_ms,count"   ? 1
                         : header == "latency_us,count" ? 1e-3
                         : header == "latency_ns,count" ? 1e-6
                                                        : 0;
  if (unit_ms == 0)
    throw Error(fmt::format("{}:1: expected latency_ms,count, latency_us,count or latency_ns,count", file));
  Counted counted;
  while (const auto line = lines.next()) {
    if (line->empty()) continue;
    std::string_view rest = *line;
    const auto latency = take_number(rest);
    const bool comma = rest.starts_with(',');
    rest.remove_prefix(comma ? 1 : 0);
    const auto count = take_number(rest);
    if (!latency || !comma || !count || !rest.empty() || counted.seen() + *count >= kAnyMax)
      throw Error(fmt::format("{}:{}: expected a latency and a count", file, lines.number));
    if (!counted.rises(*latency * unit_ms))
      throw Error(fmt::format("{}:{}: expected latencies that rise", file, lines.number));
    counted.add(*latency * unit_ms, *count);
  }
  return counted.distribution(file);
}

}  // namespace offhook::config
