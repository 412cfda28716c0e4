// SPDX-License-Identifier: MIT
#include <algorithm>

#include "src/decode/presentation/json.h"
#include "src/measure/trunk.h"
#include "src/program/command/results.h"
#include "src/program/command/text_keys.h"
#include "src/report/advice_report.h"
#include "src/report/run_summary.h"

namespace offhook::command {
namespace {

constexpr const char* kCalls = R"(
modem: offhook modem --json and summary.json; for a bank, a list of them
  card?: address of the card, for a bank
  context: context of the service
  interrupts: interrupts of the card
  blocks_served: blocks served by the pump
  blocks_late: blocks served after their samples were due
  {samples_late,samples_filled_in,overrun_samples,underrun_samples} (samples): as for run
  pending_max_samples (samples): greatest number of samples that waited for service
  {dispatch_latency,service_time}.count: number of these times
  {dispatch_latency,service_time}.{p50_us,p99_us,p999_us,max_us} (us): time from interrupt to service; time of the service
  yields?: times that the CPU was yielded at preemption points
  throttles?: times that the reservation was exhausted
  demoted?: whether the watchdog demoted the thread to normal priority
  v42.{bytes_sent,octets_sent,bytes_received,octets_received}? (bytes): bytes of the user, and octets of V.42 that carried them
  without[]?: missing privileges
  host.*: description of this machine

line: offhook line --json
  seconds (s): time that the line ran
  calls: calls that connected
  bursts_late: bursts of 1 ms that were more than 1 ms late
  host.*: description of this machine

kernel: offhook kernel, always
  context: context of the service at the end
  switches: switches of context during the call
  card: no call, in call or failed
  connected: whether data mode was reached
  {tx_bit_rate,rx_bit_rate} (bit/s): bit rate of the last data mode
  retrains: retrains of the near pump
  {sent,received} (bytes): bytes of the user; cells of a DMT pump
  seconds (s): line time
  interrupts: interrupts with at least one new descriptor
  coalesced: descriptors without their own interrupt
  spurious: interrupts without a new descriptor
  bad: malformed descriptors (wrong sequence number or position)
  storms: times that the interrupt was masked because of a storm
  {overrun,underrun} (sample periods): received samples that were lost; samples missing when due; by the card's counters
  blocks: blocks served
  blocks_late: blocks served after their samples were due
  {samples_late,samples_filled_in} (sample periods): late samples, samples replaced by silence
  pending_max (sample periods): greatest number of periods that waited for service
  pending_samples.{p50,p99,max} (sample periods): number of periods that waited, at each service
  longest_section_us (us): longest section that held the FPU
  longest_section[]: code at which that section began and ended; empty: no section
  latency_max_us (us): longest time from interrupt to service, measured by the driver
  {interrupt_to_service,service_time}.count: number of these times in the log
  {interrupt_to_service,service_time}.{p50_us,p99_us,p999_us,max_us} (us): quantiles and maximum of these times
  cells.{sent,received,idle,hec_errors}: counters of ATM cells of a DMT pump
  cells.delineation_losses: times that cell delineation was lost
  cells.unread: cells received and dropped because no program read them
  {log_events,log_lost}: events read from the log, and events dropped because it was full

card: offhook card, one line per call
  interrupts: interrupts raised
  {overrun,underrun} (sample periods): received samples that were lost; samples missing when due
  near_received? (bytes): bytes received by the modem at the card, with --in-process
  seconds (s): line time
  hashed_seconds (s): hashed part of the line time, --hash
  {hash,hash_played}: hash (FNV-1a, hexadecimal) of the samples at the codec: of both directions, and of the played samples alone
  far_received? (bytes): bytes received by the far modem
  far_retrains?: retrains of the far modem
  {far_overrun,far_underrun}? (samples): overruns and underruns of the second card, --far-card
  far_end?: why the external program stopped sending, --far-end

export: offhook export --json
  out: output file
  events: exported events
  kernel: kernel trace that was added; empty: none
  kernel_events: events of the kernel trace
  kernel_offset_ns (ns): offset added to kernel timestamps
  lost: events that did not fit into the log
  complete: whether the log has its end record
  truncated: whether it ends early but is otherwise intact
  message: fault of the log

report: offhook report --json
  report: path of the page

compare: offhook compare --json
  offhook_compare: version of this document
  kind: run, sweep, decoded call, decoded calls or latency
  {a,b}: names of the two results
  headline: most important difference, in a sentence
  reasons[]: further sentences
  rows[].item: cell of a sweep, load of a measurement, direction of a call; empty: the whole result
  rows[].quantity: key of the value
  rows[].unit: its unit; empty: none, or a count
  rows[].{a,b}: value in each result; null: it has none
  rows[].difference?: b - a of two numbers
  rows[].ratio?: b / a of two numbers, if a is not 0

devices: offhook devices --json
  [].{kind,address,description,capability}: properties of a card in words; offhook modem accepts the address
  [].usable: whether a modem can run on it
)";

constexpr const char* kLab = R"(
sweep: results.json of offhook sweep
  offhook_sweep: version of this document
  version: version of offhook
  name: name of the grid
  grid: hash of the plan
  base: base scenario, as TOML
  axes[].key: key of a scenario
  axes[].values[]: values of the axis, as TOML
  repeats: runs per cell
  left_out: combinations whose reservation cannot be admitted
  cells[].name: description of the cell
  cells[].*.*?: the cell's value of each axis, under its key
  cells[].verdict: sufficient, marginal or insufficient
  cells[].runs: runs of the cell
  cells[].complete: runs in which the whole file arrived
  cells[].{transfer_mean_s,transfer_min_s,transfer_max_s,transfer_deviation_s} (s): transfer time of the complete runs
  cells[].reference_s (s): the same call in INT
  cells[].pending_max_samples (samples): greatest value of all runs
  cells[].{blocks_late,frames_retransmitted}: sum over all runs
  cells[].rows[].*: one run, as in results.csv (offhook keys csv sweep)
  references[].*: one reference run, as in results.csv

sweep-printed: offhook sweep --json and offhook sweep merge --json
  {results,report}: output files
  runs: total number of runs
  left_out: combinations whose reservation cannot be admitted
  cells[].{name,verdict,complete,runs}: as in results.json

sweep-plan: offhook sweep plan --json
  plan: hash of the plan
  folder: folder of the plan
  slurm: script of the Slurm job array
  {shards,cells,runs,left_out}: numbers of shards, cells, runs and skipped combinations

sweep-run: offhook sweep run --json
  {shard,of}: I and N of I/N
  file: output file of the shard
  was_done: whether an earlier run had already made it

demo: offhook demo --json and summary.json
  offhook_demo: version of this document
  report: path of the page
  {contexts,table3}[].{name,verdict,published,provenance}: simulated and published verdict, and the kind of evidence that an agreement gives
  {contexts,table3}[].{runs,complete,blocks_late}: counters
  {contexts,table3}[].{mean_s,published_mean_s} (s): transfer time
  {contexts,table3}[].pending_max_samples (samples): greatest number of samples that waited for service
  {contexts,table3}[].decides: deciding quantity, in words
  counts.*.{rows,agreeing}: number of rows of each provenance, and of rows that agree
  sentence: summary in one sentence

law: offhook law --json and law.json
  device: its name
  {period_ms,cost_ms} (ms): period T and cost c of a block
  phi: share of the work after which the output is ready, 0 to 1
  lead_samples (samples): samples queued ahead of the codec
  slack_ms (ms): least time from the interrupt of a block until its output is due
  share: share of a CPU that a reservation must exceed
  longest_gap_ms (ms): longest Y - X
  authors_gap_ms (ms): longest Y - X by the rule of the paper's authors
  tick_hz (Hz): rate of the host's clock interrupts
  {recommended,recommended_power_of_two}?.{x_ticks,y_ticks,share}: the reservation with a reserve, Y any or a power of two
  {recommended,recommended_power_of_two}?.margin_ms (ms): margin below the longest gap
  boundary[].*: columns of law.csv (offhook keys csv law)
  experiments[]?.**: with --confirm: results of law, rule and simulation for each cell of each experiment
  phases[]?.**: with --confirm: number of starting phases that succeed

law-check: offhook law --check --json
  offhook_law_check: version of this document
  seed: random seed of the devices
  devices: number of devices
  no_reservation: devices for which no reservation is sufficient
  unexplained: devices for which law and simulation differ without an explanation
  counts.*: number of devices for each kind of agreement
  differing[]?.*: one device for which they differ

advise: offhook advise --json and advice.json
)";

