// SPDX-License-Identifier: MIT
//
// The input and output of the near end of a device's line when nothing is ever late, computed beforehand in simulated
// time. So a live run need not compute line and far end: it plays the input, and compares the output. While nothing
// is late the live run is the same, sample by sample. After a loss the far end continues as if there had been none.
// The far end is the last to notice a loss, and a pump that counts its samples tolerates it.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "hostsim/call/scenario.h"
#include "offhook/card_engine.h"

namespace offhook::measure {

class Rehearsal {
 public:
  /// The scenario's device on its line; its blocks are served at once. @param progress  finished share; false stops it
  /// @throws std::invalid_argument for an impossible property of the device or its line, or more than a GiB of samples
  Rehearsal(const hostsim::Scenario& scenario, double seconds, const std::function<bool(double)>& progress);

  /// The line of a live card. After its end it is silent. Real-time: yes.
  oh_line_end line() { return {play, this}; }
  /// Sample periods in which the near end sent something else than in the rehearsal.
  std::uint64_t sent_otherwise() const { return sent_otherwise_; }

 private:
  static void play(void* self, const void* played, void* captured, std::size_t n);

  std::size_t heard_a_period_, sent_a_period_;  // samples
  std::vector<std::int16_t> heard_, sent_;
  std::size_t at_ = 0;  // periods
  std::uint64_t sent_otherwise_ = 0;
};

}  // namespace offhook::measure
