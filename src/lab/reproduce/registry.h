// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "src/lab/reproduce/claim.h"

namespace offhook::reproduce {

/// All experiments, in the order of the table in registry.cpp.
const std::vector<Experiment>& experiments();

/// A published claim and the experiment that reproduces it; `experiment` is null if there is none.
struct Claim {
  Published published;
  const Experiment* experiment = nullptr;
};

/// The claims with these names, in the order of the file; without names, all claims. A name is a claim's id, one of its
/// figures, or the beginning of one of these up to a dot: "jones", "jones.table3", "jones.fig7".
/// @param on_request  include claims that run only on request, even if they are not named in full
/// @throws config::Error for a name without a claim, or an experiment whose claim is not in the file
std::vector<Claim> select_claims(std::vector<Published> published, const std::vector<std::string>& names,
                                 bool on_request = false);

}  // namespace offhook::reproduce
