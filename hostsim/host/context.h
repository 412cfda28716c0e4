// SPDX-License-Identifier: MIT
//
// The processing contexts of a simulated host, each on the mechanism it has in its operating system:
//
//   - INT: the interrupt routine itself calls service, at device level; only higher interrupts preempt it.
//   - THREADED: the interrupt runs a stub, which wakes the handler's thread; the thread calls service.
//   - DPC, SOFTIRQ: the interrupt routine queues deferred work that calls service.
//   - THR, FIFO, ...: the interrupt routine queues deferred work that signals a semaphore; a thread waits for it.
//   - RES: as THR, but the thread has a CPU reservation.
//
// They share the driver and the cost of a service (ServiceRun), but not the times at which it runs. To add a context,
// derive from Context and add a row to table.cpp, or call register_context() in a program that links the library.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include "driver/context/context_spec.h"
#include "hostsim/cpu/cpu.h"
#include "hostsim/host/service_counts.h"
#include "hostsim/sched/mutexes.h"
#include "offhook/driver.h"

namespace offhook::hostsim {

/// Cost of the code on this host. Called once per interrupt and once per oh_driver_service_begin().
class ServiceCost {
 public:
  virtual ~ServiceCost() = default;
  virtual Ns isr() = 0;                ///< of the interrupt routine without service
  virtual Ns next_isr() { return 0; }  ///< return value of isr(); 0: unknown
  virtual Ns service(
      std::uint32_t samples) = 0;  ///< of the pump's run over these samples, which are one block or several merged ones
  virtual double phi() = 0;        ///< share of the cost after which the output is queued
};

/// Parts of a context. All references must outlive it.
struct ContextParts {
  Cpu& cpu;
  oh_driver& driver;
  ServiceCost& cost;
  int level;  ///< of the card's interrupt
  ContextSpec spec = {};
  int interrupt_cpu = 0;
  int dpc_cpu = 0;
  DpcImportance dpc_importance = DpcImportance::kMedium;
  std::optional<Policy> handler = {};  ///< of a thread that is the interrupt's handler, as on PREEMPT_RT
  Ns hard_irq = 0;                     ///< remaining cost at interrupt level
  int thread_cpu = kAnyCpu;
  /// Policy of a thread that is this context. @throws std::invalid_argument if the host has none
  std::function<Policy(const ContextSpec&)> policy = {};
  /// For a thread that is this context: a mutex that it holds during each job.
  struct HeldMutex {
    Mutexes& mutexes;
    Mutexes::MemberId thread;
    Mutexes::MutexId mutex;
  };
  std::optional<HeldMutex> held = {};
  Ns dispatch = 0;  ///< cost of the deferred work that signals a thread; the thread of a handler signals itself
};

/// A driver's part on a CPU. Start it by its table, then let the card call interrupt().
class Context {
 public:
  virtual ~Context() = default;
  /// The card raised its interrupt. Called by an event that fires.
  /// @param next earliest time of the next interrupt
  void interrupt(Ns next) {
    if (started_ && !runs_unbroken(next)) cpu_.release(interrupt_);
  }
  /// The table of operations, for the driver's configuration.
  oh_context driver_context();
  /// See oh_context_reconfigure(). @throws std::invalid_argument with the reason
  virtual void reconfigure(const ContextSpec& spec);
  /// The entity that runs the pump: interrupt, deferred work or thread.
  EntityId server() const { return server_; }
  EntityId interrupt_entity() const { return interrupt_; }
  const ServiceCounts& served() const { return served_; }

 protected:
  explicit Context(const ContextParts& parts) : cpu_(parts.cpu), spec_(parts.spec) {}
  virtual void request_service() = 0;
  /// Cpu::run_unbroken() ran the jobs that the interrupt releases.
  virtual bool runs_unbroken(Ns /*next*/) { return false; }

  Cpu& cpu_;
  ContextSpec spec_;
  EntityId interrupt_ = kNoEntity;
  EntityId server_ = kNoEntity;

 private:
  friend class ServiceRun;
  bool started_ = false;
  Ns requested_at_ = -1;  // the oldest request that is not served
  oh_context_latency latency_{};
  ServiceCounts served_;
};

/// One service run, divided at its input and at its output.
class ServiceRun {
 public:
  ServiceRun(Context& context, const ContextParts& parts)
      : context_(context), driver_(parts.driver), cost_(parts.cost) {}
  /// As Program::next(): CPU time of the next part, 0 at the end of the run.
  Ns next();

 private:
  enum class At { kEntry, kOutput, kEnd };
  void begin();
  void output();
  int end();
  Context& context_;
  oh_driver& driver_;
  ServiceCost& cost_;
  At at_ = At::kEntry;
  Ns rest_ = 0;
};

/// The interrupt routine: the driver's isr and its cost, then the context's own work at interrupt level.
class InterruptRoutine : public Program {
 public:
  explicit InterruptRoutine(const ContextParts& parts) : driver_(parts.driver), cost_(parts.cost) {}
  Ns next(Ns now) override;

 protected:
  virtual Ns after_isr(Ns) { return 0; }

 private:
  oh_driver& driver_;
  ServiceCost& cost_;
  bool entered_ = false;
};

using ContextFactory = std::function<std::unique_ptr<Context>(const ContextParts&)>;

/// The context that parts.spec names. @throws std::invalid_argument if no simulated host, or not this host, has it
std::unique_ptr<Context> make_context(const ContextParts& parts);
/// Adds a custom context to the grammar, to scenarios and to command lines. Call it at start-up; thread-safe.
/// @throws std::invalid_argument as add_context_form()
void register_context(const ContextForm& form, ContextFactory make);

}  // namespace offhook::hostsim
