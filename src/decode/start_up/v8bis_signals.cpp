// SPDX-License-Identifier: MIT
#include "src/decode/start_up/v8bis_signals.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <span>

#include "src/decode/line/spectrum.h"
#include "src/decode/start_up/echoes.h"

namespace offhook::decode {
namespace {

// V.8bis Tables 1 and 2.
struct Pair {
  bool responding;
  int low_hz, high_hz;
};
constexpr Pair kPairs[] = {{false, 1375, 2002}, {true, 1529, 2225}};
struct Name {
  const char* name;
  int hz;
  bool initiating, responding;
};
constexpr Name kNames[] = {{"MRe", 650, true, false}, {"MRd", 1150, true, true}, {"CRe", 400, true, false},
                           {"CRd", 1900, true, true}, {"ESi", 980, true, false}, {"ESr", 1650, false, true}};

// 20 ms: 50 Hz wide, so that the tones of a pair do not disturb each other and 7 Hz of offset do no harm.
constexpr std::size_t kWindow = kRateHz / 50;
constexpr std::size_t kHop = kRateHz / 200;
constexpr double kLeastAmplitude = 5;
constexpr double kShare = 0.8;           // of the tones in all the power: 6 dB over noise
constexpr double kBothShare = 0.1;       // of the weaker tone in both: a line tilted by 10 dB
constexpr double kLeastSegment1S = 0.2;  // of 285 or 400 ms; and heard for half of it, the rest may have dropped out
constexpr double kDropOutS = 0.15;
constexpr double kLeastSegment2S = 0.06;  // of 100 ms

double power(std::span<const float> x, std::size_t at) {
  double sum = 0;
  for (std::size_t k = 0; k < kWindow; ++k) sum += static_cast<double>(x[at + k]) * x[at + k];
  return sum / kWindow;
}

// Power of a tone within the window from `at` on.
double tone_power(std::span<const float> x, std::size_t at, int hz) {
  return 2 * std::norm(spectrum_at(x.subspan(at, kWindow), hz));
}

bool is_pair(std::span<const float> x, std::size_t at, const Pair& pair) {
  const double all = power(x, at);
  if (2 * all < kLeastAmplitude * kLeastAmplitude) return false;
  const double low = tone_power(x, at, pair.low_hz), high = tone_power(x, at, pair.high_hz);
  return low + high > kShare * all && std::min(low, high) > kBothShare * (low + high);
}

bool is_tone(std::span<const float> x, std::size_t at, int hz) {
  const double all = power(x, at);
  return 2 * all >= kLeastAmplitude * kLeastAmplitude && tone_power(x, at, hz) > kShare * all;
}

// Begin or end of a tone: half of a window that has its middle there holds it, so it has half the amplitude and a
// quarter of the power that it has in a window `inside`.
std::size_t edge(std::span<const float> x, std::size_t inside, int hz, bool begins) {
  const double quarter = tone_power(x, inside, hz) / 4;
  std::size_t at = inside;
  constexpr std::size_t kStep = kRateHz / 1000;
  while (at + kWindow <= x.size() && tone_power(x, at, hz) > quarter) {
    if (begins && at < kStep) return 0;
    at = begins ? at - kStep : at + kStep;
  }
  return std::min(at + kWindow / 2, x.size());
}

// The signal whose segment 1 lies from window `first` to window `last`.
std::optional<V8bisSignal> name(std::span<const float> x, const Pair& pair, std::size_t first, std::size_t last) {
  for (const Name& n : kNames) {
    if (!(pair.responding ? n.responding : n.initiating)) continue;
    std::size_t begin = last;
    while (begin < last + 2 * kWindow && begin + kWindow <= x.size() && !is_tone(x, begin, n.hz)) begin += kHop;
    std::size_t end = begin;
    while (end + kWindow <= x.size() && is_tone(x, end, n.hz)) end += kHop;
    if (end == begin || seconds(end - begin + kWindow) < kLeastSegment2S) continue;
    const std::size_t middle = begin + (end - begin) / 2;
    V8bisSignal s;
    s.name = n.name;
    s.responding = pair.responding;
    s.tone_hz = n.hz;
    s.t0 = seconds(edge(x, first + kHop, pair.low_hz, true));
    s.t_segment2 = seconds(edge(x, middle, n.hz, true));
    s.t1 = seconds(edge(x, middle, n.hz, false));
    s.amplitude = std::sqrt(2 * tone_power(x, middle, n.hz));
    return s;
  }
  return {};
}

}  // namespace

std::vector<V8bisSignal> v8bis_signals(const Recording& r) {
  std::vector<V8bisSignal> all;
  for (std::size_t c = 0; c < r.channel.size(); ++c) {
    const std::span<const float> x = r.samples(c);
    for (const Pair& pair : kPairs) {
      std::size_t first = 0, last = 0, heard = 0;  // windows of the current segment 1, when heard > 0
      for (std::size_t at = 0; at + kWindow <= x.size(); at += kHop) {
        if (is_pair(x, at, pair)) {
          if (heard == 0) first = at;
          last = at;
          ++heard;
          continue;
        }
        if (heard == 0) continue;
        const double lasted = seconds(last - first + kWindow);
        const bool long_enough = lasted > kLeastSegment1S && 2 * seconds(heard * kHop) > lasted;
        if (auto s = long_enough ? name(x, pair, first, last) : std::nullopt) {
          s->channel = static_cast<int>(c);
          all.push_back(*s);
          heard = 0;
        } else if (seconds(at - last) > kDropOutS) {
          heard = 0;
        }
      }
    }
  }
  drop_echoes(all, [](const V8bisSignal& s, const V8bisSignal& of) {
    return of.name == s.name && of.amplitude > 2 * s.amplitude && std::abs(of.t1 - s.t1) < 0.4;
  });
  std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.t0 < b.t0; });
  return all;
}

}  // namespace offhook::decode
