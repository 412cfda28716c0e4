// SPDX-License-Identifier: MIT
//
// Cota-Robles and Held, "A Comparison of Windows Driver Model Latency Performance on Windows NT and Windows 98",
// OSDI 1999.
#include "src/reproduce/registry.h"

namespace offhook::reproduce {

std::vector<Experiment> cota_experiments() {
  return {};
}

}  // namespace offhook::reproduce
