// SPDX-License-Identifier: MIT
//
// The parts of V.92 (11/2000) that an owner of a V.90 pump (pump.h) chooses for each call: the PCM upstream, and the
// short Phases 1 and 2 of a call over a line that is known from an earlier one. All functions come before the first
// sample, except begin_quick_connect(). Real-time: yes.
#pragma once

#include <stdint.h>

#include "dsp/v8/v8.h"
#include "dsp/v90/session/pump.h"

namespace offhook::v90 {

/// Bits of a set. Each of them is used only if the far end agrees.
enum ShortPhase : uint32_t {
  kShortPhase1 = 1,  ///< QC and QCA in place of V.8's menus; 9.2
  kShortPhase2 = 2,  ///< Phase 2 without probing; 9.4. It has V.34's upstream
  kByV8bis = 4       ///< answerer, with kShortPhase1: V.8 bis first, so that they may be QC2 and QCA2. A caller always
                     ///< answers V.8 bis by QC2
};
inline constexpr uint32_t kShortPhases = kShortPhase1 | kShortPhase2;

/// Makes the pump of oh_v90_type() that of oh_v92_type().  @return 0, or -EINVAL: too late
int allow_pcm_upstream(void* self);
/// oh_v90_quick_connect() with some of the short phases. @param phases  set of ShortPhase  @return 0, or -EINVAL
int prepare_quick_connect(void* self, const oh_v90_profile* profile, uint32_t phases);
/// The octets of V.8 for an owner that runs V.8 itself; sync is 0 if the short Phase 1 was not prepared.
v8::QuickConnect quick_connect_octets(const void* self);
/// That owner's V.8 ended with kShortPhase1: the next sample belongs to the short Phase 1.
void begin_quick_connect(void* self, const v8::Result& v8);

}  // namespace offhook::v90
