// SPDX-License-Identifier: MIT
//
// Chen et al., "The Measured Performance of Personal Computer Operating Systems", SOSP 1995.
#include "src/reproduce/registry.h"

namespace offhook::reproduce {

std::vector<Experiment> chen_experiments() {
  return {};
}

}  // namespace offhook::reproduce
