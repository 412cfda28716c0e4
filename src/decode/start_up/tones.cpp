// SPDX-License-Identifier: MIT
#include "src/decode/start_up/tones.h"

#include <algorithm>

#include "dsp/v34/phase2/tones.h"
#include "src/decode/line/spectrum.h"

namespace offhook::decode {
namespace {

std::size_t sample(double t) {
  return static_cast<std::size_t>(std::max(0.0, t) * kRateHz);
}

// Segments with the tone, or an INFO sequence on it: its amplitude over 10 ms is above 0.4 of `full`. A reversal is no
// gap.
void add_segments(std::span<const float> x, int hz, double full, double from, double to, ToneHeard& tone) {
  constexpr std::size_t kWindow = kRateHz / 100;
  constexpr double kGapS = 0.03;
  bool first = true;
  for (std::size_t at = sample(from); at + kWindow <= std::min(x.size(), sample(to)); at += kRateHz / 1000) {
    if (2 * std::abs(spectrum_at(hann(x.subspan(at, kWindow)), hz)) < 0.4 * full) continue;
    const double t = seconds(at + kWindow / 2);
    if (first || t - tone.segments.back().second > kGapS) tone.segments.emplace_back(t, t);
    tone.segments.back().second = t;
    first = false;
  }
}

// A retrain begins with the tone and no INFO0 (V.34 11.5): the first time of the tone without INFO0. @return s
double retrain_begins(std::span<const float> x, int hz, const InfoHeard& first, double not_before) {
  constexpr double kLongestS = 5;
  if (first.is_info0()) return first.t0;
  const double from = std::max(not_before, first.t0 - kLongestS);
  const std::size_t at = sample(from), to = std::min(x.size(), sample(first.t0));
  if (at >= to) return first.t0;
  const auto alone = find_tone_stretches(x.subspan(at, to - at), hz);
  return alone.empty() ? first.t0 : from + alone.front().first;
}

}  // namespace

ToneHeard find_tone(const Recording& r, int channel, int hz, const std::vector<InfoHeard>& info) {
  ToneHeard tone;
  tone.channel = channel;
  const std::vector<float>& x = r.channel[static_cast<std::size_t>(channel)];
  // For each Phase 2: its INFO sequences give place and level.
  constexpr double kApartS = 4;
  std::vector<std::pair<double, double>> phases;
  for (std::size_t k = 0, end = 0; k < info.size(); k = end) {
    double full = 0;
    for (; end < info.size() && (end == k || info[end].t0 - info[end - 1].t1 < kApartS); ++end) {
      if (info[end].channel == channel && info[end].carrier_hz == hz) full = std::max(full, info[end].amplitude);
    }
    const double begins = retrain_begins(x, hz, info[k], k > 0 ? info[k - 1].t1 : 0);
    if (full > 0) add_segments(x, hz, full, begins - 0.02, info[end - 1].t1 + 0.1, tone);
    phases.emplace_back(begins - kBeforeInfoS, info[end - 1].t1 + kAfterInfoS);
  }
  ToneDetector detector(hz);
  const std::size_t first = sample(info.front().t0 - kBeforeInfoS);
  const std::size_t last = std::min(x.size(), sample(info.back().t1 + kAfterInfoS));
  for (std::size_t i = first; i < last; ++i) {
    if (detector.put(x[i]) == ToneEvent::kReversal)
      tone.reversals.push_back(seconds(static_cast<double>(first) + detector.reversal_time()));
  }
  std::erase_if(tone.reversals, [&](double t) {
    return std::none_of(phases.begin(), phases.end(), [&](const auto& p) { return t > p.first && t < p.second; });
  });
  // The bits of the sequences are reversals of the same carrier.
  std::erase_if(tone.reversals, [&](double t) {
    return std::any_of(info.begin(), info.end(),
                       [&](const InfoHeard& i) { return i.channel == channel && t > i.t0 - 0.01 && t < i.t1 + 0.01; });
  });
  return tone;
}

}  // namespace offhook::decode
