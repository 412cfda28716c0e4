// SPDX-License-Identifier: MIT
//
// Which context should run this device's work on that host? Every context is tried by simulation under the host's load,
// and judged by three criteria: losses of the device, its margin, and the effect on all other work.
//
// A context suffices if it lost nothing, no loss is expected within a week, and the evidence supports that for
// the requested time (expectation.h). If no time was requested, the evidence must support about as long a time as for
// any other context on this host. A factor of two is within the accuracy of such evidence. The answer always names the
// time that its evidence supports. A priority without a measurement counts only if no context with better evidence
// loses nothing.
//
// The choice among the sufficient contexts, in this order:
//   1. a fully sufficient context: within the limits for interrupt routines and deferred work, and with a margin. The
//      first of these kinds that exists:
//      - the reservation of the least share that the law grants, because later threads cannot disturb it
//      - the thread of the lowest real-time priority, because it leaves most priorities above it; pinned with its
//        interrupt to another CPU only if that is necessary
//      - another reservation, for whose budget the law gives no time
//      - a thread without a priority, if such a thread was measured
//   2. a context over the limits: deferred work before the interrupt
//   3. none with these buffers. All contexts are then tried again with twice as many, until one suffices. More buffers
//      are not tried if the device demands more than all of the CPU, only its first block is too costly, or only the
//      evidence is too short.
// If none suffices, the answer names the context that comes closest, and its evidence. If each is refused or had its
// input overwritten, none comes close, and the answer promises nothing.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "hostsim/call/scenario.h"
#include "src/lab/advice/expectation.h"
#include "src/lab/analysis/figures.h"

namespace offhook::advice {

inline constexpr std::uint32_t kMostBuffersTried = 512;  ///< the maximum for device.buffers.count
inline constexpr double kPc99InterruptUs = 100;          ///< Jones and Saroiu 6.2.2, from the PC 99 System Design Guide
inline constexpr double kPc99DpcUs = 500;                ///< and 6.2.4
/// Permitted share of missed slots of a radio: makers of radios require that 99.999 % are on time.
inline constexpr double kSlotsMissed = 1e-5;

/// The losses of one run or of several.
struct Lost {
  double seconds = 0;                         ///< simulated
  std::uint64_t blocks = 0, blocks_late = 0;  ///< served blocks; late ones among them
  std::uint64_t blocks_given_up = 0;          ///< blocks that arrived but were not served, because their input was gone
  std::uint64_t samples_lost = 0;             ///< of the device: late or concealed
  std::uint64_t late_bursts = 0;              ///< runs of late blocks
  std::uint64_t longest_burst = 0;            ///< blocks

  Lost() = default;
  Lost(const ServiceTally& service, double simulated_s);
  Lost& operator+=(const Lost& other);
  std::uint64_t blocks_that_came() const { return blocks + blocks_given_up; }
  std::uint64_t blocks_lost() const { return blocks_late + blocks_given_up; }
  /// Losses that count in a rate: served blocks that lost samples. Blocks that are given up after a late one have the
  /// same cause and do not count. Samples lost without a late block count as at least one loss.
  std::uint64_t losses() const { return std::max<std::uint64_t>(blocks_late, samples_lost > 0 ? 1 : 0); }
};

/// The result of one run, or the worst of several.
struct Measured : Lost {
  double margin_ms = 0;  ///< remaining transmit lead at the worst moment; negative: late by this much
  std::uint32_t buffers_needed = 0;
  bool swamped = false;  ///< input was overwritten before it was read, so the number of required buffers is unknown
  double latency_p999_ms = 0, latency_max_ms = 0;  ///< from interrupt to output queued
  double isr_max_us = 0;                           ///< longest interrupt routine
  double dpc_max_us = 0;                           ///< longest DPC of the device
  double share = 0;                                ///< of the CPU
  double stolen_share = 0;                         ///< of the CPU at interrupt and DPC level, before every thread
  double timer_late_max_ms = 0;                    ///< largest delay of a 1 ms timer's callback
  double timer_late_p999_ms = 0;
  std::vector<double> longest_ms;  ///< from interrupt to output: the kLongestKept longest times, in descending order
};

/// One context on this host, with the worst of its repeats.
struct Trial : Measured {
  std::string name;     ///< "THR 24"
  std::string in_full;  ///< with the host's name for it: "THR 24 (SCHED_FIFO 24)"
  std::string against;  ///< a sentence: why it was not chosen; empty for the chosen one
  hostsim::ContextScenario context;
  bool pinned = false;  ///< on a host with several CPUs: interrupt and thread are on one that is not the host's default
  std::string refusal;  ///< why the host cannot run it; then no measurement applies
  double least_margin_ms = 0;  ///< a smaller margin is thin, see thin_margin_ms()
  Expectation expectation;     ///< time between losses
  bool within_pc99() const { return isr_max_us <= kPc99InterruptUs && dpc_max_us <= kPc99DpcUs; }
  bool loses_nothing() const { return refusal.empty() && samples_lost == 0; }
  /// In the simulation, and with the longest known wait on this host.
  double worst_margin_ms() const { return std::min(margin_ms, expectation.margin_ms); }
  bool thin() const { return worst_margin_ms() < least_margin_ms; }
};

struct Advice {
  std::string device, host;
  std::string host_source;  ///< the source of the host's numbers; empty: unknown
  hostsim::Scenario base;
  double lead_ms = 0, buffer_ms = 0;
  double control_late_max_ms = 0, control_late_p999_ms = 0;  ///< delay of the timer's callback without the device
  double required_s = 0;                                     ///< required time between losses; 0: none
  bool assumed = false;                                      ///< whether the host's numbers are assumptions
  double limit_ms = 0;                                       ///< time for a block's output, from its interrupt on
  double slot_s = 0;                                         ///< of a radio; 0 if it is not a radio
  std::vector<Trial> trials;
  std::optional<std::size_t> chosen;                  ///< index into trials
  bool suffices = false;                              ///< the chosen context loses nothing for this time
  bool one_only = false;                              ///< of contexts: the requested one
  std::optional<std::uint32_t> buffers_that_suffice;  ///< if the buffers are too few: the first sufficient number
  std::string headline;
  std::vector<std::string> warnings;  ///< limits of the simulation's evidence
  std::vector<std::string> reasons;

