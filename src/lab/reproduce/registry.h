// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "src/lab/reproduce/claim.h"

namespace offhook::reproduce {

/// All experiments, in the order of the table in registry.cpp.
const std::vector<Experiment>& experiments();

/// A published claim with the experiment that reproduces it; if there is none, `experiment` is null.
struct Claim {
  Published published;
  const Experiment* experiment = nullptr;
};

/// The claims with these names, in the order of the file; no names: all. A name is a claim's id, one of its figures, or
/// a beginning of either up to a dot: "jones", "jones.table3", "jones.fig7".
/// @param on_request  include claims that only run on request, even if not named in full
/// @throws config::Error for a name without a claim, and for an experiment of a claim that is not in the file
std::vector<Claim> select_claims(std::vector<Published> published, const std::vector<std::string>& names,
                                 bool on_request = false);

}  // namespace offhook::reproduce
