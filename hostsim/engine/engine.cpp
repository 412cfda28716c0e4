// SPDX-License-Identifier: MIT
#include "hostsim/engine/engine.h"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

#include "hostsim/engine/event_queue.h"
#include "hostsim/engine/processor.h"

namespace offhook::hostsim {

struct Engine::Impl {
  EventQueue queue;
  std::vector<Processor*> processors;
  std::uint64_t handled = 0;
  Ns now = 0, horizon = 0;
  bool stopped = false;

  Ns next() {
    Ns next = queue.first();
    for (const Processor* processor : processors) next = std::min(next, processor->wake);
    return next;
  }
};

Engine::Engine() : impl_(std::make_unique<Impl>()) {}
Engine::~Engine() = default;

Ns Engine::now() const {
  return impl_->now;
}
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

Ns Engine::undisturbed_until() const {
  return impl_->processors.size() != 1 || impl_->stopped ? impl_->now
                                                         : std::min(impl_->horizon, impl_->queue.first_of_rest());
}

void Engine::skip_to(Ns when, std::uint64_t times) {
  impl_->now = when;
  impl_->handled += times;
}

void Engine::run_until(Ns horizon) {
  Impl& s = *impl_;
  s.horizon = horizon;
  s.stopped = false;
  for (Ns now = s.next(), next; !s.stopped && now < horizon; now = next) {
    s.now = now;
    // One instant: finish what runs, fire what is due, and dispatch once all is settled. A dispatch may start work that
    // releases more at the same instant; then around again.
    do {
      for (Processor* processor : s.processors) {
        if (processor->wake > now) continue;
        s.handled++;
        processor->settle(now);
      }
      while (s.queue.first() == now) {
        s.handled++;
        s.queue.take()->fire(now);
        now = s.now;  // skip_to()
      }
      for (Processor* processor : s.processors)
        if (processor->wake <= now) processor->dispatch(now);
      next = s.next();
    } while (next == now);
    if (next < now)
      throw std::logic_error("the simulation asks for " + std::to_string(next) + " ns at " + std::to_string(now) +
                             " ns");
  }
  if (!s.stopped && horizon > s.now) s.now = horizon;
}

}  // namespace offhook::hostsim
