// SPDX-License-Identifier: MIT
#include "src/decode/fax/page_carrier.h"

#define SPANDSP_EXPOSE_INTERNAL_STRUCTURES
#include <spandsp.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "src/decode/line/high_passed.h"
#include "src/decode/line/samples.h"

namespace offhook::decode {
namespace {

// A level this far below that of the signal ends a carrier. For a short training, V.17's receiver must hear levels of
// 18 dB below the signal (driver/fax/modems.cpp).
constexpr float range_db(PageModem modem) {
  return modem == PageModem::kV17 ? 20 : 14;
}
constexpr float kLeastDbm0 = -66;
constexpr double kFullScaleDbm0 = 3.14;  // of a sine

// Level of signals of at least 0.2 s: clicks do not count.
float level_dbm0(std::span<const float> x) {
  constexpr std::size_t kBlock = 400, kBlocks = 4;
  std::vector<double> power;
  for (std::size_t i = 0; i + kBlock <= x.size(); i += kBlock) {
    double sum = 0;
    for (std::size_t k = i; k < i + kBlock; ++k) sum += static_cast<double>(x[k]) * x[k];
    power.push_back(sum / kBlock);
  }
  if (power.size() < kBlocks) return kLeastDbm0;
  std::nth_element(power.begin(), power.begin() + (kBlocks - 1), power.end(), std::greater<>());
  return static_cast<float>(10 * std::log10(std::max(power[kBlocks - 1], 1e-9) / (32768.0 * 32768 / 2)) +
                            kFullScaleDbm0);
}

// A gap in a carrier, such as a lost packet leaves: less than 75 ms, which is the least pause between two signals.
class GapFinder {
 public:
  GapFinder(std::span<const float> x, std::size_t end) : x_(x), end_(end) {}

  /// @param at  a sample at which the carrier was received so far
  /// @return samples of the gap that begins there; 0: none, or the carrier does not come back
  std::size_t gap(std::size_t at) {
    const double now = mean(at);
    if (now >= kSilent * power_) {
      power_ += kPerBlock * (now - power_);
      return 0;
    }
    for (std::size_t n = kStep; n <= kLongest && at + n + kStep <= end_; n += kStep) {
      if (mean(at + n) > kBack * power_) return n;
    }
    return 0;
  }
  void begin(std::size_t at) { power_ = mean(at); }

 private:
  static constexpr std::size_t kStep = 16, kLongest = 60 * kRateHz / 1000;
  static constexpr double kSilent = 1e-3, kBack = 0.1, kPerBlock = 0.02;

