// SPDX-License-Identifier: MIT
//
// A V.34 pump that takes over from a Phase 2 which another has run: V.90's, where INFO1a chose V.34 (V.90 9.2).
#pragma once

#include "dsp/v34/phase2/phase2.h"

namespace offhook::v34 {

/// Phase 3 begins with the next sample. @param self  a pump that oh_v34_type()'s init has made, with the role that its
/// end had in that Phase 2.  Real-time: yes; designs filters (pump.h says what that costs).
void begin_training(void* self, const Phase2Outcome& outcome);

}  // namespace offhook::v34
