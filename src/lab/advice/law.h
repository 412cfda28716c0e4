// SPDX-License-Identifier: MIT
//
// The reservation law: which reservations, X of CPU time in every Y, a soft device can live with.
//
// The device owes a block of N samples every N/f. A block costs c of CPU time, and its output is ready after a fraction
// phi of c. The driver keeps a transmit lead of L samples queued (offhook/driver.h). At the interrupt of an N-sample
// block L - N are left to play: (L - N)/f is the time for its service, the slack of that block. The reservation is
// served only in fixed slots of length X at the start of every Y.
//
// In the worst case no earlier work is left, and a block arrives just as a slot ends. The k-th block after it arrives
// at A(k), and its output is ready once the slots have supplied (k + phi) c. The device loses nothing when
//
//     for every k and every start within the block plan:   sbf^-1((k + phi) c) - A(k) <= slack(k)          (full law)
//
// with sbf^-1(w) the time until w has been supplied, counted from the end of a slot. It has two conditions:
//
//     X / Y > c / T   and   Y - X <= slack - phi c                                                      (simple law)
//
// T is the mean block period, slack that of the longest block: enough CPU, and no gap longer than the queued samples.
// The full law is exact if slots drift through every phase against the blocks. A reservation that is phase-locked to
// the card can do better and depends on its starting phase. With phi = 0, output is ready as soon as the work on the
// block begins: in the next slot, after earlier work. sbf^-1 is then taken just above (k + phi) c.
//
// Two effects reduce the limit in practice. Costs spread: n blocks in a row can cost more than n c (`cost_spread`). The
// host also works inside the slots: its clock's interrupts, the switch to the thread, the device's interrupt routine
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
  double cost_ms = 1.84;         ///< c: CPU time of one block, including the ISR if it is served in the same slots
  double output_fraction = 0.4;  ///< phi
  /// Costs are independent and uniform in c (1 -+ this). n successive blocks are assumed to cost at most
  /// kSpreadDeviations standard deviations more than n c, and at most n times the greatest cost.
  double cost_spread = 0;

  double mean_period_ms() const;                 ///< T
  double slack_ms(std::uint32_t samples) const;  ///< (L - N) / f
  double least_slack_ms() const;                 ///< of the longest block
  double share() const { return cost_ms / mean_period_ms(); }
  /// Y - X above which the simple law fails.
  double longest_gap_ms() const { return least_slack_ms() - output_fraction * cost_ms; }
};

/// One block in 30,000 begins a sequence of blocks that costs more.
inline constexpr double kSpreadDeviations = 4;

/// A host's other work in a reservation's slots. Default: none.
struct HostWork {
  double tick_ms = 0;       ///< period of the clock's interrupts; 0: none
  double clock_isr_ms = 0;  ///< one of them
  double dispatch_ms = 0;   ///< once per slot: the switch to the thread, and refilling the caches
  double isr_ms = 0;        ///< once per block: the device's interrupt routine, which may fall into a slot
  /// The rest of a slot; at least 0.
  double supplied_ms(double x_ms) const;
};
HostWork host_work(const hostsim::HostScenario& host, const hostsim::SoftDevice& device);

/// The mean cost of the device, without the interrupt routine, which is not part of a reservation.
DeviceTiming device_timing(const hostsim::SoftDevice& device);
/// The device of the reservation law: block plan and transmit lead of the scenario, and the cost of its profile in a
/// phase, either connected or training.
DeviceTiming device_timing(const hostsim::Scenario& scenario, hostsim::Phase phase = hostsim::Phase::kConnected);
/// As above, with this cost profile instead of the scenario's.
DeviceTiming device_timing(const hostsim::Scenario& scenario, const hostsim::CostProfile& profile,
                           hostsim::Phase phase);

/// sbf^-1: time from the end of a slot until slots of x in every y have supplied `work_ms`.
/// @pre 0 < x <= y, work >= 0
double supply_time_ms(double work_ms, double x_ms, double y_ms);
/// The time just after `work_ms` was supplied, when the following work can begin.
double begin_time_ms(double work_ms, double x_ms, double y_ms);

bool simple_law(const DeviceTiming& device, double x_ms, double y_ms);

struct LawResult {
  bool sufficient = false;
  bool overloaded = false;    ///< the share is too small, so the backlog grows without limit
  double margin_ms = 0;       ///< minimum of slack - lateness over all blocks; negative: output is late by this much
  std::uint32_t worst_k = 0;  ///< the critical block, counted from the start of the backlog
};
/// A backlog of more than 100,000 blocks (20 minutes of line) counts as overload.
/// @param first_cost_ms  cost of the block that begins the backlog, if it is greater than that of the others
LawResult full_law(const DeviceTiming& device, double slot_ms, double y_ms, double first_cost_ms = 0,
                   const HostWork& host = {});

/// A modem trains in the slots in which it works later, so this is the worse result of the full law for both.
/// @param training, connected  device_timing() of the two phases
LawResult full_law_of_call(const DeviceTiming& training, const DeviceTiming& connected, double slot_ms, double y_ms,
                           const HostWork& host = {});

/// The rule that Jones and Saroiu derived from their Figure 17 (6.6), applied to any device by their explanation. The
/// share must exceed the device's, and every gap must be shorter than a block period, so that the newest block does not
/// overwrite the previous one.
bool authors_rule(const DeviceTiming& device, double x_ms, double y_ms);

/// The boundary of the full law: the longest Y, to 1 us, for which X of every Y is sufficient. 0 if none is.
double longest_period_ms(const DeviceTiming& device, double x_ms, double first_cost_ms = 0, const HostWork& host = {});

/// X of every Y in whole ticks.
struct TickReservation {
  int x = 0, y = 0;
  double share() const { return static_cast<double>(x) / y; }
};
struct RecommendOptions {
  double tick_ms = 1000.0 / 1024;
  bool power_of_two = false;  ///< Y must be a power of two, as under standard Rialto/NT
  double reserve = 0.1;       ///< every block costs more than it should by this share
  double worst_cost_ms = 0;   ///< one block of this cost must also be tolerated; 0: it costs the same as the others
  double margin_ms = 0;       ///< margin of the law that must remain
};
inline constexpr int kLongestPeriodTicks = 128;
/// The reservation with the least share, and Y up to kLongestPeriodTicks, that the full law grants with the reserve. Of
/// several, the one with the largest margin. None if only the whole CPU is sufficient.
std::optional<TickReservation> recommend(const DeviceTiming& device, const RecommendOptions& options);

}  // namespace offhook
