// SPDX-License-Identifier: MIT
#include <algorithm>

#include "src/program/command/text_keys.h"

namespace offhook::command {
namespace {

constexpr const char* kCalls = R"(run: offhook run --json and summary.json
  offhook_summary: version of this document
  version: of offhook
  name: of the scenario
  context: of the driver
  seed: of the run
  complete: whether the file arrived, or a device ran to its end
  interrupted: whether the user ended it
  ending: what ended the call, in words
  bytes? (bytes): length of the file; not of a device
  bytes_delivered? (bytes): of them to the other end; with --far-end both ways together
  transfer_s (s): from the first byte to the last; 0: it did not arrive
  at_line_rate_s? (s): with --far-end: what the line's bit rate needs
  simulated_s? (s): the whole call
  line_s? (s): the same of a call in a kernel, by the samples of its line
  kernel?.*: counts of the kernel driver (docs/kernel.md)
  device?.{buffers,buffer_samples,lead_samples}: of a soft device as it ran
  dmt?.{trained_s,trainings,fast_retrains,in_data}: of a DMT pump's start-up
  dmt?.{down,up}.**: rates, margins and errors of a direction (docs/dmt.md)
  radio?.**: of a soft radio (docs/radio.md)
  compression?.{by,sent,received,octets}: V.42bis or V.44, whether it was agreed on, and what it came to
  hold?.{asked_at_s,refused_at_s?,away_at_s?,resumed_at_s?,data_at_s?} (s): modem-on-hold, by the simulated time: asked for; refused; granted; ordered to end; data mode again
  hold?.limit_s? (s): what was granted; 0: no limit
  reference?.{context,complete,lost_samples,transfer_s}: the same call in INT
  verdict: sufficient, marginal or insufficient
  headline: the same in a sentence
  reasons[]: why, a sentence each
  figures.events: in the log
  figures.{total,phases[]}.{begin_s,end_s} (s): of the whole log, and of each phase of the call
  figures.phases[].phase: 0 on hook, 1 dialling, 2 connecting, 3 connected
  figures.{total,phases[]}.interrupts: of the card
  figures.{total,phases[]}.blocks: served
  figures.{total,phases[]}.blocks_late: served after their samples were due
  figures.{total,phases[]}.{samples_late,samples_filled_in,overrun_samples,underrun_samples} (samples): late, replaced by silence, received and lost, missing when to be sent
  figures.{total,phases[]}.pending_max_samples (samples): most that waited for service
  figures.{total,phases[]}.lead_used_max_samples (samples): most of the transmit lead that was used up
  figures.{total,phases[]}.service_run_elapsed_max_ms (ms): longest service run
  figures.{total,phases[]}.modem_cpu_share: CPU time of the driver over time, 0 to 1
  figures.{interrupt_to_isr,interrupt_to_service,interrupt_to_output,interrupt_period,isr_elapsed,service_run_elapsed,timer_interval}.count: how many of these times were taken
  figures.{interrupt_to_isr,interrupt_to_service,interrupt_to_output,interrupt_period,isr_elapsed,service_run_elapsed,timer_interval}.{min_ms,mean_ms,p50_ms,p99_ms,p999_ms,max_ms} (ms): least, mean, quantiles, greatest
  figures.ends[].{sent_bps,received_bps} (bit/s): of the last data mode; near end, far end
  figures.ends[].{data_modes,frames_retransmitted,recoveries,bad_frames}: counts
  figures.ends[].bytes_delivered (bytes): to this end's user

modem: offhook modem --json and summary.json; a list of them of a bank
  card?: its address, of a bank
  context: of the service
  interrupts: of the card
  blocks_served: by the pump
  blocks_late: served after their samples were due
  {samples_late,samples_filled_in,overrun_samples,underrun_samples} (samples): as of run
  pending_max_samples (samples): most that waited for service
  {dispatch_latency,service_time}.count: how many of these times were taken
  {dispatch_latency,service_time}.{p50_us,p99_us,p999_us,max_us} (us): interrupt to service; service
  yields?: of the CPU at preemption points
  throttles?: times that the reservation was used up
  demoted?: whether the watchdog made a normal thread of it
  v42.{bytes_sent,octets_sent,bytes_received,octets_received}? (bytes): of the user, and as V.42 carried them
  without[]?: privileges that were missing
  host.*: this machine

line: offhook line --json
  seconds (s): the line ran
  calls: connected
  bursts_late: of 1 ms, more than 1 ms late
  host.*: this machine

kernel: offhook kernel, always
  context: of the service, at the end
  switches: of context in the call
  card: no call, in call or failed
  connected: whether data mode was reached
  {tx_bit_rate,rx_bit_rate} (bit/s): of the last data mode
  retrains: of the near pump
  {sent,received} (bytes): of the user; cells of a DMT pump
  seconds (s): of the line
  interrupts: with at least one new descriptor
  coalesced: descriptors that came with another one's interrupt
  spurious: interrupts without a new descriptor
  bad: descriptors that could not be, by sequence or position
  storms: times that the interrupt was silenced
  {overrun,underrun} (sample periods): received and lost, missing when to be sent, as the card counts
  blocks: served
  blocks_late: served after their samples were due
  {samples_late,samples_filled_in} (sample periods): late, replaced by silence
  pending_max (sample periods): most that waited for service
  pending_samples.{p50,p99,max} (sample periods): at each service
  longest_section_us (us): with the FPU held
  longest_section[]: the code where it began, and where it ended; empty: there was none
  latency_max_us (us): longest from interrupt to service, as the driver measured
  {interrupt_to_service,service_time}.count: how many of these times are in the log
  {interrupt_to_service,service_time}.{p50_us,p99_us,p999_us,max_us} (us): of them
  cells.{sent,received,idle,hec_errors}: of ATM, of a DMT pump; counts
  cells.delineation_losses: times that the cells' boundaries were lost
  cells.unread: received, and lost for nobody read them
  {log_events,log_lost}: read from the event log, and dropped for want of room

card: offhook card, a line for each call
  interrupts: raised
  {overrun,underrun} (sample periods): received and lost, missing when to be played
  near_received? (bytes): by the modem at the card, with --in-process
  seconds (s): of the line
  hashed_seconds (s): of them, --hash
  {hash,hash_played}: of the samples at the codec, both directions and the played one; FNV-1a, hexadecimal
  far_received? (bytes): by the far modem
  far_retrains?: of the far modem
  {far_overrun,far_underrun}? (samples): of the second card, --far-card
  far_end?: why the program there sent no more, --far-end

export: offhook export --json
  out: the file
  events: exported
  kernel: the kernel's trace that was laid beside; empty: none
  kernel_events: of it
  kernel_offset_ns (ns): added to its times
  lost: events that had no room in the log
  complete: whether the log has its end
  truncated: whether it ends early but sound
  message: what is wrong with it

report: offhook report --json
  report: the page

devices: offhook devices --json
  [].{kind,address,description,capability}: of a card, in words; the address is what offhook modem takes
  [].usable: whether a modem can run on it
)";

constexpr const char* kLab = R"(
sweep: results.json of offhook sweep
  offhook_sweep: version of this document
  version: of offhook
  name: of the grid
  grid: hash of the plan
  base: the scenario, as TOML
  axes[].key: of a scenario
  axes[].values[]: as TOML
  repeats: runs of a cell
  left_out: combinations whose reservation cannot be admitted
  cells[].name: what differs, in words
  cells[].*.*?: the cell's value of each axis, under its key
  cells[].verdict: sufficient, marginal or insufficient
  cells[].runs: of the cell
  cells[].complete: of them with the whole file
  cells[].{transfer_mean_s,transfer_min_s,transfer_max_s,transfer_deviation_s} (s): of the complete runs
  cells[].reference_s (s): the same call in INT
  cells[].pending_max_samples (samples): greatest of all runs
  cells[].{blocks_late,frames_retransmitted}: of all runs together
  cells[].rows[].*: each run, as in results.csv (offhook keys csv sweep)
  references[].*: each reference, likewise

sweep-printed: offhook sweep --json and offhook sweep merge --json
  {results,report}: the files
  runs: in all
  left_out: combinations whose reservation cannot be admitted
  cells[].{name,verdict,complete,runs}: as in results.json

sweep-plan: offhook sweep plan --json
  plan: its hash
  folder: where it is
  slurm: the script of the job array
  {shards,cells,runs,left_out}: counts

sweep-run: offhook sweep run --json
  {shard,of}: I and N of I/N
  file: what it made
  was_done: whether an earlier start had made it

demo: offhook demo --json and summary.json
  offhook_demo: version of this document
  report: the page
  {contexts,table3}[].{name,verdict,published,provenance}: our verdict beside the paper's, and what agreement is worth
  {contexts,table3}[].{runs,complete,blocks_late}: counts
  {contexts,table3}[].{mean_s,published_mean_s} (s): of the transfer
  {contexts,table3}[].pending_max_samples (samples): most that waited for service
  {contexts,table3}[].decides: what decides the verdict, in words
  counts.*.{rows,agreeing}: of each provenance
  sentence: all of that in one

law: offhook law --json and law.json
  device: its name
  {period_ms,cost_ms} (ms): of a block, T and c
  phi: share of the work after which the output is there, 0 to 1
  lead_samples (samples): queued ahead
  slack_ms (ms): least time that a block may be late
  share: of a CPU, that a reservation must exceed
  longest_gap_ms (ms): longest Y - X
  authors_gap_ms (ms): the same by the rule of the paper's authors
  tick_hz (Hz): of the host's clock
  {recommended,recommended_power_of_two}?.{x_ticks,y_ticks,share}: the reservation with a reserve, Y any or a power of two
  {recommended,recommended_power_of_two}?.margin_ms (ms): below the longest gap
  boundary[].*: the columns of law.csv (offhook keys csv law)
  experiments[]?.**: with --confirm: each experiment, what law, rule and simulation say of each cell
  phases[]?.**: with --confirm: how many starting phases succeed

law-check: offhook law --check --json
  offhook_law_check: version of this document
  seed: of the devices
  devices: how many
  no_reservation: of them that no reservation suits
  unexplained: of them where law and simulation differ without a reason
  counts.*: of each kind of agreement
  differing[]?.*: each device where they differ

advise: offhook advise --json and advice.json
  {device,host,load}: what was asked about, in words
  suffices: whether a context loses nothing for as long as asked, or as the evidence carries
  context?: the advice
  headline: in a sentence
  with_reserve: whether it suffices with a "but"
  warnings[]?: what makes the simulation a weak witness
  reasons[]: why, a sentence each
  required_s? (s): between losses, as asked
  assumed: whether nobody measured the host's numbers
  linux: whether the host has Linux's classes
  commands[]?: the context as lines to copy, on Linux
  priorities[]?: who goes first on a Linux host, the most urgent first
  limit_ms (ms): what a block's output may take from its interrupt on
  slot_ms? (ms): a radio's slot, --slot-us
  trials[].miss_ratio_at_most?: of its slots, 0 to 1
  lead_ms (ms): queued for transmission
  buffers: of the device
  buffers_that_suffice?: where its own do not
  control.{timer_late_max_ms,timer_late_p999_ms} (ms): of a timer's callback without the device
  pc99.{interrupt_us,dpc_us} (us): what PC 99 allows
  passed_over_for[].contexts[]: that share a reason
  passed_over_for[].because: the reason
  trials[].{context,in_full,against}: its name, what the host calls it, why it was passed over
  trials[].refusal?: why the host cannot do it; nothing else is there then
  trials[].class?: sufficient, marginal or insufficient
  trials[].{loses_nothing,swamped,thin,within_pc99}?: whether nothing was lost, work did not end, worst_margin_ms is below least_margin_ms, the limits are kept
  trials[].{blocks,blocks_late,blocks_given_up,samples_lost,buffers_needed}?: blocks served, of them late, never served, and other counts
  trials[].between_losses.{expected_s,low_s,high_s}? (s): time between losses, with its interval
  trials[].between_losses.evidence_s? (s): independent seconds behind it
  trials[].between_losses.{evidence,because,low}?: its kind (losses, seen, law, distribution, tail, assumed), what that rests on
  trials[].{margin_ms,worst_margin_ms,least_margin_ms,latency_p999_ms,latency_max_ms,timer_late_max_ms,timer_late_p999_ms}? (ms): least time to a deadline, the same after the longest wait known of the host, what would be thin, latency, what timers of others waited
  trials[].{isr_max_us,dpc_max_us}? (us): longest
  trials[].{share,stolen_share}?: of the CPU for the device, and taken from others above their priority, 0 to 1
  verified?.{seconds,blocks,losses,low_s,advice_is_safer}: of --verify; not there when no context was chosen

admit: offhook admit --json
  offhook_admission: version of this document
  scenario: its name
  admitted: whether all fit by share and law
  {demand,reserved,bound,reserved_bound}: of CPUs: work, reservations, what there is, what reservations may have
  devices[].{name,context}: of a device
  devices[].{demand,reserved}: of a CPU, 0 to 1
  devices[].overloaded?: whether its reservation is less than its work
  devices[].law_margin_ms? (ms): below the longest gap
  devices[].breaks_at?: the factor of work at which it first loses samples
  breaks_first?: the device
  growths[].growth: factor of all work
  growths[].devices[].{blocks,blocks_late,samples_lost,share}: of a device
  growths[].devices[].first_loss_s (s): null: none

mttf: offhook mttf --json
  source: host and context, or the file
  {mean_ms,worst_ms} (ms): latency
  points[].longer: share of latencies above, 0 to 1
  points[].latency_ms (ms): this
  bufferings[].*: the columns of --csv (offhook keys csv mttf)

tasks: offhook mttf --tasks --json
  host: its name
  simulated_hours (h): how long
  computations[].*: the columns of --csv (offhook keys csv tasks)

schedule: offhook schedule --json
  horizon_ns (ns): when it ended
  entities[].{name,kind}: of an interrupt, a DPC or a thread
  entities[].{released,completed,misses}: jobs
  entities[].{resp_min,resp_max,resp_sum}? (ns): of their response times
  entities[].cpu_ns (ns): CPU time
  entities[].events.{start,resume,preempt,finish,miss,throttle,replenish}: counts

reproduce: offhook reproduce --json and results.json
  offhook_reproduce: version of this document
  seed: the first
  repetitions: where the paper repeated
  sentence: the outcome in one
  counts.{independent,calibrated,derived,input}.{rows,agree,hard,hard_agree}?: values, and those within tolerance
  counts.inconsistent_in_the_paper: values
  falls_short[]?: hard claims
  claims[].{id,title,seed,at,grade,standing,summary}: the claim, where the paper makes it, how we stand
  claims[].rows[]?.*: the columns of results.csv (offhook keys csv reproduce)
  claims[].figures[]?.**: what the page draws
  perturbed?: --perturb
  held_out?.**: --held-out
  sensitivity?.**: --sensitivity

hosts: offhook hosts --json
  [].{host,scheduler,reservations}: names
  [].tick_hz (Hz): of its clock
  [].charge_stolen_time: whether interrupts are time of the threads that they hit
  [].{grade,what,where,assumed}: what its numbers are worth, and where they come from
  [].latencies.{interrupt,dpc,thread,high_thread}?.{mean_ms,worst_ms} (ms): of each kind of context
  [].latencies.{interrupt,dpc,thread,high_thread}?.worst_once_in: waits

trace: offhook trace --json
  trace: what was read
  duration_s (s): of it
  cpus[].cpu: its number
  cpus[].lost_events: lost, or without their counterpart
  cpus[].sources[].{name,as}: who had the CPU, and as what
  cpus[].sources[].intervals: how often
  cpus[].sources[].share: of the time, 0 to 1
  cpus[].sources[].{mean_us,longest_us} (us): of an interval
)";

