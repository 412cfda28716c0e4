// SPDX-License-Identifier: MIT
#include "src/lab/advice/computations.h"

#include <fmt/format.h>

#include <array>

namespace offhook::config {
namespace {

constexpr std::array<std::string_view, 3> kModalities = {"interrupt", "dpc", "thread"};
constexpr std::array<std::string_view, 3> kIntervals = {"5min", "hour", "day"};
constexpr std::array<double, 3> kIntervalSeconds = {300, 3600, 86400};

KeyTable computation_keys() {
  using C = Computation;
  return {
      key<C>("name", "name of the computation, shown in the results", &C::name),
      key<C>("modality", "context in which it runs", [](C& c) -> Field { return choice(c.modality, kModalities); }),
      key<C>("priority", 0, 255, "priority of a thread, or level of an interrupt", &C::priority),
      key<C>("period_ms", 0.01, 1e5, "time between two of its interrupts", &C::period_ms),
      key<C>("cost_ms", 0.001, 1e5, "CPU time of one buffer", &C::cost_ms),
      key<C>("raised_ms", 0, 1e5, "part of a thread's cost that runs at raised IRQL", &C::raised_ms),
      key<C>("buffers", 2, 1000, "number n of buffers: the deadline is n - 1 periods after the interrupt", &C::buffers),
      key<C>("failure", "shortest permitted time between two dropped buffers",
             [](C& c) -> Field {
               return Choice{kIntervals,
                             [&c] {
                               int i = 0;
                               while (i < 2 && kIntervalSeconds[static_cast<std::size_t>(i)] != c.interval_s) i++;
                               return i;
                             },
                             [&c](int v) { c.interval_s = kIntervalSeconds[static_cast<std::size_t>(v)]; }};
             }),
  };
}

}  // namespace

ComputationFile read_computations(Document document) {
  ComputationFile file;
  constexpr std::size_t kMost = 100;
  const std::string position = document.position("computation");
  for (const Document& row : document.take_rows("computation")) {
    Computation c;
    row.apply(computation_keys(), &c);
    const auto fail = [&](std::string_view at, std::string_view what) {
      return Error(fmt::format("{}: computation \"{}\": {}", row.position(at), c.name, what));
    };
    if (c.name.empty()) throw fail("name", "expected a name");
    if (c.period_ms <= 0) throw fail("period_ms", "expected a period_ms");
    if (c.cost_ms <= 0 || c.cost_ms > c.period_ms) throw fail("cost_ms", "expected a cost_ms of at most the period");
    if (c.raised_ms > c.cost_ms) throw fail("raised_ms", "expected a raised_ms of at most the cost");
    if (c.raised_ms > 0 && c.modality != hostsim::Modality::kThread)
      throw fail("raised_ms", "expected raised_ms of threads only");
    file.computations.push_back(std::move(c));
  }
  if (file.computations.empty() || file.computations.size() > kMost)
    throw Error(fmt::format("{}: expected 1 to {} tables [[computation]]", position, kMost));
  using F = ComputationFile;
  document.apply({key<F>("host", "host with a table [latency]", &F::host),
                  key<F>("virus_scanner", "virus scanner of the host", &F::virus_scanner)},
                 &file);
  return file;
}

std::string describe_computations() {
  const Computation defaults;
  return describe(computation_keys(), &defaults);
}

}  // namespace offhook::config
