// SPDX-License-Identifier: MIT
#include "hostsim/context/context.h"

#include <algorithm>

#include "hostsim/cpu/chain.h"

namespace offhook::hostsim {

Ns ServiceRun::next() {
  switch (at_) {
    case At::kEntry:
      break;
    case At::kOutput:
      oh_driver_service_output(&driver_);
      at_ = At::kEnd;
      if (rest_ > 0) return rest_;
      [[fallthrough]];
    case At::kEnd:
      at_ = At::kEntry;
      if (oh_driver_service_end(&driver_) == 0) return 0;
      break;
  }
  const std::uint32_t samples = oh_driver_service_begin(&driver_);
  if (samples == 0) {
    at_ = At::kEntry;
    return 0;
  }
  const Ns whole = std::max<Ns>(cost_.service(samples), 1);
  const Ns until_output = std::clamp<Ns>(static_cast<Ns>(static_cast<double>(whole) * cost_.phi()), 1, whole);
  rest_ = whole - until_output;
  at_ = At::kOutput;
  return until_output;
}

oh_context Context::driver_context() {
  return {[](void* self) { static_cast<Context*>(self)->request_service(); }, this};
}

namespace {

/// The interrupt routine: the driver's isr and what it costs, then whatever the context does in interrupt context.
class InterruptRoutine : public Program {
 public:
  InterruptRoutine(oh_driver& driver, ServiceCost& cost) : driver_(driver), cost_(cost) {}
  Ns next(Ns now) override {
    if (!entered_) {
      entered_ = true;
      const Ns cost = cost_.isr();
      oh_driver_isr(&driver_);
      if (cost > 0) return cost;
    }
    const Ns more = after_isr(now);
    if (more == 0) entered_ = false;
    return more;
  }

 protected:
  virtual Ns after_isr(Ns) { return 0; }

 private:
  oh_driver& driver_;
  ServiceCost& cost_;
  bool entered_ = false;
};

class InterruptContext final : public Context {
 public:
  explicit InterruptContext(const ContextParts& p) : Context(p.cpu), routine_(p) {
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
  void request_service() override {}  // the routine goes on into service by itself

  class Routine final : public InterruptRoutine {
   public:
    explicit Routine(const ContextParts& p) : InterruptRoutine(p.driver, p.cost), run_(p.driver, p.cost) {}

   private:
    Ns after_isr(Ns) override { return run_.next(); }
    ServiceRun run_;
  } routine_;
};

/// Runs service once per job: a DPC routine.
class Service final : public Program {
 public:
  explicit Service(const ContextParts& p) : run_(p.driver, p.cost) {}
  Ns next(Ns) override {
    entered_ = true;
    const Ns cost = run_.next();
    if (cost == 0) entered_ = false;
    return cost;
  }
  bool running() const { return entered_; }

 private:
  ServiceRun run_;
  bool entered_ = false;
};

class DpcContext final : public Context {
 public:
  explicit DpcContext(const ContextParts& p) : Context(p.cpu), routine_(p.driver, p.cost), service_(p) {
    server_ = cpu_.add_dpc({"modem DPC", p.dpc_importance, p.dpc_cpu}, service_);
    interrupt_ = cpu_.add_interrupt({"modem interrupt", p.level, kNoEntity, p.interrupt_cpu}, routine_);
  }

 private:
  // There is never more than one instance of a DPC in the queue; one that runs has left it.
  void request_service() override {
    const std::uint32_t queued = cpu_.unfinished_jobs(server_) - (service_.running() ? 1 : 0);
    if (queued == 0) cpu_.release(server_);
  }
  InterruptRoutine routine_;
  Service service_;
};

class ThreadContext final : public Context {
 public:
  ThreadContext(const ContextParts& p, const Policy& policy, Ns dispatch)
      : Context(p.cpu), routine_(p.driver, p.cost), body_(*this, p), signal_(*this, dispatch) {
    server_ = cpu_.add_thread("modem thread", policy, body_, kNever, p.thread_cpu);
    const InterruptSpec spec{"modem interrupt", p.level, kNoEntity, p.interrupt_cpu};
    if (p.handler) {
      interrupt_ = cpu_.add_threaded_interrupt(spec, p.hard_irq, *p.handler, handler_).interrupt;
    } else {
      signal_dpc_ = cpu_.add_dpc({"modem signal DPC", p.dpc_importance, p.dpc_cpu}, signal_);
      interrupt_ = cpu_.add_interrupt(spec, routine_);
    }
  }

 private:
  // A semaphore cannot be signalled from an interrupt routine, hence the DPC; the count of interrupts since it last ran
  // is what it adds to the semaphore.
  void request_service() override {
    interrupts_++;
    if (signal_dpc_ != kNoEntity && cpu_.unfinished_jobs(signal_dpc_) == 0) cpu_.release(signal_dpc_);
  }

  /// Waits for the semaphore and calls service once for each count. A wait that is satisfied already does not give up
  /// the CPU, so all that was signalled meanwhile is one job.
  class Body final : public Program {
   public:
    Body(ThreadContext& context, const ContextParts& p) : context_(context), run_(p.driver, p.cost) {}
    Ns next(Ns) override {
      for (;;) {
        if (!in_call_) {
          if (context_.semaphore_ == 0) return 0;
          context_.semaphore_--;
        }
        const Ns cost = run_.next();
        in_call_ = cost != 0;
        if (in_call_) return cost;
      }
    }

   private:
    ThreadContext& context_;
    ServiceRun run_;
    bool in_call_ = false;
  };

  class Signal final : public Program {
   public:
    Signal(ThreadContext& context, Ns cost) : context_(context), cost_(cost) {}
    Ns next(Ns) override {
      entered_ = !entered_;
      if (entered_ && cost_ > 0) return cost_;
      entered_ = false;
      context_.semaphore_ += context_.interrupts_;
      context_.interrupts_ = 0;
      if (context_.semaphore_ > 0 && context_.cpu_.unfinished_jobs(context_.server_) == 0)
        context_.cpu_.release(context_.server_);
      return 0;
    }

   private:
    ThreadContext& context_;
    Ns cost_;
    bool entered_ = false;
  };

  InterruptRoutine routine_;
  Body body_;
  Signal signal_;
  Chain handler_{routine_, signal_};  // where the handler is a thread
  EntityId signal_dpc_ = kNoEntity;
  std::uint32_t interrupts_ = 0;
  std::uint32_t semaphore_ = 0;
};

}  // namespace

std::unique_ptr<Context> make_interrupt_context(const ContextParts& parts) {
  return std::make_unique<InterruptContext>(parts);
}
std::unique_ptr<Context> make_dpc_context(const ContextParts& parts) {
  return std::make_unique<DpcContext>(parts);
}
std::unique_ptr<Context> make_thread_context(const ContextParts& parts, const Policy& policy, Ns dispatch) {
  return std::make_unique<ThreadContext>(parts, policy, dispatch);
}

}  // namespace offhook::hostsim