constexpr const char* kMeasured = R"(
measure-latency: offhook measure latency --json; of several loads all but the first four in loads[]
  measure: latency
  host.*: this machine
  context: of the thread
  interval_us (us): between wake-ups
  {load,load_rounds}: beside it, and how often it ended and began again
  {latency,own_cost}.unit: us, of all times below
  {latency,own_cost}.count: how many
  {latency,own_cost}.{min,mean,p50,p99,p99.9,p99.99,max} (us): of them
  {latency,own_cost}.bars[][]: [from, to, count] of the histogram
  missed: wake-ups that were due while one was late
  over_threshold_us (us): the latency that ended it; 0: none
  over_at_ns (ns): when, on CLOCK_MONOTONIC
  stages?.**: interrupt, softirq and scheduling apart
  without[]?: privileges that were missing

measure-stolen: offhook measure stolen --json
  measure: stolen
  host.*: this machine
  context: of the reservation
  stolen.**: the stolen intervals, as latency of measure latency
  stolen_percent (%): of the time
  {deadline_hits,deadline_misses}: periods with their whole budget, and without
  {gap_us,poll_us} (us): a longer gap was stolen; what a poll takes
  without[]?: privileges that were missing

measure-kernel: offhook measure kernel --json
  measure: kernel
  host.*: this machine
  rows[].{call,equivalent}: the operation, and what it is here
  rows[].count: how many were timed
  rows[].{min_us,mean_us,max_us} (us): a call
  rows[].time.**: the histogram, as latency of measure latency
  rows[].published_us?.* (us): of each board in the paper
  integer_mix_per_s: runs a second of a mix in the manner of Dhrystone

