// SPDX-License-Identifier: MIT
#include "src/decode/start_up/probing.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "dsp/v34/phase2/probing.h"
#include "src/decode/line/spectrum.h"
#include "src/decode/line/tone_windows.h"

namespace offhook::decode {
namespace {

constexpr int kProbingWindow = v34::kProbingSamples;  // 20 ms: every tone falls on a bin
constexpr int kProbingHop = 8;                        // 1 ms

struct Comb {
  double power = 0;  // mean square
  double share = 0;  // of it in tones of the comb
  int tones = 0;     // that hold more than a thousandth of it
};

// The comb in each window of a range, kProbingHop apart.
std::vector<Comb> combs_of(std::span<const float> x) {
  std::array<int, v34::kProbingTones> hz;
  for (std::size_t k = 0; k < hz.size(); ++k) hz[k] = v34::kProbingTone[k].multiple * v34::kProbingSpacingHz;
  ToneWindows windows(x, hz, kProbingHop, kProbingWindow / kProbingHop);
  std::vector<Comb> all;
  for (std::size_t at = 0; at + kProbingWindow <= x.size(); at += kProbingHop) {
    Comb& c = all.emplace_back();
    c.power = windows.power_of(at / kProbingHop);
    if (c.power < 1) continue;
    std::array<double, v34::kProbingTones> power;
    windows.tones_of(at / kProbingHop, power);
    double in = 0;
    for (const double p : power) {
      in += p;
      c.tones += p > 1e-3 * c.power;
    }
    c.share = in / c.power;
  }
  return all;
}

// Tones and the signal between them over a whole number of 160 ms (25 Hz bins fall between the tones too).
void measure(std::span<const float> x, Probing& p) {
  constexpr int kLong = 8 * kProbingWindow;
  std::vector<double> tone(v34::kProbingTones), noise(v34::kProbingTones);
  int windows = 0;
  for (std::size_t at = 0; at + kLong <= x.size(); at += kLong / 2, ++windows) {
    const std::vector<float> w = hann(x.subspan(at, kLong));  // three bins of 6.25 Hz a tone
    for (int i = 0; i < v34::kProbingTones; ++i) {
      const double centre = v34::kProbingTone[i].multiple * v34::kProbingSpacingHz;
      tone[static_cast<std::size_t>(i)] += 2 * std::norm(spectrum_at(w, centre));
      double sum = 0;
      int bins = 0;
      for (int b = -9; b <= 9; b += 2) {
        if (std::abs(b) < 4) continue;
        sum += 2 * std::norm(spectrum_at(w, centre + b * static_cast<double>(kRateHz) / kLong));
        ++bins;
      }
      noise[static_cast<std::size_t>(i)] += sum / bins * 24 / 1.5;  // 24 bins are 150 Hz; Hann spreads noise over 1.5
    }
  }
  if (windows == 0) return;
  double mean = 0;
  for (const double t : tone) mean += t / v34::kProbingTones;
  for (int i = 0; i < v34::kProbingTones; ++i) {
    const auto k = static_cast<std::size_t>(i);
    p.frequency_hz.push_back(v34::kProbingTone[i].multiple * v34::kProbingSpacingHz);
    p.tone_db.push_back(10 * std::log10((tone[k] + 1e-12) / (mean + 1e-12)));
    p.snr_db.push_back(10 * std::log10((tone[k] + 1e-12) / (noise[k] + 1e-12)));
  }
}

}  // namespace

std::vector<Probing> find_probing(std::span<const float> x, double from_s, double to_s) {
  std::vector<Probing> found;
  const auto first = static_cast<long>(std::max(0.0, from_s) * kRateHz);
  const long past = std::min(static_cast<long>(x.size()), static_cast<long>(std::max(0.0, to_s) * kRateHz));
  if (first >= past) return found;
  const std::vector<Comb> track =
      combs_of(x.subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(past - first)));
  const auto is_comb = [&](std::size_t k) { return track[k].share > 0.85 && track[k].tones >= 14; };
  const auto time = [&](std::size_t k) {
    return static_cast<double>(first + static_cast<long>(k) * kProbingHop) / kRateHz;
  };
  for (std::size_t k = 0; k < track.size(); ++k) {
    if (!is_comb(k)) continue;
    std::size_t end = k;
    // Around the step from L1 to L2, windows do not show a comb.
    for (std::size_t j = k; j < track.size() && j < end + 30; ++j) {
      if (is_comb(j)) end = j;
    }
    const double half = kProbingWindow / 2.0 / kRateHz;
    if (time(end) - time(k) > 0.1) {
      Probing p;
      // A window counts as comb when most of it is.
      p.t0 = time(k) - half / 4;
      p.t1 = time(end) + half * 9 / 4;
      const std::size_t at_l1 = std::min(k + 60, end);
      const double l1 = track[at_l1].power;
      std::size_t step = at_l1;
      while (step < end && track[step].power > 0.625 * l1) ++step;  // the middle of a 6 dB step
      if (step >= end) {                                            // equally loud, or only one of the two
        p.level_db[0] = p.level_db[1] = 10 * std::log10(l1);
        const auto a = static_cast<std::size_t>((p.t0 + 0.02) * kRateHz);
        const auto b = std::min(x.size(), static_cast<std::size_t>((p.t1 - 0.02) * kRateHz));
        if (b > a) measure(x.subspan(a, b - a), p);
        found.push_back(std::move(p));
      } else {
        p.l1_to_l2 = time(step) + half;
        double l2 = 0;
        int n = 0;
        for (std::size_t j = step + 30; j <= end; ++j, ++n) l2 += track[j].power;
        l2 = n > 0 ? l2 / n : track[end].power;
        p.level_db[0] = 10 * std::log10(l1);
        p.level_db[1] = 10 * std::log10(l2);
        const auto a = static_cast<std::size_t>((p.l1_to_l2 + 0.02) * kRateHz);
        const auto b = std::min(x.size(), static_cast<std::size_t>((p.t1 - 0.02) * kRateHz));
        if (b > a) measure(x.subspan(a, b - a), p);
        found.push_back(std::move(p));
      }
    }
    k = end;
  }
  return found;
}

}  // namespace offhook::decode
