// SPDX-License-Identifier: MIT
//
// What a recorded call that did not become V.34 may hold instead.
#pragma once

#include <string>
#include <vector>

#include "src/decode/data_mode.h"
#include "src/decode/link.h"
#include "src/decode/recording.h"

namespace offhook::decode {

struct Fallback {
  struct Signal {
    double t0 = 0, t1 = 0;  ///< s
    std::string what;
  };
  struct Side {
    int channel = -1;  ///< -1: not heard
    int carrier_hz = 0;
    double clock_ppm = 0;            ///< the transmitter's, against the recording's
    double frequency_offset_hz = 0;  ///< of the carrier
    std::vector<Signal> signals;     ///< of its training, in order of time
    std::vector<DataHeard> data;     ///< after each training
    std::vector<Link> links;         ///< one for each of data
  };
  const char* modulation = nullptr;  ///< "V.22bis", "V.32bis", "V.32", or null: nothing
  Side call, answer;
};

/// V.32bis: training, rate signals, E and data at 4800 to 14 400 bit/s. One recorded direction is enough.
Fallback find_v32bis(const Recording& recording);

/// V.22bis at 2400 or 1200 bit/s. One recorded direction is enough.
Fallback find_v22bis(const Recording& recording);

}  // namespace offhook::decode
