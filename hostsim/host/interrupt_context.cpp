// SPDX-License-Identifier: MIT
#include <stdexcept>

#include "hostsim/host/context.h"

namespace offhook::hostsim {

namespace {

/// INT and THREADED: the interrupt's handler itself calls service.
class InterruptContext final : public Context {
 public:
  explicit InterruptContext(const ContextParts& p) : Context(p), routine_(*this, p) {
    const InterruptSpec spec{"modem interrupt", p.level, kNoEntity, p.interrupt_cpu};
    if (p.handler) {
      const auto [interrupt, thread] = cpu_.add_threaded_interrupt(spec, p.hard_irq, *p.handler, routine_);
      interrupt_ = interrupt;
      server_ = thread;
    } else {
      interrupt_ = server_ = cpu_.add_interrupt(spec, routine_);
    }
  }

 private:
  void request_service() override {}

  class Routine final : public InterruptRoutine {
   public:
    Routine(Context& context, const ContextParts& p) : InterruptRoutine(p), run_(context, p) {}

   private:
    Ns after_isr(Ns) override { return run_.next(); }
    ServiceRun run_;
  } routine_;
};

}  // namespace

std::unique_ptr<Context> make_interrupt_context(const ContextParts& parts) {
  return std::make_unique<InterruptContext>(parts);
}

std::unique_ptr<Context> make_threaded_context(const ContextParts& parts) {
  if (!parts.handler) throw std::invalid_argument("THREADED: this host has no threads that handle interrupts");
  return make_interrupt_context(parts);
}

}  // namespace offhook::hostsim
