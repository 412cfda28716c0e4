// SPDX-License-Identifier: MIT
//
// Chen et al., "The Measured Performance of Personal Computer Operating Systems", SOSP 1995.
#include "src/lab/reproduce/registry.h"

namespace offhook::reproduce {

namespace {

Outcome microbenchmarks(const Run& run) {
  Outcome out;
  for (const std::string& benchmark : run.published.texts("benchmarks"))
    out.rows.push_back(input("benchmark", benchmark, "measured on the live host: `offhook measure`"));
  for (const std::string& counter : run.published.texts("counters"))
    out.rows.push_back(input("counter", counter, "read where the machine has it: `offhook measure`"));
  out.summary = "Times of machines of 1995 are not claimed; the list of what to measure is.";
  return out;
}

}  // namespace

std::vector<Experiment> chen_experiments() {
  return {{"chen.microbenchmarks", "Microbenchmarks of the host", {}, microbenchmarks, 0}};
}

}  // namespace offhook::reproduce
