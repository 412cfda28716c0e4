// SPDX-License-Identifier: MIT
//
// The hold of a scenario: one end requests that the other wait, and returns later to data mode.
#pragma once

#include <optional>

#include "driver/user_modem/modem.h"
#include "hostsim/call/connection.h"
#include "hostsim/call/scenario.h"

namespace offhook::hostsim {

class PlannedHold {
 public:
  /// @param asks  requests the hold; must outlive this object @param other likewise; null: an external modem
  PlannedHold(const HoldScenario& plan, modem::Modem& asks, const modem::Modem* other)
      : plan_(plan), asks_(asks), other_(other) {}

  /// Once per block, outside the driver. @param connected_at  negative: not yet connected
  void follow(Ns now, Ns connected_at);
  /// None: no request yet.
  std::optional<HoldStatus> status() const { return status_.asked_at >= 0 ? std::optional(status_) : std::nullopt; }

 private:
  bool in_data() const {
    return asks_.pump_status().state == OH_PUMP_DATA &&
           (other_ == nullptr || other_->pump_status().state == OH_PUMP_DATA);
  }

  HoldScenario plan_;
  modem::Modem& asks_;
  const modem::Modem* other_;
  HoldStatus status_;
};

}  // namespace offhook::hostsim
