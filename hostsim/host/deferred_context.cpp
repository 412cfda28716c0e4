// SPDX-License-Identifier: MIT
#include <array>

#include "hostsim/host/context.h"

namespace offhook::hostsim {

std::unique_ptr<Context> make_interrupt_context(const ContextParts& parts);

namespace {

/// DPC and SOFTIRQ: the interrupt routine queues deferred work, which calls service.
class DeferredContext final : public Context {
 public:
  explicit DeferredContext(const ContextParts& p) : Context(p), cost_(p.cost), routine_(p), service_(*this, p) {
    server_ = cpu_.add_dpc({"modem DPC", p.dpc_importance, p.dpc_cpu}, service_);
    interrupt_ = cpu_.add_interrupt({"modem interrupt", p.level, kNoEntity, p.interrupt_cpu}, routine_);
  }

 private:
  // The queue never has more than one instance; an instance that runs has left it.
  void request_service() override {
    const std::uint32_t queued = cpu_.unfinished_jobs(server_) - (service_.running() ? 1 : 0);
    if (queued == 0) cpu_.release(server_);
  }

  bool runs_unbroken(Ns next) override {
    const std::array<PlannedJob, 2> jobs = {{{interrupt_, cost_.next_isr()}, {server_, 0}}};
    return cpu_.now() + jobs[0].cost < next && cpu_.run_unbroken(jobs);
  }

  /// One service run per job.
  class Service final : public Program {
   public:
    Service(Context& context, const ContextParts& p) : run_(context, p) {}
    Ns next(Ns) override {
      const Ns cost = run_.next();
      running_ = cost != 0;
      return cost;
    }
    bool running() const { return running_; }

   private:
    ServiceRun run_;
    bool running_ = false;
  };

  ServiceCost& cost_;
  InterruptRoutine routine_;
  Service service_;
};

}  // namespace

// If handlers are threads, they also execute the deferred work.
std::unique_ptr<Context> make_deferred_context(const ContextParts& parts) {
  if (parts.handler) return make_interrupt_context(parts);
  return std::make_unique<DeferredContext>(parts);
}

}  // namespace offhook::hostsim
