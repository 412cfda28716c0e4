// SPDX-License-Identifier: MIT
//
// The decoded data of a call of V.22bis, V.32 or V.32bis: both directions, and changes after the connection was made.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "dsp/v32/coding.h"
#include "src/decode/line/change.h"
#include "src/decode/line/link.h"

namespace offhook::decode {

/// A rate signal of V.32bis (Table 5), or E (Table 6).
struct RateSignalHeard {
  double t0 = 0, t1 = 0;   ///< s
  std::string name;        ///< "R1" to "R5", "R4 or R5" if one direction alone was heard, "E"
  std::uint16_t bits = 0;  ///< bit k is Bk
  v32::RateSignal signal;
  int count = 0;            ///< sequences received in a row
  bool after_data = false;  ///< of a renegotiation or cleardown
};

struct Connection {
  struct Signal {
    double t0 = 0, t1 = 0;  ///< s
    std::string what;
    std::string detail{};
  };
  struct Side {
    int channel = -1;  ///< -1: not heard
    int carrier_hz = 0;
    double clock_ppm = 0;            ///< the transmitter's, against the recording's
    double frequency_offset_hz = 0;  ///< of the carrier
    std::vector<Signal> signals;     ///< of its training, in order of time
    std::vector<RateSignalHeard> rate_signals;
    std::vector<DataHeard> data;  ///< after each training and renegotiation
    std::vector<Link> links;      ///< one for each of data
  };
  const char* modulation = nullptr;  ///< "V.22bis", "V.32bis", "V.32", or null: nothing
  Side call, answer;
  std::vector<Change> changes;  ///< in order of time
};

}  // namespace offhook::decode
