// SPDX-License-Identifier: MIT
//
// Histograms of cyclictest (-h, --json) and rtla timerlat hist, with the measurement's properties from their headers.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>
#include <regex>
#include <stdexcept>

#include "driver/base/line_reader.h"
#include "traces/scenario/latency.h"

namespace offhook::config {

using hostsim::LatencyDistribution;
using hostsim::LatencyPoint;

namespace {

constexpr double kMsPerUs = 1e-3;
constexpr std::string_view kRtla = "# RTLA timerlat histogram", kCyclictest = "# Histogram",
                           kAccepted =
                               "the output of cyclictest -h or --json, or of rtla timerlat hist, in microseconds";

/// For one kind of wait: the number of waits for each count of microseconds.
using Counts = std::map<double, double>;

Error fail(std::string_view file, std::size_t line, std::string_view expected) {
  return Error(fmt::format("{}:{}: expected {}", file, line, expected));
}

std::vector<std::string_view> words(std::string_view line) {
  std::vector<std::string_view> out;
  for (std::size_t at = 0; (at = line.find_first_not_of(" \t\r", at)) != std::string_view::npos;) {
    const std::size_t end = std::min(line.find_first_of(" \t\r", at), line.size());
    out.push_back(line.substr(at, end - at));
    at = end;
  }
  return out;
}

std::optional<double> number(std::string_view word) {
  double value = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (error != std::errc{} || end != word.data() + word.size() || !(value >= 0) || value >= kAnyMax)
    return std::nullopt;
  return value;
}

/// All longer waits exceed a latency; half a wait exceeds the longest.
LatencyDistribution distribution(const Counts& counts, std::string_view file) {
  double all = 0, seen = 0;
  for (const auto& [us, count] : counts) all += count;
  std::vector<LatencyPoint> points;
  for (const auto& [us, count] : counts) {
    seen += count;
    if (us <= 0 || count <= 0) continue;
    if (points.empty()) points.push_back({1, us * kMsPerUs});
    const double longer = std::max(all - seen, 0.5) / all;
    if (longer < points.back().longer * (1 - 1e-12)) points.push_back({longer, us * kMsPerUs});
    points.back().latency_ms = us * kMsPerUs;
  }
  if (points.empty()) throw Error(fmt::format("{}: no latency above 0; expected {}", file, kAccepted));
  try {
    return LatencyDistribution(std::move(points));
  } catch (const std::invalid_argument& e) {
    throw Error(fmt::format("{}: {}", file, e.what()));
  }
}

/// The class for cyclictest's name of its policy. Without a name, a priority means SCHED_FIFO.
std::string class_of(std::string_view policy, bool has_priority) {
  if (policy == "fifo" || (policy.empty() && has_priority)) return "FIFO";
  if (policy == "rr") return "RR";
  if (policy == "deadline") return "DEADLINE";
  return "OTHER";
}

/// A row of a histogram: a latency, and a count for each of `columns`; 0: any number of columns.
std::vector<double> row(std::string_view line, std::size_t columns, std::string_view file, std::size_t at) {
  std::vector<double> values;
  for (const std::string_view word : words(line)) {
    const auto value = number(word);
    if (!value) throw fail(file, at, "a latency and counts");
    values.push_back(*value);
  }
  if (values.size() < 2 || (columns > 0 && values.size() != columns + 1))
    throw fail(file, at, "a latency and a count for each thread");
  return values;
}

/// "# Max Latencies: 02510 00031": the numbers after the title.
std::vector<double> values_after(std::string_view line, std::string_view title, std::string_view file, std::size_t at) {
  std::vector<double> values;
  for (const std::string_view word : words(line.substr(title.size()))) {
    const auto value = number(word);
    if (!value) throw fail(file, at, fmt::format("numbers after \"{}\"", title));
    values.push_back(*value);
  }
  return values;
}

/// A wait beyond the histogram took at most the longest of its thread.
void add_overflows(Counts& counts, const std::vector<double>& overflows, const std::vector<double>& longest,
                   std::string_view file) {
  for (std::size_t i = 0; i < overflows.size(); i++) {
    if (overflows[i] <= 0) continue;
    if (i >= longest.size()) throw Error(fmt::format("{}: overflows without the longest latency of a thread", file));
    counts[longest[i]] += overflows[i];
  }
}

LatencyHistogram made(const Counts& counts, std::string tool, std::string_view file) {
  LatencyHistogram h{distribution(counts, file), std::move(tool)};
  for (const auto& [us, count] : counts) h.waits += count;
  return h;
}

/// The lines that cyclictest without -q prints repeatedly above its histogram:
///
///     policy: fifo: loadavg: 4.39 2.79 1.25 5/114 3090
///     T: 0 ( 3090) P:80 I:1000 C:   3000 Min:     21 Act:   48 Avg:   66 Max:   12481
///
/// The threads of -t have descending priorities: the counts of all hold for the highest priority and above.
struct ThreadLines {
  std::string policy;
  int priority = 0;
  double seconds = 0;

