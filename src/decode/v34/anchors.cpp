// SPDX-License-Identifier: MIT
#include "src/decode/v34/anchors.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "src/decode/line/half_symbols.h"
#include "src/decode/line/spectrum.h"
#include "src/decode/v34/known_symbols.h"

namespace offhook::decode {
namespace {

constexpr int kBlock = 48;           // symbols that are correlated coherently: 7 Hz turn by a tenth in 14 ms
constexpr double kLeastPath = 0.12;  // of an anchor's energy, in its strongest symbol

// Share of the energy at T/2 sample k that the known symbols explain, by blocks.
double correlation(const std::vector<Cf>& z, std::size_t k, const std::vector<Cf>& known) {
  double explained = 0, energy = 0;
  for (std::size_t b = 0; b + kBlock <= known.size(); b += kBlock) {
    float re = 0, im = 0, e = 0, r = 0;
    for (std::size_t i = b; i < b + kBlock; ++i) {
      const Cf x = z[k + 2 * i], s = known[i];
      re += x.real() * s.real() + x.imag() * s.imag();
      im += x.imag() * s.real() - x.real() * s.imag();
      e += std::norm(x);
      r += std::norm(s);
    }
    explained += re * re + im * im;
    energy += e * r;
  }
  return energy > 0 ? explained / energy : 0;
}

constexpr std::size_t kSymbols = 8;            // either side, that a line may spread a symbol over
constexpr std::size_t kAround = 2 * kSymbols;  // the same in half symbols

// The power explained by the correlations at `k` and at the symbols around it, beyond that of chance.
template <class Correlation>
double over_paths(std::size_t k, std::size_t size, Correlation&& at) {
  double sum = 0;
  for (std::size_t i = k - std::min(k / 2, kSymbols) * 2; i <= k + 2 * kSymbols && i < size; i += 2) {
    sum += std::max(0.0, static_cast<double>(at(i)) - 1.0 / kBlock);
  }
  return sum;
}

// The same of every T/2 sample at once, of the blocks of `known`, by FFT: to a few millionths.
class Roughly {
 public:
  explicit Roughly(const std::vector<Cf>& known) : blocks_(known.size() / kBlock), fft_(kFft) {
    for (std::size_t b = 0; b < blocks_; ++b) {
      double energy = 0;
      std::vector<oh_complex> s(kFft);
      for (std::size_t i = 0; i < kBlock; ++i) {
        const Cf x = known[b * kBlock + i];
        s[i] = {x.real(), x.imag()};
        energy += std::norm(x);
      }
      fft_.forward(s);
      known_.push_back(std::move(s));
      energy_.push_back(energy);
    }
  }

  // @param z  whose first `count` samples, and those behind them that the blocks need, are looked at
  std::vector<float> operator()(const std::vector<Cf>& z, std::size_t count) const {
    std::vector<double> explained(count), energy(count);
    for (std::size_t parity = 0; parity < 2; ++parity) {
      const std::size_t size = (z.size() - std::min(z.size(), parity) + 1) / 2;
      for (std::size_t b = 0; b < blocks_; ++b) {
        for (std::size_t from = 0; parity + 2 * from < count; from += kValid)
          add(z, parity, size, b, from, explained, energy);
      }
    }
    std::vector<float> share(count);
    for (std::size_t k = 0; k < count; ++k)
      share[k] = energy[k] > 0 ? static_cast<float>(explained[k] / energy[k]) : 0.f;
    return share;
  }

 private:
  static constexpr std::size_t kFft = 512, kValid = kFft - kBlock + 1;

  // Block `b` at the places `from` to `from` + kValid of a parity.
  void add(const std::vector<Cf>& z, std::size_t parity, std::size_t size, std::size_t b, std::size_t from,
           std::vector<double>& explained, std::vector<double>& energy) const {
    const std::size_t first = from + b * kBlock;
    std::vector<oh_complex> x(kFft);
    std::vector<double> power(kFft + 1);
    for (std::size_t i = 0; i < kFft; ++i) {
      const Cf v = first + i < size ? z[parity + 2 * (first + i)] : Cf{};
      x[i] = {v.real(), v.imag()};
      power[i + 1] = power[i] + std::norm(v);
    }
    fft_.forward(x);
    const std::vector<oh_complex>& s = known_[b];
    for (std::size_t i = 0; i < kFft; ++i) x[i] = times_conj(x[i], s[i]);
    fft_.inverse(x);
    for (std::size_t i = 0; i < kValid; ++i) {
      const std::size_t k = parity + 2 * (from + i);
      if (k >= explained.size()) break;
      explained[k] += static_cast<double>(x[i].re) * x[i].re + static_cast<double>(x[i].im) * x[i].im;
      energy[k] += (power[i + kBlock] - power[i]) * energy_[b];
    }
  }

