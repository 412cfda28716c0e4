// SPDX-License-Identifier: MIT
#include "dsp/v34/dpsk.h"

namespace offhook::v34 {

DpskReceiver::DpskReceiver(int carrier_hz)
    : converter_(carrier_hz, [](int k) { return dpsk_pulse((k - (3 * kTaps - 1) * 0.5) * kDpskBaud / 24000.); }) {}

bool DpskReceiver::put(float x, DpskDecision* decision) {
  Complex y;
  if (!converter_.put(x, &y)) return false;
  const Complex turn = y * conj(history_[phase_]);
  history_[phase_] = y;
  const float size = magnitude(turn);
  decision->phase = phase_;
  decision->bit = turn.re < 0;
  decision->peak = magnitude(y);
  decision->turn = size > 0 ? 1 / size * turn : Complex{};
  phase_ = static_cast<uint8_t>((phase_ + 1) % kPhases);
  return true;
}

}  // namespace offhook::v34
