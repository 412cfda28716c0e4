// SPDX-License-Identifier: MIT
//
// Any text as a system for `offhook schedule`: either a SystemError, or a system that runs (a short while) and whose
// CPU time adds up.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <sstream>
#include <string_view>

#include "src/lab/schedule/schedule.h"

using namespace offhook::schedule;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    System system = parse_system({reinterpret_cast<const char*>(data), size}, "fuzz");
    if (system.entities.size() > 50) return 0;
    // At most some thousand instants, often with the shortest possible time.
    Ns shortest = system.horizon;
    for (const auto& e : system.entities) {
      shortest = std::min(shortest, e.cost);
      if (e.period > 0) shortest = std::min(shortest, e.period);
      if (const auto* p = std::get_if<offhook::hostsim::FixedPriority>(&e.policy); p && p->quantum > 0) {
        shortest = std::min(shortest, p->quantum);
      } else if (const auto* c = std::get_if<offhook::hostsim::ConstantBandwidth>(&e.policy)) {
        shortest = std::min(shortest, c->budget);
      } else if (const auto* r = std::get_if<offhook::hostsim::Rez>(&e.policy)) {
        shortest = std::min(shortest, r->budget);
      } else if (const auto* s = std::get_if<offhook::hostsim::Slot>(&e.policy)) {
        shortest = std::min(shortest, s->length);
      }
    }
    system.horizon = std::min(system.horizon, shortest * 1000);
    std::ostringstream csv;
    const ScheduleResult result = run_schedule(system, csv);
    Ns cpu = 0;
    for (const auto& f : result.entities) {
      if (f.completed > f.released) std::abort();
      cpu += f.cpu;
    }
    if (cpu > system.horizon) std::abort();
    (void)summary_json(result);
  } catch (const SystemError&) {
  }
  return 0;
}
