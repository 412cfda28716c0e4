// SPDX-License-Identifier: MIT
//
// The law on a device with slots of half a millisecond: the radio's real pump in the simulator, where the law says that
// it suffices and where not.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <utility>

#include "hostsim/air/air.h"
#include "hostsim/call/call.h"
#include "hostsim/call/radio_call.h"
#include "src/lab/advice/law.h"
#include "tests/unit/hostsim/call/device_run.h"

namespace offhook {
namespace {

using namespace hostsim;

[[maybe_unused]] const bool registered = (register_air(), true);

struct Outcome {
  bool late;
  std::uint64_t due, missed;  // slots, both directions
};

constexpr int kTickHz = 8192;  // not a whole number of blocks, so no reservation is synchronous with the card

SoftDevice device() {
  SoftDevice d;
  d.rate_hz = 4'000'000;
  d.block_plan = {1250};  // half a slot of radio-burst, as in traces/data/devices/bluetooth.toml
  d.buffers = 2;
  d.cost_ns = 78'125;  // a quarter of the CPU
  d.isr_mean_ns = 2'000;
  d.isr_max_ns = 6'000;
  return d;
}

Outcome run(const char* waveform, const ContextScenario& context) {
  Scenario s;
  s.pump = PumpKind::kDevice;
  s.line_kind = LineKind::kAir;
  s.air.waveform = waveform;
  s.device = device();
  s.context = context;
  s.host.tick_hz = kTickHz;
  s.load.spinner = true;
  s.device_s = 0.2;
  const CallResult r = test::run_device(s);
  return {r.samples_late + r.card.underrun_samples + r.card.overrun_samples > 0,
          r.radio->received.due + r.radio->sent.due, r.radio->received.lost() + r.radio->sent.lost()};
}

class RadioInContexts : public testing::TestWithParam<const char*> {};

TEST_P(RadioInContexts, InterruptAndDpcLoseNothing) {
  for (const char* context : {"INT", "DPC"}) {
    const Outcome o = run(GetParam(), ContextScenario{ContextSpec::parse(context)});
    EXPECT_FALSE(o.late) << context;
    EXPECT_GT(o.due, 250u) << context;
    EXPECT_EQ(o.missed, 0u) << context;
  }
}

TEST_P(RadioInContexts, AReservationLosesSlotsExactlyWhereTheLawSaysSo) {
  int sufficient = 0, insufficient = 0;
  for (const auto& [x, y] : {std::pair{1, 2}, {1, 3}, {1, 4}, {2, 5}}) {
    SCOPED_TRACE(std::to_string(x) + "/" + std::to_string(y));
    const DeviceTiming timing = device_timing(device());
    Scenario s;
    s.host.tick_hz = kTickHz;
    const double tick_ms = 1e3 / kTickHz;
    const bool enough = full_law(timing, x * tick_ms, y * tick_ms, 0, host_work(s.host, device())).sufficient;
    ContextScenario context;
    context.kind = OH_CONTEXT_RESERVATION;
    context.x_ticks = x;
    context.y_ticks = y;
    const Outcome o = run(GetParam(), context);
    (enough ? sufficient : insufficient) += 1;
    EXPECT_EQ(o.late, !enough);
    EXPECT_EQ(o.missed > 0, !enough) << o.missed << " of " << o.due;
  }
  EXPECT_GE(sufficient, 2);
  EXPECT_GE(insufficient, 2);
}

INSTANTIATE_TEST_SUITE_P(Waveforms, RadioInContexts, testing::Values("radio-burst", "radio-ofdm"),
                         [](const auto& param) { return param.index == 0 ? "burst" : "ofdm"; });

}  // namespace
}  // namespace offhook
