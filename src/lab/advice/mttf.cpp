// SPDX-License-Identifier: MIT
#include "src/lab/advice/mttf.h"

#include <algorithm>
#include <limits>

#include "hostsim/engine/random.h"

namespace offhook {

using hostsim::kNsPerMs;
using hostsim::LatencyDistribution;
using hostsim::Ns;

namespace {

constexpr std::uint64_t kStream = 0x6d747466;

double over(double time_ms, double share) {
  return share > 0 ? time_ms * 1e-3 / share : std::numeric_limits<double>::infinity();
}

}  // namespace

double published_mttf_s(const LatencyDistribution& latency, const Buffering& b) {
  return over(b.tolerance_ms(), latency.longer_than(b.slack_ms()));
}

double mttf_s(const LatencyDistribution& latency, const Buffering& b) {
  return over(b.buffer_ms, latency.longer_than(b.slack_ms()));
}

Interval UnderrunRun::mttf_interval_s() const {
  const Interval count = poisson_interval(underruns);
  return {simulated_s / count.high, count.low > 0 ? simulated_s / count.low : std::numeric_limits<double>::infinity()};
}

UnderrunRun simulate_underruns(const LatencyDistribution& latency, const Buffering& b, double seconds,
                               std::uint64_t enough, std::uint64_t seed, bool (*go_on)(void*, double), void* user) {
  const hostsim::Random random(seed, kStream);
  const Ns period = static_cast<Ns>(b.buffer_ms * kNsPerMs), cost = static_cast<Ns>(b.compute_ms * kNsPerMs);
  const Ns tolerance = period * (b.buffers - 1);
  // A latency up to this limit does not affect the next interrupt, so most latencies are not computed.
  const double harmless = latency.longer_than(b.buffer_ms - b.compute_ms) * (1 + 1e-9);
  const auto count = static_cast<std::uint64_t>(seconds * 1e3 / b.buffer_ms);
  UnderrunRun run;
  Ns done = 0;
  bool late = false;
  for (; run.buffers < count && run.underruns < enough; run.buffers++) {
    constexpr std::uint64_t kAsk = 1 << 20;
    if (go_on != nullptr && run.buffers % kAsk == 0 &&
        !go_on(user, static_cast<double>(run.buffers) / static_cast<double>(count))) {
      run.stopped = true;
      break;
    }
    const Ns at = static_cast<Ns>(run.buffers) * period;
    if (at < done) {
      done += cost;
    } else {
      const double u = random.uniform(run.buffers);
      if (u > harmless) {
        late = false;
        continue;
      }
      done = at + static_cast<Ns>(latency.latency_ms(u) * kNsPerMs) + cost;
    }
    const bool misses = done > at + tolerance;
    run.missed += misses;
    run.underruns += misses && !late;
    late = misses;
  }
  run.simulated_s = static_cast<double>(run.buffers) * b.buffer_ms * 1e-3;
  return run;
}

}  // namespace offhook
