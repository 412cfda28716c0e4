// SPDX-License-Identifier: MIT
//
// The four processing contexts of the paper (Jones and Saroiu, section 5), each on the mechanism it has in Windows NT:
//
//   INT  the interrupt routine itself calls service: at device level, nothing but higher interrupts in its way
//   DPC  the interrupt routine queues a deferred procedure call that does
//   THR  the interrupt routine queues a DPC that signals a semaphore, a thread at some priority waits for it
//   RES  as THR, and the thread has a CPU reservation
//
// They share the driver and what a service costs (ServiceRun), and nothing about when it runs.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include "hostsim/cpu/cpu.h"
#include "offhook/driver.h"

namespace offhook::hostsim {

/// What the code costs on this host. Asked once per interrupt and once per oh_driver_service_begin().
class ServiceCost {
 public:
  virtual ~ServiceCost() = default;
  virtual Ns isr() = 0;                           ///< of the interrupt routine without service
  virtual Ns service(std::uint32_t samples) = 0;  ///< of the pump's run over so many, a block or what merged into one
  virtual double phi() = 0;                       ///< share of it after which the output is queued
};

/// One call of the driver's service routine, cut where it takes input and where it gives output.
class ServiceRun {
 public:
  ServiceRun(oh_driver& driver, ServiceCost& cost) : driver_(driver), cost_(cost) {}
  /// As Program::next(): CPU time of the next part, 0 when the call returns.
  Ns next();

 private:
  enum class At { kEntry, kOutput, kEnd };
  oh_driver& driver_;
  ServiceCost& cost_;
  At at_ = At::kEntry;
  Ns rest_ = 0;
};

/// A driver's place on a CPU. Construct, add_to(), then let the card call interrupt().
class Context {
 public:
  virtual ~Context() = default;
  /// The card's interrupt line went up.
  void interrupt() { cpu_.release(interrupt_); }
  /// What the driver is configured with.
  oh_context driver_context();
  /// The entity that runs the pump: interrupt, DPC or thread.
  EntityId server() const { return server_; }
  EntityId interrupt_entity() const { return interrupt_; }

 protected:
  explicit Context(Cpu& cpu) : cpu_(cpu) {}
  virtual void request_service() = 0;

  Cpu& cpu_;
  EntityId interrupt_ = kNoEntity;
  EntityId server_ = kNoEntity;
};

/// What is common to the makers: all references must outlive the context.
struct ContextParts {
  Cpu& cpu;
  oh_driver& driver;
  ServiceCost& cost;
  int level;  ///< of the card's interrupt
  int interrupt_cpu = 0;
  int dpc_cpu = 0;
  DpcImportance dpc_importance = DpcImportance::kMedium;
  std::optional<Policy> handler = {};  ///< of a thread that is the interrupt's handler, as on PREEMPT_RT
  Ns hard_irq = 0;                     ///< what is then left at interrupt level
  int thread_cpu = kAnyCpu;
};

/// In the handler's thread if there is one, where a DPC's work would be done too.
std::unique_ptr<Context> make_interrupt_context(const ContextParts& parts);
std::unique_ptr<Context> make_dpc_context(const ContextParts& parts);
/// @param policy of the thread; Cpu::set_policy(server(), ...) changes it
/// @param dispatch cost of the DPC that signals; a handler's thread signals by itself
std::unique_ptr<Context> make_thread_context(const ContextParts& parts, const Policy& policy, Ns dispatch);

}  // namespace offhook::hostsim
