// SPDX-License-Identifier: MIT
//
// A V.34 pump that takes over from a Phase 2 which another has run: V.90's, where INFO1a chose V.34 (V.90 9.2). What
// would begin a Phase 2 again is handed back, for that is V.90's, too.
#pragma once

#include "dsp/v34/phase2/phase2.h"
#include "dsp/v34/session/session.h"

namespace offhook::v34 {

/// Phase 3 begins with the next sample. @param self  a pump that oh_v34_type()'s init has made, with the role that its
/// end had in that Phase 2.  Real-time: yes; designs filters (pump.h says what that costs).
void begin_training(void* self, const Phase2Outcome& outcome);

/// Once a sample after that: what is wanted of Phase 2, for which this pump does nothing any more; else kNone.
Outcome handed_back(const void* self);

/// Phase 2 as such an outcome wants it. @param why  kRetrain, kRepeatInfo1 or kRepeatInfo1WithMarks
void restart(Phase2* phase2, Outcome why);

}  // namespace offhook::v34
