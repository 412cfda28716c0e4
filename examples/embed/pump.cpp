// SPDX-License-Identifier: MIT
//
// A pump of one's own that is no modem: a filter of 32 taps over 16-bit samples at 1104 kHz. The simulator runs it on a
// card of its own, in the interrupt routine and with a reservation, beside a program that never sleeps. The line sends
// a single impulse now and then and counts the impulse responses that come back whole.
#include <array>
#include <cstdint>
#include <cstdio>

#include "hostsim/call/call.h"

using namespace offhook;

namespace {

constexpr std::uint32_t kRate = 1'104'000, kBlock = 1104, kBuffers = 16;
constexpr std::size_t kTaps = 32, kEvery = 4096;  // samples between two impulses
constexpr std::int16_t kImpulse = 1 << 10;

constexpr std::int32_t tap(std::size_t k) {
  return static_cast<std::int32_t>(k + 1);
}

/// The driver calls process() for each block and report_gap()
/// for lost samples, so that the filter stays synchronous.
struct Filter {
  std::array<std::int32_t, kTaps> past{};  // a ring
  std::size_t at = 0;

  std::int16_t step(std::int16_t x) {
    past[at = (at + 1) % kTaps] = x;
    std::int32_t y = 0;
    for (std::size_t k = 0; k < kTaps; ++k) y += tap(k) * past[(at + kTaps - k) % kTaps];
    return static_cast<std::int16_t>(y / kImpulse);
  }
  oh_pump pump() {
    return {[](void* self, const void* rx, void* tx, std::size_t n) {
              for (std::size_t i = 0; i < n; ++i)
                static_cast<std::int16_t*>(tx)[i] =
                    static_cast<Filter*>(self)->step(static_cast<const std::int16_t*>(rx)[i]);
            },
            [](void* self, std::size_t n) {
              for (std::size_t i = 0; i < n; ++i) static_cast<Filter*>(self)->step(0);
            },
            this};
  }
};

/// The hardware after the card: the converters and a wire.
struct Line {
  std::uint64_t sent = 0;
  std::size_t matched = 0;  // tap of the response that is being computed
  std::uint64_t whole = 0;

  void exchange(std::int16_t played, std::int16_t& captured) {
    captured = sent++ % kEvery == 0 ? kImpulse : std::int16_t{0};
    matched = played == tap(matched) ? matched + 1 : 0;
    if (matched < kTaps) return;
    ++whole;
    matched = 0;
  }
  oh_line_end handle() {
    return {[](void* self, const void* played, void* captured, std::size_t n) {
              for (std::size_t i = 0; i < n; ++i)
                static_cast<Line*>(self)->exchange(static_cast<const std::int16_t*>(played)[i],
                                                   static_cast<std::int16_t*>(captured)[i]);
            },
            this};
  }
};

}  // namespace

int main() {
  hostsim::Scenario scenario;
  scenario.load.spinner = true;
  scenario.device_s = 2;
  scenario.device.rate_hz = kRate;
  scenario.device.block_plan = {kBlock};  // one interrupt a millisecond
  scenario.device.buffers = kBuffers;
  scenario.device.cost_ns = 150'000;  // cost of one block: measure it on your target host
  for (const char* context : {"INT", "RES 2/8"}) {
    Filter filter;
    Line line;
    scenario.context = hostsim::ContextScenario{ContextSpec::parse(context)};
    const auto call =
        hostsim::make_device_call(scenario, {scenario.device.streams(), filter.pump(), line.handle()}, nullptr);
    while (call->advance(call->now() + 1'000'000'000)) {
    }
    const hostsim::CallResult result = call->result();
    std::printf("%-8s %llu blocks, %llu late, %u samples pending at most, %llu whole responses: %s\n", context,
                static_cast<unsigned long long>(result.blocks), static_cast<unsigned long long>(result.blocks_late),
                result.pending_max[static_cast<int>(hostsim::Phase::kConnected)],
                static_cast<unsigned long long>(line.whole), result.completed ? "suffices" : "does not suffice");
    if (!result.completed || line.whole == 0) return 1;
  }
}
