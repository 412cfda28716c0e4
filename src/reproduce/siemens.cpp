// SPDX-License-Identifier: MIT
//
// The Siemens report on Windows CE 3.0 latencies.
#include "src/reproduce/registry.h"

namespace offhook::reproduce {

std::vector<Experiment> siemens_experiments() {
  return {};
}

}  // namespace offhook::reproduce
