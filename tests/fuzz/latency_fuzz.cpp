// SPDX-License-Identifier: MIT
//
// Any text as a latency histogram (HdrHistogram's, CSV) and as the table [latency] of a host: either an Error, or
// distributions whose frequencies fall and whose quantiles are theirs.
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "traces/scenario/latency.h"

using namespace offhook;

namespace {

void check(const hostsim::LatencyDistribution& d) {
  double before = 1;
  for (const auto& p : d.points()) {
    const double longer = d.longer_than(p.latency_ms);
    if (!(longer <= before * (1 + 1e-9)) || !std::isfinite(d.latency_ms(p.longer))) std::abort();
    before = longer;
  }
  if (!(d.mean_ms() <= d.worst_ms() * (1 + 1e-9))) std::abort();
}

template <typename Parse>
void attempt(Parse parse) {
  try {
    parse();
  } catch (const config::Error&) {
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  attempt([&] { check(config::parse_hgrm(text, "fuzz", 1e-3)); });
  attempt([&] { check(config::parse_latency_csv(text, "fuzz")); });
  attempt([&] {
    const auto host = config::read_latencies(config::Document::parse(text, "fuzz"), size % 2 == 0);
    check(host.interrupt);
    check(host.thread);
  });
  return 0;
}
