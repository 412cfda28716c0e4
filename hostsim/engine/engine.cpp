// SPDX-License-Identifier: MIT
#include "hostsim/engine/engine.h"

#include <algorithm>
#include <vector>

#include "hostsim/engine/processor.h"

namespace offhook::hostsim {

struct Engine::Impl {
  struct Pending {
    Ns when;
    std::uint64_t sequence;
    Event* event;
    bool operator>(const Pending& other) const {
      return when != other.when ? when > other.when : sequence > other.sequence;
    }
  };
  std::vector<Pending> queue;  // binary heap, earliest first
  std::vector<Processor*> processors;
  std::uint64_t sequence = 0;
  std::uint64_t handled = 0;
  Ns now = 0;
  bool stopped = false;
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
  impl_->queue.push_back({std::max(when, impl_->now), impl_->sequence++, &event});
  std::push_heap(impl_->queue.begin(), impl_->queue.end(), std::greater<>());
}

void Engine::run_until(Ns horizon) {
  Impl& s = *impl_;
  s.stopped = false;
  while (!s.stopped) {
    Ns next = s.queue.empty() ? kNever : s.queue.front().when;
    for (const Processor* processor : s.processors) next = std::min(next, processor->next_instant());
    if (next >= horizon) break;
    s.now = next;
    // One instant: finish what runs, fire what is due, and dispatch once all is settled. A dispatch may start work that
    // releases more at the same instant; then around again.
    do {
      for (Processor* processor : s.processors) processor->settle(next);
      while (!s.queue.empty() && s.queue.front().when == next) {
        std::pop_heap(s.queue.begin(), s.queue.end(), std::greater<>());
        Event* event = s.queue.back().event;
        s.queue.pop_back();
        s.handled++;
        event->fire(next);
      }
      for (Processor* processor : s.processors) processor->dispatch(next);
    } while ((!s.queue.empty() && s.queue.front().when == next) ||
             std::any_of(s.processors.begin(), s.processors.end(),
                         [next](const Processor* p) { return p->next_instant() <= next; }));
  }
  if (!s.stopped && horizon > s.now) s.now = horizon;
}

}  // namespace offhook::hostsim
