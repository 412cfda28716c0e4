// SPDX-License-Identifier: MIT
//
// What a symbol of each end of the DMT pump costs in data mode: the samples of a connection replayed into one end, a
// symbol's worth a call, again and again. What a call costs is the least of the runs, for everything that is not the
// pump's own comes at other symbols each time. With an argument, the end of that number alone and once: for callgrind.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <vector>

#include "dsp/dmt/coding/tones.h"
#include "tests/unit/hostsim/loop/dmt_call.h"

namespace {

using namespace offhook;

constexpr int kRuns = 15;
constexpr double kSeconds = 2.2;
constexpr std::size_t kSymbol = static_cast<std::size_t>(dmt::kLiteUp.symbol());

struct Recording {
  std::vector<std::int16_t> to_remote, to_central;
  std::size_t ratio = 0, data_from = 0;  // periods
};

Recording record(const char* cable, bool full_rate) {
  Recording r;
  r.ratio = full_rate ? 8 : 4;
  hostsim::LoopConfig c;
  c.cable = hostsim::cable_named(cable);
  test::DmtCall call(c, full_rate);
  call.tamper = [&r](std::vector<std::int16_t>& samples) {
    r.to_remote.insert(r.to_remote.end(), samples.begin(), samples.end());
  };
  call.central_heard = [&r](const std::int16_t* samples, std::size_t n) {
    r.to_central.insert(r.to_central.end(), samples, samples + n);
  };
  r.data_from = static_cast<std::size_t>((call.connect(6) + 0.1) * hostsim::kUpstreamHz);
  call.run(kSeconds - static_cast<double>(call.periods) / hostsim::kUpstreamHz);
  return r;
}

void measure(const char* name, const Recording& r, bool remote, bool full_rate, int runs) {
  const oh_pump_type* type = remote ? oh_dmt_remote_type() : oh_dmt_central_type();
  const std::vector<std::int16_t>& heard = remote ? r.to_remote : r.to_central;
  const std::size_t rx = remote ? r.ratio : 1, tx = remote ? 1 : r.ratio;
  const std::size_t symbols = heard.size() / (rx * kSymbol);
  std::vector<double> ns(symbols, 1e12);
  std::vector<std::int16_t> sent(tx * kSymbol);
  for (int run = 0; run < runs; ++run) {
    test::DmtCall::End end;
    end.own = remote ? 1 : 2;
    oh_pump_config c{};
    c.format = type->formats[full_rate ? 1 : 0];
    c.role = remote ? OH_PUMP_CALL : OH_PUMP_ANSWER;
    c.port = end.port();
    c.port.get_bits = [](void*, std::uint8_t* octets, std::size_t n) { std::fill_n(octets, (n + 7) / 8, 0x5a); };
    c.port.put_bits = [](void*, const std::uint8_t*, std::size_t) {};
    void* self = std::aligned_alloc(64, type->size(&c));
    if (type->init(self, &c) != 0) std::abort();
    for (std::size_t s = 0; s < symbols; ++s) {
      const auto begin = std::chrono::steady_clock::now();
      type->process(self, heard.data() + s * rx * kSymbol, sent.data(), kSymbol);
      const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - begin;
      ns[s] = std::min(ns[s], took.count());
    }
    type->release(self);
    std::free(self);
  }
  std::vector<double> data(ns.begin() + static_cast<std::ptrdiff_t>(r.data_from / kSymbol), ns.end());
  const double mean = std::accumulate(data.begin(), data.end(), 0.0) / static_cast<double>(data.size());
  const double start_up =
      *std::max_element(ns.begin(), ns.begin() + static_cast<std::ptrdiff_t>(r.data_from / kSymbol));
  std::sort(data.begin(), data.end());
  const double period_ns = 1e9 * static_cast<double>(kSymbol) / hostsim::kUpstreamHz;
  std::printf(
      "%-18s %6.2f us a symbol, %4.2f %% of a core; over the mean: least %4.2f, 99 %% %4.2f, most %4.2f; start-up at "
      "most %4.2f\n",
      name, mean * 1e-3, 100 * mean / period_ns, data.front() / mean, data[data.size() * 99 / 100] / mean,
      data.back() / mean, start_up / mean);
}

}  // namespace

int main(int argc, char** argv) {
  const int only = argc > 1 ? std::atoi(argv[1]) : -1;
  for (const bool full_rate : {false, true}) {
    if (only >= 0 && (only / 2 == 1) != full_rate) continue;
    const Recording r = record(full_rate ? "CSA 6" : "T1.601 7", full_rate);
    for (const bool remote : {true, false}) {
      if (only >= 0 && (only % 2 == 0) != remote) continue;
      const char* names[2][2] = {{"G.lite, ATU-C", "G.lite, ATU-R"}, {"full rate, ATU-C", "full rate, ATU-R"}};
      measure(names[full_rate][remote], r, remote, full_rate, only < 0 ? kRuns : 1);
    }
  }
}