constexpr const char* kLabAfterAdvice =
    R"(  verified?.{seconds,blocks,losses,low_s,advice_is_safer}: results of --verify; absent if no context was chosen

admit: offhook admit --json
  offhook_admission: version of this document
  scenario: name of the scenario
  admitted: whether all devices fit by share and law
  {demand,reserved,bound,reserved_bound}: numbers of CPUs: for the work, reserved, available, available to reservations
  devices[].{name,context}: name and context of a device
  devices[].{demand,reserved}: shares of a CPU, 0 to 1
  devices[].overloaded?: whether its reservation is less than its work
  devices[].law_margin_ms? (ms): margin below the longest gap
  devices[].breaks_at?: factor of work at which the device first loses samples
  breaks_first?: device that first loses samples
  growths[].growth: factor of all work
  growths[].devices[].{blocks,blocks_late,samples_lost,share}: counters of a device, and its share of the CPU
  growths[].devices[].first_loss_s (s): time of the first loss; null: none

schedule: offhook schedule --json
  horizon_ns (ns): end of the simulation
  entities[].{name,kind}: name and kind of an interrupt, a DPC or a thread
  entities[].{released,completed,misses}: numbers of jobs
  entities[].{resp_min,resp_max,resp_sum}? (ns): least, greatest and sum of their response times
  entities[].cpu_ns (ns): CPU time
  entities[].events.{start,resume,preempt,finish,miss,throttle,replenish}: numbers of events

