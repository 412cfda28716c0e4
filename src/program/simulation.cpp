// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <string_view>

#include "driver/base/json.h"
#include "offhook/simulator.h"
#include "src/program/command/folder.h"
#include "traces/scenario/device.h"
#include "traces/scenario/scenario.h"

using namespace offhook;

struct oh_simulation {
  config::ScenarioBuilder builder;
  nlohmann::ordered_json results;  // null before a run
  std::string json, problem;
};

namespace {

thread_local std::string create_problem;

/// No exception crosses the C ABI. @return 0, or `status` with the reason
template <class Work>
int guarded(std::string& problem, const char** reason, int status, const Work& work) noexcept {
  try {
    work();
    return 0;
  } catch (const std::bad_alloc&) {
    status = -ENOMEM;
    problem = "not enough memory";
  } catch (const config::Error& e) {
    status = -EINVAL;
    problem = e.what();
  } catch (const std::invalid_argument& e) {
    status = -EINVAL;
    problem = e.what();
  } catch (const std::exception& e) {
    problem = e.what();
  }
  if (reason != nullptr) *reason = problem.c_str();
  return status;
}

std::string_view given(const char* text, const char* what) {
  if (text == nullptr) throw std::invalid_argument(std::string("no ") + what + " was given");
  return text;
}

hostsim::SoftDevice device_of(std::string_view text) {
  const bool is_text = text.find_first_of("=\n") != std::string_view::npos;
  return is_text ? config::parse_device(config::Document::parse(text, "device")) : config::load_device(text);
}

void add_device(config::ScenarioBuilder& builder, std::string_view name, std::string_view device,
                std::string_view context) {
  hostsim::Scenario scenario = builder.scenario();
  const auto& others = scenario.load.soft_devices;
  if (name.empty() || std::any_of(others.begin(), others.end(), [&](const auto& o) { return o.name == name; }))
    throw std::invalid_argument(fmt::format("the name \"{}\" of a device; expected a unique name", name));
  scenario.load.soft_devices.push_back({std::string(name), device_of(device), ContextSpec::parse(context)});
  builder = config::ScenarioBuilder(std::move(scenario));
}

RunSummary run(const hostsim::Scenario& scenario) {
  command::LogContents log;
  Analyzer analyzer;
  command::CallSinks sinks;
  sinks.header = [&](const traces::LogHeader& header) { log.header = header; };
  sinks.events = [&](std::span<const oh_event> events, std::uint64_t) {
    for (const oh_event& event : events) analyzer.add(event);
  };
  const CallOutcome outcome = command::run_call(scenario, {}, sinks);
  log.figures = analyzer.finish();
  return command::summary_of(scenario, outcome, log);
}

/// @return null if there is none
const nlohmann::ordered_json* result_of(const oh_simulation& s, const char* key) {
  const nlohmann::ordered_json* at = s.results.is_null() || key == nullptr ? nullptr : &s.results;
  for (std::string_view rest = at != nullptr ? key : ""; at != nullptr && !rest.empty();) {
    const std::string_view part = rest.substr(0, rest.find('.'));
    rest.remove_prefix(std::min(rest.size(), part.size() + 1));
    std::size_t index = 0;
    if (at->is_object()) {
      const auto found = at->find(std::string(part));
      at = found != at->end() ? &*found : nullptr;
    } else {
      const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), index);
      const bool whole = error == std::errc{} && end == part.data() + part.size();
      at = at->is_array() && whole && index < at->size() ? &(*at)[index] : nullptr;
    }
  }
  return at;
}

}  // namespace

oh_simulation* oh_simulation_create(const char** reason) {
  oh_simulation* made = nullptr;
  (void)guarded(create_problem, reason, -EIO, [&] { made = new oh_simulation; });
  return made;
}

void oh_simulation_destroy(oh_simulation* simulation) {
  delete simulation;
}

int oh_simulation_read(oh_simulation* s, const char* toml, const char** reason) {
  return guarded(s->problem, reason, -EINVAL,
                 [&] { s->builder.apply(config::Document::parse(given(toml, "text"), "scenario")); });
}

int oh_simulation_set(oh_simulation* s, const char* key, const char* value, const char** reason) {
  return guarded(s->problem, reason, -EINVAL,
                 [&] { s->builder.set(fmt::format("{}={}", given(key, "key"), given(value, "value"))); });
}

int oh_simulation_add_device(oh_simulation* s, const char* name, const char* device, const char* context,
                             const char** reason) {
  return guarded(s->problem, reason, -EINVAL, [&] {
    add_device(s->builder, given(name, "name"), given(device, "device"), given(context, "context"));
  });
}

int oh_simulation_run(oh_simulation* s, const char** reason) {
  return guarded(s->problem, reason, -EIO, [&] {
    s->results = nullptr;
    const RunSummary summary = run(s->builder.finish());
    s->results = record::to_json(kRunSummary, &summary);
    s->json = json_text(s->results, 1);
  });
}

int oh_simulation_number(const oh_simulation* s, const char* key, double* value) {
  const nlohmann::ordered_json* found = result_of(*s, key);
  if (found == nullptr) return -ENOENT;
  if (found->is_boolean()) return *value = found->get<bool>() ? 1 : 0, 0;
  if (!found->is_number()) return -EINVAL;
  *value = found->get<double>();
  return 0;
}

const char* oh_simulation_text(const oh_simulation* s, const char* key) {
  const nlohmann::ordered_json* found = result_of(*s, key);
  return found != nullptr && found->is_string() ? found->get_ref<const std::string&>().c_str() : nullptr;
}

const char* oh_simulation_json(const oh_simulation* s) {
  return s->results.is_null() ? nullptr : s->json.c_str();
}
