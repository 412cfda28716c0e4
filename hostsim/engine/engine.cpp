// SPDX-License-Identifier: MIT
#include "hostsim/engine/engine.h"

#include <algorithm>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "hostsim/engine/event_queue.h"
#include "hostsim/engine/processor.h"

namespace offhook::hostsim {

struct Engine::Impl {
  explicit Impl(Ns& clock) : now(clock) {}
  EventQueue queue;
  std::vector<Processor*> processors;
  std::uint64_t handled = 0;
  Ns& now;
  Ns horizon = 0;
  bool stopped = false;

  // All processors. A single one, as on most hosts, is known at compile time.
  template <bool kSeveral>
  std::span<Processor* const> all() const {
    return {processors.data(), kSeveral ? processors.size() : 1};
  }
  template <bool kSeveral>
  Ns next() {
    Ns next = queue.first();
    for (const Processor* processor : all<kSeveral>()) next = std::min(next, processor->wake);
    return next;
  }
  template <bool kSeveral>
  void run();
};

Engine::Engine() : impl_(std::make_unique<Impl>(now_)) {}
Engine::~Engine() = default;

std::uint64_t Engine::events_handled() const {
  return impl_->handled;
}
void Engine::stop() {
  impl_->stopped = true;
}
void Engine::attach(Processor& processor) {
  impl_->processors.push_back(&processor);
}

void Engine::at(Ns when, Event& event) {
  impl_->queue.put(std::max(when, impl_->now), event);
}

bool Engine::has_one_processor() const {
  return impl_->processors.size() == 1;
}

Ns Engine::undisturbed_until() const {
  return !has_one_processor() || impl_->stopped ? impl_->now : std::min(impl_->horizon, impl_->queue.first());
}

void Engine::skip_to(Ns when, std::uint64_t times) {
  impl_->now = when;
  impl_->handled += times;
}

template <bool kSeveral>
void Engine::Impl::run() {
  for (Ns at = next<kSeveral>(), then; !stopped && at < horizon; at = then) {
    now = at;
    // One instant: finish running work, fire due events, and then dispatch. The loop repeats if a dispatch starts work
    // that releases more at the same instant.
    do {
      for (Processor* processor : all<kSeveral>()) {
        if (processor->tick < at) processor->catch_up(at);
        if (processor->wake > at) continue;
        handled++;
        processor->settle(at);
      }
      while (queue.first() == at) {
        handled++;
        queue.take()->fire(at);
        at = now;  // skip_to()
      }
      for (Processor* processor : all<kSeveral>()) {
        if (processor->tick == at) processor->tick_comes(at);
        if (processor->wake <= at) processor->dispatch(at);
      }
      then = next<kSeveral>();
    } while (then == at);
    if (then < at)
      throw std::logic_error("the simulation requests " + std::to_string(then) + " ns at " + std::to_string(at) +
                             " ns");
  }
  if (stopped || horizon <= now) return;
  now = horizon;
  for (Processor* processor : processors)
    if (processor->tick < horizon) processor->catch_up(horizon);
}

void Engine::run_until(Ns horizon) {
  impl_->horizon = horizon;
  impl_->stopped = false;
  impl_->processors.size() == 1 ? impl_->run<false>() : impl_->run<true>();
}

}  // namespace offhook::hostsim
