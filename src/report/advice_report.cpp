// SPDX-License-Identifier: MIT
#include "src/report/advice_report.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "hostsim/call/host_policies.h"
#include "src/lab/advice/explanation.h"
#include "src/lab/advice/recipe.h"
#include "src/page/page.h"
#include "traces/scenario/key.h"
#include "traces/scenario/scenario.h"

namespace offhook {

using Json = nlohmann::ordered_json;

namespace {

using advice::Advice;
using advice::Expectation;
using advice::Trial;
using record::Row;
using record::Rows;
using record::Table;

/// JSON has no value for infinity.
std::optional<double> finite(double seconds) {
  return std::isfinite(seconds) ? std::optional(seconds) : std::nullopt;
}

using Evidence = Rows<Expectation>;
constexpr Row kExpectationRows[] = {
    Evidence::of("expected_s", "s", "expected time between losses",
                 [](const Expectation& e) { return finite(e.expected_s); })
        .or_null(),
    Evidence::of<&Expectation::interval_s, &Interval::low>("low_s", "s", "lower bound of that time, 95 % confidence"),
    Evidence::of("high_s", "s", "upper bound of that time",
                 [](const Expectation& e) { return finite(e.interval_s.high); })
        .or_null(),
    Evidence::of("evidence", "", "kind of evidence: losses, seen, law, distribution, tail or assumed",
                 [](const Expectation& e) { return to_string(e.evidence); }),
    Evidence::of("evidence_s", "s", "independent seconds of evidence",
                 [](const Expectation& e) { return finite(e.evidence_s); })
        .or_null(),
    Evidence::of<&Expectation::because>("because", "", "basis of the evidence"),
    Evidence::of("low", "", "lower bound in words",
                 [](const Expectation& e) { return advice::span(e.interval_s.low); }),
};
constexpr Table kExpectation{kExpectationRows};

struct TrialOf {
  const Advice& advice;
  const Trial& trial;
};

/// Rows for a context that the host can run.
using Tried = Rows<Trial>;
constexpr Row kTriedRows[] = {
    Tried::of<&Trial::loses_nothing>("loses_nothing", "", "whether nothing was lost"),
    Tried::of<&Trial::blocks>("blocks", "", "blocks served"),
    Tried::of<&Trial::blocks_late>("blocks_late", "", "blocks served late"),
    Tried::of<&Trial::blocks_given_up>("blocks_given_up", "", "blocks never served"),
    Tried::of<&Trial::samples_lost>("samples_lost", "", "samples lost"),
    Tried::of<&Trial::swamped>("swamped", "", "whether the work never finished"),
    Tried::part<&Trial::expectation>("between_losses", kExpectation),
    Tried::of<&Trial::thin>("thin", "", "whether worst_margin_ms is below least_margin_ms"),
    Tried::of<&Trial::margin_ms>("margin_ms", "ms", "least time to a deadline"),
    Tried::of<&Trial::worst_margin_ms>("worst_margin_ms", "ms",
                                       "least time to a deadline after the host's longest known wait"),
    Tried::of<&Trial::least_margin_ms>("least_margin_ms", "ms", "least reliable margin"),
    Tried::of<&Trial::buffers_needed>("buffers_needed", "", "buffers needed"),
    Tried::of<&Trial::latency_p999_ms>("latency_p999_ms", "ms", "99.9 % of the latencies are below"),
    Tried::of<&Trial::latency_max_ms>("latency_max_ms", "ms", "longest latency"),
    Tried::of<&Trial::isr_max_us>("isr_max_us", "us", "longest interrupt routine"),
    Tried::of<&Trial::dpc_max_us>("dpc_max_us", "us", "longest DPC"),
    Tried::of<&Trial::within_pc99>("within_pc99", "", "whether the limits of PC 99 are met"),
    Tried::of<&Trial::share>("share", "", "share of the CPU used by the device, 0 to 1"),
    Tried::of<&Trial::stolen_share>("stolen_share", "", "share taken from all threads above their priority, 0 to 1"),
    Tried::of<&Trial::timer_late_max_ms>("timer_late_max_ms", "ms", "greatest lateness of another timer"),
    Tried::of<&Trial::timer_late_p999_ms>("timer_late_p999_ms", "ms", "99.9 % of the latenesses are below"),
};
constexpr Table kTried{kTriedRows};

const char* class_of(const TrialOf& x) {
  if (!x.trial.refusal.empty()) return nullptr;
  if (!x.trial.loses_nothing()) return "insufficient";
  return x.advice.enough(x.trial) && x.advice.keeps_clear(x.trial) ? "sufficient" : "marginal";
}

std::optional<double> slot_miss_ratio(const TrialOf& x) {
  const bool known = x.trial.refusal.empty() && x.advice.slot_s > 0;
  return known ? std::optional(x.advice.miss_ratio_at_most(x.trial)) : std::nullopt;
}

using OfTrial = Rows<TrialOf>;
constexpr Row kTrialRows[] = {
    OfTrial::of("context", "", "name of the context", [](const TrialOf& x) { return x.trial.name; }),
    OfTrial::of("in_full", "", "name of the context on the host", [](const TrialOf& x) { return x.trial.in_full; }),
    OfTrial::of("against", "", "reason for the rejection", [](const TrialOf& x) { return x.trial.against; }),
    OfTrial::of("refusal", "", "why the host cannot run the context; then the other values are absent",
                [](const TrialOf& x) { return x.trial.refusal; })
        .absent_if_0(),
    OfTrial::of("class", "", "sufficient, marginal or insufficient", [](const TrialOf& x) { return class_of(x); })
        .absent_if_0(),
    OfTrial::part("", kTried, [](const TrialOf& x) { return x.trial.refusal.empty() ? &x.trial : nullptr; }),
    OfTrial::of("miss_ratio_at_most", "", "upper bound of the share of missed slots, 0 to 1",
                [](const TrialOf& x) { return slot_miss_ratio(x); }),
};

using Passed = Rows<advice::PassedOver>;
constexpr Row kPassedOverRows[] = {
    Passed::of<&advice::PassedOver::contexts>("contexts", "", "rejected contexts that share a reason"),
    Passed::of<&advice::PassedOver::because>("because", "", "reason for the rejection"),
};
constexpr Table kPassedOver{kPassedOverRows};

std::vector<TrialOf> trials_of(const Advice& a) {
  std::vector<TrialOf> all;
  for (const Trial& t : a.trials) all.push_back({a, t});
  return all;
}

using Of = Rows<Advice>;
constexpr Row kAdviceRows[] = {
    Of::of<&Advice::device>("device", "", "device, in words"),
    Of::of<&Advice::host>("host", "", "host, in words"),
    Of::of<&Advice::suffices>(
        "suffices", "",
        "whether a context loses nothing for the required time, or for as long as the evidence supports"),
    Of::of("context", "", "advised context",
           [](const Advice& a) { return a.chosen ? std::optional(a.trials[*a.chosen].name) : std::nullopt; })
        .or_null(),
    Of::of<&Advice::headline>("headline", "", "advice in a sentence"),
    Of::of<&Advice::with_reserve>("with_reserve", "", "whether the advice has a reservation (\"but\")"),
    Of::of<&Advice::warnings>("warnings", "", "reasons why the simulation is weak evidence"),
    Of::of<&Advice::reasons>("reasons", "", "reasons, one sentence each"),
    Of::of("required_s", "s", "required time between losses",
           [](const Advice& a) { return a.required_s > 0 ? std::optional(a.required_s) : std::nullopt; })
        .or_null(),
    Of::of<&Advice::assumed>("assumed", "", "whether the host's numbers are assumptions"),
    Of::of<&Advice::lead_ms>("lead_ms", "ms", "output queued for transmission"),
    Of::of<&Advice::limit_ms>("limit_ms", "ms", "longest permitted time from a block's interrupt to its output"),
    Of::of("buffers", "", "number of buffers of the device", [](const Advice& a) { return a.base.device.buffers; }),
    Of::of<&Advice::buffers_that_suffice>("buffers_that_suffice", "",
                                          "sufficient number of buffers, if the device's own is not")
        .or_null(),
    Of::of<&Advice::control_late_max_ms>("control.timer_late_max_ms", "ms",
                                         "greatest lateness of a timer's callback without the device"),
    Of::of<&Advice::control_late_p999_ms>("control.timer_late_p999_ms", "ms", "99.9 % of those latenesses are below"),
    Of::of("pc99.interrupt_us", "us", "PC 99's limit of an interrupt routine",
           [](const Advice&) { return advice::kPc99InterruptUs; }),
    Of::of("pc99.dpc_us", "us", "PC 99's limit of a DPC", [](const Advice&) { return advice::kPc99DpcUs; }),
    Of::of("linux", "", "whether the host has Linux's classes",
           [](const Advice& a) { return hostsim::has_linux_classes(a.base.host); }),
    Of::of("commands", "", "shell commands for the context, on Linux",
           [](const Advice& a) { return advice::recipe(a); }),
    Of::of("priorities", "", "priority order on a Linux host, the most urgent first",
           [](const Advice& a) { return advice::order_of_priorities(a); }),
    Of::of("load", "", "load, in words", [](const Advice& a) { return advice::load_in_words(a.base); }),
    Of::part("passed_over_for", kPassedOver, [](const Advice& a) { return advice::passed_over(a); }),
    Of::part("trials", kAdviceTrial, [](const Advice& a) { return trials_of(a); }),
    Of::of<&Advice::slot_s>("slot_ms", "ms", "length of a radio's slot, --slot-us").scale(1e3).absent_if_0(),
};

}  // namespace

constexpr Table kAdviceTrial{kTrialRows}, kAdvice{kAdviceRows};

Json advice_json(const Advice& a) {
  return record::to_json(kAdvice, &a);
}

namespace {

nlohmann::json head(std::string_view kind, const advice::Advice& a) {
  nlohmann::json data = page_head(kind, fmt::format("{} on {}", a.device, a.host),
                                  !a.suffices        ? "insufficient"
                                  : a.with_reserve() ? "marginal"
                                                     : "sufficient",
                                  a.headline, a.reasons);
  data["warnings"] = a.warnings;
  return data;
}

}  // namespace

std::string advice_page(const advice::Advice& a) {
  nlohmann::json data = head("advice", a);
  data["advice"] = advice_json(a);
  for (const config::Key& key : config::scenario_keys()) {
    const bool shown =
        key.path.starts_with("device.") || key.path.starts_with("host.") || key.path.starts_with("load.");
    if (shown) data["settings"].push_back({key.path, config::write_value(key, &a.base)});
  }
  return page_around("Advice: " + a.device + " - Offhook", data);
}

namespace {

/// The advice in one sentence, for readers of the summary only.
std::string one_sentence(const advice::Advice& a) {
  if (!a.suffices) return a.headline;
  const advice::Trial& t = a.trials[*a.chosen];
  const std::string where = t.context.kind == OH_CONTEXT_RESERVATION ? "with the CPU reservation"
                            : t.context.kind == OH_CONTEXT_INTERRUPT ? "in the interrupt routine"
                            : t.context.kind == OH_CONTEXT_DPC       ? "in deferred work"
                            : t.context.kind == OH_CONTEXT_NORMAL    ? "in a normal thread"
                                                                     : "in a real-time thread";
  return fmt::format("Run it {}, {}, with {} buffers: no loss for {}{}, by {}.", where, t.in_full,
                     a.base.device.buffers, advice::span(t.expectation.interval_s.low),
                     t.expectation.interval_s.low < advice::kWeekS ? " at least" : "",
                     advice::in_words(t.expectation.evidence));
}

}  // namespace

std::string advice_memo(const advice::Advice& a, const std::string& made_by) {
  nlohmann::json data = head("memo", a);
  const hostsim::Scenario& s = a.base;
  double seconds = 0;
  for (const advice::Trial& t : a.trials) seconds = std::max(seconds, t.seconds);
  using Facts = std::vector<std::pair<std::string, std::string>>;
  Facts facts = {
      {"In one sentence", one_sentence(a)},
      {"Device",
       fmt::format("{}: {} buffers of {:.4g} ms, {:.4g} ms of transmit lead, {:.4g} us of work per block", a.device,
                   s.device.buffers, a.buffer_ms, a.lead_ms, static_cast<double>(s.device.cost_ns) * 1e-3)},
      {"Host", fmt::format("{}: {}, ticks of {:.4g} ms", a.host,
                           s.host.cpus == 1 ? "1 CPU" : fmt::format("{} CPUs", s.host.cpus), 1000.0 / s.host.tick_hz)},
      {"Load", advice::load_in_words(s)},
      {"Simulated", fmt::format("{} in each context", advice::span(seconds))},
      {"Trace", s.load.recorded ? advice::span(static_cast<double>(s.load.recorded->duration) * 1e-9) + " long"
                                : "none was given"},
      {"Asked for",
       a.required_s <= 0
           ? "the longest time between losses that the evidence supports"
           : fmt::format("no loss in {}", a.required_s < advice::kWeekS ? advice::span(a.required_s) : "a week")}};
  if (a.chosen) {
    const advice::Trial& t = a.trials[*a.chosen];
    const double low_s = t.expectation.interval_s.low;
    facts.emplace_back("Between losses", fmt::format("of {}: {}{}, by {}", t.name, advice::span(low_s),
                                                     low_s < advice::kWeekS ? " at least" : "",
                                                     advice::in_words(t.expectation.evidence)));
  }
  const auto lines = advice::recipe(a);
  if (!lines.empty()) facts.emplace_back("Start it by", lines.front());
  data["facts"] = facts;
  data["against"] = nlohmann::json::array();
  for (const advice::PassedOver& p : advice::passed_over(a)) data["against"].push_back({p.contexts, p.because});
  data["made_by"] = made_by;
  return page_around("Memo: " + a.device + " - Offhook", data);
}

}  // namespace offhook
