// SPDX-License-Identifier: MIT
#include "src/decode/modulation/fsk.h"

#include <spandsp.h>

#include <algorithm>
#include <cmath>
#include <span>

#include "driver/user_modem/bell103.h"
#include "driver/user_modem/v21.h"
#include "driver/user_modem/v23.h"
#include "dsp/blocks/sincos.h"
#include "src/decode/line/samples.h"

namespace offhook::decode {
namespace {

struct Band {
  const char* modulation;
  int spandsp;  // index of preset_fsk_specs
  bool calling;
  bool one_band = false;  // either station sends in it, in turn
};
constexpr const char* kBell202 = "Bell 202";
constexpr Band kBands[] = {{kV21.title, FSK_V21CH1, true},         {kV21.title, FSK_V21CH2, false},
                           {kBell103.title, FSK_BELL103CH2, true}, {kBell103.title, FSK_BELL103CH1, false},
                           {kV23.title, FSK_V23CH2, true},         {kV23.title, FSK_V23CH1, false},
                           {kBell202, FSK_BELL202, false, true}};

constexpr double kBlockS = 0.05, kBlockBits = 8;  // the longer one
constexpr double kSteady = 0.2;       // variance of the power over its squared mean: noise has 1, two equal tones 0.5
constexpr double kOnFrequency = 0.6;  // share of the samples that are near one of the two; the rest is between bits
constexpr double kNear = 0.5;         // of half the shift
constexpr float kResting = 0.05F;     // change of the frequency from sample to sample, of half the shift
constexpr double kGapS = 0.15;
constexpr double kLeastS = 0.5;
constexpr int kLeastChanges = 20;
constexpr double kLeastMatch = 0.6;
constexpr double kLeastPower = 25;

// A band mixed down from its middle: the two frequencies are at +-1 of `deviation`.
struct Tuned {
  std::vector<float> power;      // of the envelope, peak squared
  std::vector<float> deviation;  // of half the shift; mark is positive or negative as the band has it
};

Tuned tune(std::span<const float> x, double middle_hz, double half_shift_hz, double baud) {
  // Sharp: V.23's other direction may be as loud, a quarter of the cut-off beyond it.
  const double cutoff = half_shift_hz + 0.5 * baud;
  const int half = static_cast<int>(6 * kRateHz / cutoff);
  std::vector<float> taps;
  for (int k = -half; k <= half; ++k) {
    const double u = 2 * cutoff / kRateHz * k, window = 0.5 + 0.5 * std::cos(kPi * k / (half + 1));
    taps.push_back(static_cast<float>(2 * cutoff / kRateHz * (k == 0 ? 1 : std::sin(kPi * u) / (kPi * u)) * window));
  }
  constexpr long kPiece = 4096;  // as much is mixed down at a time
  std::vector<Cf> mixed;
  long first = 0;  // sample of mixed[0]
  const auto n = static_cast<long>(x.size());
  const auto mix = [&](long from, long to) {
    first = from;
    mixed.clear();
    for (long i = from; i < to; ++i) {
      const double phase = middle_hz / kRateHz * static_cast<double>(i);
      mixed.push_back(2 * x[static_cast<std::size_t>(i)] * Cf(std::polar(1.0, -2 * kPi * (phase - std::floor(phase)))));
    }
  };
  Tuned t;
  t.power.reserve(x.size());
  t.deviation.reserve(x.size());
  Cf before;
  for (long i = 0; i < n; ++i) {
    if (i % kPiece == 0) mix(std::max(0L, i - half), std::min(n, i + kPiece + half));
    Cf z;
    for (long k = std::max(0L, i - half); k <= std::min(n - 1, i + half); ++k)
      z += taps[static_cast<std::size_t>(k - i + half)] * mixed[static_cast<std::size_t>(k - first)];
    t.power.push_back(std::norm(z));
    const double turn = std::arg(times_conj(z, before));
    t.deviation.push_back(static_cast<float>(turn * kRateHz / (2 * kPi) / half_shift_hz));
    before = z;
  }
  return t;
}

// Whether a block holds nothing but the two frequencies.
bool is_fsk(const Tuned& t, std::size_t from, std::size_t to) {
  double mean = 0, square = 0;
  int near = 0;
  for (std::size_t i = from; i < to; ++i) {
    mean += t.power[i];
    square += static_cast<double>(t.power[i]) * t.power[i];
    near += std::abs(std::abs(t.deviation[i]) - 1) < kNear;
  }
  const auto n = static_cast<double>(to - from);
  mean /= n;
  return mean > kLeastPower && square / n < (1 + kSteady) * mean * mean && near > kOnFrequency * n;
}

// Whether the signal gets to either frequency when it is on its side of the middle: a tone on one side, which noise
// draws across now and then, does not.
bool both_reached(const Tuned& t, std::size_t from, std::size_t to) {
  constexpr double kLeastShare = 0.2;
  int samples[2]{}, near[2]{};
  for (std::size_t i = from; i < to; ++i) {
    const int side = t.deviation[i] > 0 ? 1 : 0;
    ++samples[side];
    near[side] += std::abs(std::abs(t.deviation[i]) - 1) < kNear;
  }
  return near[0] > kLeastShare * samples[0] && near[1] > kLeastShare * samples[1];
}

// Fills in the changes of frequency and how well they lie on a grid. @return whether it is data, not a tone
bool has_bits(const Tuned& t, double bit_samples, FskHeard& f) {
  const auto from = static_cast<std::size_t>(f.t0 * kRateHz), to = static_cast<std::size_t>(f.t1 * kRateHz);
  double last = -1;
  Cd grid;
  double power = 0;
  std::vector<float> distance;  // from the middle, where the frequency rests
  for (std::size_t i = from + 1; i < to; ++i) {
    power += t.power[i];
    if (i > from + 1 && std::abs(t.deviation[i] - t.deviation[i - 1]) < kResting)
      distance.push_back(std::abs(t.deviation[i]));
    const float a = t.deviation[i - 1], b = t.deviation[i];
    if ((a > 0) == (b > 0)) continue;
    const double at = static_cast<double>(i - 1) + a / (a - b);
    // A character that ends in ones may be followed by a pause of any length.
    if (last >= 0 && at - last < 9.5 * bit_samples) {
      grid += std::polar(1.0, 2 * kPi * (at - last) / bit_samples);
      ++f.changes;
    }
    last = at;
  }
  f.amplitude = std::sqrt(power / static_cast<double>(std::max<std::size_t>(1, to - from)));
  f.step_match = f.changes > 0 ? std::abs(grid) / f.changes : 0;
  if (!distance.empty()) {
    const auto middle = distance.begin() + static_cast<std::ptrdiff_t>(distance.size() / 2);
    std::nth_element(distance.begin(), middle, distance.end());
    f.shift_error = std::abs(static_cast<double>(*middle) - 1);
  }
  return f.changes >= kLeastChanges && f.step_match > kLeastMatch && grid.real() > 0 && both_reached(t, from, to);
}

void find_in(std::span<const float> x, int channel, const Band& band, std::vector<FskHeard>& found) {
  const fsk_spec_t& spec = preset_fsk_specs[band.spandsp];
  const double baud = spec.baud_rate / 100.0, half_shift = std::abs(spec.freq_one - spec.freq_zero) / 2.0;
  const Tuned tuned = tune(x, (spec.freq_one + spec.freq_zero) / 2.0, half_shift, baud);
  const auto block = static_cast<std::size_t>(std::max(kBlockS, kBlockBits / baud) * kRateHz);
  double since = -1, last = -1;
  const auto close = [&] {
    if (since >= 0 && last - since >= kLeastS) {
      FskHeard f{.modulation = band.modulation,
                 .channel = channel,
                 .calling = band.calling,
                 .one_band = band.one_band,
                 .bit_rate = static_cast<int>(baud),
                 .t0 = since,
                 .t1 = last};
      if (has_bits(tuned, kRateHz / baud, f)) found.push_back(f);
    }
    since = -1;
  };
  for (std::size_t at = 0; at + block <= x.size(); at += block) {
    if (is_fsk(tuned, at, at + block)) {
      if (since < 0) since = seconds(at);
      last = seconds(at + block);
    } else if (seconds(at) - last > kGapS) {
      close();
    }
  }
  close();
}

// Of two modulations with the same bits, the one whose frequencies fit; else the one whose grid of bits fits.
bool fits_better(const FskHeard& a, const FskHeard& b) {
  return a.bit_rate == b.bit_rate ? a.shift_error < b.shift_error : a.step_match > b.step_match;
}

}  // namespace

std::vector<FskHeard> find_fsk(const Recording& r) {
  std::vector<FskHeard> all;
  for (std::size_t c = 0; c < r.channel.size(); ++c) {
    for (const Band& band : kBands) find_in(r.channel[c], static_cast<int>(c), band, all);
  }
  const std::vector<FskHeard> heard = all;
  // The same band louder in the other channel; and of two modulations at a time the one that fits better.
  std::erase_if(all, [&](const FskHeard& f) {
    return std::any_of(heard.begin(), heard.end(), [&](const FskHeard& o) {
      const double both = std::min(f.t1, o.t1) - std::max(f.t0, o.t0);
      if (both < 0.5 * (f.t1 - f.t0)) return false;
      if (o.channel != f.channel)
        return o.modulation == f.modulation && o.calling == f.calling && o.amplitude > 2 * f.amplitude;
      return o.modulation != f.modulation && o.calling == f.calling && fits_better(o, f);
    });
  });
  std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.t0 < b.t0; });
  return all;
}

}  // namespace offhook::decode
