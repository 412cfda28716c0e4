// SPDX-License-Identifier: MIT
#include "src/decode/line/symbol_clock.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numbers>
#include <utility>
#include <vector>

#include "src/decode/line/spectrum.h"

namespace offhook::decode {
namespace {

constexpr double kRates[] = {1600, 2400, 2400.0 * 8 / 7, 2800, 3000, 3200, 2400.0 * 10 / 7};
constexpr double kMostClockPpm = 200, kStepPpm = 0.25;
constexpr double kBlockS = 0.1, kLeastS = 3, kLongestS = 20;
constexpr double kSteady = 1.6;    // of a block's power to the mean so far, either way
constexpr double kLeastLine = 25;  // over the mean by chance: one in 10^9 stretches of noise has it, over all rates
constexpr double kLeastCoherence = 0.02;
constexpr double kLowestHz = 150, kHighestHz = 3850;
constexpr double kLowestLineHz = 70;    // below, changes of level have lines of their own
constexpr double kLeastOtherLine = 20;  // over the mean by chance: one in 30,000 stretches of noise has such a line
constexpr double kLeastEdge = 1e-4;     // of the band's power: less at an edge is the leakage of a window
constexpr double kDominance = 2;        // of another line's power to that of a searched rate
// Neighbouring bins under a Hann window are alike: by 2/3 next to each other, by 1/6 at two bins.
constexpr double kHannSpread = 1 + 2 * (2.0 / 3) * (2.0 / 3) + 2 * (1.0 / 6) * (1.0 / 6);
constexpr int kToneHz = 300;
constexpr double kLeastBroad = 0.4;  // of the bins between 600 and 3000 Hz, within 20 dB of the strongest
constexpr std::size_t kSpectrum = 1024;

// The longest stretch of steady power that is not silence.
std::pair<std::size_t, std::size_t> steady(std::span<const float> x) {
  const auto block = static_cast<std::size_t>(kBlockS * kRateHz);
  std::vector<double> power;
  for (std::size_t at = 0; at + block <= x.size(); at += block) {
    double sum = 0;
    for (std::size_t i = at; i < at + block; ++i) sum += static_cast<double>(x[i]) * x[i];
    power.push_back(sum / static_cast<double>(block));
  }
  std::size_t best = 0, best_from = 0;
  for (std::size_t from = 0; from < power.size();) {
    double mean = power[from];
    std::size_t to = from + 1;
    while (to < power.size() && power[to] < kSteady * mean && power[to] > mean / kSteady) {
      mean += (power[to] - mean) / static_cast<double>(to - from + 1);
      ++to;
    }
    if (mean > 100 && to - from > best) best = to - from, best_from = from;
    from = to;
  }
  return {best_from * block, (best_from + best) * block};
}

// The mean power spectrum.
std::vector<double> mean_spectrum(std::span<const float> x) {
  const Fft fft(kSpectrum);
  std::vector<oh_complex> z(kSpectrum);
  std::vector<double> power(kSpectrum / 2);
  for (std::size_t at = 0; at + kSpectrum <= x.size(); at += kSpectrum) {
    const std::vector<float> w = hann(x.subspan(at, kSpectrum));
    for (std::size_t k = 0; k < kSpectrum; ++k) z[k] = {w[k], 0};
    fft.forward(z);
    for (std::size_t k = 0; k < power.size(); ++k) power[k] += z[k].re * z[k].re + z[k].im * z[k].im;
  }
  return power;
}

bool is_broad(std::span<const float> x) {
  const std::vector<double> power = mean_spectrum(x);
  const auto bin = [](double hz) { return static_cast<long>(hz * kSpectrum / kRateHz); };
  const auto from = power.begin() + bin(600), to = power.begin() + bin(3000);
  // A loud tone below the band leaves noise there, which is broad and proves nothing.
  const double most = *std::max_element(power.begin() + bin(kToneHz), power.begin() + bin(kHighestHz));
  return static_cast<double>(std::count_if(from, to, [&](double p) { return p > 0.01 * most; })) >
         kLeastBroad * static_cast<double>(to - from);
}

// The least symbol rate that a signal may have, Hz: half the width of its widest band. At half of the power, and
// without a gap, symbols fill their symbol rate. What changes a broad signal more slowly is amplitude modulation, or
// comes from a conversion of the sample rate.
double least_rate(std::span<const float> x) {
  constexpr double kOfMost = 0.25, kBinHz = static_cast<double>(kRateHz) / kSpectrum;
  constexpr long kReach = 4;  // bins: tones, such as hum, are less than half of those around
  const std::vector<double> power = mean_spectrum(x);
  std::vector<double> smooth;
  for (auto k = static_cast<long>(kLowestHz / kBinHz); k < static_cast<long>(kHighestHz / kBinHz); ++k)
    smooth.push_back(median({power.begin() + k - kReach, power.begin() + k + kReach + 1}));
  const double least = kOfMost * *std::max_element(smooth.begin(), smooth.end());
  std::size_t widest = 0, width = 0;
  for (const double p : smooth) {
    width = p > least ? width + 1 : 0;
    widest = std::max(widest, width);
  }
  return std::max(kLowestLineHz, static_cast<double>(widest) * kBinHz / 2);
}

// The steady stretch of x, or nothing if it is short or no signal fills the band.
std::optional<std::pair<std::size_t, std::size_t>> steady_and_broad(std::span<const float> x) {
  auto [from, to] = steady(x);
  to = std::min(to, from + static_cast<std::size_t>(kLongestS * kRateHz));
  if (seconds(to - from) < kLeastS || !is_broad(x.subspan(from, to - from))) return std::nullopt;
  return std::pair{from, to};
}

// Under a window: the lines of a clean signal would leak into every rate.
std::vector<oh_complex> spectrum_of(const Fft& fft, std::span<const float> x) {
  const std::vector<float> windowed = hann(x.first(fft.size()));
  std::vector<oh_complex> z(fft.size());
  for (std::size_t k = 0; k < fft.size(); ++k) z[k] = {windowed[k], 0};
  fft.forward(z);
  return z;
}

// Correlation of the bins from `first` on with the bins `apart` higher.
struct BandLikeness {
  Cd alike;
  double low = 0, high = 0;  // power of both
};
BandLikeness likeness(std::span<const oh_complex> x, std::size_t first, std::size_t last, std::size_t apart) {
  BandLikeness sum;
  for (std::size_t f = first; f < last; ++f) {
    const oh_complex a = x[f], b = x[f + apart];
    sum.alike += times_conj(Cd(b.re, b.im), Cd(a.re, a.im));
    sum.low += static_cast<double>(a.re) * a.re + static_cast<double>(a.im) * a.im;
    sum.high += static_cast<double>(b.re) * b.re + static_cast<double>(b.im) * b.im;
  }
  return sum;
}

// The strongest line of the band's envelope: the similarity of the spectrum to itself, for all distances at once.
struct EnvelopeLine {
  std::size_t apart = 0;  // bins
  double middle = 0;      // bins: of the whole line, which symbols that restart in each packet broaden,
  double width = 0;       // and its standard deviation
  double power = 0;       // |sum of X(f + apart) X*(f)|^2, as in Likeness
  double over = 0;        // over its value by chance
};
double power_of(oh_complex z) {
  return static_cast<double>(z.re) * z.re + static_cast<double>(z.im) * z.im;
}
EnvelopeLine strongest_line(const Fft& fft, std::vector<oh_complex> x, double bin_hz, double least_hz) {
  const auto bin = [&](double hz) { return static_cast<std::size_t>(hz / bin_hz); };
  double power = 0, squares = 0;
  for (std::size_t k = 0; k < x.size(); ++k) {
    if (k < bin(kLowestHz) || k >= bin(kHighestHz)) x[k] = {0, 0};
    power += power_of(x[k]);
    squares += power_of(x[k]) * power_of(x[k]);
  }
  // The square of a bin's power is, on average, twice the square of the average.
  const double by_chance = kHannSpread * squares / 2;
  fft.inverse(x);
  for (oh_complex& z : x) z = {z.re * z.re + z.im * z.im, 0};
  fft.forward(x);
  const double scale = x[0].re > 0 ? power / x[0].re : 0;  // the scale of the inverse transform
  EnvelopeLine line;
  for (std::size_t k = bin(least_hz); k < bin(kHighestHz - kLowestHz); ++k) {
    const double here = power_of(x[k]) * scale * scale;
    if (here > line.power) line = {.apart = k, .power = here, .over = by_chance > 0 ? here / by_chance : 0};
  }
  constexpr double kHalfWidth = 0.004, kOfPeak = 0.25;
  const auto reach = static_cast<std::size_t>(kHalfWidth * static_cast<double>(line.apart)) + 1;
  double sum = 0, squared = 0;
  for (std::size_t k = line.apart - std::min(reach, line.apart); k <= line.apart + reach && k < x.size(); ++k) {
    const double here = power_of(x[k]) * scale * scale, bins = static_cast<double>(k) - static_cast<double>(line.apart);
    if (here < kOfPeak * line.power) continue;
    sum += here;
    line.middle += here * bins;
    squared += here * bins * bins;
  }
  if (sum > 0) line.middle /= sum, squared /= sum;
  line.width = std::sqrt(std::max(0.0, squared - line.middle * line.middle));
  line.middle += static_cast<double>(line.apart);
  return line;
}

// The roundest rate within a line, symbols/s: within its width, rates cannot be distinguished. Of a line broadened by
// packets, noise leaves a part, whose middle is off by up to a thousandth; no two rates in use are so close.
double roundest(double middle, double width) {
  constexpr double kClose = 1e-3;
  for (const double rate : kRates) {
    if (std::abs(rate - middle) < kClose * rate) return rate;
  }
  width = std::max(width, kClose * middle);
  for (const double unit : {100.0, 50.0, 10.0}) {
    const double rate = unit * std::round(middle / unit);
    if (std::abs(rate - middle) < width) return rate;
  }
  return middle;
}

// All distances at which the spectrum resembles itself. Pieces of the band are compared one by one: symbols without
// shaping, and several carriers, have many such distances, whose contributions to the whole band may cancel.
struct Distances {
  std::vector<double> hz;    // distinct ones, the least first
  std::vector<double> over;  // by how much, in standard deviations of chance
};
Distances all_distances(std::span<const float> x, double least_hz) {
  constexpr std::size_t kMostBlock = 32768, kLeastBlock = 16384;  // 4 s and 2 s
  constexpr double kPieceHz = 25;
  constexpr double kLeastOver = 10;    // of 15,000 distances in noise none has it
  constexpr double kMostOfPiece = 20;  // two lines in one piece are no band
  if (x.size() < kLeastBlock) return {};
  const std::size_t block = x.size() < kMostBlock ? kLeastBlock : kMostBlock;
  const Fft fft(block);
  const std::vector<oh_complex> z = spectrum_of(fft, x);
  const double bin_hz = static_cast<double>(kRateHz) / static_cast<double>(block);
  const auto kPiece = static_cast<std::size_t>(kPieceHz / bin_hz);
  const auto first = static_cast<std::size_t>(kLowestHz / bin_hz), last = static_cast<std::size_t>(kHighestHz / bin_hz);
  const auto nearest = static_cast<std::size_t>(least_hz / bin_hz);
  // Bins of equal power, so that a sum over a piece is a mean of turns.
  std::vector<Cf> unit(last);
  for (std::size_t k = first; k < last; ++k) {
    const double power = power_of(z[k]);
    if (power > 0) unit[k] = Cf(z[k].re, z[k].im) / static_cast<float>(std::sqrt(power));
  }
  std::vector<double> over(last - first);
  for (std::size_t apart = nearest; first + apart + kPiece <= last; ++apart) {
    double sum = 0;
    int pieces = 0;
    for (std::size_t f = first; f + apart + kPiece <= last; f += kPiece, ++pieces) {
      Cf alike;
      for (std::size_t k = f; k < f + kPiece; ++k) alike += times_conj(unit[k + apart], unit[k]);
      sum +=
          std::min(kMostOfPiece, static_cast<double>(std::norm(alike)) / (static_cast<double>(kPiece) * kHannSpread)) -
          1;
    }
    over[apart] = sum / std::sqrt(pieces);
  }
  Distances found;
  for (std::size_t k = nearest; k + 1 < over.size(); ++k) {
    if (over[k] < kLeastOver || over[k] < over[k - 1] || over[k] < over[k + 1]) continue;
    found.hz.push_back(static_cast<double>(k) * bin_hz);
    found.over.push_back(over[k]);
  }
  return found;
}

// Whether there are other distances than `rate`, except far weaker ones. @return the symbol rate of which all are
// multiples, or 0 if they have none, as with a scrambler of a short period; nothing: `rate` is the only one
std::optional<int> other_rate(std::span<const float> x, double rate, double least_hz) {
  constexpr double kFarWeaker = 0.2, kNearHz = 2;
  const Distances all = all_distances(x, least_hz);
  double own = 0, other = 0;
  for (std::size_t k = 0; k < all.hz.size(); ++k) {
    double& most = std::abs(all.hz[k] - rate) < kNearHz ? own : other;
    most = std::max(most, all.over[k]);
  }
  if (other <= kFarWeaker * own) return std::nullopt;
  double least = 0;
  std::size_t count = 0, multiples = 0;
  for (std::size_t k = 0; k < all.hz.size(); ++k) {
    if (all.over[k] <= kFarWeaker * other) continue;
    if (least == 0) least = all.hz[k];
    ++count;
    multiples += std::abs(std::remainder(all.hz[k], least)) < kNearHz;
  }
  const bool divides = std::abs(std::remainder(rate, least)) < kNearHz;
  // Else half of it was not searched: it may be a multiple itself, such as the rate of characters.
  const bool is_least = least >= 2 * kLowestLineHz;
  return is_least && divides && 4 * multiples >= 3 * count ? static_cast<int>(std::lround(roundest(least, 0))) : 0;
}

// The middle of the band's edges that are alike, in pieces over which a line's delay turns the phase but little.
double middle_hz(std::span<const oh_complex> x, double bin_hz, double rate, std::size_t apart) {
  constexpr double kPieceHz = 20;
  constexpr double kOverChance = 9;  // one piece in 8000 has it by chance
  const auto piece = static_cast<std::size_t>(kPieceHz / bin_hz);
  const auto last = static_cast<std::size_t>((kHighestHz - rate) / bin_hz);
  double sum = 0, at = 0;
  for (auto f = static_cast<std::size_t>(kLowestHz / bin_hz); f + piece < last; f += piece) {
    const BandLikeness here = likeness(x, f, f + piece, apart);
    const double by_chance = here.low * here.high / static_cast<double>(piece);
    const double over = std::sqrt(std::max(0.0, std::norm(here.alike) - kOverChance * by_chance));
    sum += over;
    const std::size_t middle = f + piece / 2;
    at += over * static_cast<double>(middle) * bin_hz;
  }
  return sum > 0 ? at / sum + rate / 2 : 0;
}

// From the rotation of the correlation between half seconds: 2 pi per block for each additional symbol.
double clock_ppm(std::span<const float> x, double rate, double carrier) {
  constexpr double kEdgeHz = 200;
  constexpr std::size_t kBlock = 4096;
  const Fft fft(kBlock);
  const double bin_hz = static_cast<double>(kRateHz) / kBlock;
  const auto apart = static_cast<std::size_t>(std::lround(rate / bin_hz));
  const double low = carrier - rate / 2;
  const auto first = static_cast<std::size_t>(std::max(kLowestHz, low - kEdgeHz) / bin_hz);
  const auto last = static_cast<std::size_t>(std::min(kHighestHz - rate, low + kEdgeHz) / bin_hz);
  std::vector<Cd> alike;
  for (std::size_t at = 0; at + kBlock <= x.size(); at += kBlock)
    alike.push_back(likeness(spectrum_of(fft, x.subspan(at, kBlock)), first, last, apart).alike);
  const double turn_a_hz = 2 * std::numbers::pi * kBlock / kRateHz;
  const double bin_rate = static_cast<double>(apart) * bin_hz;
  double best = 0, most = 0;
  constexpr int kSteps = static_cast<int>(kMostClockPpm / kStepPpm);
  for (int step = -kSteps; step <= kSteps; ++step) {
    const double ppm = step * kStepPpm;
    const double turn = turn_a_hz * (rate * (1 + 1e-6 * ppm) - bin_rate);
    Cd sum;
    for (std::size_t k = 0; k < alike.size(); ++k) sum += alike[k] * std::polar(1.0, -turn * static_cast<double>(k));
    if (std::abs(sum) > most) most = std::abs(sum), best = ppm;
  }
  return best;
}

}  // namespace

std::optional<SymbolClock> find_symbol_clock(std::span<const float> x) {
  const auto where = steady_and_broad(x);
  if (!where) return std::nullopt;
  const auto [from, to] = *where;
  const std::span<const float> part = x.subspan(from, to - from);
  const Fft fft(std::min<std::size_t>(std::bit_floor(part.size()), OH_FFT_MAX));
  const std::vector<oh_complex> spectrum = spectrum_of(fft, part);
  const double bin_hz = static_cast<double>(kRateHz) / static_cast<double>(fft.size());
  std::optional<SymbolClock> best;
  double best_rate = 0, best_power = 0;
  std::size_t best_apart = 0;
  double band = 0;
  for (auto k = static_cast<std::size_t>(kLowestHz / bin_hz); k < static_cast<std::size_t>(kHighestHz / bin_hz); ++k)
    band += power_of(spectrum[k]);
  for (const double rate : kRates) {
    const auto first = static_cast<std::size_t>(kLowestHz / bin_hz);
    const auto last = static_cast<std::size_t>((kHighestHz - rate) / bin_hz);
    const auto reach = static_cast<std::size_t>(std::ceil(rate * kMostClockPpm * 1e-6 / bin_hz));
    const auto nominal = static_cast<std::size_t>(std::lround(rate / bin_hz));
    double most = 0, power = 0;
    std::size_t apart = nominal;
    for (std::size_t k = nominal - reach; k <= nominal + reach; ++k) {
      const BandLikeness here = likeness(spectrum, first, last, k);
      const double share = std::norm(here.alike) / std::max(here.low * here.high, 1e-9);
      if (here.low < kLeastEdge * band || here.high < kLeastEdge * band) continue;
      if (share > most) most = share, apart = k, power = std::norm(here.alike);
    }
    const double over = most * static_cast<double>(last - first) / kHannSpread;
    if (most < kLeastCoherence || over < kLeastLine) continue;
    const double db = 10 * std::log10(over);
    if (best && db <= best->over_noise_db) continue;
    best = SymbolClock{0, static_cast<int>(std::lround(rate)), 0, 0, seconds(from), seconds(to), db};
    best_rate = rate;
    best_apart = apart;
    best_power = power;
  }
  const double least_hz = least_rate(part);
  const EnvelopeLine line = strongest_line(fft, spectrum, bin_hz, least_hz);
  const bool near_best = best && std::abs(static_cast<double>(line.apart) - static_cast<double>(best_apart)) < 3;
  if (!near_best && line.power > kDominance * best_power && line.over >= kLeastOtherLine) {
    const double rate = roundest(line.middle * bin_hz, line.width * bin_hz);
    if (const std::optional<int> other = other_rate(part, rate, least_hz); other && *other > 0)
      return SymbolClock{0, *other, 0, 0, seconds(from), seconds(to), 10 * std::log10(line.over)};
    return SymbolClock{0,           static_cast<int>(std::lround(rate)), 0, 0, seconds(from),
                       seconds(to), 10 * std::log10(line.over)};
  }
  if (!best) return best;
  if (const std::optional<int> other = other_rate(part, best_rate, least_hz)) {
    // A separate line is a symbol clock that is independent of others, but its signal is unknown.
    best->symbol_rate = *other > 0 || !near_best ? *other : best->symbol_rate;
    best->clock_ppm = best->carrier_hz = 0;
    return best;
  }
  best->carrier_hz = middle_hz(spectrum, bin_hz, best_rate, best_apart);
  if (best->carrier_hz == 0) return std::nullopt;  // no distinct part of the band: the carrier is unknown
  best->clock_ppm = clock_ppm(part, best_rate, best->carrier_hz);
  return best;
}

}  // namespace offhook::decode
