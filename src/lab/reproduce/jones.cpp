// SPDX-License-Identifier: MIT
//
// Jones and Saroiu, "Predictability Requirements of a Soft Modem", SIGMETRICS 2001.
#include <fmt/format.h>

#include "offhook/modem_card.h"
#include "src/lab/reproduce/claim.h"
#include "traces/scenario/device.h"
#include "traces/scenario/profile.h"

namespace offhook::reproduce {

namespace {

constexpr const char* kProfile = "pentium2-450-vendor";

}  // namespace

// 4: the card.
Outcome jones_ring(const Run& run) {
  const Published& p = run.published;
  const hostsim::CostProfile profile = config::load_profile(kProfile);
  const auto rates = p.numbers("dma_rate_hz");
  Outcome out;
  out.rows = {input("receive and transmit ring", "samples", p.number("ring_samples"), OH_MODEM_RING_SAMPLES,
                    "offhook/modem_card.h: every modem card"),
              input("sample", "bits", p.number("sample_bits"), 8 * sizeof(std::int16_t), "offhook/card.h: int16_t"),
              input("slowest DMA rate", "Hz", rates.at(0), profile.phases[0].rate_hz,
                    "the cost profile's on-hook and dialling phases"),
              input("DMA rates", fmt::format("{:g} to {:g} Hz", rates.at(0), rates.at(1)),
                    fmt::format("{} Hz once connected", profile.phases[hostsim::kPhases - 1].rate_hz))};
  return out;
}

// 3.2.1: the instrumented kernel.
Outcome jones_logging(const Run& run) {
  const Published& p = run.published;
  const hostsim::CostProfile profile = config::load_profile(kProfile);
  const double clock_mhz = 450;
  Outcome out;
  out.rows = {input("one event", "ns", p.number("event_ns"), profile.logging.event_ns,
                    fmt::format("traces/data/profiles/{}.toml, logging.event_ns", kProfile)),
              input("log written", "MB a minute", p.number("log_mb_per_minute"), profile.logging.bytes_per_minute / 1e6,
                    "that file, logging.bytes_per_minute; the length of an event, 16 bytes, is an assumption"),
              within("one event in cycles of 450 MHz", "cycles", p.number("event_cycles"),
                     profile.logging.event_ns * clock_mhz / 1000, 1)};
  out.rows.back().note = "both published values are one time";
  return out;
}

// 8.2: future devices.
Outcome jones_soft_dsl(const Run& run) {
  const Published& p = run.published;
  Outcome out;
  const auto dsl = [&](const char* key, const char* file) {
    const Published of = p.table(key);
    const hostsim::SoftDevice device = config::load_device(file);
    const double period_ms = 1000.0 * device.block_plan.at(0) / device.rate_hz;
    const std::string where = fmt::format("traces/data/devices/{}.toml", file);
    out.rows.push_back(input(device.name + ", period", "ms", of.number("period_ms"), period_ms, where));
    out.rows.push_back(input(device.name + ", CPU share", "%", of.number("share_percent"),
                             100 * static_cast<double>(device.cost_ns) * 1e-6 / period_ms, where));
    out.rows.push_back(
        input(device.name + ", down and up",
              fmt::format("{:g} and {:g} kbit/s", of.number("down_bps") / 1000, of.number("up_bps") / 1000),
              "not used: blocks and their cost decide"));
  };
  dsl("g_lite", "g-lite");
  dsl("full_rate", "full-rate-dsl");
  out.rows.push_back(input("processor", p.text("g_lite.cpu"), "shares are of this one"));
  const hostsim::SoftDevice radio = config::load_device("bluetooth");
  const double period_us = 1e6 * radio.block_plan.at(0) / radio.rate_hz;
  const auto share = p.numbers("wlan_bluetooth.share_percent");
  out.rows.push_back(input("802.11b or Bluetooth, period", "us", p.number("wlan_bluetooth.period_us"), period_us,
                           "traces/data/devices/bluetooth.toml"));
  out.rows.push_back(between("802.11b or Bluetooth, CPU share", "%", share.at(0), share.at(1),
                             100 * static_cast<double>(radio.cost_ns) * 1e-3 / period_us));
  out.rows.back().note = "traces/data/devices/bluetooth.toml";
  out.summary =
      "The vendor's statements to the authors about future devices; `offhook run`, `advise law` and `advise` accept "
      "them.";
  return out;
}

// 8.1
Outcome jones_vendor_starvation(const Run& run) {
  const auto held = run.published.numbers("usb_scanner_holds_interrupts_ms");
  Outcome out;
  out.rows = {input("a USB scanner holds interrupts off", fmt::format("{:g} to {:g} ms", held.at(0), held.at(1)),
                    "a load of the host simulator: a controller that holds interrupts off")};
  return out;
}

}  // namespace offhook::reproduce
