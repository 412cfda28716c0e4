// SPDX-License-Identifier: MIT
#include "src/program/command/host_and_load.h"

#include <filesystem>

#include "traces/scenario/host_source.h"

namespace offhook::command {

config::ScenarioBuilder host_and_load(const std::string& host) {
  config::ScenarioBuilder builder;
  builder.set("load.spinner=true");
  if (!host.ends_with(".toml")) {
    (void)config::load_host(host);  // an error in the name refers to the typed text
    builder.set("host.name=" + host);
    return builder;
  }
  config::Document document = config::Document::read_file(host);
  const bool placed = document.has("context.cpu") || document.has("context.interrupt_cpu") ||
                      document.has("context.dpc_cpu") || document.has("context.dpc_importance");
  if (document.has("context.kind") || (document.has("context") && !placed)) {
    throw config::Error(
        document.position("context") +
        ": this host file sets a context; expected host.* and load.*, and --set context=... to try a single context");
  }
  if (document.has("host") || document.has("load")) {
    builder.apply(std::move(document));
    return builder;
  }
  if (document.has("latency")) {  // written by `measure host-profile`, and present in traces/data/hosts
    builder.set("host.name=" + host);
    return builder;
  }
  hostsim::Scenario alone = builder.scenario();
  (void)config::take_host_source(document);
  config::apply_host_keys(document, alone.host);
  alone.host.name = std::filesystem::path(host).stem().string();
  return config::ScenarioBuilder(alone);
}

}  // namespace offhook::command
