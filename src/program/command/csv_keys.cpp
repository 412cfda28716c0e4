// SPDX-License-Identifier: MIT
#include "src/program/command/text_keys.h"

namespace offhook::command {
namespace {

constexpr const char* kText = R"(events: offhook export --csv; a row an event, in the order of time
  time_ns (ns): when, on the clock of the log
  cpu: the CPU
  kind: what happened (include/offhook/event_log.h); a number where this version has no name for it
  id: of the job, thread, interrupt or driver
  name: of the same, as the log's header says; of a retrain its cause
  argument: what the kind of event says of it

schedule: offhook schedule; a row an event, in the order of time
  time_ns (ns): when, from the beginning
  cpu: the CPU
  entity: the name of an interrupt, a DPC or a thread of the system
  event: start, resume, preempt, finish, miss, throttle or replenish

sweep: results.csv of offhook sweep; a row a run. First a column for each axis, under its key
  context?: where it is no axis
  repeat: of the cell, from 0
  seed: of this run
  complete: whether the file arrived, or a device ran to its end
  transfer_s? (s): from the first byte to the last; empty where the file did not arrive
  simulated_s (s): the whole call
  bytes_delivered? (bytes): to the far end
  blocks: served
  blocks_late: served after their samples were due
  samples_late (samples): that came after they were due
  pending_max_samples (samples): most that waited for service
  overrun_samples (samples): received and lost
  underrun_samples (samples): missing when they were to be sent
  frames_retransmitted?: of V.42, near end
  timeouts?: of V.42, near end
  retrains?: of the near pump
  pump_share: CPU time of the pump over time, 0 to 1
  ending?: what ended the call
  blocks_late:*?: of each [[load.soft_device]], under its name
  trained_s? (s): of a DMT pump: when data mode was first reached; empty: never
  {gross,loop,capacity}_{down,up}_bps? (bit/s): with the code's redundancy; what the loop carries; its capacity (docs/dmt.md)
  {crc_errors,lost_words,wrong_bits}_{down,up}?: superframes with a wrong check, uncorrected words, bits unlike the pattern
  {cells,hec_errors}_{down,up}?: ATM cells received, and those dropped for their HEC
  connected_s? (s): of a radio: when the link was first up; empty: never
  bit_rate_{received,sent}_bps? (bit/s): of a burst's data
  {bursts_due,bursts_lost,bursts_late}_{received,sent}?: to be received, not received, of them not sent in time
  verdict: of the cell: sufficient, marginal or insufficient

law: law.csv and offhook law --csv; a row a budget X
  x_ticks (ticks): X
  x_ms (ms): the same
  full_law_y_ms (ms): longest period Y that the full law grants
  on_host_y_ms (ms): the same with the longest block and the host's own work
  simple_law_y_ms (ms): longest Y by share and gap alone
  authors_rule_y_ms (ms): longest Y by the rule of the paper's authors
  decided_by: the face of the law that ends the row: share, gap, backlog or not even the whole CPU

mttf: offhook mttf --csv; a row a buffering
  buffers: their number n
  buffer_ms (ms): length t of one
  compute_ms (ms): CPU time of one
  tolerance_ms (ms): the latency that all of them bridge, (n - 1) t
  slack_ms (ms): the same less compute_ms
  longer_than_slack: share of latencies above the slack, 0 to 1
  formula_s (s): mean time to an underrun, (n - 1) t / longer_than_slack; empty: never
  every_buffer_s (s): the same with t / longer_than_slack; empty: never
  simulated_s (s): the same by simulation; empty: no underrun
  low_s (s): least mean time, 95 % confidence
  high_s (s): greatest mean time, 95 % confidence; empty: not bounded
  underruns: simulated; a run of missed buffers is one
  missed: buffers not computed before all that had been buffered was played
  simulated_hours (h): how long
  slot_us? (us): a radio's slot, --slot-us
  miss_ratio?: of slots, 0 to 1
  miss_ratio_at_most?: the same, 95 % confidence

tasks: offhook mttf --tasks --csv; a row a computation
  name: as the file has it
  permitted_interval_s (s): one drop in so long is permitted
  worst_latency_ms (ms): longest latency at the permitted rate
  beyond_measurement: whether that is rarer than the measurement saw
  mean_latency_ms (ms): mean
  pseudo_worst_ms (ms): release jitter, (W + (m - 1) A) / m of worst W, mean A and m buffers
  blocking_ms (ms): longest time that one of lower priority keeps the CPU
  response_ms (ms): longest response; empty: unbounded
  period_ms (ms): of the computation
  schedulable: whether the response is within the period
  jobs: simulated
  missed: of them after their deadline
  drops: runs of missed ones
  longest_ms (ms): longest response in the simulation
  drop_interval_low_s (s): least mean time between drops, 95 % confidence
  drop_interval_high_s (s): greatest; empty: not bounded
  simulation: meets it, fails or undecided, against permitted_interval_s

reproduce: results.csv and offhook reproduce --csv; a row a compared value
  claim: its name (offhook reproduce --list)
  what: is compared
  unit: of the two values
  published: the paper's value
  simulated: ours; empty: none
  tolerance: how far apart they may be
  grade: hard, soft, input, paper: what a difference means (docs/reproduce.md)
  provenance: independent, calibrated, derived or input: whether the value could have come out otherwise
  agrees: yes or no
  note: on the run, or why it differs
  because: why the provenance is what it is

advise: offhook advise --csv; a row a context that was tried; empty cells where the host cannot do it
  {context,in_full,against}: its name, what the host calls it, why it was passed over
  refusal?: why the host cannot do it
  class: sufficient, marginal or insufficient
  {loses_nothing,swamped,thin,within_pc99}: whether nothing was lost, work did not end, worst_margin_ms is below least_margin_ms, the limits are kept
  {blocks,blocks_late,blocks_given_up,samples_lost,buffers_needed}: blocks served, of them late, never served, and other counts
  between_losses_{expected_s,low_s,high_s} (s): time between losses, with its interval
  between_losses_evidence_s (s): independent seconds behind it
  between_losses_{evidence,because,low}: what that rests on
  {margin_ms,worst_margin_ms,least_margin_ms,latency_p999_ms,latency_max_ms,timer_late_max_ms,timer_late_p999_ms} (ms): least time to a deadline, the same after the longest wait known of the host, what would be thin, latency, what timers of others waited
  {isr_max_us,dpc_max_us} (us): longest
  {share,stolen_share}: of the CPU for the device, and taken from others above their priority, 0 to 1
  miss_ratio_at_most?: of a radio's slots, 0 to 1

admit: offhook admit --csv; a row a device at each step of the work
  growth: factor of all work
  {device,context}: names
  {blocks,blocks_late,samples_lost}: counts
  first_loss_s (s): when; empty: nothing was lost
  share: of the CPU, 0 to 1

hosts: offhook hosts --csv; a row a host
  {host,scheduler,reservations}: names
  charge_stolen_time: whether interrupts are time of the threads that they hit
  tick_hz (Hz): of its clock
  {grade,what,where,assumed}: what its numbers are worth, and where they come from
  latencies_{interrupt,dpc,thread,high_thread}_{mean_ms,worst_ms} (ms): of each kind of context; empty: not known
  latencies_{interrupt,dpc,thread,high_thread}_worst_once_in: waits
)";

}  // namespace

std::string csv_keys_text() {
  return kText;
}

}  // namespace offhook::command