reproduce: offhook reproduce --json and results.json
  offhook_reproduce: version of this document
  seed: first random seed
  repetitions: number of runs where the paper repeated an experiment
  sentence: summary in one sentence
  counts.{independent,calibrated,derived,input}.{rows,agree,hard,hard_agree}?: numbers of values, and of those within tolerance
  counts.can_fail.{rows,agree}: values whose agreement would change if the published value were 20 % off, and those within tolerance
  counts.inconsistent_in_the_paper: values that contradict others in their paper
  falls_short[]?: mandatory (hard) claims that were not reproduced
  claims[].{id,title,seed,at,grade,standing,summary}: claim, place in the paper, and result
  claims[].rows[]?.*: columns of results.csv (offhook keys csv reproduce)
  claims[].figures[]?.**: data of the page's figures
  perturbed?: changed constants, --perturb
  perturbation?.{values,changed}: values of these claims, and those that --perturb changed
  perturbation?.unchanged[]?: claims without a changed value
  perturbation?.decided[]?: values whose agreement it changed
  held_out?.**: results of --held-out
  sensitivity?.**: results of --sensitivity

hosts: offhook hosts --json
  [].{host,scheduler,reservations}: names of the host, its scheduler and its reservations
  [].tick_hz (Hz): rate of its clock interrupts
  [].charge_stolen_time: whether interrupt time is charged to the interrupted thread
  [].{grade,what,where,assumed}: grade and source of its numbers, and assumed keys
  [].latencies.{interrupt,dpc,thread,high_thread}?.{mean_ms,worst_ms} (ms): latency of each kind of context
  [].latencies.{interrupt,dpc,thread,high_thread}?.worst_once_in: number of waits in which the worst occurs once

trace: offhook trace --json
  trace: file that was read
  duration_s (s): duration of the trace
  cpus[].cpu: number of the CPU
  cpus[].lost_events: events lost, or without their counterpart
  cpus[].sources[].{name,as}: name and kind of the thread or interrupt that ran
  cpus[].sources[].intervals: number of intervals
  cpus[].sources[].share: share of the time, 0 to 1
  cpus[].sources[].{mean_us,longest_us} (us): mean and longest interval
)";

constexpr const char* kMeasured = R"(
measure-latency: offhook measure latency --json; with several loads, all keys except the first four are in loads[]
  measure: latency
  host.*: description of this machine
  context: context of the thread
  interval_us (us): time between wake-ups
  {load,load_rounds}: load during the measurement, and its number of restarts
  {latency,own_cost}.unit: us, for all times below
  {latency,own_cost}.count: number of times
  {latency,own_cost}.{min,mean,p50,p99,p99.9,p99.99,max} (us): statistics of them
  {latency,own_cost}.bars[][]: [from, to, count] of each bar of the histogram
  missed: wake-ups skipped because an earlier one was late
  over_threshold_us (us): latency that ended the measurement; 0: none
  over_at_ns (ns): time of that latency, on CLOCK_MONOTONIC
  stages?.**: interrupt, softirq and scheduling separately
  without[]?: missing privileges

