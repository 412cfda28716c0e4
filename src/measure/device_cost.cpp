// SPDX-License-Identifier: MIT
#include "src/measure/device_cost.h"

#include <algorithm>
#include <vector>

#include "hostsim/call/connection.h"
#include "hostsim/call/fax_call.h"
#include "hostsim/call/pump_call.h"
#include "hostsim/call/radio_call.h"
#include "hostsim/call/subscriber_call.h"
#include "src/measure/real_time.h"

namespace offhook::measure {
namespace {

constexpr double kStartPatienceS = 20;  // of the start-up

}  // namespace

DeviceCost measure_device_cost(const hostsim::Scenario& scenario, double data_s,
                               const std::function<bool(double)>& progress) {
  const auto connection = hostsim::make_device_connection(scenario, nullptr);
  const hostsim::SoftDevice device = hostsim::device_at_work(scenario);
  const oh_streams streams = connection->streams();
  const oh_pump pump = connection->near_pump();
  const oh_line_end line = connection->line();
  const std::size_t rx_ratio = streams.rx.rate_hz / device.rate_hz, tx_ratio = streams.tx.rate_hz / device.rate_hz;
  const std::size_t most = device.longest_block();
  std::vector<std::int16_t> rx(rx_ratio * most), tx(tx_ratio * most);
  DeviceCost result;
  double s = 0, in_data_s = 0;
  connection->start(0);
  for (std::size_t k = 0; in_data_s < data_s && s < data_s + kStartPatienceS; ++k) {
    const std::size_t n = device.block_plan[k % device.block_plan.size()];
    const bool in_data = connection->in_data();
    line.exchange(line.self, tx.data(), rx.data(), n);
    const std::uint64_t begin = thread_cpu_ns();
    pump.process(pump.self, rx.data(), tx.data(), n);
    (in_data ? result.in_data : result.start_up).add(thread_cpu_ns() - begin);
    result.blocks += in_data;
    const double block_s = static_cast<double>(n) / device.rate_hz;
    s += block_s;
    if (in_data) in_data_s += block_s;
    connection->exchange_user_data(static_cast<hostsim::Ns>(s * 1e9));
    if (k % 16 == 0 && !progress(in_data_s / data_s)) break;
  }
  result.in_data_mode = in_data_s > 0;
  if (const auto dmt = connection->dmt_status())
    result.bit_rates = {{"gross_down_bps", "gross down", dmt->down.gross_bit_rate},
                        {"gross_up_bps", "gross up", dmt->up.gross_bit_rate},
                        {"net_down_bps", "net down", dmt->down.net_bit_rate},
                        {"net_up_bps", "net up", dmt->up.net_bit_rate}};
  if (const auto radio = connection->radio_status())
    result.bit_rates = {{"received_bps", "received", radio->received.bit_rate},
                        {"sent_bps", "sent", radio->sent.bit_rate}};
  if (const auto fax = connection->fax_status(); fax && !fax->pages.empty())
    result.bit_rates = {{"page_bps", "pages", fax->pages.back().bit_rate}};
  if (const auto own = connection->pump_status())
    result.bit_rates = {{"received_bps", "received", own->received.bit_rate}, {"sent_bps", "sent", own->sent.bit_rate}};
  return result;
}

hostsim::SoftDevice measured_device(const hostsim::Scenario& scenario, const DeviceCost& cost) {
  hostsim::SoftDevice d = scenario.device;
  const auto median = static_cast<double>(cost.in_data.quantile(0.5));
  d.cost_ns = static_cast<hostsim::Ns>(median);
  d.cost_spread = std::clamp(static_cast<double>(cost.in_data.quantile(0.99)) / median - 1, 0.0, 1.0);
  d.worst_cost_ns = std::max(d.cost_ns, static_cast<hostsim::Ns>(cost.start_up.max()));
  d.output_fraction = 1;
  return d;
}

}  // namespace offhook::measure
