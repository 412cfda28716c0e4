// SPDX-License-Identifier: MIT
#include "src/measure/host_profile.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <nlohmann/json.hpp>

#include "hostsim/call/host_policies.h"

namespace offhook::measure {
namespace {

constexpr double kMsPerNs = 1e-6;
constexpr double kLeastMs = 1e-6;  // minimum that a host's keys accept

/// 10, 100, 1000 ... up to half of all wake-ups, and all of them.
std::vector<double> decades(std::uint64_t count) {
  std::vector<double> waits;
  const auto all = static_cast<double>(count);
  for (double n = 10; n * 2 <= all; n *= 10) waits.push_back(n);
  waits.push_back(std::max(2.0, all));  // once in one would be the minimum
  return waits;
}

using Quantile = std::function<double(double share)>;  // ns

/// A TOML list of the latencies in ms that one of `waits` waits exceeds, for each number of waits.
std::string worst_cases(const std::vector<double>& waits, const Quantile& ns) {
  std::vector<std::string> ms;
  for (const double n : waits)
    ms.push_back(fmt::format("{:.6g}", std::max(kLeastMs, ns(n == waits.back() ? 1 : 1 - 1 / n) * kMsPerNs)));
  return fmt::format("[{}]", fmt::join(ms, ", "));
}

std::string least(const Quantile& ns) {
  return fmt::format("{:.6g}", std::max(kLeastMs, ns(0) * kMsPerNs));
}

/// "thread_ms = [...]" and its minimum.
std::string lists(const std::string& service, const std::vector<double>& waits, const Quantile& ns) {
  return fmt::format("{0}_least_ms = {1}\n{0}_ms = {2}\n", service, least(ns), worst_cases(waits, ns));
}

Quantile of(const LogLinearHistogram& h) {
  return [&h](double share) {
    if (share <= 0) return static_cast<double>(h.min());
    return static_cast<double>(share >= 1 ? h.max() : h.quantile(share));
  };
}

/// Its real-time priority; 0: none.
int priority_of(const ContextSpec& context) {
  return hostsim::thread_kind(context) == hostsim::ThreadKind::kRealTime ? context.priority : 0;
}

/// Hours of use that each decade covers.
std::string use_hours(const std::vector<double>& waits, double interval_us) {
  std::vector<std::string> hours;
  for (const double n : waits) hours.push_back(fmt::format("{:.6g}", n * interval_us * 1e-6 / 3600));
  return fmt::format("[{}]", fmt::join(hours, ", "));
}

/// A row [[latency.thread]].
std::string thread_row(const MeasuredContext& m, double interval_us) {
  const std::vector<double> waits = decades(m.thread.count());
  const int priority = priority_of(m.context);
  const bool reserves = hostsim::thread_kind(m.context) == hostsim::ThreadKind::kDeadline;
  const std::string_view scheduling = priority > 0 ? "fifo" : reserves ? "deadline" : "other";
  return fmt::format("\n[[latency.thread]]            # {}\nclass = \"{}\"\n{}use_hours = {}\nleast_ms = {}\nms = {}\n",
                     m.str(), scheduling, priority > 0 ? fmt::format("priority = {}\n", priority) : "",
                     use_hours(waits, interval_us), least(of(m.thread)), worst_cases(waits, of(m.thread)));
}

/// The thread that gives the host's [latency]: the one with the least real-time priority, if any.
const MeasuredContext& base_of(const HostProfile& p) {
  const MeasuredContext* base = &p.threads.front();
  for (const MeasuredContext& m : p.threads) {
    const int priority = priority_of(m.context), least_yet = priority_of(base->context);
    if (priority > 0 && (least_yet == 0 || priority < least_yet)) base = &m;
  }
  return *base;
}

/// A text in TOML quotes.
std::string quoted(const std::string& text) {
  return nlohmann::json(text).dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
}

}  // namespace

std::vector<ContextSpec> profile_contexts(double interval_us) {
  constexpr double kLeastPeriodUs = 100;  // sched_deadline_period_min_us
  const double period_us = std::max(interval_us, kLeastPeriodUs);
  std::vector<ContextSpec> out;
  for (const int priority : {25, 49, 51, 80}) out.push_back(ContextSpec::parse(fmt::format("FIFO {}", priority)));
  out.push_back(ContextSpec::parse(fmt::format("RES {:g}ms/{:g}ms", period_us / 10'000, period_us / 1000)));
  out.push_back(ContextSpec::parse("OTHER"));
  return out;
}

std::string scheduler_of_kernel(const std::string& kernel, bool real_time) {
  int major = 0, minor = 0;
  if (sscanf(kernel.c_str(), "Linux %d.%d", &major, &minor) != 2) return "linux";
  const auto from = [&](int m, int n) { return major > m || (major == m && minor >= n); };
  if (real_time && from(6, 18)) return "linux-6.18-rt";
  if (from(6, 12)) return real_time ? "linux-6.12-rt" : "linux-6.12";
  return from(6, 6) ? "linux-6.6" : "linux";
}

std::string to_host_file(const HostProfile& p, const HostDescription& host) {
  const bool stages = p.interrupt.count() > 0;
  const bool real_time = host.real_time_kernel == "yes";
  const bool tick_known = host.tick_hz > 0;
  const MeasuredContext& base = base_of(p);
  const std::vector<double> waits = decades(base.thread.count());
  std::string out = fmt::format(
      // REUSE-IgnoreStart
      "# SPDX-License-Identifier: MIT\n"
      // REUSE-IgnoreEnd
      "# {}, {}: written by `offhook measure host-profile`.\n\n"
      "scheduler = \"{}\"\n"
      "reservations = \"deadline-ticks\"\n"
      "tick_hz = {}{}\n"
      "priorities = 100             # SCHED_FIFO 1 to 99\n"
      "threaded_interrupts = {}\n"
      "clock_isr_us = 2             # assumption\n"
      "dispatch_us = 0              # part of the latency of the thread\n"
      "clock_ppm_spread = 50        # assumption: two ordinary crystals\n"
      "high_resolution_timers = true\n\n"
      "[latency]                    # exceeded once in 10, 100, 1000 ... wake-ups; the last is the greatest\n"
      "waits_per_s = {:.6g}\n"
      "use_hours = {}\n",
      host.cpu, host.kernel, scheduler_of_kernel(host.kernel, real_time), tick_known ? host.tick_hz : 250,
      tick_known ? "" : "                # assumption", real_time, 1e6 / p.interval_us,
      use_hours(waits, p.interval_us));
  if (stages) {
    out += lists("interrupt", waits, of(p.interrupt));
    if (p.softirq.count() > 0) {
      // Linux's equivalent of a DPC: delayed by the interrupt, and then by the softirq.
      out += lists("dpc", waits, [&](double share) { return of(p.interrupt)(share) + of(p.softirq)(share); });
    }
  } else {
    out += "# Interrupts alone were not measured: INT is assumed to wait as long as a thread. See --stages.\n";
  }
  if (const int priority = priority_of(base.context); priority > 0)
    out += fmt::format("thread_priority = {}\n", priority);
  out += lists("thread", waits, of(base.thread));
  std::vector<std::string> contexts = {base.str()};
  std::uint64_t count = base.thread.count();
  for (const MeasuredContext& m : p.threads) {
    if (&m == &base) continue;
    out += thread_row(m, p.interval_us);
    contexts.push_back(m.str());
    count += m.thread.count();
  }
  out +=
      fmt::format("\n[source]\ngrade = \"measured\"\nwhat = {}\nassumed = \"{}clock_isr_us, clock_ppm_spread{}\"\n",
                  quoted(fmt::format("offhook measure host-profile, {:.6g} s{}, {} wake-ups of {}, {}", p.seconds,
                                     p.threads.size() > 1 ? " in each context" : "", count, fmt::join(contexts, ", "),
                                     p.loads.empty() ? "on the machine without added load"
                                                     : fmt::format("beside {}", fmt::join(p.loads, ", ")))),
                  tick_known ? "" : "tick_hz, ", stages ? "" : ", the latency of an interrupt");
  return out;
}

}  // namespace offhook::measure
