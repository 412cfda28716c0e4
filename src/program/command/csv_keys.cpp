// SPDX-License-Identifier: MIT
#include "src/lab/sweep/row.h"
#include "src/program/command/results.h"
#include "src/program/command/text_keys.h"
#include "src/report/advice_report.h"

namespace offhook::command {
namespace {

constexpr const char* kText = R"(events: offhook report export --csv; one row per event, in order of time
  time_ns (ns): time on the clock of the log
  cpu: number of the CPU
  kind: kind of event (include/offhook/event_log.h); a number if this version has no name for it
  id: number of the job, thread, interrupt or driver
  name: name of the job, thread, interrupt or driver, from the log's header; for a retrain, its cause
  argument: value whose meaning depends on the kind of event

schedule: offhook schedule; one row per event, in order of time
  time_ns (ns): time from the start
  cpu: number of the CPU
  entity: name of an interrupt, a DPC or a thread of the system
  event: start, resume, preempt, finish, miss, throttle or replenish

sweep: results.csv of offhook sweep; one row per run. The first columns are the axes, under their keys
  context?: context, if it is not an axis
  repeat: number of the repeat of the cell, from 0
  seed: random seed of this run
)";

constexpr const char* kLab = R"(  verdict: verdict of the cell: sufficient, marginal or insufficient

law: law.csv and offhook advise law --csv; one row per budget X
  x_ticks (ticks): budget X
  x_ms (ms): budget X
  full_law_y_ms (ms): longest period Y that the full law grants
  on_host_y_ms (ms): longest Y with the longest block and the host's own work
  simple_law_y_ms (ms): longest Y by only share and gap
  authors_rule_y_ms (ms): longest Y by the rule of the paper's authors
  decided_by: condition of the law that limits Y: share, gap, backlog or not even the whole CPU

reproduce: results.csv and offhook reproduce --csv; one row per compared value
  claim: name of the claim (offhook reproduce --list)
  what: compared quantity
  unit: unit of the two values
  published: the paper's value
  simulated: simulated value; empty: none
  tolerance: greatest permitted difference
  grade: hard, soft, input or paper: meaning of a difference (docs/reproduce.md)
  provenance: independent, calibrated, derived or input: whether the simulation could have contradicted the value
  notices_20_percent: yes or no: whether the column agrees would change if the published value were 20 % off
  agrees: yes or no
  hinges: unpublished constants (--perturb) on which the column agrees depends
  note: remark on the run, or reason for a difference
  because: reason for the provenance

advise: offhook advise --csv; one row per context that was tried; cells are empty if the host cannot run it
)";

constexpr const char* kAfterAdvice = R"(
admit: offhook advise admit --csv; one row per device and step of the work
  growth: factor of all work
  {device,context}: names of the device and its context
  {blocks,blocks_late,samples_lost}: counters
  first_loss_s (s): time of the first loss; empty: nothing was lost
  share: share of the CPU, 0 to 1

compare: offhook compare --csv; one row per quantity
  item: cell of a sweep, load of a measurement, direction of a call; empty: the whole result
  quantity: key of the value
  unit: its unit; empty: none, or a count
  {a,b}: value in each result; empty: it has none
  difference: b - a; empty unless both are numbers
  ratio: b / a; empty unless both are numbers and a is not 0

hosts: offhook hosts --csv; one row per host
  {host,scheduler,reservations}: names of the host, its scheduler and its reservations
  charge_stolen_time: whether interrupt time is charged to the interrupted thread
  tick_hz (Hz): rate of its clock interrupts
  {grade,what,where,assumed}: grade and source of its numbers, and assumed keys
  latencies_{interrupt,dpc,thread,high_thread}_{mean_ms,worst_ms} (ms): latency of each kind of context; empty: unknown
  latencies_{interrupt,dpc,thread,high_thread}_worst_once_in: number of waits in which the worst occurs once
)";

}  // namespace

std::string csv_keys_text() {
  return kText + record::describe(sweep::kRunRow) + kLab + record::describe(kAdviceTrial, "", "_") + kAfterAdvice +
         "\nmttf: offhook mttf --csv; one row per buffering\n" + record::describe(kMttfCell) +
         "\ntasks: offhook mttf --tasks --csv; one row per computation\n" + record::describe(kMttfTask);
}

}  // namespace offhook::command
