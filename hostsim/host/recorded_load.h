// SPDX-License-Identifier: MIT
//
// Replay of a recorded host around the driver. Every interval of the trace becomes a job, with the release time and the
// CPU time of the recording. Interrupts have the card's level, because Linux interrupts do not nest; softirqs queue
// with the DPCs; threads run at their priorities. The driver delays less urgent jobs, as on a real host; a delayed
// thread runs its work later. After its end, the trace starts again.
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
  /// Declares an entity for each source on the CPU. Returns the policy of a source that runs as a thread; none: that of
  /// its kind, a thread at a fixed priority
  using PolicyOf = std::function<std::optional<Policy>(const HostLoad::Source&)>;
  /// @param recorded one of load.cpus  @param level of its interrupts  @param priorities of the simulated host
  RecordedLoad(Engine& engine, Cpu& cpu, std::shared_ptr<const HostLoad> load, const HostLoad::CpuLoad& recorded,
               int level, int priorities, Ns quantum, const PolicyOf& policy = {});
  /// @param from time in the trace that corresponds to now, 0 to duration
  void start(Ns from);
  void fire(Ns now) override;

 private:
  /// Jobs of one source that still must run, combined, so that memory is constant even if it never catches up.
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
  Ns zero_ = 0;  // when the present pass through the trace began
};

}  // namespace offhook::hostsim
