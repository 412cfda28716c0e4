// SPDX-License-Identifier: MIT
#include "src/decode/modulation/v32bis_tones.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <optional>
#include <utility>
#include <vector>

#include "src/decode/line/recording.h"

namespace offhook::decode {
namespace {

constexpr double kHalfSymbol = kRateHz / 4800.0;   // samples
constexpr int kWindow = 32;                        // half symbols: lines every 150 Hz
constexpr double kLeastSeconds = 0.02;             // a preamble of 56 symbols
constexpr double kLeastTonePower = 0.1;            // of the direction's own
constexpr double kMostOffsetHz = 20;               // a far end's 7, and 7 of the line
constexpr int kMostGap = 3 * kWindow / 2;          // half symbols that a reversal takes out
constexpr std::size_t kLag = 8;                    // half symbols between phases that are compared
constexpr double kAlone = 0.85, kOneOfTwo = 0.35;  // shares of the lines in all the power
// A window that is just dominated by a tone extends this far beyond its beginning and its end.
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

// One interval without a break, and the rotation of its phase.
struct Stretch {
  V32Tone::Kind kind;
  std::size_t first, last;  // windows
  Cd first_phase, last_phase;
  Cd turns{};  // over kLag, summed
};

// The windows of the line one after the other. @param each  gets the number of the last half symbol and the Lines
template <class Each>
void for_windows(const Baseband& line, Each&& each) {
  constexpr Cf kTurn[4] = {{1, 0}, {0, 1}, {-1, 0}, {0, -1}};
  const auto n = static_cast<std::size_t>(static_cast<double>(line.size()) / kHalfSymbol);
  std::array<Cf, kWindow> latest{};  // by number modulo kWindow
  Cd carrier{}, upper{}, lower{};
  double all = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const auto add = [&](std::size_t k, Cf y, double sign) {
      carrier += sign * Cd(y);
      upper += sign * Cd(y * std::conj(kTurn[k % 4]));
      lower += sign * Cd(y * kTurn[k % 4]);
      all += sign * static_cast<double>(std::norm(y));
    };
    const Cf gone = std::exchange(latest[i % kWindow], line.at(static_cast<double>(i) * kHalfSymbol));
    add(i, latest[i % kWindow], 1);
    if (i >= kWindow) add(i - kWindow, gone, -1);
    Lines l;
    l.carrier = std::norm(carrier) / kWindow / kWindow;
    l.edges = (std::norm(upper) + std::norm(lower)) / kWindow / kWindow;
    l.all = all / kWindow;
    l.carrier_phase = Cf(carrier);
    l.edge_phase = Cf(lower);
    if (i >= kWindow) each(i, l);
  }
}

std::vector<Stretch> find_stretches(const Baseband& line, bool answer, double power) {
  std::vector<Stretch> stretches;
  std::array<Cd, kLag> before{};  // of the current stretch: the phases of its latest windows
  for_windows(line, [&](std::size_t i, const Lines& l) {
    if (l.all < kLeastTonePower * power) return;
    const auto kind = kind_of(l, answer);
    if (!kind) return;
    const Cd phase(*kind == V32Tone::Kind::kEdges ? l.edge_phase : l.carrier_phase);
    if (!stretches.empty() && stretches.back().kind == *kind && stretches.back().last + 1 == i) {
      Stretch& s = stretches.back();
      s.last = i;
      s.last_phase = phase;
      if (i >= s.first + kLag) s.turns += phase * std::conj(before[i % kLag]);
    } else {
      stretches.push_back({*kind, i, i, phase, phase});
    }
    before[i % kLag] = phase;
  });
  // Transitions as long as a window belong to no signal; a change of phase within a signal is a reversal.
  std::erase_if(stretches, [](const Stretch& s) { return s.last - s.first < kWindow / 4; });
  return stretches;
}

}  // namespace

std::vector<V32Tone> find_v32_tones(const Baseband& line, bool answer, double power) {
  std::vector<V32Tone> tones;
  std::size_t last = 0;
  Cd last_phase;
  double turn = 0;  // radians per half symbol, of the current tone
  for (const Stretch& s : find_stretches(line, answer, power)) {
    const double own_turn = std::arg(s.turns) / kLag;
    if (std::abs(own_turn) > 2 * std::numbers::pi * kMostOffsetHz / 4800) continue;
    const double t0 = (static_cast<double>(s.first) - kBegins) * kHalfSymbol;
    const double t1 = (static_cast<double>(s.last) - kEnds) * kHalfSymbol;
    const bool goes_on = !tones.empty() && tones.back().kind == s.kind && s.first - last <= kMostGap;
    if (goes_on) {
      const Cd before = last_phase * std::polar(1.0, turn * static_cast<double>(s.first - last));
      const bool reversed = (s.first_phase * std::conj(before)).real() < 0;
      if (reversed) tones.back().reversals.push_back((tones.back().t1 + t0) / 2);
      tones.back().t1 = t1;
    } else {
      tones.push_back({s.kind, t0, t1, {}});
    }
    last = s.last;
    last_phase = s.last_phase;
    turn = own_turn;
  }
  std::erase_if(tones, [](const V32Tone& t) { return t.t1 - t.t0 < kLeastSeconds * kRateHz; });
  return tones;
}

}  // namespace offhook::decode
