// SPDX-License-Identifier: MIT
#include "src/decode/v34/lattice.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <span>
#include <utility>

#include "src/decode/v34/grid.h"
#include "src/decode/v34/likely_sequence.h"
#include "src/decode/v34/second_reading.h"

namespace offhook::decode {
namespace {

constexpr std::size_t kFrame = v34::kSymbolsPerMappingFrame;
constexpr std::size_t kWindow = 200, kHop = 64;  // symbols that show the grid
constexpr std::size_t kMiddle = 100;             // of them, whose phase does not change much
constexpr double kReachS = 1.5;                  // behind that, a clock learnt in a short training is off by too much
constexpr double kMostGain = 1.12;               // neighbouring rates are 2 dB or so apart
constexpr double kBits = 5000;                   // that are HDLC or not
constexpr double kClear = 10;                    // squared distance, over the right place's: e^-20 by noise of 0.5
constexpr std::size_t kMostPlaces = 16;

class Finder {
 public:
  Finder(SymbolReceiver& receiver, const v34::DataParameters& p, double end)
      : p_(p),
        energy_(p.mean_energy()),
        nonlinear_(p.nonlinear ? v34::kNonlinearTheta : 0.f, p.mean_energy()),
        gain_(static_cast<float>(std::sqrt(p.transmitted_energy() / std::max(receiver.state.power, 1e-9)))),
        start_(receiver.state) {
    const double last = std::min(end, start_.t + kReachS * kRateHz);
    for (double k = 0; start_.t + k * start_.step < last; ++k) {
      receiver.state.t = start_.t + k * start_.step;
      receiver.state.phase = start_.phase + k * start_.turn;
      out_.push_back(receiver.equalise());
    }
    receiver.state = start_;
  }

  std::optional<LatticeStart> find(LatticeSearch& search) {
    search.from_s = seconds(start_.t);
    search.to_s = time_of(out_.size());
    std::size_t hop = kHop;
    for (std::size_t from = 0; from + kWindow <= out_.size(); from += hop) {
      hop = kHop;
      const Fit fit = best_fit(from);
      if (!fit.on_grid) continue;
      if (search.result <= LatticeSearch::Result::kNoGrid) search.from_s = time_of(from);
      const auto [result, start] = at(from, fit);
      search.result = std::max(search.result, result);
      if (start) return start;
      if (result == LatticeSearch::Result::kNoHdlc) hop = block();  // the code fits, and it takes other bits
    }
    search.result = std::max(search.result, LatticeSearch::Result::kNoGrid);
    return std::nullopt;
  }

 private:
  struct Fit {
    float error = 2, gain = 1;
    Cf turned = 1;
    bool on_grid = false;
  };

  double time_of(std::size_t symbol) const { return seconds(start_.t + static_cast<double>(symbol) * start_.step); }

  std::vector<Cf> whitened(std::size_t from, std::size_t to, float gain) const {
    constexpr std::size_t kMemory = 3;
    WhiteningFilter filter(p_.coding.precoder);
    std::vector<Cf> y;
    for (std::size_t k = from - std::min(from, kMemory); k < to; ++k) {
      float re = gain * out_[k].real(), im = gain * out_[k].imag();
      nonlinear_.decode(&re, &im);
      const Cf v = filter.put({re, im});
      if (k >= from) y.push_back(v);
    }
    return y;
  }

  // Level and phase that bring the middle of a window nearest to the grid, which a quarter turn does not change. From
  // there the phase is followed to both ends: noise at the end of the training may have moved the carrier's frequency.
  Fit best_fit(std::size_t from) const {
    const double step = 0.4 / std::sqrt(energy_), quarter = std::numbers::pi / 2;
    const int gains = static_cast<int>(std::log(kMostGain) / step), turns = static_cast<int>(quarter / step) + 1;
    const std::size_t first = from + (kWindow - kMiddle) / 2, middle = from + kWindow / 2;
    Fit best;
    for (int g = -gains; g <= gains; ++g) {
      const auto gain = static_cast<float>(gain_ * std::exp(g * step));
      const std::vector<Cf> y = whitened(first, first + kMiddle, gain);
      for (int k = 0; k < turns; ++k) {
        const Cf turned(std::polar(1.0, k * quarter / turns));
        if (const float error = mean_grid_error(y, turned); error < best.error) best = {error, gain, turned};
      }
    }
    std::vector<Cf> y = whitened(from, from + kWindow, best.gain);
    const PhaseOnGrid at_middle(best.turned, energy_);
    best.turned = follow(y, middle - from, 0, at_middle).turned();
    follow(y, middle - from, kWindow, at_middle);
    best.error = mean_grid_error(y);
    best.on_grid = on_grid(y);
    return best;
  }

  // Puts the phase of symbols right, from one on to the end, or from the one before it back to the first.
  static PhaseOnGrid follow(std::vector<Cf>& y, std::size_t from, std::size_t to, PhaseOnGrid phase) {
    for (std::size_t k = from; k < to; ++k) y[k] = phase.put(y[k]);
    for (std::size_t k = from; k > to; --k) y[k - 1] = phase.put(y[k - 1]);
    return phase;
  }

  std::size_t superframe() const {
    return static_cast<std::size_t>(p_.coding.framing.symbols_per_data_frame() * p_.coding.framing.data_frames);
  }

  // A whole superframe, and enough bits.
  std::size_t block() const {
    const double bits_a_symbol = p_.coding.framing.bits / static_cast<double>(kFrame);
    return std::max(superframe(), static_cast<std::size_t>(kBits / bits_a_symbol)) + kFrame;
  }