  /// The maximum share of a radio's slots that is missed, if each loss is one slot. @pre slot_s > 0
  double miss_ratio_at_most(const Trial& t) const { return std::min(1.0, slot_s / t.expectation.interval_s.low); }
  /// Sufficient, but a limit is exceeded, the last buffer is used, the margin is thin, or there is a warning.
  bool with_reserve() const { return suffices && (!warnings.empty() || !keeps_clear(trials[*chosen])); }
  /// A priority without a measurement, on a host with latencies of another priority.
  bool unmeasured(const Trial& t) const { return !assumed && t.expectation.evidence == Evidence::kAssumed; }
  /// Within the limits, with a margin, and not only by assumptions.
  bool keeps_clear(const Trial& t) const { return t.within_pc99() && !t.thin() && !unmeasured(t); }
  /// Sufficient: it loses nothing, and the evidence supports that (see above).
  bool enough(const Trial& t) const;
  /// The longest time between losses that the evidence of any context supports.
  double best_supported_s() const;
};

struct Options {
  std::uint32_t repeats = 3;
  double seconds = 60;
  double required_s = 0;             ///< between losses, at most a week; 0: as long as the evidence permits
  double slot_s = 0;                 ///< for a radio, where required_s is equivalent to kSlotsMissed; 0: not a radio
  std::string host_source;           ///< copied into the advice
  bool assumed = false;              ///< the host's numbers are assumptions, so every verdict has a reservation
  std::vector<std::string> notes{};  ///< sentences on assumptions, which become warnings
  unsigned threads = 1;
  std::optional<hostsim::ContextScenario> only;  ///< only this context, instead of contexts_for()
  std::function<bool()> stop;
  std::function<void(std::size_t done, std::size_t of)> progress;  ///< called by one thread at a time
  /// Runs one scenario and measures it; from several threads. @throws std::exception if the host cannot run it
  std::function<Measured(const hostsim::Scenario&)> run;
  /// As above for verify(), which only needs the losses.
  std::function<Lost(const hostsim::Scenario&)> count;
};

/// Converts the figures of a run to a result for the device of its scenario.
Measured measure(const Figures& figures, const hostsim::Scenario& scenario);

/// The least significant margin: 5 % of the transmit lead, and for a reservation one clock tick, because its slots
/// begin at ticks.
double thin_margin_ms(const hostsim::Scenario& base, const hostsim::ContextScenario& context);

/// The contexts that are tried on this host: INT, DPC, threads, the reservations that the law recommends, and those
/// with one more tick of reserve. With several CPUs, also each thread pinned, with the interrupt, to the CPU that other
/// devices use least.
std::vector<hostsim::ContextScenario> contexts_for(const hostsim::Scenario& base);

/// The result of the chosen context for a given time, with other seeds.
struct Verification {
  Lost seen;
  Interval interval_s;  ///< between losses, 95 %
  bool safer = false;   ///< the advice relies on more than was observed
};
/// Runs the chosen context `runs` times for `seconds`, with seeds that the advice has not used. @pre advice.chosen
/// @return nothing if stopped
std::optional<Verification> verify(const Advice& advice, double seconds, std::uint32_t runs, const Options& options);

/// @param base  the device (pump kDevice), the host and its load
/// @return nothing if stopped
std::optional<Advice> advise(const hostsim::Scenario& base, const Options& options);

}  // namespace offhook::advice