  double mean(std::size_t at) const {
    double sum = 0;
    for (std::size_t k = at; k < std::min(end_, at + kStep); ++k) sum += static_cast<double>(x_[k]) * x_[k];
    return sum / kStep;
  }
  std::span<const float> x_;
  std::size_t end_;
  double power_ = 0;  // of the carrier
};

}  // namespace

struct PageReceiver::Receivers {
  Receivers() {
    const auto put = [](void* self, int bit) { static_cast<Receivers*>(self)->put_bit(bit); };
    v27ter_rx_init(&v27ter, 4800, put, this);
    v29_rx_init(&v29, 9600, put, this);
    v17_rx_init(&v17, 14'400, put, this);
  }

  void restart(const PageRate& rate, bool short_training, float least_dbm0) {
    switch (rate.modem) {
      case PageModem::kV27ter:
        v27ter_rx_restart(&v27ter, rate.bit_rate, 0);
        v27ter_rx_signal_cutoff(&v27ter, least_dbm0);
        break;
      case PageModem::kV29:
        v29_rx_restart(&v29, rate.bit_rate, 0);
        v29_rx_signal_cutoff(&v29, least_dbm0);
        break;
      case PageModem::kV17:
        v17_rx_signal_cutoff(&v17, least_dbm0);
        v17_rx_restart(&v17, rate.bit_rate, short_training);
        break;
    }
  }

  void process(const PageRate& rate, const std::int16_t* samples, int n) {
    if (rate.modem == PageModem::kV27ter) v27ter_rx(&v27ter, samples, n);
    if (rate.modem == PageModem::kV29) v29_rx(&v29, samples, n);
    if (rate.modem == PageModem::kV17) v17_rx(&v17, samples, n);
  }

  // A gap in the input: carrier and clock of the receiver continue.
  void skip(const PageRate& rate, int n) {
    if (rate.modem == PageModem::kV27ter) v27ter_rx_fillin(&v27ter, n);
    if (rate.modem == PageModem::kV29) v29_rx_fillin(&v29, n);
    if (rate.modem == PageModem::kV17) v17_rx_fillin(&v17, n);
  }

  void put_bit(int bit) {
    if (bit >= 0) {
      if (now.trained) now.bits.add(bit);
    } else if (bit == SIG_STATUS_CARRIER_UP || bit == SIG_STATUS_TRAINING_IN_PROGRESS) {
      if (now.t0 == 0) now.t0 = at;
    } else if (bit == SIG_STATUS_TRAINING_SUCCEEDED) {
      now.trained = true;
    } else if (bit == SIG_STATUS_TRAINING_FAILED || bit == SIG_STATUS_CARRIER_DOWN) {
      ended = true;
    }
  }

  v27ter_rx_state_t v27ter;
  v29_rx_state_t v29;
  v17_rx_state_t v17;
  PageCarrier now;
  double at = 0;
  bool ended = false;
};

PageReceiver::PageReceiver() : receivers_(std::make_unique<Receivers>()) {}
PageReceiver::~PageReceiver() = default;

std::vector<PageCarrier> PageReceiver::receive(std::span<const float> x, double from, double to, const PageRate& rate,
                                               bool short_training) {
  constexpr double kLeastS = 0.1;     // of a carrier that did not train
  constexpr std::size_t kBlock = 16;  // 2 ms: lost behind the end of a carrier
  const auto sample = [&](double t) {
    return static_cast<std::size_t>(std::clamp(t * kRateHz, 0.0, static_cast<double>(x.size())));
  };
  const std::size_t begin = sample(from), end = sample(to);
  std::vector<PageCarrier> all;
  if (begin >= end) return all;
  Receivers& r = *receivers_;
  const std::vector<float> voice = high_passed(x, begin, end);
  const float least = std::max(kLeastDbm0, level_dbm0(voice) - range_db(rate.modem));
  const auto begin_carrier = [&] {
    const bool behind_another = !all.empty() && all.back().trained;
    r.now = {};
    r.now.rate = rate;
    r.ended = false;
    r.restart(rate, short_training || behind_another, least);
  };
  const auto end_carrier = [&](double t) {
    r.now.t1 = t;
    if (!all.empty() && !all.back().trained) all.pop_back();
    const bool failed = r.now.t0 > 0 && t - r.now.t0 > kLeastS && (all.empty() || !all.back().trained);
    if (r.now.trained || failed) all.push_back(std::move(r.now));
  };
  begin_carrier();
  GapFinder gaps(x, end);
  for (std::size_t i = begin; i < end; i += kBlock) {
    if (!r.now.trained) gaps.begin(i);
    if (const std::size_t gap = r.now.trained ? gaps.gap(i) : 0; gap > 0) {
      r.skip(rate, static_cast<int>(gap));
      i += gap - kBlock;
      continue;
    }
    std::int16_t block[kBlock];
    const std::size_t n = std::min(kBlock, end - i);
    for (std::size_t k = 0; k < n; ++k)
      block[k] = static_cast<std::int16_t>(std::clamp(std::round(voice[i - begin + k]), -32768.f, 32767.f));
    r.at = seconds(i);
    r.process(rate, block, static_cast<int>(n));
    if (!r.ended) continue;
    end_carrier(seconds(i + n));
    begin_carrier();
  }
  end_carrier(seconds(end));
  return all;
}

}  // namespace offhook::decode
