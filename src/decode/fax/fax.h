// SPDX-License-Identifier: MIT
//
// A call of fax machines: the calling tone, the frames of T.30 at 300 bit/s, and the pages between them.
#pragma once

#include <string>
#include <vector>

#include "src/decode/fax/pages.h"
#include "src/decode/line/recording.h"
#include "src/decode/modulation/v21_frames.h"

namespace offhook::decode {

/// An interval of CNG (T.30 4.2): 1100 Hz for half a second.
struct CallingTone {
  int channel = 0;
  double t0 = 0, t1 = 0;  ///< s
};

struct FaxHeard {
  std::vector<CallingTone> cng;
  /// If the pause between two of them is that of T.30 4.2.1, a fax machine is calling, whether it is answered or not.
  bool cng_repeats() const;
  std::vector<FaxFrame> frames;   ///< with a good check sequence, in order of time, echoes removed
  std::vector<FaxFrame> damaged;  ///< with a wrong one, of a known name; none without a good frame
  int flags_channel = -1;         ///< of a preamble of flags in the band of the answering station; -1: none
  bool has_t30() const { return !frames.empty() || flags_channel >= 0; }
  FaxPages sent;  ///< tests of the line, and pages
};

FaxHeard find_fax(const Recording& recording);

}  // namespace offhook::decode
