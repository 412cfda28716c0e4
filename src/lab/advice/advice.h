// SPDX-License-Identifier: MIT
//
// Where should this device's work run on that host? Every context is tried by simulation under the host's load, and
// judged by three things: whether the device loses anything, with what margin, and what it does to everyone else.
//
// A context suffices when it lost nothing, nothing says that it will within a week, and the evidence carries that for
// the time that is asked for (expectation.h). If no time is asked for, it is carried about as long as any on this host
// (a factor of two is within what such evidence can tell). The answer always names the time that its evidence supports.
// A priority that nobody measured counts only if no context with better evidence loses nothing.
//
// The choice among those. First one that is sufficient without a but: within the limits for interrupt routines and
// deferred work, and with a margin. Then, in this order: a reservation that the law grants, of the least share, which
// threads that come later cannot disturb. Else the thread of the lowest real-time priority, which leaves the most room
// above it; pinned with its interrupt to another CPU only if it must be. Else another reservation, of whose budget no
// law says when it comes. Else a thread of no priority, if such a one was measured. Else one over the limits, the
// deferred work before the interrupt. Else nothing suffices with these buffers; all is tried again with twice as many,
// until something does, unless the device asks for more than all of the CPU, only its first block is too costly, or
// only the evidence is too short. The context that comes closest is told with what it does carry. If each is refused or
// had its input overwritten, none comes close, and nothing is promised.
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

inline constexpr std::uint32_t kMostBuffersTried = 512;  ///< the most that device.buffers.count takes
inline constexpr double kPc99InterruptUs = 100;          ///< Jones and Saroiu 6.2.2, from the PC 99 System Design Guide
inline constexpr double kPc99DpcUs = 500;                ///< and 6.2.4
/// Of a radio's slots so many may be missed: makers of radios ask for 99.999 % in time.
inline constexpr double kSlotsMissed = 1e-5;

/// What was lost, in one run or in several.
struct Lost {
  double seconds = 0;                         ///< simulated
  std::uint64_t blocks = 0, blocks_late = 0;  ///< served; of them late
  std::uint64_t blocks_given_up = 0;          ///< that came and were not served: their input was gone
  std::uint64_t samples_lost = 0;             ///< of the device: late or filled in

  Lost() = default;
  Lost(const ServiceTally& service, double simulated_s);
  Lost& operator+=(const Lost& other);
  std::uint64_t blocks_that_came() const { return blocks + blocks_given_up; }
  std::uint64_t blocks_lost() const { return blocks_late + blocks_given_up; }
  /// What a rate is made of: blocks that were served and lost something, for blocks are given up in the wake of one
  /// that is late, by the same wait. Samples that were lost without a late block are one at least.
  std::uint64_t losses() const { return std::max<std::uint64_t>(blocks_late, samples_lost > 0 ? 1 : 0); }
};

/// What one run came to; or the worst of several.
struct Measured : Lost {
  double margin_ms = 0;  ///< of the transmit lead, left at the worst moment; negative: this much late
  std::uint32_t buffers_needed = 0;
  bool swamped = false;  ///< input was overwritten, or never taken: how many buffers it needs, this run does not tell
  double latency_p999_ms = 0, latency_max_ms = 0;  ///< interrupt to output queued
  double isr_max_us = 0;                           ///< longest interrupt routine
  double dpc_max_us = 0;                           ///< longest DPC of the device
  double share = 0;                                ///< of the CPU
  double stolen_share = 0;                         ///< of the CPU at interrupt and DPC level, above every thread
  double timer_late_max_ms = 0;                    ///< a 1 ms timer's callback, later than its period at the worst
  double timer_late_p999_ms = 0;
  std::vector<double> longest_ms;  ///< from interrupt to output, falling, the kLongestKept longest
};

/// One context on this host, the worst of its repeats.
struct Trial : Measured {
  std::string name;     ///< "THR 24"
  std::string in_full;  ///< with what the host calls it: "THR 24 (SCHED_FIFO 24)"
  std::string against;  ///< why it was passed over, a sentence; empty of the one that was chosen
  hostsim::ContextScenario context;
  bool pinned = false;  ///< on a host of several CPUs: interrupt and thread on one that the host did not give them
  std::string refusal;  ///< why the host cannot do it; nothing measured holds then
  double least_margin_ms = 0;  ///< less than this is thin, see thin_margin_ms()
  Expectation expectation;     ///< time between losses
  bool within_pc99() const { return isr_max_us <= kPc99InterruptUs && dpc_max_us <= kPc99DpcUs; }
  bool loses_nothing() const { return refusal.empty() && samples_lost == 0; }
  /// In the simulation, and with the longest wait that is known of this host.
  double worst_margin_ms() const { return std::min(margin_ms, expectation.margin_ms); }
  bool thin() const { return worst_margin_ms() < least_margin_ms; }
};

