// SPDX-License-Identifier: MIT
//
// Regehr and Stankovic, "Augmented CPU Reservations: Towards Predictable Execution on General-Purpose Operating
// Systems", RTAS 2001.
#include "src/reproduce/registry.h"

namespace offhook::reproduce {

std::vector<Experiment> regehr_experiments() {
  return {};
}

}  // namespace offhook::reproduce