  std::pair<LatticeSearch::Result, std::optional<LatticeStart>> at(std::size_t from, const Fit& fit) const {
    using enum LatticeSearch::Result;
    const std::size_t to = std::min(from + block(), out_.size());
    const std::vector<Cf> y = with_phase_followed(whitened(from, to, fit.gain), fit.turned, energy_);
    const std::vector<double> squared =
        distances_by_place(std::span(y).first(std::min(y.size(), superframe() + 1)), p_.coding.trellis,
                           p_.coding.framing, from % superframe(), kClear);
    const double least = *std::min_element(squared.begin(), squared.end());
    std::vector<std::pair<double, std::size_t>> places;
    for (std::size_t k = 0; k < squared.size(); ++k) {
      if (squared[k] < least + kClear) places.emplace_back(squared[k], k);
    }
    std::sort(places.begin(), places.end());
    if (least > kUnsureSquared * static_cast<double>(y.size()) || places.size() > kMostPlaces) return {kNoPlace, {}};
    for (const auto& [distance, place] : places) {
      if (!are_hdlc(bits_from(y, place))) continue;
      std::optional<LatticeStart> start = begin(from, fit, place);
      return {start ? kFound : kNoPlace, std::move(start)};
    }
    return {kNoHdlc, {}};
  }

  // Bits of symbols of which the first has a place in the superframe.
  std::vector<std::uint8_t> bits_from(std::span<const Cf> y, std::size_t place) const {
    constexpr std::size_t kSettles = 4;  // frames, in which descrambler and precoder forget how they began
    const std::size_t first = (kFrame - place % kFrame) % kFrame, from = first + place;
    const TrellisPlace at = place_in_superframe(p_.coding.framing, from % superframe());
    y = y.subspan(first);
    const LikelySequence likely = likely_sequence(y, p_.coding.trellis, at);
    v34::Decoder decoder(p_.coding, {0, 0, static_cast<int>(from % superframe() / kFrame)});
    std::vector<std::uint8_t> all;
    for (std::size_t k = 0; k + kFrame <= likely.points.size(); k += kFrame) {
      std::uint8_t bits[v34::kMaxMappingFrameBits], aux = 0;
      const int n = decoder.frame(&likely.points[k], bits, &aux);
      if (k >= kSettles * kFrame) all.insert(all.end(), bits, bits + n);
    }
    return all;
  }

  // The first mapping frame from which on the symbols are on the grid as those behind a window are. The symbols are
  // followed to there, and back to the beginning.
  std::optional<LatticeStart> begin(std::size_t from, const Fit& fit, std::size_t place) const {
    constexpr std::size_t kRun = 4 * kFrame;
    constexpr double kGuess = 2.0 / 3;
    const std::size_t end = std::min(from + 2 * kWindow, out_.size());
    std::vector<Cf> y = whitened(0, end, fit.gain);
    const std::vector<Cf> raw = y;
    PhaseOnGrid phase = follow(y, from, end, PhaseOnGrid(fit.turned, energy_));
    const float usual = mean_grid_error(std::span(y).last(kWindow));
    const double most = (usual + kGuess) / 2 * static_cast<double>(kRun);
    std::size_t first = end;
    Cf turned = phase.turned();
    double sum = 0;
    for (std::size_t k = end; k-- > 0;) {
      y[k] = phase.put(raw[k]);
      sum += grid_error(y[k]);
      if (k + kRun < end) sum -= grid_error(y[k + kRun]);
      if (sum > most) break;
      first = k;
      turned = phase.turned();
    }
    // Of the superframe; the window's first symbol has the known place.
    const std::size_t before = from + superframe() * (end / superframe() + 1) - first;
    std::size_t at = (place + superframe() * (before / superframe() + 1) - before) % superframe();
    for (; at % kFrame != 0; at = (at + 1) % superframe()) ++first;
    if (first + kRun > end) return std::nullopt;
    const LikelySequence likely =
        likely_sequence(std::span(y).subspan(first), p_.coding.trellis, place_in_superframe(p_.coding.framing, at));
    LatticeStart found{start_, {0, likely.states.front(), static_cast<int>(at / kFrame)}};
    found.receiver.t += static_cast<double>(first) * start_.step;
    found.receiver.phase += static_cast<double>(first) * start_.turn - std::arg(turned);
    found.receiver.phase = std::remainder(found.receiver.phase, 2 * kPi);
    for (Cf& w : found.receiver.w) w *= fit.gain;
    for (Cf& v : found.receiver.v) v *= fit.gain;
    found.receiver.power = p_.transmitted_energy();
    return found;
  }

  const v34::DataParameters& p_;
  double energy_;
  qam::NonlinearEncoder nonlinear_;
  float gain_;
  ReceiverState start_;
  std::vector<Cf> out_;
};

}  // namespace

bool are_hdlc(const std::vector<std::uint8_t>& bits) {
  constexpr std::size_t kAbort = 7, kIdle = 64;  // ones
  constexpr double kBitsOfOne = 256;             // of random bits, for each run of seven ones or more
  constexpr double kLeastExpected = 8, kMost = 0.25;
  std::size_t run = 0, aborts = 0, idle = 0;
  const auto end_run = [&] {
    if (run >= kIdle) {
      idle += run;
    } else if (run >= kAbort) {
      ++aborts;
    }
    run = 0;
  };
  for (const std::uint8_t bit : bits) {
    if (bit != 0) {
      ++run;
    } else {
      end_run();
    }
  }
  end_run();
  const double expected = static_cast<double>(bits.size() - idle) / kBitsOfOne;
  return (expected >= kLeastExpected || idle > 0) && static_cast<double>(aborts) <= kMost * expected;
}

std::optional<LatticeStart> find_lattice(SymbolReceiver& receiver, const v34::DataParameters& parameters, double end,
                                         LatticeSearch& search) {
  return Finder(receiver, parameters, end).find(search);
}

}  // namespace offhook::decode
