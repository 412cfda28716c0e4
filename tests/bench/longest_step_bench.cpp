// SPDX-License-Identifier: MIT
//
// oh_pump_type.longest_step, measured: the same call several times, sample by sample. What a sample costs is the least
// of the runs, for everything that is not the pump's own comes at other samples each time. And the longest piece of
// OH_KERNEL_SLICE samples, which the kernel driver computes with the FPU held.
//
// usage: longest_step_bench [PUMP...]      In QEMU, where an instruction is 4 ns and two runs are exact:
//                                          ./dev vm env RUNS=2 build/release/tests/longest_step_bench v34
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <vector>

#include "dsp/pump/pump_type.h"
#include "dsp/spandsp/modulations.h"
#include "offhook/kernel_modem.h"

namespace {

using namespace offhook;

constexpr int kSeconds = 20, kRateHz = 8000, kLongestBlock = 512;

void measure(const oh_pump_type& type, int runs) {
  constexpr std::size_t kSamples = std::size_t{kSeconds} * kRateHz;
  std::vector<float> ns[2];
  oh_pump_state states[2]{};
  for (int run = 0; run < runs; ++run) {
    void* self[2];
    std::int16_t line[2] = {};
    for (int end = 0; end < 2; ++end) {
      oh_pump_config config{};
      config.format = type.formats[0];
      config.role = static_cast<oh_pump_role>(end);
      config.tx_level_dbm0 = -12;
      config.port = {[](void*) { return 1; }, [](void*, int) {}, nullptr};
      const std::size_t bytes = type.size(&config);
      self[end] = std::aligned_alloc(64, bytes);
      std::memset(self[end], 0, bytes);  // no page is touched for the first time in a call
      if (type.init(self[end], &config) != 0) std::abort();
      ns[end].resize(kSamples, 1e9f);
    }
    for (std::size_t t = 0; t < kSamples; ++t) {
      std::int16_t sent[2];
      for (int end = 0; end < 2; ++end) {
        const auto begin = std::chrono::steady_clock::now();
        type.process(self[end], &line[end], &sent[end], 1);
        const std::chrono::duration<float, std::nano> took = std::chrono::steady_clock::now() - begin;
        ns[end][t] = std::min(ns[end][t], took.count());
      }
      for (int end = 0; end < 2; ++end) line[end] = static_cast<std::int16_t>(sent[1 - end] / 3);
    }
    for (int end = 0; end < 2; ++end) {
      oh_pump_status status;
      type.status(self[end], &status);
      states[end] = status.state;
      type.release(self[end]);
      std::free(self[end]);
    }
  }
  for (int end = 0; end < 2; ++end) {
    double sum = 0;
    for (std::size_t t = kSamples - kRateHz; t < kSamples; ++t) sum += static_cast<double>(ns[end][t]);
    const double mean = sum / kRateHz;
    std::vector<double> before(kSamples + 1, 0);
    for (std::size_t t = 0; t < kSamples; ++t) before[t + 1] = before[t] + static_cast<double>(ns[end][t]) / mean - 1;
    double longest = 0;
    std::size_t at = 0;
    for (std::size_t t = 0; t < kSamples; ++t) {
      for (std::size_t n = 1; n <= kLongestBlock && t + n <= kSamples; ++n) {
        if (before[t + n] - before[t] > longest) longest = before[t + n] - before[t], at = t;
      }
    }
    double piece = 0;
    std::size_t piece_at = 0;
    for (std::size_t t = 0; t + OH_KERNEL_SLICE <= kSamples; ++t) {
      double sum_ns = 0;
      for (std::size_t k = 0; k < OH_KERNEL_SLICE; ++k) sum_ns += static_cast<double>(ns[end][t + k]);
      if (sum_ns > piece) piece = sum_ns, piece_at = t;
    }
    std::printf(
        "%-7s %s  state %d  %4.0f ns a sample  longest step %6.0f of %u, at %.3f s; "
        "%d samples at most %.0f ns, from %.3f s on\n",
        type.name, end == 0 ? "calls  " : "answers", states[end], mean, longest, type.longest_step,
        static_cast<double>(at) / kRateHz, OH_KERNEL_SLICE, piece, static_cast<double>(piece_at) / kRateHz);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const char* runs = std::getenv("RUNS");
  const std::vector<std::string_view> names(argv + 1, argv + argc);
  for (const offhook::Modulation& m : offhook::kModulations) {
    if (!names.empty() && std::ranges::find(names, m.type()->name) == names.end()) continue;
    if (takes(*m.type(), offhook::kLinear8000)) measure(*m.type(), runs != nullptr ? std::max(1, std::atoi(runs)) : 5);
  }
}
