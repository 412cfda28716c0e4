// SPDX-License-Identifier: MIT
#include "src/measure/kernel_latency.h"

#include <stdexcept>

#include "driver/kernel/kernel_transfer.h"
#include "driver/session/call.h"
#include "dsp/modulation/modulation.h"
#include "offhook/modem_card.h"
#include "src/lab/analysis/figures.h"

namespace offhook::measure {
namespace {

constexpr std::int64_t kSecondNs = 1'000'000'000;

oh_kernel_call call_of(const KernelLatencyConfig& config) {
  const std::int64_t block = config.interval_ns * OH_MODEM_RATE_HZ / kSecondNs;
  if (block < OH_KERNEL_SLICE || block > OH_MODEM_RING_SAMPLES / 4 ||
      block * kSecondNs != config.interval_ns * OH_MODEM_RATE_HZ)
    throw std::runtime_error("a kernel's card interrupts at whole samples of " +
                             std::to_string(kSecondNs / OH_MODEM_RATE_HZ / 1000) +
                             " us; expected an interval of 1000 to " +
                             std::to_string(OH_MODEM_RING_SAMPLES / 4 * kSecondNs / OH_MODEM_RATE_HZ / 1000) + " us");
  const auto samples = static_cast<std::uint32_t>(block);
  return plain_kernel_call(OH_PUMP_CALL, kV34.name, samples, 2 * samples);
}

}  // namespace

LatencyResult measure_kernel_latency(KernelDevice& device, const KernelLatencyConfig& config,
                                     const std::function<bool(const LatencyResult&)>& look) {
  LatencyResult result;
  Analyzer analyzer;
  KernelTransfer transfer(device, {.call = call_of(config),
                                   .contexts = {config.context},
                                   .switches = 0,
                                   .switch_samples = 0,
                                   .to_send = {},
                                   .events = [&](std::span<const oh_event> events, std::uint64_t) {
                                     for (const oh_event& event : events) {
                                       analyzer.add(event);
                                       const auto most =
                                           static_cast<std::int64_t>(analyzer.figures().interrupt_to_service.max());
                                       if (config.threshold_ns == 0 || result.over_threshold_ns > 0) continue;
                                       if (most < config.threshold_ns) continue;
                                       result.over_threshold_ns = most;
                                       result.over_at_ns = static_cast<std::int64_t>(event.time_ns);
                                     }
                                   }});
  const auto so_far = [&]() -> const LatencyResult& {
    result.latency = analyzer.figures().interrupt_to_service;
    result.own_cost = analyzer.figures().service_run_elapsed;
    result.missed = transfer.status().coalesced;
    return result;
  };
  transfer.begin();
  const std::uint64_t samples = static_cast<std::uint64_t>(config.duration_ns / (kSecondNs / OH_MODEM_RATE_HZ));
  bool failed = false;
  do {
    transfer.wait();
    failed = transfer.look().card != OH_KERNEL_IN_CALL;
  } while (!failed && transfer.status().samples < samples && result.over_threshold_ns == 0 && look(so_far()));
  transfer.end();
  if (failed) throw std::runtime_error("the call ended: the card has failed, or the machine was suspended");
  analyzer.finish();
  return so_far();
}

}  // namespace offhook::measure
