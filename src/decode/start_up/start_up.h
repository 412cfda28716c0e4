// SPDX-License-Identifier: MIT
//
// Phases 1 and 2 of a recorded call, heard passively: the answer tone, the menus of V.8bis and V.8, the INFO sequences
// of both modems, tones A and B with their reversals, and the probing signals.
//
// The search covers both channels, and in each channel the bands of both modems. The other direction's echo, 30 dB
// down, decodes as well as the signal itself, so of two detections the louder one is kept.
#pragma once

#include <vector>

#include "src/decode/start_up/answer_tone.h"
#include "src/decode/start_up/hold.h"
#include "src/decode/start_up/info.h"
#include "src/decode/start_up/probing.h"
#include "src/decode/start_up/tones.h"
#include "src/decode/start_up/v8.h"
#include "src/decode/start_up/v8bis_messages.h"
#include "src/decode/start_up/v8bis_signals.h"

namespace offhook::decode {

struct StartUp {
  std::vector<AnswerToneHeard> answer_tones;
  std::vector<V8bisSignal> v8bis_signals;
  std::vector<V8bisMessage> v8bis;
  V8Heard v8;
  std::vector<InfoHeard> info;  ///< in order of time, echoes removed
  std::vector<HoldHeard> hold;  ///< likewise: modem-on-hold of V.92, after data mode
  int channel_1200 = -1;        ///< of the call modem of Phase 2 (1200 Hz); -1: unknown
  int channel_2400 = -1;
  int call_channel = -1;
  int answer_channel = -1;
  const char* roles_from = nullptr;  ///< source of the channels of call and answer modem; null: none
  ToneHeard tone_a, tone_b;
  std::vector<Probing> probing;
};

/// @param recording  unchanged, except that `most` is set for a part of the search
StartUp listen_start_up(Recording& recording);

}  // namespace offhook::decode