  std::size_t blocks_;
  Fft fft_;
  std::vector<std::vector<oh_complex>> known_;
  std::vector<double> energy_;
};

// The strongest of each likeness to `known` in samples T/2 apart.
struct Peak {
  std::size_t at;
  double correlation;
};
class Peaks {
 public:
  Peaks(bool is_pp, v34::TrainingPoints of_points, std::vector<Cf> known)
      : pp(is_pp),
        points(of_points),
        known_(std::move(known)),
        head_(known_.begin(), known_.begin() + 2 * kBlock),
        roughly_(head_) {}

  const bool pp;
  const v34::TrainingPoints points;
  std::size_t span() const { return 2 * known_.size(); }
  const std::vector<Peak>& found() const { return peaks_; }

  /// Looks at half symbols `from` to `to`. @param z  from kAround before `from`, or 0, to kAround and a span behind
  /// `to`
  /// @param first  the number of z[0]  @param size  of the whole
  void look(const std::vector<Cf>& z, std::size_t first, std::size_t from, std::size_t to, std::size_t size) {
    if (size < span()) return;
    const std::size_t end = size - span() + 1;  // of possible begins of `known`
    const std::size_t alike_end = std::min(end, to + kAround + 1);
    if (alike_end <= first) return;
    const std::vector<float> alike = roughly_(z, alike_end - first);
    const auto roughly = [&](std::size_t i) { return alike[i - first]; };
    for (std::size_t k = from; k < std::min(to, end); ++k) {
      // A line that disperses has a share at each of many symbols; the strongest is the anchor.
      if (roughly(k) < kLeastPath || over_paths(k, end, roughly) < 0.25) continue;
      const double c = correlation(z, k - first, known_);
      const auto exactly = [&](std::size_t i) { return i == k ? c : correlation(z, i - first, known_); };
      if (c < kLeastPath || over_paths(k, end, exactly) < 0.4) continue;
      if (peaks_.empty() || k > peaks_.back().at + span()) {
        peaks_.push_back({k, c});
      } else if (c > peaks_.back().correlation) {
        peaks_.back() = {k, c};
      }
    }
  }

 private:
  std::vector<Cf> known_, head_;
  Roughly roughly_;
  std::vector<Peak> peaks_;
};

}  // namespace

std::vector<Anchor> find_anchors(const Baseband& line, const Direction& direction, double from_s, double to_s) {
  const double half = kRateHz / symbol_rate_hz(direction.rate) / 2;
  const double first = std::max(0.0, from_s) * kRateHz;
  const double last = std::min(static_cast<double>(line.size()), to_s * kRateHz);
  if (last <= first) return {};
  constexpr std::size_t kPiece = 32768;
  HalfSymbols z(line, first, half, static_cast<std::size_t>((last - first) / half));
  std::vector<Peaks> searches;
  searches.emplace_back(true, v34::TrainingPoints::k4, pp_symbols());
  for (const auto points : {v34::TrainingPoints::k4, v34::TrainingPoints::k16})
    searches.emplace_back(false, points, trn_symbols(direction.scrambling, points, 6 * kBlock));
  std::size_t span = 0;
  for (const Peaks& search : searches) span = std::max(span, search.span());
  for (std::size_t at = 0; at < z.size(); at += kPiece) {
    const std::size_t from = at - std::min(at, kAround);
    const std::vector<Cf>& piece = z.piece(from, at + kPiece + kAround + span + 1);
    for (Peaks& search : searches) search.look(piece, from, at, at + kPiece, z.size());
  }
  std::vector<Anchor> found;
  for (const Peaks& search : searches) {
    for (const Peak& p : search.found()) found.push_back({z.sample(p.at), search.pp, search.points, p.correlation});
  }
  std::sort(found.begin(), found.end(), [](const Anchor& a, const Anchor& b) { return a.t < b.t; });
  const double pp_samples = v34::kPpSymbols * 2 * half;
  const auto together = [&](const Anchor& pp, const Anchor& trn) {
    return pp.pp && !trn.pp && std::abs(trn.t - pp.t - pp_samples) < 4 * half;
  };
  std::vector<Anchor> kept;
  for (const Anchor& a : found) {
    const bool paired = std::any_of(found.begin(), found.end(),
                                    [&](const Anchor& b) { return a.pp ? together(a, b) : together(b, a); });
    if (paired == a.pp) kept.push_back(a);
  }
  return kept;
}

}  // namespace offhook::decode
