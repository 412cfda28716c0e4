// SPDX-License-Identifier: MIT
//
// A DMT call whose ATU-R is a soft device of a simulated host: 4 ms blocks, three buffers, a quarter of the CPU, as the
// literature has G.lite.
#pragma once

#include <algorithm>
#include <memory>

#include "hostsim/call/call.h"
#include "tests/unit/hostsim/loop/dmt_call.h"

namespace offhook::test {

struct DmtInContext {
  static constexpr std::uint32_t kBlock = 1104, kBuffers = 3, kRing = 8192;  // periods of 276 kHz

  /// The host, the context and what else runs there; the device is filled in.
  explicit DmtInContext(hostsim::Scenario s, double seconds, const hostsim::LoopConfig& config = {}) : call(config) {
    s.device.rate_hz = hostsim::kUpstreamHz;
    s.device.block_plan = {kBlock};
    s.device.buffers = kBuffers;
    s.device.cost_ns = 1'000'000;
    s.device.isr_mean_ns = s.device.isr_max_ns = 5'000;
    s.device_s = seconds;
    const std::uint32_t fast = call.remote.type->formats[0].rx.rate_hz;
    const std::uint32_t ratio = fast / hostsim::kUpstreamHz;
    const oh_streams streams = {{fast, OH_LINEAR16, ratio * kRing, 1, kRing / 2},
                                {hostsim::kUpstreamHz, OH_LINEAR16, kRing, 1, kRing / 2}};
    device = hostsim::make_device_call(
        s, {streams, oh_pump_at(call.remote.type, call.remote.self), call.loop->handle()}, nullptr);
  }
  /// To the end. @return what the host made of it
  hostsim::CallResult run() {
    while (device->advance(device->now() + 100'000'000)) {
      if (connected_s < 0 && call.in_data()) connected_s = static_cast<double>(device->now()) * 1e-9;
    }
    return device->result();
  }

  DmtCall call;
  std::unique_ptr<hostsim::Call> device;
  double connected_s = -1;  ///< within 0.1 s
};

}  // namespace offhook::test
