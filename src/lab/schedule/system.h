// SPDX-License-Identifier: MIT
//
// A bare system for `offhook schedule`: interrupts, DPCs and threads on one CPU, no modem. As JSON:
//
//   {"horizon_ns": 1000000000,
//    "entities": [{"name": "timer", "kind": "interrupt", "level": 3, "offset_ns": 0, "period_ns": 1000000,
//                  "cost_ns": 20000, "dpc": "timer dpc"},
//                 {"name": "timer dpc", "kind": "dpc", "cost_ns": 50000},
//                 {"name": "audio", "kind": "edf", "offset_ns": 0, "period_ns": 5000000, "cost_ns": 1000000,
//                  "deadline_ns": 5000000}]}
//
// Kinds interrupt, dpc, fp, edf, cbs, slot and rez; the order of the entities breaks ties. Not required: offset_ns,
// slot_offset_ns, res_offset_ns and quantum_ns (0), dpc (null), deadline_ns of all except edf (null: none), strict
// (true), background (-1), priority of a strict slot.
//
// Further kinds are the schedulers that a scenario can name, and those that a program adds: "windows-nt", "linux" ...
// with a priority (8), "rez-c", "deadline-ticks" ... with budget_ns, res_period_ns and res_offset_ns. They receive
// tick_hz (1000) and quantum_ns (0) of the system.
//
// Threads may have critical_sections; `locks` selects the protocol for their holders
// (hostsim/sched/mutexes.h).
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "hostsim/sched/mutexes.h"
#include "hostsim/sched/scheduler.h"

namespace offhook::schedule {

using hostsim::Ns;

/// An error in a description: one line with file, entity, key and the expected value.
struct SystemError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// For each job of a thread: the CPU time after which it takes the mutex, and the time for which it holds it.
struct CriticalSectionDescription {
  std::string mutex;
  Ns after = 0;
  Ns length = 0;
};

enum class Kind { kInterrupt, kDpc, kThread };

struct EntityDescription {
  std::string name;
  Kind kind = Kind::kThread;
  std::string kind_name;  ///< name in the file: "fp", "edf" ...
  Ns offset = 0;
  Ns period = 0;  ///< 0: a DPC, which interrupts release
  Ns cost = 0;
  Ns deadline = hostsim::kNever;
  int level = 0;            ///< of an interrupt
  int dpc = -1;             ///< for an interrupt: the index of its DPC among the entities
  hostsim::Policy policy;   ///< for a thread, unless `scheduler` creates it
  std::string scheduler{};  ///< one of hostsim::policy_names(); empty: none
  bool reserves = false;    ///< it creates `reservation`, otherwise `thread`
  hostsim::ThreadRequest thread;
  hostsim::ReservationRequest reservation;
  std::vector<CriticalSectionDescription> critical_sections{};  ///< of a thread
};

struct System {
  Ns horizon = 0;
  hostsim::SchedulerHost host;  ///< input for its schedulers
  bool charge_stolen_time = false;
  hostsim::LockProtocol locks = hostsim::LockProtocol::kPlain;
  std::vector<EntityDescription> entities;
};

/// @param json the text  @param file its name, for messages  @throws SystemError
System parse_system(std::string_view json, std::string_view file);

/// The keys of a description, for people: the kinds of entity, and every key with the kinds that have it.
std::string describe_system();

}  // namespace offhook::schedule
