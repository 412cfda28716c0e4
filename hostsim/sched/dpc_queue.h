// SPDX-License-Identifier: MIT
//
// Deferred procedure calls of Windows NT (Solomon and Russinovich, Inside Windows 2000, chapter 3, "DPC
// interrupts"). No DPC preempts another one. The importance of a DPC decides whether it is requested at once:
//   low     only if it is queued on its own CPU and fewer than 3 DPCs arrive per clock interval
//   medium  only if it is queued on its own CPU
//   high    always
// Other DPCs wait until the queue is emptied for another DPC, holds more than 4 DPCs, the CPU becomes idle or its
// clock interrupts.
#pragma once

#include "hostsim/sched/deferred_work.h"

namespace offhook::hostsim {

class DpcQueue final : public DeferredWork {
 public:
  bool tick() override {
    request_rate_ = (std::exchange(requests_, 0) + request_rate_) / 2;
    return idle();
  }

 private:
  static constexpr std::size_t kMaximumDepth = 4;
  static constexpr int kMinimumRate = 3;

  bool queued(Ns, DpcImportance importance, bool on_own_cpu) override {
    requests_++;
    return importance == DpcImportance::kHigh || jobs() > kMaximumDepth ||
           (on_own_cpu && (importance == DpcImportance::kMedium || request_rate_ < kMinimumRate));
  }

  int requests_ = 0;      // count in this clock interval
  int request_rate_ = 0;  // count in earlier intervals: a mean that halves each time
};

}  // namespace offhook::hostsim
