// SPDX-License-Identifier: MIT
//
// A scheduling policy of one's own: one more host.scheduler, "turns". It knows no priorities. Every thread has the CPU
// for a turn of 1 ms, then the next one has.
//
//   offhook --plugin ./libturns.so run call.toml      with scheduler = "turns" in its [host]
#include <offhook/plugin.h>

#include "hostsim/sched/scheduler.h"

using namespace offhook::hostsim;

namespace {

constexpr Ns kTurn = 1'000'000;

class InTurns final : public ThreadPolicy {
 public:
  void begin_job(Ns, const CurrentJob&, bool) override { left_ = kTurn; }
  void charge(Ns ran) override { left_ -= ran; }
  Change update(Ns) override {
    if (left_ > 0) return {};
    left_ = kTurn;
    return {.requeue = true};
  }
  Standing standing(Ns) const override { return {Band::kPriority, 0}; }  // all alike
  Ns allowance() const override { return left_; }

 private:
  Ns left_ = kTurn;
};

class Turns final : public Scheduler {
 public:
  bool has(ThreadRequest::Class wanted) const override {
    return wanted == ThreadRequest::Class::kPriority || wanted == ThreadRequest::Class::kProgram;
  }
  Policy thread(const ThreadRequest&) override {
    return OwnPolicy([] { return std::make_unique<InTurns>(); });
  }
};

}  // namespace

OH_PLUGIN(reason) {
  (void)reason;  // the exception has the reason
  register_policy("turns", [](const SchedulerHost&) { return std::make_unique<Turns>(); });
  return 0;
}