measure-cost: offhook measure cost --json
  measure: cost
  host.*: this machine
  pump: its name
  state_bytes (bytes): of a modem
  *.blocks: of each phase: blocks measured
  *.cost.**: of a block, as latency of measure latency
  *.ns_per_sample (ns): at the median

measure-host: offhook measure host --json
  measure: host
  host.*: this machine
  repetitions: of a microbenchmark, as asked
  file_system: of the folder under test
  counters: why the hardware's are missing; empty: all were read
  rows[].{name,what}: the operation, and what it is
  rows[].unit: of the times or rates of this row
  rows[].repetitions: that were made
  rows[].{median,min,p10,p90,max}: of them, in the row's unit; of a skipped one 0
  rows[].counters.*?: each counter, a repetition's mean
  rows[].skipped: why it was not run; empty: it was
  rows[].remark: what was seen in running it
  rows[].application: whether it is an application of the paper's Table 6
  rows[].published?.{netbsd_s,windows_nt_s,windows_s} (s): of the paper's 90 MHz Pentium
  rows[].faster?.{netbsd_s,windows_nt_s,windows_s}: how many times as fast this machine is
  memory[].stride (bytes): between references; 0: random
  memory[].bytes[] (bytes): sizes of the array
  memory[].{median_ns,min_ns,max_ns}[] (ns): of a reference, for each size

