// SPDX-License-Identifier: MIT
//
// What a recorded call that did not become V.34 may hold instead.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "dsp/v32/coding.h"
#include "src/decode/data/data_mode.h"
#include "src/decode/data/link.h"
#include "src/decode/line/recording.h"

namespace offhook::decode {

/// A rate signal of V.32bis (Table 5), or E (Table 6).
struct RateSignalHeard {
  double t0 = 0, t1 = 0;   ///< s
  std::string name;        ///< "R1" to "R5", "R4 or R5" where one direction alone was heard, "E"
  std::uint16_t bits = 0;  ///< bit k is Bk
  v32::RateSignal signal;
  int count = 0;            ///< sequences received in a row
  bool after_data = false;  ///< of a renegotiation or cleardown
};

struct Fallback {
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
  /// What happened to the connection after it was made.
  struct Change {
    enum class Kind : std::uint8_t { kRenegotiation, kRetrain, kCleardown } kind;
    double t = 0;  ///< s
    int channel = -1;
    const char* by = nullptr;    ///< "call", "answer", "both"; null: one direction alone was heard
    std::uint32_t bit_rate = 0;  ///< after it; 0: unknown, or none
    const char* name() const {
      return kind == Kind::kRetrain ? "retrain" : kind == Kind::kCleardown ? "cleardown" : "rate renegotiation";
    }
  };
  const char* modulation = nullptr;  ///< "V.22bis", "V.32bis", "V.32", or null: nothing
  Side call, answer;
  std::vector<Change> changes;  ///< in order of time; of V.32bis only
};

/// V.32bis and V.32: tones, training, rate signals, E and data at 4800 to 14 400 bit/s, retrains, renegotiations and
/// cleardown. One recorded direction is enough.
Fallback find_v32bis(const Recording& recording);

/// V.22bis at 2400 or 1200 bit/s. One recorded direction is enough.
Fallback find_v22bis(const Recording& recording);

}  // namespace offhook::decode
