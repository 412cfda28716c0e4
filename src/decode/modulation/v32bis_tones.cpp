// SPDX-License-Identifier: MIT
#include "src/decode/modulation/v32bis_tones.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <optional>

#include "src/decode/line/recording.h"

namespace offhook::decode {
namespace {

constexpr double kHalfSymbol = kRateHz / 4800.0;   // samples
constexpr int kWindow = 32;                        // half symbols: lines every 150 Hz
constexpr double kLeastSeconds = 0.02;             // a preamble of 56 symbols
constexpr double kLeastPower = 0.1;                // of the direction's own
constexpr double kMostOffsetHz = 20;               // a far end's 7, and 7 of the line
constexpr int kMostGap = 3 * kWindow / 2;          // half symbols that a reversal takes out
constexpr std::size_t kLag = 8;                    // half symbols between phases that are compared
constexpr double kAlone = 0.85, kOneOfTwo = 0.35;  // shares of the lines in all the power
// A window that is just alone with a tone reaches so far over its beginning, and over its end.
constexpr double kBegins = 28, kEnds = 3;

// Carrier and band edges over the last kWindow half symbols.
struct Lines {
  double carrier = 0, edges = 0, all = 0;  // power
  Cf carrier_phase, edge_phase;
};

std::optional<V32Tone::Kind> kind_of(const Lines& l, bool answer) {
  if (l.carrier + l.edges < kAlone * l.all) return {};
  if (l.carrier > kAlone * l.all) return answer ? std::nullopt : std::optional(V32Tone::Kind::kCarrier);
  if (l.carrier > kOneOfTwo * l.all) return V32Tone::Kind::kS;
  return answer ? std::optional(V32Tone::Kind::kEdges) : std::nullopt;
}

// One stretch without a break.
struct Stretch {
  V32Tone::Kind kind;
  std::size_t first, last;  // windows
};

}  // namespace

std::vector<V32Tone> find_v32_tones(const Baseband& line, bool answer, double power) {
  const auto n = static_cast<std::size_t>(static_cast<double>(line.size()) / kHalfSymbol);
  std::vector<Cf> y(n);
  for (std::size_t i = 0; i < n; ++i) y[i] = line.at(static_cast<double>(i) * kHalfSymbol);
  constexpr Cf kTurn[4] = {{1, 0}, {0, 1}, {-1, 0}, {0, -1}};
  // Windows by their last half symbol.
  std::vector<Lines> lines(n);
  Cd carrier{}, upper{}, lower{};
  double all = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const auto add = [&](std::size_t k, double sign) {
      carrier += sign * Cd(y[k]);
      upper += sign * Cd(y[k] * std::conj(kTurn[k % 4]));
      lower += sign * Cd(y[k] * kTurn[k % 4]);
      all += sign * static_cast<double>(std::norm(y[k]));
    };
    add(i, 1);
    if (i >= kWindow) add(i - kWindow, -1);
    Lines& l = lines[i];
    l.carrier = std::norm(carrier) / kWindow / kWindow;
    l.edges = (std::norm(upper) + std::norm(lower)) / kWindow / kWindow;
    l.all = all / kWindow;
    l.carrier_phase = Cf(carrier);
    l.edge_phase = Cf(lower);
  }
  std::vector<Stretch> stretches;
  for (std::size_t i = kWindow; i < n; ++i) {
    if (lines[i].all < kLeastPower * power) continue;
    const auto kind = kind_of(lines[i], answer);
    if (!kind) continue;
    if (!stretches.empty() && stretches.back().kind == *kind && stretches.back().last + 1 == i) {
      stretches.back().last = i;
    } else {
      stretches.push_back({*kind, i, i});
    }
  }
  // Edges of a window's length belong to no signal; what turns its phase within a signal is a reversal.
  std::erase_if(stretches, [](const Stretch& s) { return s.last - s.first < kWindow / 4; });
  std::vector<V32Tone> tones;
  std::size_t last = 0;
  double turn = 0;  // radians a half symbol, of the tone that goes on
  for (const Stretch& s : stretches) {
    const auto phase = [&](std::size_t i) {
      return Cd(s.kind == V32Tone::Kind::kEdges ? lines[i].edge_phase : lines[i].carrier_phase);
    };
    Cd sum{};
    for (std::size_t i = s.first + kLag; i <= s.last; ++i) sum += phase(i) * std::conj(phase(i - kLag));
    const double own_turn = std::arg(sum) / kLag;
    if (std::abs(own_turn) > 2 * std::numbers::pi * kMostOffsetHz / 4800) continue;
    const double t0 = (static_cast<double>(s.first) - kBegins) * kHalfSymbol;
    const double t1 = (static_cast<double>(s.last) - kEnds) * kHalfSymbol;
    const bool goes_on = !tones.empty() && tones.back().kind == s.kind && s.first - last <= kMostGap;
    if (goes_on) {
      const Cd before = phase(last) * std::polar(1.0, turn * static_cast<double>(s.first - last));
      const bool reversed = (phase(s.first) * std::conj(before)).real() < 0;
      if (reversed) tones.back().reversals.push_back((tones.back().t1 + t0) / 2);
      tones.back().t1 = t1;
    } else {
      tones.push_back({s.kind, t0, t1, {}});
    }
    last = s.last;
    turn = own_turn;
  }
  std::erase_if(tones, [](const V32Tone& t) { return t.t1 - t.t0 < kLeastSeconds * kRateHz; });
  return tones;
}

}  // namespace offhook::decode
