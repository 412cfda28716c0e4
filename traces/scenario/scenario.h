// SPDX-License-Identifier: MIT
//
// Scenarios from TOML: examples/*.toml are examples; `offhook help keys scenario` lists every key.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>

#include "hostsim/call/scenario.h"
#include "traces/scenario/document.h"
#include "traces/scenario/key.h"

namespace offhook::config {

const KeyTable& scenario_keys();
const KeyTable& host_keys();  ///< of traces/data/hosts/*.toml

/// A scenario under construction: layers of settings, each above the previous ones; each error has a position.
class ScenarioBuilder {
 public:
  /// Starts with the defaults on the default host.
  ScenarioBuilder();
  explicit ScenarioBuilder(hostsim::Scenario base) : scenario_(std::move(base)) {}
  /// @throws Error. `host.name` loads that host before the document's own host.* keys; `context` can be a short form.
  void apply(Document document);
  void apply_file(const std::filesystem::path& file) { apply(Document::read_file(file)); }
  /// "context.y_ticks=9", "context=RES 3/16 strict"
  void set(std::string_view assignment) { apply(Document::assignment(assignment)); }
  /// Checks conditions on several keys. @throws Error
  hostsim::Scenario finish() const;
  const hostsim::Scenario& scenario() const { return scenario_; }

 private:
  void check() const;
  hostsim::Scenario scenario_;
  Origins origins_;
};

/// The effective scenario as TOML; reading it gives the same scenario.
std::string to_toml(const hostsim::Scenario& scenario);
/// traces/data/hosts/NAME.toml. @throws Error
hostsim::HostScenario load_host(std::string_view name);
/// Applies the keys of a host's file. On a Linux, missing keys have the values of every Linux: SCHED_DEADLINE, 99
/// real-time priorities, a tick of 250 Hz, high-resolution timers.
/// @throws Error as Document::apply()
void apply_host_keys(const Document& file, hostsim::HostScenario& host);

}  // namespace offhook::config
