// SPDX-License-Identifier: MIT
#include "dsp/blocks/preemption_point.h"

namespace {

void (*let_others_run)() = nullptr;

}  // namespace

void oh_preemption_point() {
  if (let_others_run != nullptr) let_others_run();
}

void oh_set_preemption_point(void (*called)()) {
  let_others_run = called;
}
