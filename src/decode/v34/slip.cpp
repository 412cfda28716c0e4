// SPDX-License-Identifier: MIT
#include "src/decode/v34/slip.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>
#include <vector>

#include "src/decode/v34/grid.h"
#include "src/decode/v34/likely_sequence.h"
#include "src/decode/v34/second_reading.h"

namespace offhook::decode {
namespace {

constexpr int kMostSamples = 480;
// Numbers of symbols that search for a slip, that must confirm it, and that give the place of the mapping frames. If
// some symbols take a whole number of samples and of the carrier's quarter turns, constellations fit equally well from
// there.
constexpr std::size_t kFew = 64, kMany = 200, kWhole = 960;
constexpr long kSlipFrame = v34::kSymbolsPerMappingFrame;
constexpr std::size_t kCandidates = 100;
constexpr float kAsGood = 0.1f;  // of grid_error(): this much more than the best may come by chance

// The whitened symbols of data mode, as they would be with one slip or another; equaliser and loops do not adapt.
class StillReader {
 public:
  StillReader(SymbolReceiver& receiver, const v34::DataParameters& parameters, double carrier_hz)
      : receiver_(receiver),
        start_(receiver.state),
        parameters_(parameters),
        nonlinear_(parameters.nonlinear ? v34::kNonlinearTheta : 0.f, parameters.mean_energy()),
        turn_a_sample_(2 * kPi * carrier_hz / kRateHz) {}
  ~StillReader() { receiver_.state = start_; }
  StillReader(const StillReader&) = delete;
  StillReader& operator=(const StillReader&) = delete;

  /// The first symbol, counted from the receiver's, that comes at a time or later.
  long symbol_at(double t, const Slip& slip) const {
    return std::lround(std::ceil((t - slip.samples - start_.t) / start_.step));
  }

  bool has_echo() const { return !start_.v.empty(); }

  std::vector<Cf> read(long from, std::size_t count, const Slip& slip) {
    constexpr long kMemory = 3;  // of the filter
    WhiteningFilter filter(parameters_.coding.precoder);
    receiver_.state.echo_delay = start_.echo_delay + slip.echo_samples;
    std::vector<Cf> y;
    for (long k = from - kMemory; k < from + static_cast<long>(count); ++k) {
      receiver_.state.t = start_.t + static_cast<double>(k) * start_.step + slip.samples;
      receiver_.state.phase = start_.phase + static_cast<double>(k) * start_.turn - slip.samples * turn_a_sample_;
      const Cf out = receiver_.equalise();
      float re = out.real(), im = out.imag();
      nonlinear_.decode(&re, &im);
      const Cf white = filter.put({re, im});
      if (k >= from) y.push_back(white);
    }
    return y;
  }

 private:
  SymbolReceiver& receiver_;
  const ReceiverState start_;
  const v34::DataParameters& parameters_;
  qam::NonlinearEncoder nonlinear_;
  double turn_a_sample_;
};

struct Turn {
  float error;   // mean, of the symbols after it
  double angle;  // radians
};

// The carrier's phase is known to a few degrees. @return the turn with the least error
Turn best_turn(std::span<const Cf> y, double energy) {
  constexpr double kMost = 0.15;
  const double step = 0.4 / std::sqrt(energy);
  Turn best{3, 0};
  for (int k = static_cast<int>(-kMost / step); k <= static_cast<int>(kMost / step); ++k) {
    const double angle = k * step;
    if (const float error = mean_grid_error(y, Cf(std::polar(1.0, angle))); error < best.error) best = {error, angle};
  }
  return best;
}

// Many symbols, their phase followed.
std::vector<Cf> followed(std::vector<Cf> y, double energy) {
  const Cf turned(std::polar(1.0, best_turn(std::span(y).first(kFew), energy).angle));
  return with_phase_followed(std::move(y), turned, energy);
}

// The symbol up to which the old time fits; from there on the new one does.
std::size_t change_of(std::span<const Cf> before, std::span<const Cf> behind) {
  double sum = 0, least = 0;
  std::size_t at = 0;
  for (std::size_t k = 0; k < before.size(); ++k) {
    sum += grid_error(before[k]) - grid_error(behind[k]);
    if (sum < least) least = sum, at = k + 1;
  }
  return at;
}

}  // namespace

std::optional<Slip> find_slip(SymbolReceiver& receiver, const v34::DataParameters& parameters,
                              const v34::EncoderStart& start, long first, double now, double carrier_hz) {
  const double energy = parameters.mean_energy();
  StillReader reader(receiver, parameters, carrier_hz);
  std::vector<std::pair<float, Slip>> candidates;
  const auto consider = [&](int samples, int echo_samples) {
    const Slip slip{0, samples, echo_samples};
    const std::vector<Cf> y = reader.read(reader.symbol_at(now, slip), kFew, slip);
    candidates.emplace_back(best_turn(y, energy).error, slip);
  };
  for (int k = -kMostSamples; k <= kMostSamples; ++k) {
    consider(k, 0);
    if (k == 0 || !reader.has_echo()) continue;
    consider(k, k);
    consider(0, k);
  }
  std::stable_sort(candidates.begin(), candidates.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  const float limit = candidates.front().first + kAsGood;
  std::optional<Slip> best;
  double least = kUnsureSquared;
  for (std::size_t k = 0; k < kCandidates && candidates[k].first < limit; ++k) {
    Slip slip = candidates[k].second;
    const long whole = first + reader.symbol_at(now, slip) + kSlipFrame - 1, from = whole - whole % kSlipFrame - first;
    const std::vector<Cf> y = followed(reader.read(from, kWhole, slip), energy);
    if (!on_grid(std::span(y).first(kMany))) continue;
    TrellisPlace place{v34::FramePosition(parameters.coding.framing), 0, 0};
    for (long frame = start.frame; frame < start.frame + (first + from) / kSlipFrame; ++frame) place.frame.advance();
    const double squared = likely_sequence(y, parameters.coding.trellis, place).squared / static_cast<double>(y.size());
    if (squared < least) least = squared, best = slip;
  }
  if (!best || (best->samples == 0 && best->echo_samples == 0)) return std::nullopt;  // or noise that has gone
  const auto count = static_cast<std::size_t>(std::max(0L, reader.symbol_at(now, *best))) + kMany;
  std::vector<Cf> behind = reader.read(0, count, *best);
  std::reverse(behind.begin(), behind.end());  // its phase is followed from a place with a known fit
  behind = followed(std::move(behind), energy);
  std::reverse(behind.begin(), behind.end());
  best->symbol = static_cast<std::size_t>(first) + change_of(followed(reader.read(0, count, {}), energy), behind);
  return best;
}

}  // namespace offhook::decode
