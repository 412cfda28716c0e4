// SPDX-License-Identifier: MIT
//
// What a symbol of each end of the DMT pump costs in data mode: the samples of a connection replayed into one end, a
// symbol's worth a call, again and again. What a call costs is the least of the runs, for everything that is not the
// pump's own comes at other symbols each time. And the longest stretch without a preemption point, set-up included, in
// pieces as the kernel driver has them. With an argument, the end of that number alone and once: for callgrind.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <numeric>
#include <vector>

#include "dsp/dmt/shortening.h"
#include "dsp/dmt/tones.h"
#include "offhook/kernel_modem.h"
#include "tests/bench/stretches.h"
#include "tests/unit/hostsim/channel/dmt_call.h"

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

/// One end and its input.
struct Replay {
  const Recording& r;
  bool remote, full_rate;

  const oh_pump_type* type() const { return remote ? oh_dmt_remote_type() : oh_dmt_central_type(); }
  const std::vector<std::int16_t>& heard() const { return remote ? r.to_remote : r.to_central; }
  std::size_t rx() const { return remote ? r.ratio : 1; }
  std::size_t tx() const { return remote ? 1 : r.ratio; }
  /// @param around  called with the first period of each piece and the function that processes it
  template <typename Around>
  void run(std::size_t piece, Around around) const {
    test::DmtCall::End end;
    end.own = remote ? 1 : 2;
    oh_pump_config c{};
    c.format = type()->formats[full_rate ? 1 : 0];
    c.role = remote ? OH_PUMP_CALL : OH_PUMP_ANSWER;
    c.port = end.port();
    c.port.get_bits = [](void*, std::uint8_t* octets, std::size_t n) { std::fill_n(octets, (n + 7) / 8, 0x5a); };
    c.port.put_bits = [](void*, const std::uint8_t*, std::size_t) {};
    std::vector<std::int16_t> sent(tx() * piece);
    void* self = std::aligned_alloc(64, type()->size(&c));
    std::memset(self, 0, type()->size(&c));  // so that no page is first touched in a call
    around(-1, [&] {
      if (type()->init(self, &c) != 0) std::abort();
    });
    for (std::size_t at = 0; (at + piece) * rx() <= heard().size(); at += piece)
      around(static_cast<std::ptrdiff_t>(at),
             [&] { type()->process(self, heard().data() + at * rx(), sent.data(), piece); });
    type()->release(self);
    std::free(self);
  }
};

/// Floating-point operations of a symbol's two transforms and of the time-domain equaliser, which every implementation
/// needs. Real transforms of n points: 2.5 n log2 n.
double operations(const Replay& replay) {
  const dmt::Band down = replay.full_rate ? dmt::kFullDown : dmt::kLiteDown, up = dmt::kLiteUp;
  const auto transform = [](const dmt::Band& band) { return 2.5 * band.points * std::log2(band.points); };
  const dmt::Band& heard = replay.remote ? down : up;
  return transform(down) + transform(up) + 2.0 * dmt::Shortening::kTaps * heard.points;
}

void measure_stretches(const Replay& replay, int runs) {
  constexpr double kPeriodS = 1.0 / hostsim::kUpstreamHz;
  const std::vector<test::Stretch> least = test::least_stretches(runs, [&] {
    replay.run(oh_kernel_slice(hostsim::kUpstreamHz), [&](std::ptrdiff_t at, const auto& process) {
      test::Stretches::begin(static_cast<double>(at) * kPeriodS);
      process();
      test::Stretches::end();
    });
  });
  std::vector<test::Stretch> data;
  std::ranges::copy_if(least, std::back_inserter(data), [&](const test::Stretch& s) {
    return s.at_s > static_cast<double>(replay.r.data_from) * kPeriodS;
  });
  std::printf("%-18s longest stretch without a preemption point %.1f us, at %.4f s; in data mode %.1f us\n", "",
              test::longest(least).ns * 1e-3, test::longest(least).at_s, test::longest(data).ns * 1e-3);
}

void measure(const char* name, const Recording& r, bool remote, bool full_rate, int runs) {
  const Replay replay{r, remote, full_rate};
  const std::size_t symbols = replay.heard().size() / (replay.rx() * kSymbol);
  std::vector<double> ns(symbols, 1e12);
  for (int run = 0; run < runs; ++run) {
    replay.run(kSymbol, [&](std::ptrdiff_t at, const auto& process) {
      const auto begin = std::chrono::steady_clock::now();
      process();
      const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - begin;
      if (at >= 0)
        ns[static_cast<std::size_t>(at) / kSymbol] = std::min(ns[static_cast<std::size_t>(at) / kSymbol], took.count());
    });
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
  std::printf("%-18s transforms and time-domain equaliser: %.0f operations a symbol, of all the time %.1f a ns\n", "",
              operations(replay), operations(replay) / mean);
  measure_stretches(replay, runs);
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
