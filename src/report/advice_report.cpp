// SPDX-License-Identifier: MIT
#include "src/report/advice_report.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "src/page/page.h"
#include "traces/document/key.h"
#include "traces/scenario/scenario.h"

namespace offhook {

using Json = nlohmann::ordered_json;

namespace {

/// JSON knows no infinity: null.
Json finite(double seconds) {
  return std::isfinite(seconds) ? Json(seconds) : Json();
}

Json expectation_json(const advice::Expectation& e) {
  return {{"expected_s", finite(e.expected_s)},
          {"low_s", e.interval_s.low},
          {"high_s", finite(e.interval_s.high)},
          {"evidence", std::string(to_string(e.evidence))},
          {"because", e.because},
          {"low", advice::span(e.interval_s.low)}};
}

}  // namespace

Json advice_json(const advice::Advice& a) {
  Json out{{"device", a.device},
           {"host", a.host},
           {"suffices", a.suffices},
           {"context", a.chosen ? Json(a.trials[*a.chosen].name) : Json()},
           {"passed_over", a.passed_over ? Json(a.trials[*a.passed_over].name) : Json()},
           {"headline", a.headline},
           {"reasons", a.reasons},
           {"required_s", a.required_s},
           {"lead_ms", a.lead_ms},
           {"buffers", a.base.device.buffers},
           {"buffers_that_suffice", a.buffers_that_suffice ? Json(*a.buffers_that_suffice) : Json()},
           {"control", {{"timer_late_max_ms", a.control_late_max_ms}, {"timer_late_p999_ms", a.control_late_p999_ms}}},
           {"pc99", {{"interrupt_us", advice::kPc99InterruptUs}, {"dpc_us", advice::kPc99DpcUs}}},
           {"trials", Json::array()}};
  for (const advice::Trial& t : a.trials) {
    Json row{{"context", t.name}};
    if (!t.refusal.empty()) {
      row["refusal"] = t.refusal;
    } else {
      row.update({{"loses_nothing", t.loses_nothing()},
                  {"blocks", t.blocks},
                  {"blocks_late", t.blocks_late},
                  {"samples_lost", t.samples_lost},
                  {"swamped", t.swamped},
                  {"between_losses", expectation_json(t.expectation)},
                  {"thin", t.thin()},
                  {"margin_ms", t.margin_ms},
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
    }
    out["trials"].push_back(std::move(row));
  }
  return out;
}

std::string advice_page(const advice::Advice& a) {
  nlohmann::json data = page_head("advice", fmt::format("{} on {}", a.device, a.host),
                                  a.suffices ? "sufficient" : "insufficient", a.headline, a.reasons);
  data["advice"] = advice_json(a);
  for (const config::Key& key : config::scenario_keys()) {
    const bool shown =
        key.path.starts_with("device.") || key.path.starts_with("host.") || key.path.starts_with("load.");
    if (shown) data["settings"].push_back({key.path, config::write_value(key, &a.base)});
  }
  return page_around("Advice: " + a.device + " - Offhook", data);
}

}  // namespace offhook
