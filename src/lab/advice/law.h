// SPDX-License-Identifier: MIT
//
// The reservation law: which reservations, X of CPU time in every Y, a soft device can live with.
//
// The device owes a block of N samples every N/f; a block costs c of CPU time and its output is ready after a fraction
// phi of that. The driver keeps a transmit lead of L samples queued (offhook/driver.h). At the interrupt of
// an N-sample block L - N are left to play: (L - N)/f is the time for its service, the slack of that block. The
// reservation is served in fixed slots of length X at the start of every Y and nowhere else.
//
// Worst case: the processor is behind on nothing, and a block arrives just as a slot ends. The k-th block after it
// arrives at A(k), and its output is ready once the slots have supplied (k + phi) c. The device loses nothing when
//
//     for every k and every start within the block plan:   sbf^-1((k + phi) c) - A(k) <= slack(k)          (full law)
//
// with sbf^-1(w) the time until w has been supplied, counted from the end of a slot. Its two faces are
//
//     X / Y > c / T   and   Y - X <= slack - phi c                                                      (simple law)
//
// T the mean block period, slack that of the longest block: enough CPU, and no gap longer than the queued samples.
// The full law is exact when slots drift through every phase against the blocks; a reservation that is phase-locked to
// the card can do better and depends on its starting phase. With phi = 0 output is ready as soon as the call begins,
// which still is not before the next slot (and after the work that is owed): sbf^-1 is then taken just above (k + phi)
// c.
//
// Two things bring a real boundary nearer. Costs spread: n blocks in a row can cost more than n c (`cost_spread`). And
// a host works inside the slots: its clock's interrupts, the switch to the thread, the device's interrupt routine
// (HostWork).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "hostsim/call/scenario.h"

namespace offhook {

struct DeviceTiming {
  double rate_hz = OH_MODEM_RATE_HZ;
  std::vector<std::uint32_t> block_plan = {105, 105, 90};  ///< samples per interrupt, repeated
  std::uint32_t transmit_lead_samples = 210;
  double cost_ms = 1.84;         ///< c: CPU time of one block, ISR included when it is served in the same slots
  double output_fraction = 0.4;  ///< phi
  /// Costs are uniform in c (1 -+ this), independent. n in a row are taken to cost kSpreadDeviations standard
  /// deviations more than n c, or all of them the most, whichever is less.
  double cost_spread = 0;

  double mean_period_ms() const;                 ///< T
  double slack_ms(std::uint32_t samples) const;  ///< (L - N) / f
  double least_slack_ms() const;                 ///< of the longest block
  double share() const { return cost_ms / mean_period_ms(); }
  /// Y - X beyond which the simple law fails.
  double longest_gap_ms() const { return least_slack_ms() - output_fraction * cost_ms; }
};

/// One block in 30,000 begins a run of blocks that costs more.
inline constexpr double kSpreadDeviations = 4;

/// A host's other work in a reservation's slots. Default: none.
struct HostWork {
  double tick_ms = 0;       ///< between the clock's interrupts; 0: there are none
  double clock_isr_ms = 0;  ///< one of them
  double dispatch_ms = 0;   ///< the switch to the thread and the caches that it fills again, once a slot
  double isr_ms = 0;        ///< the device's interrupt routine, once a block: it may come within a slot
  /// The rest of a slot; at least 0.
  double supplied_ms(double x_ms) const;
};
HostWork host_work(const hostsim::HostScenario& host, const hostsim::SoftDevice& device);

/// The mean cost of the device, without the interrupt routine, which no reservation pays for.
DeviceTiming device_timing(const hostsim::SoftDevice& device);
/// The device of the reservation law: block plan and transmit lead of the scenario, cost of its profile in a phase:
/// once connected, or while it trains.
DeviceTiming device_timing(const hostsim::Scenario& scenario, hostsim::Phase phase = hostsim::Phase::kConnected);
/// The same with this cost profile in the place of the one that the scenario names.
DeviceTiming device_timing(const hostsim::Scenario& scenario, const hostsim::CostProfile& profile,
                           hostsim::Phase phase);

/// sbf^-1: time from the end of a slot until `work_ms` has been supplied by slots of x in every y.
/// @pre 0 < x <= y, work >= 0
double supply_time_ms(double work_ms, double x_ms, double y_ms);
/// The same just above `work_ms`: until the work after it can begin.
double begin_time_ms(double work_ms, double x_ms, double y_ms);

bool simple_law(const DeviceTiming& device, double x_ms, double y_ms);

struct LawResult {
  bool sufficient = false;
  bool overloaded = false;    ///< the share is too small: the backlog grows without limit
  double margin_ms = 0;       ///< least of slack - lateness over all blocks; negative: output comes this much late
  std::uint32_t worst_k = 0;  ///< the block, counted from the start of the backlog, that decides
};
/// A backlog that lasts over 100,000 blocks (20 minutes of line) counts as overload.
/// @param first_cost_ms  the cost of the block that begins the backlog, if it is more than the others'
LawResult full_law(const DeviceTiming& device, double slot_ms, double y_ms, double first_cost_ms = 0,
                   const HostWork& host = {});

/// A modem trains in the same slots in which it works later: the full law of both phases, the worse of the two.
/// @param training, connected  device_timing() of these
LawResult full_law_of_call(const DeviceTiming& training, const DeviceTiming& connected, double slot_ms, double y_ms,
                           const HostWork& host = {});

/// The rule that Jones and Saroiu read off their Figure 17 (6.6), in the form of their explanation for any device: a
/// larger share than the device's, and no gap as long as a block period, so that the newest block does not overwrite
/// the older one.
bool authors_rule(const DeviceTiming& device, double x_ms, double y_ms);

/// The boundary of the full law: the longest Y for which X of every Y is sufficient, to 1 us. 0 when none is.
double longest_period_ms(const DeviceTiming& device, double x_ms, double first_cost_ms = 0, const HostWork& host = {});

/// X of every Y in whole ticks.
struct TickReservation {
  int x = 0, y = 0;
  double share() const { return static_cast<double>(x) / y; }
};
struct RecommendOptions {
  double tick_ms = 1000.0 / 1024;
  bool power_of_two = false;  ///< Y must be one, as under standard Rialto/NT
  double reserve = 0.1;       ///< every block costs this share more than it should ever
  double worst_cost_ms = 0;   ///< one block of this cost must be survived as well; 0: like the others
  double margin_ms = 0;       ///< and the law must leave this much
};
inline constexpr int kLongestPeriodTicks = 128;
/// The reservation of least share, Y up to kLongestPeriodTicks, that the full law grants with the reserve; of several
/// the one with the largest margin. None when nothing short of the whole CPU will do.
std::optional<TickReservation> recommend(const DeviceTiming& device, const RecommendOptions& options);

}  // namespace offhook
