// SPDX-License-Identifier: MIT
//
// The law against the simulator on random devices: random rates, block plans, leads, costs, phi and ticks.
// For each device, take the longest period in ticks that the full law grants to some X. With it, the device must lose
// nothing from any starting phase. With one tick more, it must lose samples from the worst phase.
//
// Host and device only process the blocks, so that the comparison covers only the law: no clock interrupts, no switch,
// no interrupt routine, costs without spread, equal crystals. The worst phase is constructed: for each block of the
// plan, the slots are shifted so that one ends as the block arrives. The simulated card plays a sample at the end of
// its period, so output may come one sample later than in the law. The law gets that sample as additional lead.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "hostsim/call/soft_device.h"
#include "src/lab/advice/law.h"

namespace offhook::law {

/// Result for a device at its boundary.
enum class Agreement : std::uint8_t {
  kEqual,     ///< granted: nothing was lost; with one more tick: lost
  kRounding,  ///< the margin at or after the boundary is smaller than the resolution of whole ns
  kSlow,      ///< after the boundary, the share is too small, but by so little that the backlog outlasts the run
  kStarved,   ///< lost although granted, so the law is wrong
  kUnharmed,  ///< nothing was lost with one more tick, so the law is too strict
};
std::string_view to_string(Agreement agreement);
/// Whether the result is explained: kEqual, kRounding or kSlow.
bool explained(Agreement agreement);

struct CheckedDevice {
  std::uint64_t index = 0;
  hostsim::SoftDevice device;
  int tick_hz = 1024;
  int x_ticks = 1;
  int y_ticks = 0;       ///< the longest one that the law grants; 0: none
  double margin_ms = 0;  ///< margin of the law there
  double beyond_ms = 0;  ///< margin of the law one tick later, negative; -infinity: the share is too small
  Agreement agreement = Agreement::kEqual;
};

/// Deterministic in (seed, index). Thread-safe.
CheckedDevice check_device(std::uint64_t seed, std::uint64_t index);

struct CheckOptions {
  std::uint64_t seed = 1;
  std::size_t devices = 2000;
  unsigned threads = 1;
  bool (*stop)() = [] { return false; };
  std::function<void(std::size_t done)> progress;  ///< called by one thread at a time
};
/// @return one for each device, in order; empty if stopped
std::vector<CheckedDevice> check_devices(const CheckOptions& options);

}  // namespace offhook::law
