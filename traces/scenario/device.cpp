// SPDX-License-Identifier: MIT
#include "traces/scenario/device.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "traces/scenario/data.h"

namespace offhook::config {

using hostsim::SoftDevice;

namespace {

// The required keys of a device; the others have neutral defaults.
constexpr std::string_view kRequired[] = {"name",          "block.rate_hz", "block.plan_samples",
                                          "buffers.count", "work.block_us", "work.phi"};

KeyTable make_device_keys() {
  using D = SoftDevice;
  return {
      key<D>("name", "description, shown in reports", &D::name),
      key<D>("pump", "registered pump that does the work: one of a plug-in (offhook --plugin); empty: cost only",
             &D::pump),
      key<D>("block.rate_hz", 1, 1e9, "sample rate of the card, of the faster direction", &D::rate_hz),
      key<D>("block.plan_samples", 1, 1e9, "samples per interrupt, repeated; at most 8 blocks", &D::block_plan),
      key<D>("buffers.count", 1, 512, "output buffers, n", &D::buffers),
      key<D>("buffers.samples", 0, 1e9, "length t of one buffer; 0: the longest block", &D::buffer_samples),
      key<D>("buffers.lead_samples", 0, 1e9, "transmit lead: output queued when idle; 0: all buffers full",
             &D::transmit_lead_samples),
      key_of_time<D>("work.block_us", 0.001, 1e9, "CPU time c of a block", kUs, &D::cost_ns),
      key<D>("work.spread", 0, 1, "random variation of a block's cost, as a share, both ways", &D::cost_spread),
      key_of_time<D>("work.worst_us", 0, 1e9, "CPU time of the first block; 0: like the others", kUs,
                     &D::worst_cost_ns),
      key<D>("work.phi", 0, 1, "share of a block's work after which its output is queued", &D::output_fraction),
      key_of_time<D>("isr.mean_us", 0, 1e6, "mean time of the interrupt routine when the work is deferred", kUs,
                     &D::isr_mean_ns),
      key_of_time<D>("isr.max_us", 0, 1e6, "longest time of the interrupt routine", kUs, &D::isr_max_ns),
  };
}

}  // namespace

const KeyTable& device_keys() {
  static const KeyTable keys = make_device_keys();
  return keys;
}

SoftDevice parse_device(const Document& document) {
  SoftDevice device;
  Origins given;
  document.apply(device_keys(), &device, &given);
  for (const std::string_view path : kRequired) {
    if (!given.contains(path)) {
      const auto key =
          std::find_if(device_keys().begin(), device_keys().end(), [&](const Key& k) { return k.path == path; });
      throw Error(fmt::format("{}: {} is missing: {} (expected {})", document.name(), path, key->help,
                              expectation(*key, &device)));
    }
  }
  try {
    (void)device.profile();
  } catch (const std::invalid_argument& e) {
    throw Error(fmt::format("{}: {}", document.name(), e.what()));
  }
  return device;
}

SoftDevice load_device(std::string_view name_or_file) {
  return parse_device(Document::read_file(data_file("devices", name_or_file)));
}

std::string to_toml(const SoftDevice& device) {
  return write(device_keys(), &device);
}

}  // namespace offhook::config
