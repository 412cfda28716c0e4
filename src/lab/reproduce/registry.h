// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "src/lab/reproduce/claim.h"

namespace offhook::reproduce {

// One function a paper, each in a file of its own.
std::vector<Experiment> jones_experiments();    ///< Jones and Saroiu, SIGMETRICS 2001
std::vector<Experiment> regehr_experiments();   ///< Regehr and Stankovic, RTSS 2001
std::vector<Experiment> cota_experiments();     ///< Cota-Robles and Held, OSDI 1999
std::vector<Experiment> siemens_experiments();  ///< Windows CE 3.0 latency report
std::vector<Experiment> chen_experiments();     ///< Chen et al., SOSP 1995

/// All of them, in this order.
const std::vector<Experiment>& experiments();

/// A published claim with the experiment that makes it again; without one, `experiment` is null.
struct Claim {
  Published published;
  const Experiment* experiment = nullptr;
};

/// The claims that these names mean, in the order of the file; no names: all. A name is a claim's id, one of its
/// figures, or a beginning of either up to a dot: "jones", "jones.table3", "jones.fig7".
/// @throws config::Error for a name that means none, and for an experiment of a claim that is not in the file
std::vector<Claim> select_claims(std::vector<Published> published, const std::vector<std::string>& names);

}  // namespace offhook::reproduce
