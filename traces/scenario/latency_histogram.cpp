// SPDX-License-Identifier: MIT
//
// Histograms of cyclictest (-h, --json) and rtla timerlat hist, with what their headers say of the measurement.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <regex>
#include <stdexcept>

#include "traces/scenario/latency.h"

namespace offhook::config {

using hostsim::LatencyDistribution;
using hostsim::LatencyPoint;

namespace {

constexpr double kMsPerUs = 1e-3;
constexpr std::string_view kRtla = "# RTLA timerlat histogram", kCyclictest = "# Histogram",
                           kAccepted =
                               "the output of cyclictest -h or --json, or of rtla timerlat hist, in microseconds";

/// Of one kind of wait: how many took so many microseconds.
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

/// Each latency is exceeded by all that were longer; the longest by half a wait.
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

struct Lines {
  std::string_view rest;
  std::size_t number = 0;
  std::optional<std::string_view> next() {
    if (rest.empty()) return std::nullopt;
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    const std::string_view line = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    number++;
    return line;
  }
};

/// A row of a histogram: a latency, and a count for each of `columns`; 0: as many as there are.
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

/// What did not fit into the histogram took the longest of its thread, at most.
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

LatencyHistogram parse_cyclictest(std::string_view text, std::string_view file) {
  constexpr std::string_view kMax = "# Max Latencies:", kOver = "# Histogram Overflows:";
  Lines lines{text};
  Counts counts;
  std::vector<double> longest, overflows;
  std::size_t threads = 0;
  while (const auto line = lines.next()) {
    if (line->starts_with(kMax)) longest = values_after(*line, kMax, file, lines.number);
    if (line->starts_with(kOver)) overflows = values_after(*line, kOver, file, lines.number);
    if (line->starts_with('#') || words(*line).empty() || line->starts_with("T:")) continue;
    const std::vector<double> values = row(*line, threads, file, lines.number);
    threads = values.size() - 1;
    if (!counts.empty() && values[0] <= counts.rbegin()->first) throw fail(file, lines.number, "latencies that rise");
    double sum = 0;
    for (std::size_t i = 1; i < values.size(); i++) sum += values[i];
    counts[values[0]] += sum;
  }
  add_overflows(counts, overflows, longest, file);
  return made(counts, "cyclictest", file);
}

/// "0 01:02:03", days and a time.
double duration_of(std::string_view line) {
  int days = 0, hours = 0, minutes = 0, seconds = 0;
  const std::string text(line);
  if (sscanf(text.c_str(), "# Duration: %d %d:%d:%d", &days, &hours, &minutes, &seconds) != 4) return 0;
  return ((days * 24.0 + hours) * 60 + minutes) * 60 + seconds;
}

LatencyHistogram parse_rtla(std::string_view text, std::string_view file) {
  Lines lines{text};
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
    if (columns == 0) throw fail(file, lines.number, "the line of titles, Index and a column a CPU");
    const std::vector<double> values = row(*line, columns, file, lines.number);
    for (const std::size_t i : threads) counts[values[0]] += values[i];
  }
  add_overflows(counts, overflows, longest, file);
  LatencyHistogram h = made(counts, "rtla timerlat", file);
  h.seconds = seconds;
  return h;
}

/// The argument of an option of cyclictest's command line, "-p80", "-Sp 80", "--priority=80".
std::string option(const std::string& command, const std::string& letter, const std::string& name) {
  std::smatch found;
  if (std::regex_search(command, found, std::regex("--" + name + "[= ]([^ ]+)"))) return found[1];
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
    const std::string command = json.value("cmdline", "");
    if (const auto priority = number(option(command, "p", "priority")); priority && *priority <= 99) {
      h.priority = static_cast<int>(*priority);
      h.scheduling = option(command, "\001", "policy") == "rr" ? "RR" : "FIFO";
    }
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

bool is_cyclictest_json(std::string_view text) {
  return text.starts_with('{') && text.find("\"histogram\"") != std::string_view::npos &&
         text.find("\"thread\"") != std::string_view::npos;
}

}  // namespace

bool is_histogram(std::string_view text) {
  const std::string_view head = text.substr(0, 4096);
  return head.find(kRtla) != std::string_view::npos || head.find(kCyclictest) != std::string_view::npos ||
         is_cyclictest_json(text);
}

LatencyHistogram parse_histogram(std::string_view text, std::string_view file) {
  if (is_cyclictest_json(text)) return parse_json(text, file);
  if (text.substr(0, 4096).find(kRtla) != std::string_view::npos) return parse_rtla(text, file);
  if (text.substr(0, 4096).find(kCyclictest) != std::string_view::npos) return parse_cyclictest(text, file);
  throw Error(fmt::format("{}: expected {}", file, kAccepted));
}

}  // namespace offhook::config