struct Advice {
  std::string device, host;
  std::string host_source;  ///< where the host's numbers come from, in words; empty: not told
  hostsim::Scenario base;
  double lead_ms = 0, buffer_ms = 0;
  double control_late_max_ms = 0, control_late_p999_ms = 0;  ///< of the timer's callback without the device
  double required_s = 0;                                     ///< between losses, that was asked for; 0: none was
  bool assumed = false;                                      ///< nobody measured the host's numbers
  double limit_ms = 0;                                       ///< that a block's output may take from its interrupt on
  double slot_s = 0;                                         ///< of a radio; 0: it is none
  std::vector<Trial> trials;
  std::optional<std::size_t> chosen;                  ///< index into trials
  bool suffices = false;                              ///< the chosen one loses nothing for so long
  bool one_only = false;                              ///< of contexts: the one that was asked about
  std::optional<std::uint32_t> buffers_that_suffice;  ///< where none does with the device's own: the first that do
  std::string headline;
  std::vector<std::string> warnings;  ///< what makes the simulation a weak witness
  std::vector<std::string> reasons;

  /// Of a radio's slots at most this share is missed, each loss being one. @pre slot_s > 0
  double miss_ratio_at_most(const Trial& t) const { return std::min(1.0, slot_s / t.expectation.interval_s.low); }
  /// It suffices, but not without a but: a limit is broken, the last buffer is used, the margin is thin, or a warning.
  bool with_reserve() const { return suffices && (!warnings.empty() || !keeps_clear(trials[*chosen])); }
  /// A priority that nobody measured, on a host whose latencies were measured at another one.
  bool unmeasured(const Trial& t) const { return !assumed && t.expectation.evidence == Evidence::kAssumed; }
  /// Within the limits, with a margin, and not by assumptions alone.
  bool keeps_clear(const Trial& t) const { return t.within_pc99() && !t.thin() && !unmeasured(t); }
  /// It suffices: it loses nothing, and the evidence carries that (see above).
  bool enough(const Trial& t) const;
  /// The longest time between losses that the evidence of any context supports.
  double best_supported_s() const;
};

struct Options {
  std::uint32_t repeats = 3;
  double seconds = 60;
  double required_s = 0;             ///< between losses, a week at most; 0: as long as the evidence carries
  double slot_s = 0;                 ///< of a radio, and then required_s is what kSlotsMissed comes to; 0: it is none
  std::string host_source;           ///< goes into the advice
  bool assumed = false;              ///< the host's numbers are assumptions: no verdict on it is without a but
  std::vector<std::string> notes{};  ///< sentences on what was assumed, which become warnings
  unsigned threads = 1;
  std::optional<hostsim::ContextScenario> only;  ///< this context instead of contexts_for()
  std::function<bool()> stop;
  std::function<void(std::size_t done, std::size_t of)> progress;  ///< one call at a time
  /// Run one scenario and measure it; from several threads. @throws std::exception when the host refuses
  std::function<Measured(const hostsim::Scenario&)> run;
  /// The same for verify(), which asks no more than what was lost.
  std::function<Lost(const hostsim::Scenario&)> count;
};

/// What a run's figures mean to the device of its scenario.
Measured measure(const Figures& figures, const hostsim::Scenario& scenario);

/// A margin below this is no margin to rely on: 5 % of the transmit lead, and for a reservation one clock tick, for its
/// slots begin at ticks.
double thin_margin_ms(const hostsim::Scenario& base, const hostsim::ContextScenario& context);

/// The contexts that are tried on this host: INT, DPC, threads, the reservations that the law recommends, those that
/// leave one more tick, and of several CPUs the threads once more, pinned with the interrupt to the CPU that other
/// devices take least of.
std::vector<hostsim::ContextScenario> contexts_for(const hostsim::Scenario& base);

/// The advice against other seeds: the context that was chosen, for so long.
struct Verification {
  Lost seen;
  Interval interval_s;  ///< between losses, 95 %
  bool safer = false;   ///< the advice relies on more than was seen
};
/// Runs the chosen context `runs` times for `seconds` from seeds that the advice has not seen. @pre advice.chosen
/// @return nothing when stopped
std::optional<Verification> verify(const Advice& advice, double seconds, std::uint32_t runs, const Options& options);

/// @param base  the device (pump kDevice), the host and its load; whoever has a load from elsewhere puts it in here
/// @return nothing when stopped
std::optional<Advice> advise(const hostsim::Scenario& base, const Options& options);

}  // namespace offhook::advice
