// SPDX-License-Identifier: MIT
//
// Whether periodic computations meet their deadlines on a host without guarantees. After Cota-Robles and Held, OSDI
// 1999, section 5.2: choose how often a buffer may be dropped, take the latency that is exceeded as often for the worst
// case, spread it over the buffers that have to bear it, and continue as on a real-time host:
//
//     W_i       latency exceeded once in the permissible interval: at a frequency of T_i / interval per wait
//     m_i       periods that the buffers bear, n - 1; one of them has a latency W_i, the others the mean latency A_i
//     J_i       pseudo worst case (W_i + (m_i - 1) A_i) / m_i, the release jitter of the computation
//     w_i       C_i + B_i + sum over higher ones ceil((w_i + J_j) / T_j) C_j
//               + sum over equals (1 + floor(J_j / T_j)) C_j
//     R_i       J_i + w_i <= T_i: schedulable                    (Audsley et al. 1993; Tindell et al. 1994, jitter)
//
// Higher: an interrupt of a higher level; for a DPC or a thread every interrupt; for a thread every DPC and every
// thread of a higher priority. Equals (same level, all DPCs, same priority) are served first come, first served.
// Blocking B_i: of a DPC the longest stretch at raised IRQL of any thread, of a thread that of any lower one.
//
// The paper does not publish how its tool (reference 4) amortises. This reading is exact for double buffering, and
// conservative for more buffers. Its result is shown next to a simulation on the scheduling engine.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "hostsim/host/distribution.h"
#include "src/lab/analysis/confidence.h"

namespace offhook {

struct Computation {
  std::string name;
  hostsim::Modality modality = hostsim::Modality::kThread;
  int priority = 24;         ///< priority of a thread or level of an interrupt; a DPC has none
  double period_ms = 0;      ///< T
  double cost_ms = 0;        ///< C
  double raised_ms = 0;      ///< part of a thread's cost that runs at raised IRQL
  int buffers = 2;           ///< n: the deadline is (n - 1) T after the interrupt
  double interval_s = 3600;  ///< shortest permitted time between dropped buffers
};

struct ResponseTime {
  double worst_latency_ms = 0;  ///< W
  double mean_latency_ms = 0;   ///< A
  double pseudo_worst_ms = 0;   ///< J
  double blocking_ms = 0;       ///< B
  double response_ms = 0;       ///< R; infinite: it never ends
  bool schedulable = false;     ///< R <= T
  bool beyond_data = false;     ///< the permissible frequency is below the measurement's resolution: W is its worst
};

/// One result per computation, in their order. @throws std::invalid_argument as HostLatencies::to()
std::vector<ResponseTime> response_times(const std::vector<Computation>& computations,
                                         const hostsim::HostLatencies& host);

struct DeadlineRun {
  double simulated_s = 0;
  std::uint64_t jobs = 0;    ///< completed
  std::uint64_t missed = 0;  ///< responses later than the deadline
  std::uint64_t drops = 0;   ///< sequences of missed ones
  double longest_ms = 0;     ///< response time from the interrupt
  Interval drops_per_s() const;
};

/// The same on the engine of `offhook schedule`: computations begin at random phases from the seed. Each interrupt that
/// finds its computation idle draws a latency, which delays it without using CPU time.
/// @param go_on called about once per simulated minute with the finished share; if it returns false, stops
std::vector<DeadlineRun> simulate_deadlines(const std::vector<Computation>& computations,
                                            const hostsim::HostLatencies& host, double seconds, std::uint64_t seed,
                                            bool (*go_on)(void*, double) = nullptr, void* user = nullptr);

}  // namespace offhook
