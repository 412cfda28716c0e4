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

/// JSON has no infinity: null.
Json finite(double seconds) {
  return std::isfinite(seconds) ? Json(seconds) : Json();
}

Json expectation_json(const advice::Expectation& e) {
  return {{"expected_s", finite(e.expected_s)},   {"low_s", e.interval_s.low},
          {"high_s", finite(e.interval_s.high)},  {"evidence", std::string(to_string(e.evidence))},
          {"evidence_s", finite(e.evidence_s)},   {"because", e.because},
          {"low", advice::span(e.interval_s.low)}};
}

}  // namespace

Json advice_json(const advice::Advice& a) {
  Json out{{"device", a.device},
           {"host", a.host},
           {"suffices", a.suffices},
           {"context", a.chosen ? Json(a.trials[*a.chosen].name) : Json()},
           {"headline", a.headline},
           {"with_reserve", a.with_reserve()},
           {"warnings", a.warnings},
           {"reasons", a.reasons},
           {"required_s", a.required_s > 0 ? Json(a.required_s) : Json()},
           {"assumed", a.assumed},
           {"lead_ms", a.lead_ms},
           {"limit_ms", a.limit_ms},
           {"buffers", a.base.device.buffers},
           {"buffers_that_suffice", a.buffers_that_suffice ? Json(*a.buffers_that_suffice) : Json()},
           {"control", {{"timer_late_max_ms", a.control_late_max_ms}, {"timer_late_p999_ms", a.control_late_p999_ms}}},
           {"pc99", {{"interrupt_us", advice::kPc99InterruptUs}, {"dpc_us", advice::kPc99DpcUs}}},
           {"linux", hostsim::has_linux_classes(a.base.host)},
           {"commands", advice::recipe(a)},
           {"priorities", advice::order_of_priorities(a)},
           {"load", advice::load_in_words(a.base)},
           {"passed_over_for", Json::array()},
           {"trials", Json::array()}};
  if (a.slot_s > 0) out["slot_ms"] = 1e3 * a.slot_s;
  for (const advice::PassedOver& p : advice::passed_over(a))
    out["passed_over_for"].push_back({{"contexts", p.contexts}, {"because", p.because}});
  for (const advice::Trial& t : a.trials) {
    Json row{{"context", t.name}, {"in_full", t.in_full}, {"against", t.against}};
    if (!t.refusal.empty()) {
      row["refusal"] = t.refusal;
    } else {
      const bool enough = a.enough(t);
      row.update({{"class", !t.loses_nothing()           ? "insufficient"
                            : enough && a.keeps_clear(t) ? "sufficient"
                                                         : "marginal"},
                  {"loses_nothing", t.loses_nothing()},
                  {"blocks", t.blocks},
                  {"blocks_late", t.blocks_late},
                  {"blocks_given_up", t.blocks_given_up},
                  {"samples_lost", t.samples_lost},
                  {"swamped", t.swamped},
                  {"between_losses", expectation_json(t.expectation)},
                  {"thin", t.thin()},
                  {"margin_ms", t.margin_ms},
                  {"worst_margin_ms", t.worst_margin_ms()},
                  {"least_margin_ms", t.least_margin_ms},
                  {"buffers_needed", t.buffers_needed},
                  {"latency_p999_ms", t.latency_p999_ms},
                  {"latency_max_ms", t.latency_max_ms},
                  {"isr_max_us", t.isr_max_us},
                  {"dpc_max_us", t.dpc_max_us},
                  {"within_pc99", t.within_pc99()},
                  {"share", t.share},
                  {"stolen_share", t.stolen_share},
                  {"timer_late_max_ms", t.timer_late_max_ms},
                  {"timer_late_p999_ms", t.timer_late_p999_ms}});
      if (a.slot_s > 0) row["miss_ratio_at_most"] = a.miss_ratio_at_most(t);
    }
    out["trials"].push_back(std::move(row));
  }
  return out;
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

/// The advice in one sentence, for readers who read no further.
std::string one_sentence(const advice::Advice& a) {
  if (!a.suffices) return a.headline;
  const advice::Trial& t = a.trials[*a.chosen];
  const std::string where = t.context.kind == OH_CONTEXT_RESERVATION ? "with the CPU reservation"
                            : t.context.kind == OH_CONTEXT_INTERRUPT ? "in the interrupt routine"
                            : t.context.kind == OH_CONTEXT_DPC       ? "in deferred work"
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
