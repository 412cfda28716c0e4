// SPDX-License-Identifier: MIT
//
// An experiment that a stranger adds.
#include "src/lab/reproduce/claim.h"

#include "offhook/modem_card.h"

namespace offhook::reproduce {

Outcome extension_ring(const Run& run) {
  Outcome out;
  out.rows = {input("ring", "samples", run.published.number("ring_samples"), OH_MODEM_RING_SAMPLES, "modem_card.h")};
  return out;
}

}  // namespace offhook::reproduce
