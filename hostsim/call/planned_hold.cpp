// SPDX-License-Identifier: MIT
#include "hostsim/call/planned_hold.h"

#include "dsp/v90/coding/hold_sequence.h"

namespace offhook::hostsim {

namespace {
Ns nanoseconds(double s) {
  return static_cast<Ns>(s * 1e9);
}
}  // namespace

void PlannedHold::follow(Ns now, Ns connected_at) {
  if (plan_.at_s <= 0 || connected_at < 0 || status_.data_at >= 0) return;
  if (status_.asked_at < 0) {
    // Hold is not possible during training, so it is requested when data mode returns.
    if (now < connected_at + nanoseconds(plan_.at_s) || !in_data()) return;
    status_.asked_at = now;
    if (!asks_.hold(OH_HOLD_REQUEST)) status_.refused_at = status_.data_at = now;
    return;
  }
  const oh_pump_status pump = asks_.pump_status();
  if (status_.away_at < 0 && pump.hold == OH_HOLD_AWAY) {
    status_.away_at = now;
    const std::uint32_t seconds = v90::hold_seconds(static_cast<int>(pump.hold_timeout));
    status_.limit_s = seconds == v90::kNoHoldLimit ? 0 : seconds;
  }
  if (status_.refused_at < 0 && pump.hold == OH_HOLD_DENIED) status_.refused_at = now;
  const bool is_over = status_.away_at >= 0 && now >= status_.away_at + nanoseconds(plan_.away_s);
  if (is_over && status_.resumed_at < 0 && asks_.hold(OH_HOLD_RESUME)) status_.resumed_at = now;
  if ((status_.resumed_at >= 0 || status_.refused_at >= 0) && in_data()) status_.data_at = now;
}

}  // namespace offhook::hostsim
