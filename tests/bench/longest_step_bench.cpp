// SPDX-License-Identifier: MIT
//
// oh_pump_type.longest_step, measured: the same call several times, sample by sample. What a sample costs is the least
// of the runs, for everything that is not the pump's own comes at other samples each time. And the longest stretch
// without a preemption point, set-up included, of a call in pieces of OH_KERNEL_SLICE samples: a section that the
// kernel driver's threads hold the FPU for lasts 20 us and such a stretch at most.
// Of V.90 these stretches alone.
//
// usage: longest_step_bench [PUMP...]      In QEMU, where an instruction is 4 ns and two runs are exact:
//                                          ./dev vm env RUNS=2 build/release/tests/longest_step_bench v34
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string_view>
#include <vector>

#include "driver/user_modem/modulations.h"
#include "dsp/pump/pump_type.h"
#include "offhook/kernel_modem.h"
#include "tests/bench/stretches.h"
#include "tests/v90_call.h"

namespace {

using namespace offhook;
using test::Stretch, test::Stretches;

constexpr int kSeconds = 20, kRateHz = 8000, kLongestBlock = 512;

oh_pump_config config_of(const oh_pump_type& type, int end) {
  oh_pump_config config{};
  config.format = type.formats[0];
  config.role = static_cast<oh_pump_role>(end);
  config.tx_level_dbm0 = -12;
  config.port = {[](void*) { return 1; }, [](void*, int) {}, nullptr};
  return config;
}

void measure(const oh_pump_type& type, int runs) {
  constexpr std::size_t kSamples = std::size_t{kSeconds} * kRateHz;
  std::vector<float> ns[2];
  oh_pump_state states[2]{};
  for (int run = 0; run < runs; ++run) {
    void* self[2];
    std::int16_t line[2] = {};
    for (int end = 0; end < 2; ++end) {
      const oh_pump_config config = config_of(type, end);
      const std::size_t bytes = type.size(&config);
      self[end] = std::aligned_alloc(64, bytes);
      std::memset(self[end], 0, bytes);  // so that no page is first touched in a call
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
    std::printf("%-7s %s  state %d  %4.0f ns a sample  longest step %6.0f of %u, at %.3f s\n", type.name,
                end == 0 ? "calls  " : "answers", states[end], mean, longest, type.longest_step,
                static_cast<double>(at) / kRateHz);
  }
}

void run_in_pieces(const oh_pump_type& type) {
  constexpr int kPiece = OH_KERNEL_SLICE;
  void* self[2];
  std::int16_t line[2][kPiece] = {};
  for (int end = 0; end < 2; ++end) {
    const oh_pump_config config = config_of(type, end);
    const std::size_t bytes = type.size(&config);
    self[end] = std::aligned_alloc(64, bytes);
    std::memset(self[end], 0, bytes);
    Stretches::begin(-1);
    if (type.init(self[end], &config) != 0) std::abort();
    Stretches::end();
  }
  for (int t = 0; t < kSeconds * kRateHz; t += kPiece) {
    std::int16_t sent[2][kPiece];
    for (int end = 0; end < 2; ++end) {
      Stretches::begin(static_cast<double>(t) / kRateHz);
      type.process(self[end], line[end], sent[end], kPiece);
      Stretches::end();
    }
    for (int end = 0; end < 2; ++end) {
      for (int k = 0; k < kPiece; ++k) line[end][k] = static_cast<std::int16_t>(sent[1 - end][k] / 3);
    }
  }
  for (void* end : self) {
    type.release(end);
    std::free(end);
  }
}

void print_stretches(const char* name, const std::vector<Stretch>& least) {
  const Stretch longest = test::longest(least);
  std::vector<double> data;
  for (const Stretch& s : least) {
    if (s.at_s >= kSeconds - 1) data.push_back(s.ns);
  }
  std::ranges::sort(data);
  char where[32] = "of the set-up";
  if (longest.at_s >= 0) std::snprintf(where, sizeof where, "at %.3f s", longest.at_s);
  std::printf("%-7s longest stretch without a preemption point %.1f us, %s; %d samples of data mode %.1f us\n", name,
              longest.ns / 1000, where, OH_KERNEL_SLICE, data[data.size() / 2] / 1000);
}

/// The two modems of V.90 receive the samples of an earlier call, in pieces.
void measure_v90(int runs) {
  V90Call::Options o;
  o.trunk.noise_dbm0 = -80;
  V90Call call(o);
  V90Call::Received received;
  call.keep();
  call.record(&received);
  call.run(kSeconds);
  for (const bool digital : {false, true}) {
    oh_pump_config config = config_of(*oh_v90_type(), digital ? 1 : 0);
    if (digital) config.format = kMuLaw8000;
    std::vector<std::uint64_t> memory(oh_v90_type()->size(&config) / sizeof(std::uint64_t) + 8);
    const std::vector<Stretch> least = test::least_stretches(runs, [&] {
      void* aligned = memory.data();
      std::size_t room = memory.size() * sizeof memory[0];
      std::align(64, oh_v90_type()->size(&config), aligned, room);
      Stretches::begin(-1);
      if (oh_v90_type()->init(aligned, &config) != 0) std::abort();
      Stretches::end();
      call.take_up(0);
      for (std::size_t t = 0; t + OH_KERNEL_SLICE <= received.digital.size(); t += OH_KERNEL_SLICE) {
        std::int16_t sent[OH_KERNEL_SLICE];
        Stretches::begin(static_cast<double>(t) / kRateHz);
        if (digital) {
          oh_v90_type()->process(call.digital(), &received.digital[t], sent, OH_KERNEL_SLICE);
        } else {
          oh_v90_type()->process(call.analogue(), &received.analogue[2 * t], sent, OH_KERNEL_SLICE);
        }
        Stretches::end();
      }
    });
    print_stretches(digital ? "v90 digital" : "v90 analogue", least);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const char* runs = std::getenv("RUNS");
  const std::vector<std::string_view> names(argv + 1, argv + argc);
  for (const offhook::Modulation& m : offhook::kModulations) {
    if (!names.empty() && std::ranges::find(names, m.type()->name) == names.end()) continue;
    const int n = runs != nullptr ? std::max(1, std::atoi(runs)) : 5;
    if (m.id == OH_MODULATION_V90) measure_v90(n);
    if (!takes(*m.type(), offhook::kLinear8000)) continue;
    measure(*m.type(), n);
    print_stretches(m.type()->name, test::least_stretches(n, [&] { run_in_pieces(*m.type()); }));
  }
}
