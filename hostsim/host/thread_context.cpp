// SPDX-License-Identifier: MIT
#include <algorithm>
#include <array>
#include <stdexcept>

#include "hostsim/cpu/chain.h"
#include "hostsim/cpu/critical_section.h"
#include "hostsim/host/context.h"

namespace offhook::hostsim {

namespace {

/// THR, FIFO, RR, WORKER, OTHER and RES. Each of them can change into any other while it is running.
class ThreadContext final : public Context {
 public:
  explicit ThreadContext(const ContextParts& p)
      : Context(p),
        policy_(p.policy),
        cost_(p.cost),
        dispatch_(p.dispatch),
        routine_(p),
        body_(*this, p),
        signal_(*this, p.dispatch) {
    if (p.held) locked_.emplace(body_, p.held->mutexes, p.held->thread, p.held->mutex);
    Program& program = locked_ ? static_cast<Program&>(*locked_) : body_;
    server_ = cpu_.add_thread("modem thread", policy_(p.spec), program, kNever, p.thread_cpu);
    const InterruptSpec spec{"modem interrupt", p.level, kNoEntity, p.interrupt_cpu};
    if (p.handler) {
      interrupt_ = cpu_.add_threaded_interrupt(spec, p.hard_irq, *p.handler, handler_).interrupt;
    } else {
      signal_dpc_ = cpu_.add_dpc({"modem signal DPC", p.dpc_importance, p.dpc_cpu}, signal_);
      interrupt_ = cpu_.add_interrupt(spec, routine_);
    }
  }

  void reconfigure(const ContextSpec& spec) override {
    cpu_.set_policy(server_, policy_(spec));
    spec_ = spec;
  }

 private:
  // A semaphore cannot be signalled from an interrupt routine, so a DPC does it. It adds the number of interrupts since
  // it last ran to the semaphore.
  void request_service() override {
    interrupts_++;
    if (signal_dpc_ != kNoEntity && cpu_.unfinished_jobs(signal_dpc_) == 0) cpu_.release(signal_dpc_);
  }

  // The routine, the DPC and the threads that it wakes, which may still run at the next interrupt.
  bool runs_unbroken(Ns next) override {
    if (signal_dpc_ == kNoEntity) return false;
    const std::array<PlannedJob, 3> jobs = {{{interrupt_, cost_.next_isr()}, {signal_dpc_, dispatch_}, {server_, 0}}};
    return cpu_.now() + jobs[0].cost + dispatch_ < next && cpu_.run_unbroken(jobs);
  }

  /// Waits for the semaphore and makes one service run for each count. A wait that is already satisfied does not yield
  /// the CPU, so everything signalled meanwhile is one job.
  class Body final : public Program {
   public:
    Body(ThreadContext& context, const ContextParts& p) : context_(context), run_(context, p) {}
    Ns next(Ns) override {
      for (;;) {
        if (!running_) {
          if (context_.semaphore_ == 0) return 0;
          context_.semaphore_--;
        }
        const Ns cost = run_.next();
        running_ = cost != 0;
        if (running_) return cost;
      }
    }

   private:
    ThreadContext& context_;
    ServiceRun run_;
    bool running_ = false;
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

  std::function<Policy(const ContextSpec&)> policy_;
  ServiceCost& cost_;
  Ns dispatch_;
  InterruptRoutine routine_;
  Body body_;
  std::optional<Locked> locked_;
  Signal signal_;
  Chain handler_{routine_, signal_};  // used if the handler is a thread
  EntityId signal_dpc_ = kNoEntity;
  std::uint32_t interrupts_ = 0;
  std::uint32_t semaphore_ = 0;
};

}  // namespace

std::unique_ptr<Context> make_thread_context(const ContextParts& parts) {
  return std::make_unique<ThreadContext>(parts);
}

}  // namespace offhook::hostsim
