// SPDX-License-Identifier: MIT
//
// A scenario from a text, as if it stood in call.toml.
#pragma once

#include <string>
#include <string_view>

#include "traces/scenario/scenario.h"

namespace offhook::config {

inline hostsim::Scenario read(std::string_view text) {
  ScenarioBuilder builder;
  builder.apply(Document::parse(text, "call.toml"));
  return builder.finish();
}

/// The error message for this text.
inline std::string complaint(std::string_view text) {
  try {
    read(text);
  } catch (const Error& e) {
    return e.what();
  }
  return "no error";
}

}  // namespace offhook::config
