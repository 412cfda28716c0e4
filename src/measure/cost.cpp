// SPDX-License-Identifier: MIT
#include "src/measure/cost.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>

#include "driver/user_modem/modem.h"
#include "hostsim/channel/line.h"
#include "offhook/modem_card.h"
#include "src/measure/real_time.h"

namespace offhook::measure {

namespace {

modem::Modem::Config end_of(const Modulation& modem, oh_pump_role role, std::uint32_t io_delay = 0) {
  return {.pump = modem.type(),
          .role = role,
          .link = {.error_control = modem.v42_window > 0 ? OH_ERROR_CONTROL_REQUIRED : OH_ERROR_CONTROL_NONE,
                   .window = modem.v42_window},
          .io_delay_samples = io_delay};
}

/// Answers, and sends continuously.
class Far final : public hostsim::FarEnd {
 public:
  explicit Far(const Modulation& modem) : end(end_of(modem, OH_PUMP_ANSWER)) { end.start(); }
  void process(const std::int16_t* rx, std::int16_t* tx, std::size_t n) override {
    static constexpr std::uint8_t kBytes[64]{0x55, 0x0f, 0x33};
    end.write(kBytes, sizeof kBytes);
    end.process(rx, tx, n);
  }
  modem::Modem end;
};

constexpr double kPatienceS = 60;
constexpr std::uint32_t kQueued = OH_MODEM_RING_SAMPLES / 2;

}  // namespace

CostResult measure_cost(const CostConfig& config, const std::function<bool(double)>& progress) {
  CostResult result;
  result.phases.resize(2);
  result.phases[0].name = "connecting";
  result.phases[1].name = "connected";
  oh_pump_config probe{};
  probe.format = config.modem.type()->formats[0];
  probe.tx_level_dbm0 = -12;
  probe.port = {[](void*) { return 1; }, [](void*, int) {}, nullptr};
  result.state_bytes = config.modem.type()->size(&probe);
  Far far(config.modem);
  modem::Modem near(end_of(config.modem, OH_PUMP_CALL, kQueued));
  near.start();
  hostsim::LineConfig line_config;
  line_config.codec = "none";
  hostsim::Line line(line_config, 1, far);
  std::vector<std::int16_t> rx(OH_MODEM_RING_SAMPLES), tx(OH_MODEM_RING_SAMPLES);
  // As on a card, the output of a block is played while the second block after it arrives, whatever their lengths.
  std::vector<std::int16_t> queued(kQueued);
  std::vector<std::uint8_t> bytes(1024);
  double samples = 0, connected_samples = 0;
  std::uint64_t counts[2]{};
  for (std::size_t k = 0;; ++k) {
    const std::uint32_t n = config.block_plan[k % config.block_plan.size()];
    const bool data = near.pump_status().state == OH_PUMP_DATA;
    CostPhase& phase = result.phases[data ? 1 : 0];
    line.exchange(queued.data(), rx.data(), n);
    queued.erase(queued.begin(), queued.begin() + n);
    const std::uint64_t begin = thread_cpu_ns();
    near.process(rx.data(), tx.data(), n);
    phase.cost.add(thread_cpu_ns() - begin);
    ++phase.blocks;
    counts[data ? 1 : 0] += n;
    while (near.read(bytes.data(), bytes.size()) > 0) {
    }
    near.write(bytes.data(), 64);
    queued.insert(queued.end(), tx.begin(), tx.begin() + n);
    samples += n;
    if (data) connected_samples += n;
    const double share = connected_samples / (config.data_s * double{OH_MODEM_RATE_HZ});
    if (share >= 1 || samples > (config.data_s + kPatienceS) * double{OH_MODEM_RATE_HZ} ||
        near.pump_status().state == OH_PUMP_FAILED)
      break;
    if (k % 80 == 0 && !progress(share)) break;
  }
  result.connected = connected_samples > 0;
  for (int p = 0; p < 2; ++p) {
    CostPhase& phase = result.phases[static_cast<std::size_t>(p)];
    // The median, because interrupts of this machine increase the mean.
    const double mean_block =
        phase.blocks == 0 ? 1 : static_cast<double>(counts[p]) / static_cast<double>(phase.blocks);
    phase.ns_per_sample = static_cast<double>(phase.cost.quantile(0.5)) / mean_block;
    phase.share = phase.ns_per_sample * double{OH_MODEM_RATE_HZ} * 1e-9;
  }
  return result;
}

std::string to_profile(const CostConfig& config, const CostResult& result, const std::string& machine) {
  const auto us = [](const CostPhase& p, double q) { return static_cast<double>(p.cost.quantile(q)) * 1e-3; };
  const double mean_block = std::accumulate(config.block_plan.begin(), config.block_plan.end(), 0.0) /
                            static_cast<double>(config.block_plan.size());
  const CostPhase& connecting = result.phases[0];
  const CostPhase& connected = result.phases[1];
  return fmt::format(R"(# SPDX-License-Identifier: MIT
# Pump {0}, measured by `offhook measure cost` on {1}.
# Connecting: the 99 % quantile of {2} blocks, because their work depends on the signals. Connected: the median of {3}
# blocks, of which 99.9 % took at most {4:.1f} us.

[isr]                        # not measured: the driver's own interrupt routine takes some tenths of a microsecond
mean_us = 1
max_us = 5

[service]
phi = 1                      # output is queued after the whole block is done

[on_hook]                    # the pump only moves silence
rate_hz = {10}
block_plan_samples = [{5}]
service_us = 1
lasts_s = 2

[dialling]
rate_hz = {10}
block_plan_samples = [{5}]
service_us = 1
lasts_s = 2

[connecting]
rate_hz = {10}
block_plan_samples = [{5}]
service_us = {6:.3f}
worst_handler_us = {8:.3f}
lasts_s = {9:.1f}

[connected]
rate_hz = {10}
block_plan_samples = [{5}]
service_us = {7:.3f}
)",
                     config.modem.type()->name, machine, connecting.blocks, connected.blocks,
                     static_cast<double>(connected.cost.quantile(0.999)) * 1e-3, fmt::join(config.block_plan, ", "),
                     us(connecting, 0.99), us(connected, 0.5), static_cast<double>(connecting.cost.max()) * 1e-3,
                     static_cast<double>(connecting.blocks) * mean_block / double{OH_MODEM_RATE_HZ}, OH_MODEM_RATE_HZ);
}

}  // namespace offhook::measure
