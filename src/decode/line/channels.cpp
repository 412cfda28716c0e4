// SPDX-License-Identifier: MIT
#include "src/decode/line/channels.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>
#include <vector>

#include "src/decode/line/spectrum.h"

namespace offhook::decode {
namespace {

constexpr std::size_t kBlock = kRateHz / 10;
constexpr double kLoud = 1e-4;           // of the loudest tenth's power
constexpr double kLeastPower = 16;       // of a block: less is silence
constexpr double kLeastBlocks = 10;      // 1 s that is loud
constexpr double kMostDifference = 0.1;  // of a block's power: joint stereo leaves 0.003 to 0.03
constexpr double kLeastShare = 0.95;     // of the loud blocks have no more. Two directions: where one stands alone its
                                         // echo is one gain, where the other stands alone it is another
constexpr double kLongestDelayS = 5;

struct Sums {
  double aa = 0, bb = 0, ab = 0;
};

// Sums of each block in which both channels have samples at this delay.
std::vector<Sums> sums_of(std::span<const float> a, std::span<const float> b, long delay) {
  std::vector<Sums> all;
  const std::size_t from_a = delay < 0 ? static_cast<std::size_t>(-delay) : 0;
  const std::size_t from_b = delay > 0 ? static_cast<std::size_t>(delay) : 0;
  for (std::size_t at = 0; from_a + at + kBlock <= a.size() && from_b + at + kBlock <= b.size(); at += kBlock) {
    Sums s;
    for (std::size_t k = at; k < at + kBlock; ++k) {
      const double x = a[from_a + k], y = b[from_b + k];
      s.aa += x * x, s.bb += y * y, s.ab += x * y;
    }
    all.push_back(s);
  }
  return all;
}

// The sum of the products of both channels at this delay.
double product_at(std::span<const float> a, std::span<const float> b, long delay) {
  constexpr std::size_t kAtOnce = 8;  // sums side by side: each addition waits for the one before
  const auto x = a.subspan(delay < 0 ? static_cast<std::size_t>(-delay) : 0);
  const auto y = b.subspan(delay > 0 ? static_cast<std::size_t>(delay) : 0);
  double sum[kAtOnce]{};
  for (std::size_t k = 0; k + kAtOnce <= std::min(x.size(), y.size()); k += kAtOnce) {
    for (std::size_t j = 0; j < kAtOnce; ++j) sum[j] += static_cast<double>(x[k + j]) * y[k + j];
  }
  return std::accumulate(std::begin(sum), std::end(sum), 0.0);
}

constexpr std::size_t kStep = 8;  // samples: delays are searched by the power of each millisecond

std::vector<oh_complex> power_track(std::span<const float> x, std::size_t steps, std::size_t size) {
  std::vector<oh_complex> track(size);
  double mean = 0;
  for (std::size_t k = 0; k < steps; ++k) {
    float sum = 0;
    for (std::size_t i = k * kStep; i < (k + 1) * kStep; ++i) sum += x[i] * x[i];
    track[k] = {sum, 0};
    mean += static_cast<double>(sum) / static_cast<double>(steps);
  }
  for (std::size_t k = 0; k < steps; ++k) track[k].re -= static_cast<float>(mean);
  return track;
}

// The delay at which the first half minute of both is most alike, in samples.
long likely_delay(std::span<const float> a, std::span<const float> b) {
  const Fft fft(OH_FFT_MAX);
  const std::size_t steps = std::min({a.size() / kStep, b.size() / kStep, fft.size() / 2});
  std::vector<oh_complex> x = power_track(a, steps, fft.size()), y = power_track(b, steps, fft.size());
  fft.forward(x);
  fft.forward(y);
  for (std::size_t k = 0; k < x.size(); ++k) x[k] = times_conj(y[k], x[k]);
  fft.inverse(x);
  const long reach = std::min(static_cast<long>(kLongestDelayS * kRateHz / kStep), static_cast<long>(steps) / 2);
  long coarse = 0;
  float most = 0;
  for (long lag = -reach; lag <= reach; ++lag) {
    const float here = x[static_cast<std::size_t>(lag < 0 ? lag + static_cast<long>(x.size()) : lag)].re;
    if (here > most) most = here, coarse = lag;
  }
  long best = 0;
  double product = 0;
  for (long delay = (coarse - 2) * static_cast<long>(kStep); delay <= (coarse + 2) * static_cast<long>(kStep);
       ++delay) {
    const double sum = product_at(a.first(steps * kStep), b.first(steps * kStep), delay);
    if (std::abs(sum) > product) product = std::abs(sum), best = delay;
  }
  return best;
}

std::optional<ChannelLikeness> likeness_at(std::span<const float> a, std::span<const float> b, long delay) {
  const std::vector<Sums> all = sums_of(a, b, delay);
  if (all.empty()) return std::nullopt;
  std::vector<double> power;
  for (const Sums& s : all) power.push_back(std::max(s.aa, s.bb) / kBlock);
  const auto tenth = power.begin() + static_cast<long>(power.size() * 9 / 10);
  std::nth_element(power.begin(), tenth, power.end());
  const double least = std::max(kLeastPower, kLoud * *tenth);
  Sums whole;
  std::vector<Sums> loud;
  for (const Sums& s : all) {
    if (std::max(s.aa, s.bb) / kBlock < least) continue;
    loud.push_back(s);
    whole.aa += s.aa, whole.bb += s.bb, whole.ab += s.ab;
  }
  if (static_cast<double>(loud.size()) < kLeastBlocks || whole.aa <= 0 || whole.ab == 0) return std::nullopt;
  const double gain = whole.ab / whole.aa;
  double left = 0;
  std::size_t explained = 0;
  for (const Sums& s : loud) {
    const double rest = std::max(0.0, s.bb - 2 * gain * s.ab + gain * gain * s.aa);
    left += rest;
    explained += rest < kMostDifference * s.bb;
  }
  if (static_cast<double>(explained) < kLeastShare * static_cast<double>(loud.size())) return std::nullopt;
  return ChannelLikeness{20 * std::log10(std::abs(gain)), 10 * std::log10(std::max(left / whole.bb, 1e-10)),
                         seconds(delay)};
}

}  // namespace

std::optional<ChannelLikeness> channel_likeness(std::span<const float> a, std::span<const float> b) {
  if (const auto at_once = likeness_at(a, b, 0)) return at_once;
  const long delay = likely_delay(a, b);
  return delay == 0 ? std::nullopt : likeness_at(a, b, delay);
}

void join_alike_channels(Recording& r) {
  constexpr double kLevelsAlikeDb = 3;
  if (r.channel.size() != 2) return;
  r.likeness = channel_likeness(r.channel[0], r.channel[1]);
  if (!r.likeness) return;
  const bool mean = r.likeness->delay_s == 0 && std::abs(r.likeness->gain_db) < kLevelsAlikeDb;
  if (mean) {
    double product = 0;
    for (std::size_t k = 0; k < r.channel[0].size(); ++k)
      product += static_cast<double>(r.channel[0][k]) * r.channel[1][k];
    const float half = product < 0 ? -0.5F : 0.5F;  // the poles of one may be crossed
    for (std::size_t k = 0; k < r.channel[0].size(); ++k)
      r.channel[0][k] = 0.5F * r.channel[0][k] + half * r.channel[1][k];
  } else if (r.likeness->gain_db > 0) {
    r.channel[0].swap(r.channel[1]);
  }
  r.channel.pop_back();
  r.wide.clear();
  if (r.peak.size() == 2) r.peak = {std::max(r.peak[0], r.peak[1])};
  if (r.clipped.size() == 2) r.clipped = {std::max(r.clipped[0], r.clipped[1])};
}

}  // namespace offhook::decode
