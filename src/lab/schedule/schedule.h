// SPDX-License-Identifier: MIT
//
// Runs a bare system on the engine of the modem calls, and gives every scheduling event as CSV, and figures per entity.
#pragma once

#include <array>
#include <cstdint>
#include <iosfwd>
#include <string>
#include <vector>

#include "driver/base/record.h"
#include "hostsim/cpu/cpu.h"
#include "src/lab/schedule/system.h"

namespace offhook::schedule {

/// section 10: figures of one entity over [0, horizon).
struct EntityFigures {
  std::uint64_t released = 0, completed = 0, misses = 0;
  Ns response_min = 0, response_max = 0, response_sum = 0;  ///< of completed jobs
  Ns cpu = 0;
  std::array<std::uint64_t, 7> events{};  ///< by CpuObserver::Kind
};

struct ScheduleResult {
  System system;
  std::vector<EntityFigures> entities;  ///< in declaration order
};

/// Which entity had the CPU, for a chart.
struct Gantt {
  struct Segment {
    Ns begin = 0, end = 0;
    std::uint16_t entity = 0;  ///< in declaration order
  };
  struct Miss {
    Ns time = 0;
    std::uint16_t entity = 0;
  };
  std::size_t most = 100'000;  ///< maximum number of segments and of misses; later ones are not kept
  std::vector<Segment> segments;
  std::vector<Miss> misses;
  bool cut = false;  ///< there were more
};

/// As in the CSV: "start", "resume", "preempt", "finish", "miss", "throttle", "replenish".
std::string_view event_name(hostsim::CpuObserver::Kind kind);

/// @param csv gets a header line and one line per event: time_ns,cpu,entity,event. A name with a comma, a quote or a
///   line break is quoted (RFC 4180). The caller checks the stream.
/// @param gantt is filled unless null
ScheduleResult run_schedule(const System& system, std::ostream& csv, Gantt* gantt = nullptr);

/// Keys of summary_json().
extern const record::Table kSummary;
/// Horizon and figures as JSON text; resp_* are null for an entity that completed no job.
std::string summary_json(const ScheduleResult& result);

}  // namespace offhook::schedule
