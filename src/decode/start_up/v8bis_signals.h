// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include "src/decode/line/recording.h"

namespace offhook::decode {

/// A signal of V.8bis: two tones together, which identify the initiating or the responding station as sender, then
/// one tone that names it. Source: V.8bis (08/96) 7.1; of CRe and MRe the first segment may last 285 ms (11/2000).
/// Times in seconds, amplitudes are peaks in int16 units.
struct V8bisSignal {
  int channel = 0;
  const char* name = "";    ///< "MRe", "MRd", "CRe", "CRd", "ESi", "ESr"
  bool responding = false;  ///< 1529 and 2225 Hz, else 1375 and 2002 Hz
  int tone_hz = 0;          ///< of segment 2
  double t0 = 0;            ///< segment 1
  double t_segment2 = 0;
  double t1 = 0;         ///< the end. Of ESi and ESr segment 2 is also the mark that a message begins with
  double amplitude = 0;  ///< of segment 2
};

/// All signals of a recording in order of time, echoes removed.
std::vector<V8bisSignal> v8bis_signals(const Recording& recording);

}  // namespace offhook::decode
