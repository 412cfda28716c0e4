// SPDX-License-Identifier: MIT
//
// The streams of random numbers of a call: the second argument of Random.
#pragma once

#include <cstdint>

namespace offhook::hostsim {

enum CallStream : std::uint64_t {
  kIsrStream = 1,
  kPhaseStream,
  kCardStartStream,
  kPpmStream,
  kCostStream,
  kLatencyStream,
  kTraceStream,
  kDeviceStream = 0x100  // plus one for each further device
};

}  // namespace offhook::hostsim
