// SPDX-License-Identifier: MIT
//
// A second soft device on a host, in addition to the simulated one. Its card interrupts, and its driver serves blocks
// in its own context; it can only lose samples. It sends and receives silence, and appears in the log only by the CPU
// time of its context.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

#include "hostsim/call/call.h"
#include "hostsim/call/host_policies.h"
#include "hostsim/call/profile_cost.h"
#include "hostsim/host/card_event.h"
#include "hostsim/host/context.h"

namespace offhook::hostsim {

class DeviceOnHost {
 public:
  /// @param i  of scenario.load.soft_devices; all arguments must outlive this object
  /// @throws std::invalid_argument as Call
  DeviceOnHost(const Scenario& scenario, std::size_t i, Engine& engine, Cpu& cpu, HostPolicies& policies, int level);
  DeviceOnHost(const DeviceOnHost&) = delete;
  DeviceOnHost& operator=(const DeviceOnHost&) = delete;

  DeviceResult result() const;

 private:
  struct Start final : Event {
    explicit Start(CardEvent& event) : card(event) {}
    void fire(Ns) override { card.start(); }
    CardEvent& card;
  };

  const CompetingDevice& what_;
  Engine& engine_;
  Cpu& cpu_;
  const DeviceWork work_;
  const CostProfile profile_;
  ProfileCost cost_;
  oh_driver driver_{};
  SimulatedCard card_;
  CardEvent card_event_;
  std::unique_ptr<Context> context_;
  Start start_;
  Ns started_ = 0, first_loss_ = -1;
};

}  // namespace offhook::hostsim
