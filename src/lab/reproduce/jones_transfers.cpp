// SPDX-License-Identifier: MIT
#include "src/lab/reproduce/jones_transfers.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <cmath>
#include <functional>
#include <optional>

namespace offhook::reproduce {

namespace {

/// The unpublished constants: duration and cost of a retrain, effect of a gap, V.42's time-out, the times at which the
/// server's modem hangs up and loses synchronisation, V.34's rate instead of V.90's, and how threads share the rest of
/// a reservation. Each is changed by half, or halved.
constexpr std::array kChanges = {
    "retrain_ms=-50%", "retrain_block_us=-50%",  "settling_ms=-50%", "t401_ms=-50%",           "give_up_ms=+100%",
    "give_up_ms=-50%", "sync_loss_samples=+50%", "down_bps=19200",   "sync_loss_samples=-50%", "quantum_ms=-50%"};

/// Sorts each change by its effect on a row's value.
class Sorted {
 public:
  /// @param least  minimum by which a change must bring the value nearer
  Sorted(double published, double as_it_is, double least) : goal_(published), was_(as_it_is), least_(least) {}
  void add(std::string text, std::optional<double> value) {
    const double nearer = value ? std::abs(was_ - goal_) - std::abs(*value - goal_) : 0;
    if (nearer > least_) {
      nearer_.push_back(std::move(text));
    } else if (value && (*value - goal_) * (was_ - goal_) < 0) {
      beyond_.push_back(std::move(text));
    } else {
      others_.push_back(std::move(text));
    }
  }
  std::string text() const {
    std::string out = "constants that are not published were tried: ";
    if (!nearer_.empty()) out += fmt::format("nearer with {}; ", fmt::join(nearer_, ", "));
    if (!beyond_.empty()) out += fmt::format("beyond it with {}; ", fmt::join(beyond_, ", "));
    if (nearer_.empty() && beyond_.empty()) out += "no single constant brings the result nearer; ";
    return out + fmt::format("no nearer with {}", fmt::join(others_, ", "));
  }

 private:
  double goal_, was_, least_;
  std::vector<std::string> nearer_, beyond_, others_;
};

}  // namespace

double Transfers::complete_percent() const {
  return runs.empty() ? 0 : 100 * static_cast<double>(result.complete) / static_cast<double>(result.runs);
}

std::string of(std::size_t n, std::size_t all) {
  return fmt::format("{} of {}", n, all);
}

Setup setup_of(const Run& run, const hostsim::Scenario& scenario, const hostsim::CostProfile& profile, bool pool) {
  Setup s{scenario, profile};
  run.perturbation.apply(s);
  if (pool) s.profile.link.sync_loss_samples = s.profile.link.pool_sync_loss_samples;
  return s;
}

std::vector<Transfers> transfers(const Run& run, const std::vector<hostsim::Scenario>& scenarios,
                                 const hostsim::CostProfile& profile, bool pool, const Perturbation& besides) {
  std::vector<Transfers> out(scenarios.size());
  for (std::size_t r = 0; r < out.size(); ++r)
    out[r] = {scenarios[r].name, std::vector<RunOutcome>(run.repetitions), {}, {}};
  run.parallel(scenarios.size() * run.repetitions, [&](std::size_t i) {
    Setup s = setup_of(run, scenarios[i / run.repetitions], profile, pool);
    besides.apply(s);
    s.scenario.seed += i % run.repetitions;
    out[i / run.repetitions].runs[i % run.repetitions] = run_transfer(s);
  });
  std::optional<double> reference;
  for (Transfers& t : out) {
    t.result = classify(t.runs, reference);
    std::vector<double> times;
    for (const RunOutcome& r : t.runs) {
      if (r.complete) times.push_back(r.transfer_s);
    }
    t.time = mean_interval(times);
    if (&t == &out.front() && t.result.complete > 0) reference = t.result.mean_s;
  }
  return out;
}

const Transfers& Trials::with(const hostsim::Scenario& scenario, const std::string& change) {
  const std::string key = scenario.name + " " + change;
  const auto found = done_.find(key);
  if (found != done_.end()) return found->second;
  return done_[key] = transfers(run_, {scenario}, profile_, pool_, Perturbation::parse({change})).front();
}

std::string Trials::of_time(const hostsim::Scenario& scenario, const Transfers& as_it_is, double published_s,
                            double share, const std::vector<std::string>& more) {
  const double none_s = as_it_is.result.complete > 0 ? as_it_is.time.mean : INFINITY;
  Sorted sorted(published_s, none_s, share * published_s);
  std::vector<std::string> changes(kChanges.begin(), kChanges.end());
  changes.insert(changes.end(), more.begin(), more.end());
  for (const std::string& change : changes) {
    const Transfers& t = with(scenario, change);
    if (t.result.complete == 0) {
      sorted.add(fmt::format("{} (none complete)", change), std::nullopt);
    } else {
      sorted.add(fmt::format("{} ({:.1f} s)", change, t.time.mean), t.time.mean);
    }
  }
  return sorted.text();
}

std::string Trials::of_completion(const hostsim::Scenario& scenario, const Transfers& as_it_is,
                                  double published_percent, double tolerance) {
  Sorted sorted(published_percent, as_it_is.complete_percent(), tolerance);
  for (const char* change : kChanges) {
    const Transfers& t = with(scenario, change);
    sorted.add(fmt::format("{} ({})", change, of(t.result.complete, t.result.runs)), t.complete_percent());
  }
  return sorted.text();
}

}  // namespace offhook::reproduce
