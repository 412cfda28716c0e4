// SPDX-License-Identifier: MIT
#include "src/decode/line/rate_converter.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numbers>
#include <numeric>
#include <utility>

#include "dsp/blocks/window.h"

namespace offhook::decode {
namespace {

using Four = float __attribute__((vector_size(16)));

/// Sum of a[k] b[k]. One output sample at 192 000 Hz needs 2400 products.
float dot(const float* a, const float* b, std::size_t n) {
  Four sums[2]{};
  std::size_t k = 0;
  for (; k + 8 <= n; k += 8) {
    Four x[2], y[2];
    std::memcpy(x, a + k, sizeof x);
    std::memcpy(y, b + k, sizeof y);
    sums[0] += x[0] * y[0];
    sums[1] += x[1] * y[1];
  }
  const Four both = sums[0] + sums[1];
  float sum = (both[0] + both[2]) + (both[1] + both[3]);
  for (; k < n; ++k) sum += a[k] * b[k];
  return sum;
}

}  // namespace

RateConverter::RateConverter(int from_hz, int to_hz) : from_hz_(from_hz), to_hz_(static_cast<std::size_t>(to_hz)) {
  if (from_hz == to_hz) return;
  // The ratio is that of small integers, so each phase's taps are worked out once.
  const int phases = to_hz / std::gcd(from_hz, to_hz);
  const double step = static_cast<double>(from_hz) / to_hz;
  const double bandwidth = std::min(1.0, static_cast<double>(to_hz) / from_hz);
  const int half = static_cast<int>(std::ceil(50 / bandwidth));
  half_ = static_cast<std::size_t>(half);
  taps_.resize(static_cast<std::size_t>(phases));
  for (int p = 0; p < phases; ++p) {
    const double at = p * step;
    const double fraction = at - std::floor(at);
    auto& row = taps_[static_cast<std::size_t>(p)];
    row.resize(2 * half_);
    for (int k = 0; k < 2 * half; ++k) {
      const double t = k - (half - 1) - fraction;
      const double u = std::numbers::pi * t * bandwidth;
      row[static_cast<std::size_t>(k)] =
          static_cast<float>(bandwidth * (t == 0 ? 1 : std::sin(u) / u) * kaiser(t / half, 7.857));
    }
  }
  in_.assign(half_ - 1, 0);
}

void RateConverter::add(std::span<const float> x) {
  inputs_ += x.size();
  if (taps_.empty()) {
    out_.insert(out_.end(), x.begin(), x.end());
    return;
  }
  in_.insert(in_.end(), x.begin(), x.end());
  put_out();
}

/// All outputs whose inputs have arrived; drops inputs that no later output needs.
void RateConverter::put_out() {
  for (;;) {
    const std::size_t from = input_at(next()) - first_;
    if (from + 2 * half_ > in_.size()) break;
    out_.push_back(dot(taps_at(next()).data(), in_.data() + from, 2 * half_));
  }
  const std::size_t done = std::min(input_at(next()) - first_, in_.size());
  in_.erase(in_.begin(), in_.begin() + static_cast<std::ptrdiff_t>(done));
  first_ += done;
}

std::vector<float> RateConverter::take() {
  taken_ += out_.size();
  return std::exchange(out_, {});
}

std::vector<float> RateConverter::finish(float offset) {
  if (!taps_.empty()) {
    in_.insert(in_.end(), half_, 0);
    put_out();
    out_.resize(static_cast<std::size_t>(static_cast<double>(inputs_) * static_cast<double>(to_hz_) / from_hz_) -
                taken_);
    take_off(offset);
  } else {
    for (float& v : out_) v -= offset;
  }
  return std::exchange(out_, {});
}

/// The filter is linear, so subtract the offset times its output for a signal of ones; at the ends, not all taps have a
/// sample.
void RateConverter::take_off(float offset) {
  std::vector<float> whole;
  for (const auto& row : taps_) whole.push_back(std::accumulate(row.begin(), row.end(), 0.f));
  for (std::size_t n = taken_; n < taken_ + out_.size(); ++n) {
    const std::size_t at = input_at(n);
    float ones = whole[n % whole.size()];
    if (at + 1 < half_ || at + half_ >= inputs_) {
      const auto& row = taps_at(n);
      ones = 0;
      for (std::size_t k = 0; k < row.size(); ++k)
        if (at + k + 1 >= half_ && at + k + 1 - half_ < inputs_) ones += row[k];
    }
    out_[n - taken_] -= offset * ones;
  }
}

}  // namespace offhook::decode
