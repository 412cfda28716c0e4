// SPDX-License-Identifier: MIT
//
// A recorded host replayed around the driver: every interval of the trace is a job, released when it began there and
// needing the CPU time it had there. Interrupts come at the card's level, for Linux interrupts do not nest; softirqs
// queue with the DPCs; threads run at their priorities. Whatever ran below our driver is delayed by it, as it would
// have been; what a thread could not run in time it runs later. After its end the trace begins anew.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "hostsim/cpu/cpu.h"
#include "hostsim/host/host_load.h"

namespace offhook::hostsim {

class RecordedLoad final : public Event {
 public:
  /// Declares an entity for each source on the CPU.
  /// Where a source runs as a thread. @return none: where its kind says, a thread at a fixed priority
  using PolicyOf = std::function<std::optional<Policy>(const HostLoad::Source&)>;
  /// @param recorded one of load.cpus  @param level of its interrupts  @param priorities of the simulated host
  RecordedLoad(Engine& engine, Cpu& cpu, std::shared_ptr<const HostLoad> load, const HostLoad::CpuLoad& recorded,
               int level, int priorities, Ns quantum, const PolicyOf& policy = {});
  /// @param from the moment of the trace that is now, 0 to duration
  void start(Ns from);
  void fire(Ns now) override;

 private:
  /// Jobs of one source that are still to be run, as one: memory stays flat even if it never catches up.
  struct Stolen final : Program {
    Ns next(Ns) override {
      const Ns now_due = due;
      due = 0;
      return now_due;
    }
    EntityId entity = kNoEntity;
    Ns due = 0;
  };
  void await_next();

  Engine& engine_;
  Cpu& cpu_;
  std::shared_ptr<const HostLoad> load_;
  const HostLoad::CpuLoad& recorded_;
  std::vector<Stolen> sources_;  // [load.sources.size()]
  std::size_t next_ = 0;
  Ns zero_ = 0;  // when the present round of the trace began
};

}  // namespace offhook::hostsim
