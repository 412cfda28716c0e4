// SPDX-License-Identifier: MIT
//
// PP and TRN of one direction, found by correlation over a stretch of the recording.
#pragma once

#include <vector>

#include "dsp/v34/coding/framing.h"
#include "dsp/v34/coding/training.h"
#include "src/decode/line/baseband.h"

namespace offhook::decode {

/// One direction of a training, as INFO1 chose it; the defaults apply if no INFO1 was heard.
struct Direction {
  v34::SymbolRate rate = v34::SymbolRate::k2400;
  v34::Carrier carrier = v34::Carrier::kLow;
  Scrambling scrambling = kGpc;
  bool v90 = false;  ///< from the analogue modem of V.90
  bool pcm = false;  ///< V.92's PCM upstream: 8000 symbols/s without a carrier, `rate` and `carrier` have no meaning
  int channel = 0;
  int pre_emphasis = 0;    ///< index
  int projected_rate = 0;  ///< bit/s, of INFO1
};

/// A known sequence found. Times in samples.
struct Anchor {
  double t = 0;                                          ///< of the first symbol of PP, or of TRN
  bool pp = false;                                       ///< PP, with TRN after it, at once or two symbols off
  v34::TrainingPoints points = v34::TrainingPoints::k4;  ///< of TRN
  double correlation = 0;                                ///< 0 to 1
};

/// In order of time. A PP counts with this direction's TRN after it (the other direction's echo has the same PP); that
/// TRN is then not a separate anchor.  @param from_s, to_s  range to search
std::vector<Anchor> find_anchors(const Baseband& line, const Direction& direction, double from_s, double to_s);

}  // namespace offhook::decode
