// SPDX-License-Identifier: MIT
#include "src/lab/analysis/tally.h"

#include <algorithm>

#include "dsp/link/lapm.h"
#include "offhook/pump.h"

namespace offhook {

void ServiceTally::add(const oh_event& event) {
  switch (event.kind) {
    case OH_EV_INTERRUPT:
      interrupts += 1;
      break;
    case OH_EV_RX_OVERRUN:
      losses.overrun_samples += event.argument;
      break;
    case OH_EV_TX_UNDERRUN:
      losses.underrun_samples += event.argument;
      break;
    case OH_EV_FILL_IN:
      losses.samples_filled_in += event.argument;
      break;
    case OH_EV_OUTPUT_READY:
      losses.samples_late += event.argument;
      burst = event.argument > 0 ? burst + 1 : 0;
      if (burst == 0) break;
      losses.blocks_late += 1;
      late_bursts += burst == 1 ? 1 : 0;
      longest_burst = std::max(longest_burst, burst);
      break;
    case OH_EV_SERVICE_END:
      blocks += 1;
      pending_max = std::max(pending_max, event.argument);
      break;
    default:
      break;
  }
}

void TransferTally::add(const oh_event& event) {
  switch (event.kind) {
    case OH_EV_PUMP_STATE:
      if (event.argument == OH_PUMP_DATA && data_mode_ns == 0) data_mode_ns = event.time_ns;
      break;
    case OH_EV_LINK_STATE:
      if ((event.argument & 0xFF) == OH_LAPM_CONNECTED && link_ns == 0) link_ns = event.time_ns;
      break;
    case OH_EV_PHASE:
      if (link_ns != 0 && !noticed) link_ns = event.time_ns;
      noticed = link_ns != 0;
      break;
    case OH_EV_LINK_RETRANSMIT:
      recoveries += 1;
      frames_retransmitted += event.argument;
      break;
    case OH_EV_LINK_BYTES:  // repeated with the same count if a frame came twice
      if (event.argument != bytes_delivered) bytes_ns = event.time_ns;
      bytes_delivered = event.argument;
      break;
    default:
      break;
  }
}

double TransferTally::seconds() const {
  const std::uint64_t from_ns = link_ns != 0 ? link_ns : data_mode_ns;
  return bytes_ns > from_ns ? static_cast<double>(bytes_ns - from_ns) / 1e9 : 0;
}

RunOutcome TransferTally::outcome(std::uint64_t bytes) const {
  const bool complete = bytes_delivered >= bytes;
  return {complete, complete ? seconds() : 0};
}

}  // namespace offhook