measure-bank: offhook measure bank --json
  measure: bank
  host.*: this machine
  pump: its name
  context: of every modem, or of the one thread
  one_thread: that serves the pumps of all, without V.42
  {channels,connected}: modems, and those in data mode
  seconds (s): of samples, with the time to connect
  blocks: served
  blocks_late: served after their samples were due
  blocks_late_in_stalls: of them within 100 ms of a stall of the machine
  blocks_late_connecting: of them before all were connected
  {samples_late,samples_filled_in,underrun_samples} (samples): late, replaced by silence, missing when to be sent
  pending_max_samples (samples): most that waited for service
  bytes (bytes): that arrived, of all modems
  bytes_wrong (bytes): of them not as sent
  {cpu_share_percent,hardware_share_percent,owner_share_percent} (%): of a CPU in data mode: modems, played hardware, who writes and reads the bytes
  {service_time,dispatch_latency}.count: how many of these times were taken
  {service_time,dispatch_latency}.{p50_us,p99_us,p999_us,max_us} (us): service; request to service
  stolen_ms (ms): that the hypervisor took of this CPU
  stalls[]?.at_s (s): the hardware's thread was late, from the first sample
  stalls[]?.ms (ms): by so much
  stalls[]?.blocks_late: until 100 ms later
  without[]?: privileges that were missing