  void read(std::string_view line) {
    constexpr std::string_view kPolicy = "policy: ";
    if (const std::size_t at = line.find(kPolicy); at != std::string_view::npos) {  // after terminal codes
      line.remove_prefix(at + kPolicy.size());
      policy = line.substr(0, line.find(':'));
      return;
    }
    if (!line.starts_with("T:")) return;
    priority = std::max(priority, static_cast<int>(std::min(after(line, "P:"), 99.0)));
    seconds = std::max(seconds, after(line, " C:") * after(line, "I:") * 1e-6);
  }
  std::string scheduling() const {
    if (policy.empty() && priority == 0) return "";
    return class_of(policy, priority > 0);
  }

 private:
  static double after(std::string_view line, std::string_view title) {
    const std::size_t at = line.find(title);
    if (at == std::string_view::npos) return 0;
    const auto rest = words(line.substr(at + title.size()));
    return rest.empty() ? 0 : number(rest.front()).value_or(0);
  }
};

/// Number of a histogram's columns that are threads: the last one of -H is the sum of the others.
std::size_t threads_in(const std::vector<std::vector<double>>& rows) {
  if (rows.empty()) return 0;
  const std::size_t columns = rows.front().size() - 1;
  const auto sums = [](const std::vector<double>& values) {
    return values.back() == std::accumulate(values.begin() + 1, values.end() - 1, 0.0);
  };
  return columns > 1 && std::all_of(rows.begin(), rows.end(), sums) ? columns - 1 : columns;
}

LatencyHistogram parse_cyclictest(std::string_view text, std::string_view file) {
  constexpr std::string_view kMax = "# Max Latencies:", kOver = "# Histogram Overflows:";
  LineReader lines{text};
  std::vector<std::vector<double>> rows;
  std::vector<double> longest, overflows;
  ThreadLines status;
  bool begun = false;
  while (const auto line = lines.next()) {
    if (line->starts_with(kMax)) longest = values_after(*line, kMax, file, lines.number);
    if (line->starts_with(kOver)) overflows = values_after(*line, kOver, file, lines.number);
    begun = begun || line->starts_with(kCyclictest);
    if (!begun || line->starts_with("T:")) status.read(*line);
    if (!begun || line->starts_with('#') || words(*line).empty() || line->starts_with("T:")) continue;
    rows.push_back(row(*line, rows.empty() ? 0 : rows.front().size() - 1, file, lines.number));
    if (rows.size() > 1 && rows.back()[0] <= rows[rows.size() - 2][0])
      throw fail(file, lines.number, "latencies that rise");
  }
  const std::size_t threads = threads_in(rows);
  Counts counts;
  for (const std::vector<double>& values : rows)
    counts[values[0]] +=
        std::accumulate(values.begin() + 1, values.begin() + 1 + static_cast<std::ptrdiff_t>(threads), 0.0);
  overflows.resize(std::min(overflows.size(), threads));
  add_overflows(counts, overflows, longest, file);
  LatencyHistogram h = made(counts, "cyclictest", file);
  h.scheduling = status.scheduling();
  h.priority = status.priority;
  h.seconds = status.seconds;
  return h;
}

/// "0 01:02:03", days and a time.
double duration_of(std::string_view line) {
  int days = 0, hours = 0, minutes = 0, seconds = 0;
  const std::string text(line);
  if (sscanf(text.c_str(), "# Duration: %d %d:%d:%d", &days, &hours, &minutes, &seconds) != 4) return 0;
  return ((days * 24.0 + hours) * 60 + minutes) * 60 + seconds;
}

LatencyHistogram parse_rtla(std::string_view text, std::string_view file) {
  LineReader lines{text};
  Counts counts;
  std::vector<std::size_t> threads;  // columns that are threads
  std::vector<double> overflows, longest;
  std::size_t columns = 0;
  double seconds = 0;
  while (const auto line = lines.next()) {
    const auto all = words(*line);
    if (line->starts_with("# Duration:")) seconds = duration_of(*line);
    if (line->starts_with("# Time unit is nanoseconds"))
      throw fail(file, lines.number, "microseconds (rtla without -n)");
    if (all.empty() || line->starts_with('#')) continue;
    if (all[0] == "Index") {
      columns = all.size() - 1;
      for (std::size_t i = 1; i < all.size(); i++)
        if (all[i].starts_with("Thr-")) threads.push_back(i);
      if (threads.empty()) throw fail(file, lines.number, "a column Thr-* (rtla without --no-thread)");
      continue;
    }
    if (all[0] == "ALL:") break;  // sums of the columns
    std::vector<double>* const summary = all[0] == "over:" ? &overflows : all[0] == "max:" ? &longest : nullptr;
    if (summary != nullptr) {
      for (const std::size_t i : threads) summary->push_back(i < all.size() ? number(all[i]).value_or(0) : 0);
      continue;
    }
    if (all[0].ends_with(':')) continue;  // count, min, avg
    if (columns == 0) throw fail(file, lines.number, "the line of titles: Index, and one column per CPU");
    const std::vector<double> values = row(*line, columns, file, lines.number);
    for (const std::size_t i : threads) counts[values[0]] += values[i];
  }
  add_overflows(counts, overflows, longest, file);
  LatencyHistogram h = made(counts, "rtla timerlat", file);
  h.seconds = seconds;
  return h;
}

/// An option's argument in cyclictest's command line, "-p80", "-Sp 80", "--priority=80".
std::string option(const std::string& command, const std::string& letter, const std::string& name) {
  std::smatch found;
  if (std::regex_search(command, found, std::regex("--" + name + "[a-z]*[= ]([^ ]+)"))) return found[1];
  if (letter.empty()) return "";
  if (std::regex_search(command, found, std::regex(" -[a-zA-Z]*" + letter + " ?([0-9]+)"))) return found[1];
  return "";
}

LatencyHistogram parse_json(std::string_view text, std::string_view file) {
  try {
    const auto json = nlohmann::json::parse(text);
    Counts counts;
    double cycles_most = 0;
    for (const auto& [name, thread] : json.at("thread").items()) {
      double counted = 0;
      for (const auto& [us, count] : thread.at("histogram").items()) {
        const auto latency = number(us);
        if (!latency) throw Error(fmt::format("{}: thread {}: \"{}\" is not a latency in us", file, name, us));
        counts[*latency] += count.get<double>();
        counted += count.get<double>();
      }
      const double cycles = thread.at("cycles").get<double>();
      if (cycles > counted) counts[thread.at("max").get<double>()] += cycles - counted;
      cycles_most = std::max(cycles_most, cycles);
    }
    LatencyHistogram h = made(counts, "cyclictest", file);
    const std::string command = json.value("cmdline", json.value("cmdline:", ""));  // 2.40 prints it with a colon
    const auto priority = number(option(command, "p", "prio"));
    if (!command.empty()) h.scheduling = class_of(option(command, "", "policy"), priority.value_or(0) > 0);
    const bool real_time = h.scheduling == "FIFO" || h.scheduling == "RR";
    if (real_time && priority && *priority <= 99) h.priority = static_cast<int>(*priority);
    const double interval_us = number(option(command, "i", "interval")).value_or(1000);  // its default
    if (!command.empty()) h.seconds = cycles_most * interval_us * 1e-6;
    if (const auto info = json.find("sysinfo"); info != json.end()) {
      h.kernel = fmt::format("Linux {} {}", info->value("release", ""), info->value("version", ""));
      if (info->value("realtime", 0) == 1) h.kernel += " PREEMPT_RT";
    }
    return h;
  } catch (const nlohmann::json::exception& e) {
    throw Error(fmt::format("{}: {}; expected {}", file, e.what(), kAccepted));
  }
}

/// The histogram comes after all output of cyclictest while it runs.
bool is_cyclictest_text(std::string_view text) {
  const std::size_t at = text.find(kCyclictest);
  return at == 0 || (at != std::string_view::npos && text[at - 1] == '\n');
}

bool is_cyclictest_json(std::string_view text) {
  return text.starts_with('{') && text.find("\"histogram\"") != std::string_view::npos &&
         text.find("\"thread\"") != std::string_view::npos;
}

}  // namespace

bool is_histogram(std::string_view text) {
  return text.substr(0, 4096).find(kRtla) != std::string_view::npos || is_cyclictest_text(text) ||
         is_cyclictest_json(text);
}

LatencyHistogram parse_histogram(std::string_view text, std::string_view file) {
  if (is_cyclictest_json(text)) return parse_json(text, file);
  if (text.substr(0, 4096).find(kRtla) != std::string_view::npos) return parse_rtla(text, file);
  if (is_cyclictest_text(text)) return parse_cyclictest(text, file);
  throw Error(fmt::format("{}: expected {}", file, kAccepted));
}

}  // namespace offhook::config
