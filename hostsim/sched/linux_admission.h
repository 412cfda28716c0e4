// SPDX-License-Identifier: MIT
//
// The admission test of SCHED_DEADLINE. The bandwidths of all deadline threads of a root domain may sum to
// sched_rt_runtime_us / sched_rt_period_us (950000 / 1000000 as shipped) of each of its CPUs; there is no separate
// limit for one thread. Since 6.12 the fair class's deadline server of each CPU takes part with 50 ms of every second.
// sched_setattr() returns EBUSY when the sum would be larger. Source: kernel/sched/deadline.c, __dl_overflow();
// kernel/sched/core.c, to_ratio(): 20 bits after the point, rounded down. Seen on two CPUs with 6.18: 96/100, 100/100
// and two of 90/100 are accepted, 5/100 more is not.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "hostsim/engine/engine.h"
#include "hostsim/engine/wide.h"

namespace offhook::hostsim {

struct DeadlineAdmission {
  int cpus = 1;  ///< of the root domain
  bool fair_server = false;

  struct Asked {
    std::string name;
    Ns budget = 0, period = 1;
  };

  /// A share of one CPU, as the kernel counts it.
  static constexpr std::int64_t ratio(Ns budget, Ns period) {
    return static_cast<std::int64_t>((static_cast<Wide>(budget) << kBits) / period);
  }
  /// Maximum bandwidth of all deadline threads together.
  std::int64_t most() const {
    constexpr std::int64_t kRealTime = ratio(950'000'000, 1'000'000'000), kServer = ratio(50'000'000, 1'000'000'000);
    return cpus * (kRealTime - (fair_server ? kServer : 0));
  }
  static double percent(std::int64_t bandwidth) {
    return 100.0 * static_cast<double>(bandwidth) / static_cast<double>(std::int64_t{1} << kBits);
  }
  /// Why the kernel refuses one of them, in the order of their requests. Empty if it admits all.
  std::string problem(std::span<const Asked> all) const {
    std::int64_t sum = 0;
    for (const Asked& one : all) {
      if (std::string why = problem(one, sum); !why.empty()) return why;
    }
    return "";
  }
  /// Why the kernel refuses the next reservation; empty if it admits it. @param[in,out] sum  of the bandwidths that
  /// were admitted so far
  std::string problem(const Asked& one, std::int64_t& sum) const {
    const std::int64_t before = sum;
    sum += ratio(one.budget, one.period);
    if (sum <= most()) return "";
    return "sched_setattr of '" + one.name + "' fails with EBUSY: SCHED_DEADLINE admits at most " + shown(most()) +
           " % for " + std::to_string(cpus) + (cpus == 1 ? " CPU" : " CPUs together") + " (95 % of each" +
           (fair_server ? ", less 5 % for the fair server" : "") + "); it asks for " +
           shown(ratio(one.budget, one.period)) + " %" + (before > 0 ? " and others have " + shown(before) + " %" : "");
  }

 private:
  static constexpr int kBits = 20;
  static std::string shown(std::int64_t bandwidth) {
    const auto tenths = static_cast<std::int64_t>(percent(bandwidth) * 10 + 0.5);
    return std::to_string(tenths / 10) + (tenths % 10 != 0 ? "." + std::to_string(tenths % 10) : "");
  }
};

}  // namespace offhook::hostsim