measure-stolen: offhook measure stolen --json
  measure: stolen
  host.*: description of this machine
  context: context of the reservation
  stolen.**: stolen intervals, in the form of latency in measure-latency
  stolen_percent (%): stolen share of the time
  {deadline_hits,deadline_misses}: periods with their whole budget, and periods without
  {gap_us,poll_us} (us): shortest gap that counts as stolen; time of a poll
  without[]?: missing privileges

measure-kernel: offhook measure kernel --json
  measure: kernel
  host.*: description of this machine
  rows[].{call,equivalent}: operation, and its Linux equivalent
  rows[].count: number of timed calls
  rows[].{min_us,mean_us,max_us} (us): time of a call
  rows[].time.**: histogram, in the form of latency in measure-latency
  rows[].published_us?.* (us): published time for each board
  integer_mix_per_s: runs per second of a mix in the manner of Dhrystone

measure-cost: offhook measure cost --json
  measure: cost
  host.*: description of this machine
  pump: name of the pump
  state_bytes (bytes): state of one modem
  *.blocks: measured blocks of each phase
  *.cost.**: cost of a block, in the form of latency in measure-latency
  *.ns_per_sample (ns): median cost per sample

measure-host: offhook measure host --json
  measure: host
  host.*: description of this machine
  repetitions: requested repetitions of a microbenchmark
  file_system: file system of the folder under test
  counters: why hardware counters are missing; empty: all were read
  rows[].{name,what}: operation and its description
  rows[].unit: unit of the times or rates of this row
  rows[].repetitions: repetitions that were run
  rows[].{median,min,p10,p90,max}: statistics in the row's unit; 0 if skipped
  rows[].counters.*?: mean of each counter per repetition
  rows[].skipped: why the row was skipped; empty: it was run
  rows[].remark: observation during the run
  rows[].application: whether the row is an application of the paper's Table 6
  rows[].published?.{netbsd_s,windows_nt_s,windows_s} (s): times of the paper's 90 MHz Pentium
  rows[].faster?.{netbsd_s,windows_nt_s,windows_s}: speed-up of this machine
  memory[].stride (bytes): distance between references; 0: random
  memory[].bytes[] (bytes): sizes of the array
  memory[].{median_ns,min_ns,max_ns}[] (ns): time of a reference, for each size

measure-bank: offhook measure bank --json
  measure: bank
  host.*: description of this machine
  pump: name of the pump
  context: context of every modem, or of the single thread
  one_thread: whether one thread serves all pumps, without V.42
  {channels,connected}: number of modems, and of modems in data mode
  seconds (s): line time, including the time to connect
  blocks: blocks served
  blocks_late: blocks served after their samples were due
  blocks_late_in_stalls: late blocks within 100 ms after a stall of the machine
  blocks_late_connecting: late blocks before all modems were connected
  {samples_late,samples_filled_in,underrun_samples} (samples): samples that were late, replaced by silence, missing when due for sending
  pending_max_samples (samples): greatest number of samples that waited for service
  bytes (bytes): bytes that arrived at all modems
  bytes_wrong (bytes): bytes that arrived wrong
  {cpu_share_percent,hardware_share_percent,owner_share_percent} (%): share of a CPU in data mode: modems, played hardware, and the thread that writes and reads the bytes
  {service_time,dispatch_latency}.count: number of these times
  {service_time,dispatch_latency}.{p50_us,p99_us,p999_us,max_us} (us): time of the service; time from request to service
  stolen_ms (ms): time of this CPU that the hypervisor took
  stalls[]?.at_s (s): time of a stall of the hardware's thread, from the first sample
  stalls[]?.ms (ms): length of the stall
  stalls[]?.blocks_late: late blocks until 100 ms after the stall
  without[]?: missing privileges

