// SPDX-License-Identifier: MIT
//
// A device that steals time in bottom halves (Regehr and Stankovic 2001, section 5): every transfer is an interrupt and
// a DPC. Programmed I/O copies the bytes in the handler. Disks, USB, a controller that holds interrupts off, a network
// and a soft modem's blocks are all of this kind and differ in these numbers; traces/import/*.toml has them with
// sources.
#pragma once

#include <string>

#include "hostsim/cpu/cpu.h"

namespace offhook::hostsim {

/// Plain data. A spread is a share of the mean: each value is uniformly within that share above or below.
struct LoadDevice {
  std::string name = "device";
  Ns every_ns = 1'000'000;  ///< between transfers; for a network: a segment's time on the wire
  double jitter = 0;        ///< later by up to this share of `every_ns`, uniformly
  Ns isr_ns = 0;            ///< at interrupt level, including copying by programmed I/O
  double isr_spread = 0;
  Ns dpc_ns = 0;  ///< 0: no DPC
  double dpc_spread = 0;
  int level = 10;           ///< of the interrupt; if above all others, it holds interrupts off
  int window = 0;           ///< unread segments at which the sender stops; 0: no reader needed
  Ns read_ns = 0;           ///< window > 0: the reading thread's work for one segment
  Ns round_trip_ns = 0;     ///< window > 0: time from a read until the data that it permitted arrive
  int reader_priority = 9;  ///< window > 0
  DpcImportance dpc_importance = DpcImportance::kMedium;
  int napi_budget = 0;                 ///< window > 0: maximum segments per poll, as in NAPI; 0: one interrupt for each
  int cpu = 0;                         ///< CPU that takes its interrupt and runs its DPC
  int reader_cpu = -1;                 ///< window > 0: CPU to which the reader is pinned; -1: any
  Ns begin_ns = 0;                     ///< active in [begin_ns, end_ns)
  Ns end_ns = 10'000'000'000'000'000;  ///< 10^7 s: longer than any run

  /// Mean share of the CPU that its interrupt and DPC take when it is not slowed down.
  double share() const { return static_cast<double>(isr_ns + dpc_ns) / static_cast<double>(every_ns); }
};

}  // namespace offhook::hostsim
