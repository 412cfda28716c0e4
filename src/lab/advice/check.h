// SPDX-License-Identifier: MIT
//
// The law against the simulator on random devices: random rates, block plans, leads, costs, phi and ticks.
// For each, the longest period in ticks that the full law grants to some X has to lose nothing from any starting phase,
// and one tick more has to lose samples from the worst one.
//
// Host and device do nothing but the blocks (no clock interrupts, no switch, no interrupt routine, costs without
// spread, equal crystals), so that the comparison covers the law alone. The worst phase is constructed, not waited for:
// the slots are shifted so that one ends as a block arrives, for each block of the plan. The simulated card plays a
// sample at the end of its period, so that output may come one sample later than in the law: the law is given that
// sample as lead.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "hostsim/call/soft_device.h"
#include "src/lab/advice/law.h"

namespace offhook::law {

/// Result for a device's boundary.
enum class Agreement : std::uint8_t {
  kEqual,     ///< granted: nothing lost; a tick more: lost
  kRounding,  ///< the margin at or beyond the boundary is less than the resolution of whole ns
  kSlow,      ///< beyond the boundary the share is too small, by so little that the backlog outlasts the run
  kStarved,   ///< lost although granted: the law is wrong
  kUnharmed,  ///< a tick more loses nothing: the law is too strict
};
std::string_view to_string(Agreement agreement);
/// Whether a difference is of the kinds that are understood: kEqual, kRounding, kSlow.
bool explained(Agreement agreement);

struct CheckedDevice {
  std::uint64_t index = 0;
  hostsim::SoftDevice device;
  int tick_hz = 1024;
  int x_ticks = 1;
  int y_ticks = 0;       ///< the longest that the law grants; 0: none
  double margin_ms = 0;  ///< of the law there
  double beyond_ms = 0;  ///< of the law one tick beyond, negative; -infinity: the share is too small
  Agreement agreement = Agreement::kEqual;
};

/// Deterministic in (seed, index). Thread-safe.
CheckedDevice check_device(std::uint64_t seed, std::uint64_t index);

struct CheckOptions {
  std::uint64_t seed = 1;
  std::size_t devices = 2000;
  unsigned threads = 1;
  bool (*stop)() = [] { return false; };
  std::function<void(std::size_t done)> progress;  ///< one call at a time
};
/// @return one for each device, in order; empty when stopped
std::vector<CheckedDevice> check_devices(const CheckOptions& options);

}  // namespace offhook::law
