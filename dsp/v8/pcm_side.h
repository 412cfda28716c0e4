// SPDX-License-Identifier: MIT
//
// Which side of V.90 each of two modems takes, from what they said of themselves in V.8. V.90 (09/98) 9.1.1.
#pragma once

#include "dsp/v8/menu.h"

namespace offhook::v8 {

/// @param own, far  what each says: PCM modem availability and access  @param calls  we dialled
/// @return kPcmAnalogue or kPcmDigital; 0: none, and V.8 goes on as if V.90 had not been offered.
/// A digital modem is one that has a digital connection. Where both orders are possible, the caller is the analogue
/// one.
constexpr uint8_t pcm_side(const Menu& own, const Menu& far, bool calls) {
  const auto can_be_analogue = [](const Menu& m) { return m.has_pcm && (m.pcm & kPcmAnalogue) != 0; };
  const auto can_be_digital = [](const Menu& m) {
    return m.has_pcm && (m.pcm & kPcmDigital) != 0 && m.has_access && (m.access & kAccessDigital) != 0;
  };
  const bool analogue = can_be_analogue(own) && can_be_digital(far);
  const bool digital = can_be_digital(own) && can_be_analogue(far);
  if (analogue && (calls || !digital)) return kPcmAnalogue;
  return digital ? kPcmDigital : 0;
}

}  // namespace offhook::v8
