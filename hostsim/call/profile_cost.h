// SPDX-License-Identifier: MIT
//
// CPU time of a driver on a simulated host by a cost profile: the time of its interrupt routine, and of a service by
// its number of samples.
#pragma once

#include "hostsim/call/cost_profile.h"
#include "hostsim/engine/random.h"
#include "hostsim/host/context.h"

namespace offhook::hostsim {

/// The profile's cost per block within a phase, within its spread; the first block of a phase has the worst-case cost.
class ProfileCost final : public ServiceCost {
 public:
  /// @param profile  outlives it  @param logging  whether to add the time of the kernel's logging
  ProfileCost(const CostProfile& profile, bool logging, Random isrs, Random blocks)
      : profile_(profile), logging_(logging), isrs_(isrs), blocks_(blocks) {}

  void enter(Phase phase);
  /// Sets the mean cost of a block from now on; 0: that of the phase.
  void set_service(Ns service) { service_ = service; }
  Ns isr() override;
  Ns next_isr() override;
  Ns service(std::uint32_t samples) override;
  double phi() override { return profile_.phi; }

 private:
  void draw_isrs();
  const CostProfile& profile_;
  bool logging_;
  static constexpr std::size_t kAhead = 16;
  Random isrs_;
  UniformDraws blocks_;
  const PhaseProfile* phase_ = nullptr;
  bool worst_due_ = false;
  Ns service_ = 0;           // of one block; 0: that of the phase
  std::uint64_t drawn_ = 0;  // interrupts
  std::size_t at_ = kAhead;  // of those ahead
  Ns ahead_[kAhead];
};

}  // namespace offhook::hostsim
