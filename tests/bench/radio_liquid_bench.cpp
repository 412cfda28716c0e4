// SPDX-License-Identifier: MIT
//
// What the radios cost in data mode, in slots sent and heard: the same call several times, in pieces of 12.5 us. What a
// piece costs is the least of the runs, for everything that is not the pump's own comes at other pieces each time. The
// benchmark targets are the share of a 600 MHz CPU that Jones and Saroiu (2001, 8.2) give for such a device, and the
// arithmetic of a slot's filters, transforms and equaliser.
#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <numbers>
#include <numeric>
#include <vector>

#include "dsp/radio/low_if.h"
#include "dsp/radio/ofdm.h"
#include "dsp/radio/radio.h"
#include "dsp/radio/single_carrier.h"

namespace {

using namespace offhook;

constexpr std::size_t kRuns = 7, kPiece = 50, kPieces = 20'000, kBegin = 2'000;  // 0.25 s, data mode from 0.025 s

/// Floating-point operations of a slot, which every implementation needs: complex samples through filters, with two
/// operations per real product.
struct Arithmetic {
  double filters = 0, transforms = 0, equaliser = 0;
  double all() const { return filters + transforms + equaliser; }
};
constexpr double real_taps(unsigned taps) {
  return 4.0 * taps;
}
constexpr double complex_taps(unsigned taps) {
  return 8.0 * taps;
}
double transform(unsigned points) {
  return 5.0 * points * std::log2(points);
}
/// One of the two phases of a half-band filter is a delay.
constexpr unsigned kHalfBandPhase = (radio::kHalfBandTaps - 1) / 2;

Arithmetic sent(const radio::SingleCarrier::Sender& s) {
  using S = radio::SingleCarrier;
  return {s.samples() * (real_taps(2 * S::kFilterSymbols) + real_taps(kHalfBandPhase)), 0, 0};
}
/// The detector's transforms, once per burst: of the signal, and back for each offset that it tries.
Arithmetic heard(const radio::SingleCarrier::Sender& s) {
  using S = radio::SingleCarrier;
  std::array<radio::Complex, S::kPreambleSymbols> any;
  any.fill({1, 0});
  const radio::Owned<qdetector_cccf, qdetector_cccf_destroy> detector(qdetector_cccf_create_linear(
      any.data(), S::kPreambleSymbols, S::kPulse, S::kSymbolSamples, S::kFilterSymbols, S::kExcessBandwidth));
  const unsigned points = qdetector_cccf_get_buf_len(detector.get());
  const double offsets = 1 + 2 * std::floor(double{S::kMostOffset} * points / (2 * std::numbers::pi));
  constexpr unsigned kTaps = 2 * S::kSymbolSamples * S::kFilterSymbols + 1;
  const double symbols = static_cast<double>(s.samples()) / S::kSymbolSamples - 2 * S::kFilterSymbols;
  return {s.samples() * real_taps(kHalfBandPhase), (1 + offsets) * transform(points),
          (symbols - S::kPreambleSymbols + 2.0 * S::kTrainingPasses * S::kPreambleSymbols) * complex_taps(kTaps)};
}
Arithmetic sent(const radio::Ofdm::Sender& s) {
  return {s.samples() * real_taps(kHalfBandPhase), radio::Ofdm::kDataSymbols * transform(radio::Ofdm::kCarriers), 0};
}
Arithmetic heard(const radio::Ofdm::Sender& s) {
  using O = radio::Ofdm;
  return {s.samples() * real_taps(kHalfBandPhase), (O::kTrainingSymbols + O::kDataSymbols) * transform(O::kCarriers),
          0};
}

/// Slots of one kind: their cost, relative to their arithmetic.
void print_slots(const char* what, const std::vector<double>& ns, const Arithmetic& a, unsigned octets) {
  const double mean = std::accumulate(ns.begin(), ns.end(), 0.0) / static_cast<double>(ns.size());
  std::printf(
      "    slot %s: %6.1f us, the worst %.2f of the mean; filters %.0f, transforms %.0f, equaliser %.0f operations: of "
      "all the time %.1f a ns; %u octets coded\n",
      what, mean * 1e-3, *std::ranges::max_element(ns) / mean, a.filters, a.transforms, a.equaliser, a.all() / mean,
      octets);
}

template <class Waveform>
void measure(const oh_pump_type& type) {
  constexpr std::size_t slot_samples = 2 * Waveform::kSlotSamples;
  static_assert(slot_samples % kPiece == 0 && kBegin * kPiece % (2 * slot_samples) == 0);
  std::vector<double> ns[2];
  oh_pump_state states[2]{};
  for (std::size_t run = 0; run < kRuns; ++run) {
    void* self[2];
    std::vector<std::int16_t> line[2], out[2];
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
      out[end].resize(kPiece);
    }
    for (std::size_t t = 0; t < kPieces; ++t) {
      for (int end = 0; end < 2; ++end) {
        const auto begin = std::chrono::steady_clock::now();
        type.process(self[end], line[end].data(), out[end].data(), kPiece);
        const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - begin;
        ns[end][t] = std::min(ns[end][t], took.count());
      }
      for (int end = 0; end < 2; ++end) line[end] = out[1 - end];
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
    double longest = 0, ahead = 0;
    for (const double piece : ns[end]) {
      ahead = std::max(0.0, ahead + piece / mean - 1);
      longest = std::max(longest, ahead * kPiece);
    }
    std::printf(
        "%-11s %s  state %d  %5.1f ns a sample, %4.1f %% of this CPU (published: 2 to 3 %% of 600 MHz); longest "
        "step %.0f of %u samples\n",
        type.name, end == 0 ? "calls  " : "answers", states[end], mean / kPiece,
        mean / kPiece * type.formats[0].rx.rate_hz * 1e-7, longest, type.longest_step);
    std::vector<double> slots[2];  // two ends: the caller's, the answerer's
    constexpr std::size_t kSlotPieces = slot_samples / kPiece;
    for (std::size_t t = 0; t + kSlotPieces <= data.size(); t += kSlotPieces)
      slots[t / kSlotPieces % 2].push_back(std::accumulate(&data[t], &data[t] + kSlotPieces, 0.0));
    const typename Waveform::Sender sender;
    print_slots("sent ", slots[end], sent(sender), sender.packets().most_octets());
    print_slots("heard", slots[1 - end], heard(sender), sender.packets().most_octets());
  }
}

}  // namespace

int main() {
  measure<radio::SingleCarrier>(*oh_radio_burst_type());
  measure<radio::Ofdm>(*oh_radio_ofdm_type());
}
