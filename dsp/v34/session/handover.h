// SPDX-License-Identifier: MIT
//
// A V.34 pump that continues after a Phase 2 run by another pump: V.90's, if INFO1a chose V.34 (V.90 9.2). If Phase 2
// must begin again, the V.90 pump continues, because that Phase 2 is also V.90's.
#pragma once

#include "dsp/v34/phase2/phase2.h"
#include "dsp/v34/session/session.h"

namespace offhook::v34 {

/// Phase 3 begins with the next sample. @param self  a pump that oh_v34_type()'s init created, with this end's role in
/// that Phase 2.  Real-time: yes; designs filters (cost: pump.h).
void begin_training(void* self, const Phase2Outcome& outcome);

/// Call it once per sample after that. @return the request to Phase 2, after which this pump is idle; otherwise kNone
Outcome handed_back(const void* self);

/// Starts Phase 2 from this outcome. @param why  kRetrain, kRepeatInfo1 or kRepeatInfo1WithMarks
void restart(Phase2* phase2, Outcome why);

}  // namespace offhook::v34
