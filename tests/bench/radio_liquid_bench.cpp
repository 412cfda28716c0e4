// SPDX-License-Identifier: MIT
//
// What the radios cost in data mode: the same call several times, in pieces of 12.5 us. What a piece costs is the least
// of the runs, for everything that is not the pump's own comes at other pieces each time. The yardstick is the share of
// a 600 MHz CPU that Jones and Saroiu (2001, 8.2) give for such a device.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <vector>

#include "dsp/radio/ofdm.h"
#include "dsp/radio/radio.h"
#include "dsp/radio/single_carrier.h"

namespace {

using namespace offhook;

constexpr std::size_t kRuns = 7, kPiece = 50, kPieces = 20'000, kBegin = 2'000;  // 0.25 s, data mode from 0.025 s

void measure(const oh_pump_type& type, std::size_t slot_samples) {
  std::vector<double> ns[2];
  oh_pump_state states[2]{};
  for (std::size_t run = 0; run < kRuns; ++run) {
    void* self[2];
    std::vector<std::int16_t> line[2], sent[2];
    for (int end = 0; end < 2; ++end) {
      oh_pump_config config{};
      config.format = type.formats[0];
      config.role = static_cast<oh_pump_role>(end);
      config.tx_level_dbm0 = -15;
      config.port = {[](void*) { return std::rand() & 1; }, [](void*, int) {}, nullptr};
      self[end] = std::aligned_alloc(64, type.size(&config));
      if (type.init(self[end], &config) != 0) std::abort();
      ns[end].resize(kPieces, 1e9);
      line[end].resize(kPiece);
      sent[end].resize(kPiece);
    }
    for (std::size_t t = 0; t < kPieces; ++t) {
      for (int end = 0; end < 2; ++end) {
        const auto begin = std::chrono::steady_clock::now();
        type.process(self[end], line[end].data(), sent[end].data(), kPiece);
        const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - begin;
        ns[end][t] = std::min(ns[end][t], took.count());
      }
      for (int end = 0; end < 2; ++end) line[end] = sent[1 - end];
    }
    for (int end = 0; end < 2; ++end) {
      oh_pump_status status{};
      type.status(self[end], &status);
      states[end] = status.state;
      type.release(self[end]);
      std::free(self[end]);
    }
  }
  for (int end = 0; end < 2; ++end) {
    const std::vector<double> data(ns[end].begin() + kBegin, ns[end].end());
    const double mean = std::accumulate(data.begin(), data.end(), 0.0) / static_cast<double>(data.size());
    // A pair of slots, one sent and one heard, is what repeats.
    const std::size_t pair = 2 * slot_samples / kPiece;
    double worst_pair = 0, longest = 0, ahead = 0;
    for (std::size_t t = 0; t + pair <= data.size(); ++t) {
      worst_pair = std::max(worst_pair, std::accumulate(&data[t], &data[t] + pair, 0.0) / static_cast<double>(pair));
    }
    for (const double piece : ns[end]) {
      ahead = std::max(0.0, ahead + piece / mean - 1);
      longest = std::max(longest, ahead * kPiece);
    }
    std::printf(
        "%-11s %s  state %d  %5.1f ns a sample, %4.1f %% of this CPU (published: 2 to 3 %% of 600 MHz); the "
        "worst two slots %.2f of the mean; longest step %.0f of %u samples\n",
        type.name, end == 0 ? "calls  " : "answers", states[end], mean / kPiece,
        mean / kPiece * type.formats[0].rx.rate_hz * 1e-7, worst_pair / mean, longest, type.longest_step);
  }
}

}  // namespace

int main() {
  measure(*oh_radio_burst_type(), 2 * radio::SingleCarrier::kSlotSamples);
  measure(*oh_radio_ofdm_type(), 2 * radio::Ofdm::kSlotSamples);
}
