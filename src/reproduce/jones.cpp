// SPDX-License-Identifier: MIT
//
// Jones and Saroiu, "Predictability Requirements of a Soft Modem", SIGMETRICS 2001.
#include "src/reproduce/jones.h"

#include "src/reproduce/registry.h"

namespace offhook::reproduce {

std::vector<Experiment> jones_experiments() {
  return {
      {"jones.fig1.interrupt_period", "The modem's interrupt rate over a call", {"jones.fig1"}, jones_fig1, 0.1},
  };
}

}  // namespace offhook::reproduce