measure-batch: offhook measure batch --json
  measure: batch
  host.*: this machine
  pump: its name
  {calls,connected}: of two pumps each, and those in data mode
  connected_after_s (s): the last of them, of line time
  bits: compared
  bits_wrong: of them
  {calls_alone,calls_same}: run once more alone, and those with the same samples there
  groups[].name: of pumps that are advanced in one call
  groups[].pumps: their number
  groups[].state_bytes (bytes): of one
  groups[].{together_ns_per_sample,one_by_one_ns_per_sample} (ns): of one pump, with all the others, in one call and pump by pump
  groups[].alone_ns_per_sample (ns): with its own call only, pump by pump
  groups[].pumps_per_core: that one CPU advances in real time

measure-cause: offhook measure cause --json
  measure: cause
  host.*: this machine
  context: of the thread
  load: beside it
  threshold_us (us): the latency that was looked for
  found: whether a wake-up was later
  latency.**: of all wake-ups, as latency of measure latency
  verdict: why it was, in a sentence; empty: none was
  lost_events: of the kernel's trace
  stages_us?.{interrupt,waking,switched,ran} (us): from when that wake-up was due: to the timer's interrupt, made runnable, switched to, running; below 0: not in the trace
  stages_us?.cpu: where
  had_the_cpu[]?.{name,as}: who had the CPU in that time, and as what
  had_the_cpu[]?.us (us): how long
  samples[]?.{function,thread}: where the instruction pointer was sampled
  samples[]?.count: how often
  timeline[]?: the events of that time, a line each

