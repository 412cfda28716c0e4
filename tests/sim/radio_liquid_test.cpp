// SPDX-License-Identifier: MIT
//
// The law on a device with slots of half a millisecond: the radio's real pump in the simulator, where the law says that
// it suffices and where not.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <new>
#include <string>
#include <utility>

#include "dsp/blocks/level.h"
#include "dsp/radio/radio.h"
#include "hostsim/air/radio_channel.h"
#include "hostsim/call/call.h"
#include "src/lab/law/law.h"

namespace offhook {
namespace {

using namespace hostsim;

struct Radio {
  Radio(const oh_pump_type* kind, oh_pump_role role, std::uint32_t io_delay) : type(kind) {
    oh_pump_config c{};
    c.format = type->formats[0];
    c.role = role;
    c.tx_level_dbm0 = -15;
    c.io_delay_samples = io_delay;
    c.port.get_bits = [](void*, std::uint8_t* octets, std::size_t n) { std::fill_n(octets, n / 8, 0x5a); };
    c.port.put_bits = [](void*, const std::uint8_t*, std::size_t) {};
    memory = ::operator new (type->size(&c), std::align_val_t{64});
    EXPECT_EQ(type->init(memory, &c), 0);
  }
  ~Radio() {
    type->release(memory);
    ::operator delete (memory, std::align_val_t{64});
  }
  Radio(const Radio&) = delete;
  Radio& operator=(const Radio&) = delete;
  oh_radio_slots slots() const { return oh_radio_slot_counts(memory); }
  const oh_pump_type* type;
  void* memory;
};

/// What is behind the card: the air, and a radio on a machine that is never late.
struct Far {
  explicit Far(const oh_pump_type* type) : radio(type, OH_PUMP_ANSWER, 0) {}
  void exchange(const std::int16_t* played, std::int16_t* captured, std::size_t n) {
    for (std::size_t k = 0; k < n; ++k) {
      pair[odd] = played[k];
      captured[k] = waiting[odd];
      if ((odd ^= 1) != 0) continue;
      there.step(pair);
      std::array<std::int16_t, 2> in = {clip(std::round(pair[0])), clip(std::round(pair[1]))}, out;
      radio.type->process(radio.memory, in.data(), out.data(), 2);
      std::array<float, 2> answer = {static_cast<float>(out[0]), static_cast<float>(out[1])};
      back.step(answer);
      waiting = {clip(std::round(answer[0])), clip(std::round(answer[1]))};
    }
  }
  oh_line_end line() {
    return {[](void* self, const void* played, void* captured, std::size_t n) {
              static_cast<Far*>(self)->exchange(static_cast<const std::int16_t*>(played),
                                                static_cast<std::int16_t*>(captured), n);
            },
            this};
  }
  Radio radio;
  RadioChannel there{{}, 1, 0}, back{{}, 1, 1};
  std::array<float, 2> pair{};
  std::array<std::int16_t, 2> waiting{};
  unsigned odd = 0;
};

struct Outcome {
  bool late;
  std::uint64_t due, missed;  // slots, both directions
};

constexpr int kTickHz = 8192;  // no whole number of blocks: no reservation is in step with the card

SoftDevice device() {
  SoftDevice d;
  d.rate_hz = 4'000'000;
  d.block_plan = {1250};  // half a slot of radio-burst, as traces/devices/bluetooth.toml has it
  d.buffers = 2;
  d.cost_ns = 78'125;  // a quarter of the CPU
  d.isr_mean_ns = 2'000;
  d.isr_max_ns = 6'000;
  return d;
}

Outcome run(const oh_pump_type* type, const ContextScenario& context) {
  Scenario s;
  s.device = device();
  s.context = context;
  s.host.tick_hz = kTickHz;
  s.load.spinner = true;
  s.device_s = 0.2;
  Radio near(type, OH_PUMP_CALL, s.device.lead());
  Far far(type);
  const auto call = make_device_call(s, {s.device.streams(), oh_pump_at(type, near.memory), far.line()}, nullptr);
  while (call->advance(call->now() + 100'000'000)) {
  }
  const CallResult r = call->result();
  const oh_radio_slots a = near.slots(), b = far.radio.slots();
  return {r.samples_late + r.card.underrun_samples + r.card.overrun_samples > 0, a.due + b.due,
          a.missed + a.broken + b.missed + b.broken};
}

class RadioInContexts : public testing::TestWithParam<const oh_pump_type* (*)()> {};

TEST_P(RadioInContexts, InterruptAndDpcLoseNothing) {
  for (const char* context : {"INT", "DPC"}) {
    const Outcome o = run(GetParam()(), ContextScenario{ContextSpec::parse(context)});
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
    const Outcome o = run(GetParam()(), context);
    (enough ? sufficient : insufficient) += 1;
    EXPECT_EQ(o.late, !enough);
    EXPECT_EQ(o.missed > 0, !enough) << o.missed << " of " << o.due;
  }
  EXPECT_GE(sufficient, 2);
  EXPECT_GE(insufficient, 2);
}

INSTANTIATE_TEST_SUITE_P(Waveforms, RadioInContexts, testing::Values(&oh_radio_burst_type, &oh_radio_ofdm_type),
                         [](const auto& param) { return param.index == 0 ? "burst" : "ofdm"; });

}  // namespace
}  // namespace offhook
