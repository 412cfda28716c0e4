// SPDX-License-Identifier: MIT
#include "src/decode/line/baseband.h"

#include <array>
#include <cmath>
#include <cstring>

#include "dsp/blocks/sincos.h"
#include "src/decode/line/side_by_side.h"

namespace offhook::decode {
namespace {

// Interpolation: a windowed sinc of kTaps in kPhases, and its derivative. The band fills at most half of +-4000 Hz, so
// few taps do: products are 70 dB down.
constexpr int kTaps = 20;
constexpr int kPhases = 2048;

double kernel(double t) {
  constexpr double kHalf = kTaps / 2.0;
  if (std::abs(t) >= kHalf) return 0;
  const double u = kPi * t * 0.78;  // cut off in the empty half of the band
  const double window = 0.42 + 0.5 * std::cos(kPi * t / kHalf) + 0.08 * std::cos(2 * kPi * t / kHalf);
  return 0.78 * (t == 0 ? 1 : std::sin(u) / u) * window;
}

}  // namespace

namespace {

// Value and derivative, real and imaginary part: four sums, each in the order of the taps.
using Four = float __attribute__((vector_size(16)));
using Pair = double __attribute__((vector_size(16)));  // a complex value twice, in one load

Four twice(const Cf& x) {
  double both = 0;
  static_assert(sizeof(both) == sizeof(x));
  std::memcpy(&both, &x, sizeof(both));
  return reinterpret_cast<Four>(Pair{both, both});
}

}  // namespace

struct Baseband::Table {
  Four both[kPhases][kTaps];  // value, value, derivative, derivative
};

const Baseband::Table& Baseband::table() {
  static const Table instance = [] {
    constexpr int kBefore = kTaps / 2 - 1;
    Table t{};
    for (int p = 0; p < kPhases; ++p) {
      double sum = 0;
      for (int k = 0; k < kTaps; ++k) {
        const double x = static_cast<double>(p) / kPhases + kBefore - k;
        const double v = kernel(x);
        const auto derivative = static_cast<float>((kernel(x + 1e-4) - kernel(x - 1e-4)) / 2e-4);
        t.both[p][k] = Four{static_cast<float>(v), 0, derivative, derivative};
        sum += v;
      }
      for (Four& tap : t.both[p]) tap[0] = tap[1] = static_cast<float>(tap[0] / sum);
    }
    return t;
  }();
  return instance;
}

Baseband::Baseband(std::span<const float> x, double carrier_hz, double symbol_rate_hz)
    : table_(table()), x_(x), carrier_hz_(carrier_hz), blocks_(x.size() / kBlock + 1) {
  // Lowpass: flat to 0.55 of the symbol rate, 60 dB down at the start of the band's mirror image.
  const double cutoff = 0.59 * symbol_rate_hz / kRateHz;
  for (int k = -kHalf; k <= kHalf; ++k) {
    const double w = 0.42 + 0.5 * std::cos(kPi * k / (kHalf + 1)) + 0.08 * std::cos(2 * kPi * k / (kHalf + 1));
    const double u = 2 * kPi * cutoff * k;
    taps_[static_cast<std::size_t>(k + kHalf)] = static_cast<float>(2 * cutoff * (k == 0 ? 1 : std::sin(u) / u) * w);
  }
}

std::vector<Cf> Baseband::compute(std::size_t number) const {
  constexpr std::size_t kAtOnce = SumsSideBySide::kSize;
  const auto n = static_cast<long>(x_.size());
  const auto from = static_cast<long>(number * kBlock);
  const long to = std::min(n, from + static_cast<long>(kBlock) + kTaps);
  // From kHalf before the first output to as many behind the last; silence outside of the channel.
  const auto size = static_cast<std::size_t>(to - from);
  std::vector<float> re(size + 2 * kHalf + kAtOnce), im(re.size());
  const long first = std::max(0L, from - kHalf), last = std::min(n, to + kHalf);
  const double cycles = carrier_hz_ / kRateHz * static_cast<double>(first);
  Cd turn = std::polar(2.0, -2 * kPi * (cycles - std::floor(cycles)));
  const Cd step = std::polar(1.0, -2 * kPi * carrier_hz_ / kRateHz);
  for (long i = first; i < last; ++i, turn = times(turn, step)) {
    const auto at = static_cast<std::size_t>(i - from + kHalf);
    re[at] = x_[static_cast<std::size_t>(i)] * static_cast<float>(turn.real());
    im[at] = x_[static_cast<std::size_t>(i)] * static_cast<float>(turn.imag());
  }
  std::vector<Cf> out(size);
  for (std::size_t i = 0; i < size; i += kAtOnce) {
    SumsSideBySide sum_re, sum_im;
    sum_re.filter(taps_.data(), taps_.size(), &re[i]);
    sum_im.filter(taps_.data(), taps_.size(), &im[i]);
    for (std::size_t j = 0; j < std::min(kAtOnce, size - i); ++j) out[i + j] = {sum_re[j], sum_im[j]};
  }
  return out;
}

const Cf* Baseband::block(std::size_t number) const {
  std::vector<Cf>& there = blocks_[number];
  if (there.empty()) {
    if (kept_.size() == kMostBlocks) {
      std::vector<Cf>().swap(blocks_[kept_.front()]);
      kept_.pop_front();
    }
    there = compute(number);
    kept_.push_back(number);
  }
  return there.data();
}

void Baseband::at(double t, Cf* value, Cf* derivative) const {
  *value = *derivative = {};
  if (!(t >= 0 && t < static_cast<double>(x_.size()))) return;
  const auto whole = static_cast<long>(t);
  const int p = static_cast<int>((t - static_cast<double>(whole)) * kPhases);
  const long first = whole - (kTaps / 2 - 1);
  if (first < 0 || first + kTaps > static_cast<long>(x_.size())) return;
  const auto& taps = table_.both[p];
  const auto begin = static_cast<std::size_t>(first);
  const std::vector<Cf>& there = blocks_[begin / kBlock];
  const Cf* x = (there.empty() ? block(begin / kBlock) : there.data()) + begin % kBlock;
  Four sum{};
  for (int k = 0; k < kTaps; ++k) sum += taps[k] * twice(x[k]);
  *value = {sum[0], sum[1]};
  *derivative = {sum[2], sum[3]};
}

}  // namespace offhook::decode