measure-batch: offhook measure batch --json
  measure: batch
  host.*: description of this machine
  pump: name of the pump
  {calls,connected}: number of calls (two pumps each), and of calls in data mode
  connected_after_s (s): line time until the last call connected
  bits: compared bits
  bits_wrong: wrong bits
  {calls_alone,calls_same}: calls repeated alone, and those with identical samples
  groups[].name: name of a group of pumps that are advanced in one call
  groups[].pumps: number of pumps
  groups[].state_bytes (bytes): state of one pump
  groups[].{together_ns_per_sample,one_by_one_ns_per_sample} (ns): cost of one pump when all run, in one call and pump by pump
  groups[].alone_ns_per_sample (ns): cost of one pump when only its call runs, pump by pump
  groups[].pumps_per_core: number of pumps that one CPU can run in real time

measure-cause: offhook measure cause --json
  measure: cause
  host.*: description of this machine
  context: context of the thread
  load: load during the measurement
  threshold_us (us): latency threshold
  found: whether a wake-up exceeded the threshold
  latency.**: latencies of all wake-ups, in the form of latency in measure-latency
  verdict: cause in a sentence; empty: no wake-up was late
  lost_events: lost events of the kernel's trace
  stages_us?.{interrupt,waking,switched,ran} (us): time from the due time of that wake-up to the timer interrupt, to runnable, to the switch, and to running; below 0: not in the trace
  stages_us?.cpu: CPU of that wake-up
  had_the_cpu[]?.{name,as}: name and kind of the thread or interrupt that had the CPU meanwhile
  had_the_cpu[]?.us (us): duration
  samples[]?.{function,thread}: function and thread of the sampled instruction pointer
  samples[]?.count: number of samples
  timeline[]?: events of that time, one line each

measure-device: offhook measure device --json
  measure: device
  host.*: description of this machine
  {scenario,device}: names of the scenario (empty: a device file) and the device
  context: context of the service
  seconds (s): line time
  blocks: blocks served
  blocks_late: blocks served after their samples were due
  {samples_late,underrun_samples,overrun_samples} (samples): samples that were late, missing when due for sending, received and lost
  pending_max_samples (samples): greatest number of samples that waited for service
  buffer_samples (samples): length of a buffer of the device
  {service_time,dispatch_latency}.count: number of these times
  {service_time,dispatch_latency}.{p50_us,p99_us,p999_us,max_us} (us): time of the service; time from request to service
  without[]?: missing privileges
  reservation?.{yields,throttles}: times that the CPU was yielded at preemption points; times that the budget was exhausted
  worst_block?.number: number of the block with the longest time from its samples to its end, from 0; only for a device file
  worst_block?.{after_us,waited_us,took_us} (us): time from its samples to its end, time from its samples to the start of its work, and time of its work with interruptions
  worst_block?.declared_us (us): CPU time that the device declares for it
  worst_block?.verdict?: with --cause, the code on the CPU during that block, in a sentence
  worst_block?.had_the_cpu[]?.{name,as}: with --cause, name and kind of a thread or interrupt that had the CPU meanwhile
  worst_block?.had_the_cpu[]?.us (us): duration
  worst_block?.lost_events?: lost events of the kernel's trace
  periods_sent_otherwise?: periods sent differently than recorded, with --recorded
)";

}  // namespace

std::string json_keys_text() {
  return "run: offhook run --json and summary.json\n" + record::describe(kRunSummary) + kCalls + kLab +
         record::describe(kAdvice) + kLabAfterAdvice + "\nmttf: offhook mttf --json\n" + record::describe(kMttf) +
         "\ntasks: offhook mttf --tasks --json\n" + record::describe(kMttfTasks) + kMeasured +
         record::describe(kDmtStatus, "dmt?.") + record::describe(kRadioStatus, "radio?.") +
         record::describe(kPumpStatus, "pump?.") +
         "\ndecode: offhook decode --json; for several calls, a list of them\n" + record::describe(decode::kDocument) +
         "\ntrunk-test: offhook trunk-test --json\n" + record::describe(measure::kTrunkResult);
}

std::string documents_with(std::string_view text, std::string_view part) {
  std::string out;
  bool in = false;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    if (!line.empty() && line.front() != ' ') in = line.substr(0, line.find(':')).find(part) != std::string_view::npos;
    if (in) out.append(line).append("\n");
  }
  while (out.ends_with("\n\n")) out.pop_back();
  return out;
}

}  // namespace offhook::command
