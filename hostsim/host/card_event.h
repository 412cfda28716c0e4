// SPDX-License-Identifier: MIT
#pragma once

#include "hostsim/engine/engine.h"
#include "hostsim/host/card.h"

namespace offhook::hostsim {

/// Drives a card by an engine, with an event at each block's end. Both must outlive this object's pending events.
class CardEvent final : public Event {
 public:
  CardEvent(Engine& engine, SimulatedCard& card) : engine_(engine), card_(card) {
    card_.use_clock([&engine] { return engine.now(); });
  }

  void start() {
    card_.start(engine_.now());
    schedule();
  }
  void set_rate(std::uint32_t rate_hz) {
    card_.set_rate(engine_.now(), rate_hz);
    schedule();
  }
  void fire(Ns now) override {
    if (now != due_) return;  // remainder from before a change of rate
    card_.advance_to(now);
    schedule();
  }

 private:
  void schedule() {
    due_ = card_.next_interrupt();
    if (due_ != kNever) engine_.at(due_, *this);
  }
  Engine& engine_;
  SimulatedCard& card_;
  Ns due_ = kNever;
};

}  // namespace offhook::hostsim
