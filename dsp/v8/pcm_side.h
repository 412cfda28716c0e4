// SPDX-License-Identifier: MIT
//
// The sides of two modems in V.90, from their menus of V.8. V.90 (09/98) 9.1.1.
#pragma once

#include "dsp/v8/menu.h"

namespace offhook::v8 {

/// @param own, far  menus: PCM modem availability and access  @param calls  whether this end called
/// @return kPcmAnalogue or kPcmDigital; 0: none, and V.8 continues as if V.90 had not been offered. A digital modem has
/// a digital connection. If both assignments are possible, the caller is the analogue modem.
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
