// SPDX-License-Identifier: MIT
//
// Cota-Robles and Held, OSDI 1999: the cause tool's episodes (Table 4), and the schedulability analysis of section 5.2,
// whose promises are simulated.
#include <fmt/format.h>

#include <array>
#include <string>
#include <vector>

#include "src/lab/advice/schedulability.h"
#include "src/lab/reproduce/claim.h"
#include "src/lab/reproduce/cota.h"
#include "traces/scenario/latency.h"

namespace offhook::reproduce {
namespace {

double sum(const std::vector<double>& v) {
  double all = 0;
  for (const double x : v) all += x;
  return all;
}

/// The wait that is exceeded once in `hours` hours of use.
double exceeded_once_in_ms(const hostsim::HostLatencies& host, const hostsim::LatencyDistribution& latency,
                           double hours) {
  return latency.latency_ms(host.use_per_load / (hours * 3600 * host.waits_per_s));
}

}  // namespace

Outcome cota_table4(const Run& run) {
  const Published& p = run.published;
  Outcome out;
  const double every_ms = p.number("sample_ms");
  const double week_hours = p.number("week_hours");
  const hostsim::HostLatencies office = config::load_latencies("win98-office", false);
  const hostsim::LatencyDistribution& thread = office.to(hostsim::Modality::kThread, 24);
  const double hour_ms = exceeded_once_in_ms(office, thread, 1),
               week_ms = exceeded_once_in_ms(office, thread, week_hours);
  out.rows.push_back(input("hours of a week of office use", "h", week_hours, week_hours, "here"));
  out.rows.push_back(input("clock interrupts, the samples of the tool, every", "ms", every_ms, every_ms, "here"));
  for (const Published& episode : p.rows("episodes")) {
    const double total = episode.number("total");
    const std::string name = episode.text("name");
    out.rows.push_back(within(fmt::format("{}: samples", name), "", total, sum(episode.numbers("samples")), 0.5));
    const double middle_ms = total * every_ms;
    out.rows.push_back(holds(
        fmt::format("{}: a wait of that many samples", name), episode.text("length"),
        fmt::format("{:g} ms; {:.2g} ms are exceeded once an hour, {:.2g} ms once a week", middle_ms, hour_ms, week_ms),
        middle_ms > hour_ms && middle_ms < week_ms));
  }
  out.summary =
      "The tool counts clock interrupts in a wait, so n samples are about n ms. The fitted host of the office load, "
      "without sounds, shows how seldom a thread of priority 24 waits as long. The names of functions have no "
      "counterpart here.";
  return out;
}

namespace {

/// The prediction of the analysis for the only computation on a host, and the result.
struct Promise {
  Computation computation;
  int least = 0;  ///< buffers that the analysis requires; 0: no number up to kMostBuffers is sufficient
  DeadlineRun seen, with_one_less;
};

constexpr int kMostBuffers = 32;

int least_buffers(Computation c, const hostsim::HostLatencies& host) {
  for (c.buffers = 2; c.buffers <= kMostBuffers; ++c.buffers)
    if (response_times({c}, host).front().schedulable) return c.buffers;
  return 0;
}

DeadlineRun simulate(Computation c, int buffers, const hostsim::HostLatencies& host, double seconds,
                     std::uint64_t seed) {
  c.buffers = buffers;
  return simulate_deadlines({c}, host, seconds, seed).front();
}

std::string between_drops(const DeadlineRun& run) {
  if (run.drops == 0) return fmt::format("none in {:.0f} h", run.simulated_s / 3600);
  const double minutes = run.simulated_s / 60 / static_cast<double>(run.drops);
  return minutes < 100 ? fmt::format("one in {:.3g} min", minutes) : fmt::format("one in {:.3g} h", minutes / 60);
}

}  // namespace

Outcome cota_schedulability(const Run& run) {
  const Published& p = run.published;
  constexpr double kIntervals = 20;  // simulated, relative to the permitted time between two dropped buffers
  Outcome out;
  std::vector<Promise> promises;
  std::vector<std::string> names;
  for (const Published& row : p.rows("rows")) {
    const double minutes = row.number("minutes");
    for (const char* load : kCotaLoads) {
      Promise promise;
      promise.computation = {row.text("application"),
                             row.text("modality") == "dpc" ? hostsim::Modality::kDpc : hostsim::Modality::kThread,
                             28,
                             row.number("period_ms"),
                             row.number("cost_ms"),
                             0,
                             2,
                             minutes * 60};
      promises.push_back(promise);
      names.push_back(
          fmt::format("{}, {}: at most one dropped buffer in {:g} min", row.text("application"), load, minutes));
    }
  }
  run.parallel(promises.size(), [&](std::size_t i) {
    Promise& one = promises[i];
    const auto host = config::load_latencies(fmt::format("win98-{}", kCotaLoads[i % kCotaLoads.size()]), false);
    one.least = least_buffers(one.computation, host);
    if (one.least == 0) return;
    const double seconds = kIntervals * one.computation.interval_s;
    one.seen = simulate(one.computation, one.least, host, seconds, run.seed);
    if (one.least > 2) one.with_one_less = simulate(one.computation, one.least - 1, host, seconds, run.seed);
  });
  for (std::size_t i = 0; i < promises.size(); ++i) {
    const Promise& one = promises[i];
    if (one.least == 0) {
      out.rows.push_back(holds(names[i], "so", fmt::format("not with {} buffers", kMostBuffers), false));
      out.rows.back().note = "the analysis finds no number of buffers";
      continue;
    }
    // The prediction is wrong: more drops than permitted, beyond chance.
    const bool kept = one.seen.drops_per_s().low <= 1 / one.computation.interval_s;
    std::string simulated = fmt::format("{} buffers: {}", one.least, between_drops(one.seen));
    if (one.least > 2) simulated += fmt::format("; with one less {}", between_drops(one.with_one_less));
    out.rows.push_back(holds(names[i], "so", simulated, kept));
    if (!kept) out.rows.back().note = "the pseudo worst case is too short here: several long waits occur in one second";
  }
  out.summary =
      "The least number of buffers that the analysis finds schedulable at each permitted rate of errors, alone on a "
      "host with Table 3's latencies, simulated for 20 times the permitted interval. The paper prints the procedure "
      "and "
      "the rates; periods and costs are of its Table 1 and of section 5.1. Its third rate, once a day, is not "
      "simulated.";
  return out;
}

}  // namespace offhook::reproduce
