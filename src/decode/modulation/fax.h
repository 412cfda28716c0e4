// SPDX-License-Identifier: MIT
//
// What tells a call of fax machines: the calling tone, and the frames of T.30 at 300 bit/s. Pages are not read.
#pragma once

#include <string>
#include <vector>

#include "src/decode/line/recording.h"
#include "src/decode/modulation/v21_frames.h"

namespace offhook::decode {

/// A frame of T.30 with a good check sequence.
struct FaxFrame {
  int channel = 0;
  double t = 0;                        ///< s
  std::string name;                    ///< "DIS", "DCS", ...: its facsimile control field (T.30 5.3.6)
  V21Frame received;                   ///< with the address and control octets
  std::vector<std::string> meaning{};  ///< of DIS, DTC and DCS: what they say, in words
};

/// A stretch of CNG (T.30 4.2): 1100 Hz for half a second.
struct CallingTone {
  int channel = 0;
  double t0 = 0, t1 = 0;  ///< s
};

struct FaxHeard {
  std::vector<CallingTone> cng;
  /// Two of them as far apart as T.30 4.2.1 has it: a fax machine calls, whether it is answered or not.
  bool cng_repeats() const;
  std::vector<FaxFrame> frames;  ///< in order of time, echoes removed
  int flags_channel = -1;  ///< where a preamble of flags was heard in the band of the answering station; -1: nowhere
};

FaxHeard find_fax(const Recording& recording);

/// The name of a frame by its facsimile control field (T.30 5.3.6): "DIS", "MCF".
std::string fax_frame_name(std::uint8_t control_field);
/// The capabilities in DIS, DTC and DCS, in words. @param frame  with the address and control octets  @return empty:
/// another frame
std::vector<std::string> fax_meaning(const std::string& name, const std::vector<std::uint8_t>& frame);

}  // namespace offhook::decode
