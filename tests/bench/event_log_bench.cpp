// SPDX-License-Identifier: MIT
//
// The cost of writing one event, beside the benchmark targets: what the instrumented kernel of the paper took,
// LTTng-UST, and the floor of a time stamp and a ring without any concurrency. The floor is measured here too, on the
// same core in the same run, because the others come from other machines.
#include <benchmark/benchmark.h>

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

#include <cstdio>
#include <ctime>
#include <vector>

#include "offhook/event_log.h"

namespace {

constexpr std::size_t kSlots = 1 << 12;
constexpr double kGoalNs = 25;

struct Log {
  std::vector<oh_event> slots = std::vector<oh_event>(kSlots);
  std::vector<oh_event> out = std::vector<oh_event>(kSlots);
  oh_event_log log{};
  Log() { oh_event_log_init(&log, slots.data(), slots.size(), 0); }
};

/// Google Benchmark prints seconds with an SI prefix: "event=15n".
void report(benchmark::State& state) {
  const auto events = static_cast<double>(state.iterations() * static_cast<std::int64_t>(kSlots));
  state.counters["event"] = benchmark::Counter(events, benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}

/// kSlots events at a time; then the ring is emptied while the clock is stopped.
template <typename Clock>
void write_events(benchmark::State& state, Clock now) {
  Log log;
  for (auto _ : state) {
    for (std::uint32_t i = 0; i < kSlots; ++i) oh_event_log_write(&log.log, now(), OH_EV_MARK, 1, i);
    state.PauseTiming();
    benchmark::DoNotOptimize(oh_event_log_read(&log.log, log.out.data(), kSlots));
    state.ResumeTiming();
  }
  if (oh_event_log_lost(&log.log) != 0) state.SkipWithError("events were lost");
  report(state);
}

void WriteWithAGivenTime(benchmark::State& state) {
  std::uint64_t time = 0;
  write_events(state, [&] { return ++time; });
}
BENCHMARK(WriteWithAGivenTime);

#if defined(__x86_64__)
void WriteWithRdtsc(benchmark::State& state) {
  write_events(state, [] { return __rdtsc(); });
}
BENCHMARK(WriteWithRdtsc);

/// The minimum: a time stamp and a store into a ring that has no other reader or writer and never fills.
void BareRingWithRdtsc(benchmark::State& state) {
  std::vector<oh_event> ring(kSlots);
  std::uint64_t head = 0;
  for (auto _ : state) {
    for (std::uint32_t i = 0; i < kSlots; ++i) ring[head++ & (kSlots - 1)] = {__rdtsc(), OH_EV_MARK, 0, 1, i};
    benchmark::ClobberMemory();
  }
  report(state);
}
BENCHMARK(BareRingWithRdtsc);
#endif

void WriteWithClockGettime(benchmark::State& state) {
  write_events(state, [] {
    timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return static_cast<std::uint64_t>(t.tv_sec) * 1'000'000'000u + static_cast<std::uint64_t>(t.tv_nsec);
  });
}
BENCHMARK(WriteWithClockGettime);

void WriteWhenFull(benchmark::State& state) {
  Log log;
  for (std::size_t i = 0; i < kSlots; ++i) oh_event_log_write(&log.log, i, OH_EV_MARK, 1, 0);
  for (auto _ : state) {
    for (std::uint32_t i = 0; i < kSlots; ++i) oh_event_log_write(&log.log, 0, OH_EV_MARK, 1, i);
  }
  report(state);
}
BENCHMARK(WriteWhenFull);

}  // namespace

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  std::printf(
      "Writing one event; see the column `event`. Goal: %.0f ns or less with its time stamp.\n"
      "Benchmark targets: the paper's instrumented kernel 549 ns, LTTng-UST 118 ns, rdtsc + bare ring 19 ns (2 GHz "
      "core).\n",
      kGoalNs);
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