measure-device: offhook measure device --json
  measure: device
  host.*: this machine
  {scenario,device}: names
  context: of the service
  seconds (s): of samples
  blocks: served
  blocks_late: served after their samples were due
  {samples_late,underrun_samples,overrun_samples} (samples): late, missing when to be sent, received and lost
  pending_max_samples (samples): most that waited for service
  buffer_samples (samples): of a buffer of the device
  {service_time,dispatch_latency}.count: how many of these times were taken
  {service_time,dispatch_latency}.{p50_us,p99_us,p999_us,max_us} (us): service; request to service
  without[]?: privileges that were missing
  reservation?.{yields,throttles}: of the CPU at preemption points; times that the budget was used up
  periods_sent_otherwise?: than recorded, with --recorded
  {dmt,radio}?.in_data: whether the pumps are in data mode at the end; with --recorded the near one
  dmt?.{trainings,fast_retrains}: counts
  dmt?.{down,up}.{gross_bit_rate,net_bit_rate} (bit/s): with and without the code's redundancy
  dmt?.{down,up}.{superframes,crc_errors}: received, and those whose check was wrong
  dmt?.{down,up}.corrected_octets: by Reed-Solomon
  {dmt,radio}?.*.{bits_compared,wrong_bits}: of the pattern
  radio?.retrains: links lost
  radio?.slot_ms (ms): of its frame
  radio?.{received,sent}.bit_rate (bit/s): of a burst's data
  radio?.{received,sent}.{bursts_due,bursts_missed,bursts_broken}: counts: to be received, not heard, heard with errors
)";

}  // namespace

std::string json_keys_text() {
  return std::string(kCalls) + kLab + kMeasured;
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
