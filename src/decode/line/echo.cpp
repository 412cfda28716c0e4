// SPDX-License-Identifier: MIT
#include "src/decode/line/echo.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <deque>
#include <iterator>
#include <optional>

#include "src/decode/line/least_squares.h"
#include "src/decode/line/side_by_side.h"
#include "src/decode/line/spectrum.h"

namespace offhook::decode {
namespace {

constexpr std::size_t kWindow = 2048;  // 256 ms
constexpr std::size_t kHop = kWindow / 2;
constexpr std::size_t kShortLag = 2048;       // a network's echo
constexpr std::size_t kLongLag = 14336;       // and one by satellite, 1.8 s
constexpr double kQuiet = 100;                // mean square: 20 dB above nothing at all
constexpr double kLeastLoss = 1.5;            // of power: a louder signal is the source, or a copy
constexpr double kMuchLoss = 4;               // for an echo alone a long search may be worthwhile
constexpr double kSomeEcho = 0.3;             // share of a window that one reflection explains, if there may be others
constexpr double kEchoOnly = 0.6;             // and all of them, if there is no other signal; the rest is noise
constexpr double kStandsOut = 8;              // peak of an impulse response over its mean; of noise alone it is 5
constexpr int kBefore = 48, kPathTaps = 256;  // of a path, around its first reflection
constexpr int kFewTaps = 96;                  // around others, and to classify a window
constexpr int kReflections = 3;
constexpr double kWorthwhileDb = 6;
constexpr double kLeastLearnt = 0.4;                          // s, for another path than the last
constexpr double kSamplesATap = 6;                            // make a path worth something
constexpr std::size_t kFarTogether = 8 * kRateHz;             // stretches of one path
constexpr std::size_t kLongestLearnt = 120 * kRateHz;         // then the path is fitted, and searched again
constexpr std::size_t kBeforeStretch = kLongLag + kPathTaps;  // samples before a stretch, so that every lag is there
constexpr std::size_t kGuard = 2 * kRateHz;                   // either side, to see whether the echo is there
constexpr double kSurelyAway = 4;                             // standard deviations of its deficit

// Samples [from, to) of both channels.
struct Stretch {
  std::size_t from, to;
};

// Normal equations of own(t) = sum of taps times other(t - lag), over stretches.
class LeastSquares {
 public:
  LeastSquares(std::span<const float> own, std::span<const float> other, std::vector<Stretch> stretches,
               const std::vector<int>& lags)
      : own_(own), other_(other), stretches_(std::move(stretches)) {
    for (const Stretch& s : stretches_) energy_ += dot(own_.data(), own_.data(), s);
    extend(lags);
  }

  /// Adds lags; only their sums are computed. @param lags  increasing, with those that are there
  void extend(const std::vector<int>& lags) {
    const std::size_t n = lags.size();
    std::vector<double> a(n * n), b(n);
    std::vector<std::size_t> old(n, lag_.size());  // number of a lag in lag_
    for (std::size_t i = 0; i < n; ++i) {
      const auto there = std::lower_bound(lag_.begin(), lag_.end(), lags[i]);
      if (there != lag_.end() && *there == lags[i]) old[i] = static_cast<std::size_t>(there - lag_.begin());
    }
    const auto is_old = [&](std::size_t i) { return old[i] < lag_.size(); };
    for (std::size_t i = 0; i < n; ++i) {
      const float* x = other_.data() - lags[i];
      b[i] = is_old(i) ? b_[old[i]] : sum_of(own_.data(), x);
      for (std::size_t j = 0; j <= i; ++j) {
        const float* y = other_.data() - lags[j];
        const bool along = i > 0 && j > 0 && lags[i - 1] == lags[i] - 1 && lags[j - 1] == lags[j] - 1;
        a[i * n + j] = is_old(i) && is_old(j) ? a_[old[i] * lag_.size() + old[j]]
                       : along                ? a[(i - 1) * n + j - 1] + one_later(x, y)
                                              : sum_of(x, y);
      }
    }
    a_ = std::move(a);
    b_ = std::move(b);
    lag_ = lags;
  }

  /// Without parts of the stretches. @param kept  the rest
  void keep(std::vector<Stretch> kept, const std::vector<Stretch>& removed) {
    const LeastSquares less(own_, other_, removed, lag_);
    for (std::size_t k = 0; k < a_.size(); ++k) a_[k] -= less.a_[k];
    for (std::size_t k = 0; k < b_.size(); ++k) b_[k] -= less.b_[k];
    energy_ -= less.energy_;
    stretches_ = std::move(kept);
  }

  /// @return the taps; leaves the share of the energy that they explain in explained()
  std::vector<float> solve() {
    const std::size_t n = lag_.size();
    double trace = 0;
    for (std::size_t i = 0; i < n; ++i) trace += a_[i * n + i];
    std::vector<double> a = a_, x = b_;
    for (std::size_t i = 0; i < n; ++i) a[i * n + i] += 1e-5 * trace / static_cast<double>(n) + 1e-9;
    solve_positive_definite(a, x);
    double explained = 0;
    for (std::size_t i = 0; i < n; ++i) explained += x[i] * b_[i];
    explained_ = energy_ > 0 ? explained / energy_ : 0;
    return {x.begin(), x.end()};
  }
  double explained() const { return explained_; }

 private:
  double sum_of(const float* x, const float* y) const {
    double sum = 0;
    for (const Stretch& s : stretches_) sum += dot(x, y, s);
    return sum;
  }
  // The sum's gain one sample later in both: it is the same sum except for its ends.
  double one_later(const float* x, const float* y) const {
    double sum = 0;
    for (const Stretch& s : stretches_)
      sum += static_cast<double>(x[s.from]) * y[s.from] - static_cast<double>(x[s.to]) * y[s.to];
    return sum;
  }
  using Two = double __attribute__((vector_size(16)));
  static Two two(const float* x) {
    float __attribute__((vector_size(8))) floats;
    std::memcpy(&floats, x, sizeof floats);
    return __builtin_convertvector(floats, Two);
  }
  // In sums side by side: each addition to one waits for the one before.
  static double dot(const float* x, const float* y, const Stretch& s) {
    constexpr std::size_t kVectors = 4;
    Two sum[kVectors]{};
    std::size_t t = s.from;
    for (; t + 2 * kVectors <= s.to; t += 2 * kVectors) {
      for (std::size_t k = 0; k < kVectors; ++k) sum[k] += two(x + t + 2 * k) * two(y + t + 2 * k);
    }
    for (; t < s.to; ++t) sum[0][0] += static_cast<double>(x[t]) * y[t];
    double all = 0;
    for (const Two& part : sum) all = all + part[0] + part[1];
    return all;
  }

  std::span<const float> own_, other_;
  std::vector<Stretch> stretches_;
  std::vector<int> lag_;
  std::vector<double> a_, b_;
  double energy_ = 0, explained_ = 0;
};

std::vector<int> lags_around(int peak, int before, int taps) {
  std::vector<int> lags;
  for (int k = std::max(0, peak - before); static_cast<int>(lags.size()) < taps; ++k) lags.push_back(k);
  return lags;
}

// Whether a signal fills a band: half of the 31.25 Hz bins between 300 and 3400 Hz are within 20 dB of the strongest. A
// tone or a comb of tones is its own echo at many lags.
bool is_broad(const std::vector<oh_complex>& spectrum) {
  constexpr std::size_t kBins = 100;
  constexpr double kBinHz = 31.25;
  const double hz = static_cast<double>(kRateHz) / static_cast<double>(spectrum.size());
  double bins[kBins]{}, most = 0;
  for (std::size_t k = 0; k < kBins; ++k) {
    const auto from = static_cast<std::size_t>((300 + kBinHz * static_cast<double>(k)) / hz);
    const auto to = static_cast<std::size_t>((300 + kBinHz * static_cast<double>(k + 1)) / hz);
    for (std::size_t i = from; i < to; ++i)
      bins[k] += spectrum[i].re * spectrum[i].re + spectrum[i].im * spectrum[i].im;
    most = std::max(most, bins[k]);
  }
  const auto full = std::count_if(bins, bins + kBins, [&](double p) { return p > 0.01 * most; });
  return most > 0 && static_cast<std::size_t>(full) >= kBins / 2;
}

// Size of the impulse response from `other` to `own` over stretches, lags 0 to `lags` - 1, from their cross spectrum.
// @param fft  of kWindow + lags or more
std::vector<double> response(const Fft& fft, std::size_t lags, std::span<const float> own, std::span<const float> other,
                             const std::vector<Stretch>& stretches, bool* broad = nullptr) {
  const std::size_t n = fft.size();
  std::vector<oh_complex> cross(n), a(n), b(n);
  std::vector<double> source(n);
  for (const Stretch& s : stretches) {
    for (std::size_t at = s.from; at < s.to; at += kWindow) {
      const std::size_t length = std::min(kWindow, s.to - at);
      for (std::size_t k = 0; k < n; ++k) {
        a[k] = {k >= lags && k < lags + length ? own[at + k - lags] : 0, 0};
        b[k] = {k < lags + length ? other[at + k - lags] : 0, 0};
      }
      fft.forward(a);
      fft.forward(b);
      if (broad != nullptr) *broad = is_broad(b);
      for (std::size_t k = 0; k < n; ++k) {
        cross[k].re += a[k].re * b[k].re + a[k].im * b[k].im;
        cross[k].im += a[k].im * b[k].re - a[k].re * b[k].im;
        source[k] += static_cast<double>(b[k].re) * b[k].re + static_cast<double>(b[k].im) * b[k].im;
      }
    }
  }
  double mean = 0;
  for (const double p : source) mean += p / static_cast<double>(n);
  for (std::size_t k = 0; k < n; ++k) {
    const auto g = static_cast<float>(1 / (source[k] + 0.1 * mean + 1e-9));
    cross[k].re *= g;
    cross[k].im *= g;
  }
  fft.inverse(cross);
  std::vector<double> h(lags);
  for (std::size_t k = 0; k < lags; ++k) h[k] = std::abs(cross[k].re);
  return h;
}

// Lag of the greatest of `h` except `known` lags, and its ratio to the mean.
struct Peak {
  int lag;
  double over_mean;
};
Peak peak_of(std::vector<double> h, const std::vector<int>& known = {}) {
  for (const int k : known) {
    if (static_cast<std::size_t>(k) < h.size()) h[static_cast<std::size_t>(k)] = 0;
  }
  std::size_t at = 0;
  double mean = 0;
  for (std::size_t k = 0; k < h.size(); ++k) {
    if (h[k] > h[at]) at = k;
    mean += h[k] / static_cast<double>(h.size());
  }
  return {static_cast<int>(at), mean > 0 ? h[at] / mean : 0};
}

std::vector<float> echo_of(std::span<const float> other, const EchoPath& path, std::size_t from, std::size_t to) {
  constexpr std::size_t kLagsAtOnce = SumsSideBySide::kSize;
  std::vector<float> y(to - from);
  const auto longest = static_cast<std::size_t>(path.lag.back());
  std::size_t t = from;
  const auto one = [&] {
    for (std::size_t k = 0; k < path.lag.size() && static_cast<std::size_t>(path.lag[k]) <= t; ++k)
      y[t - from] += path.taps[k] * other[t - static_cast<std::size_t>(path.lag[k])];
    ++t;
  };
  while (t < std::min(to, longest)) one();
  for (; t + kLagsAtOnce <= to; t += kLagsAtOnce) {
    SumsSideBySide sum;
    for (std::size_t k = 0; k < path.lag.size(); ++k)
      sum.add(path.taps[k], &other[t - static_cast<std::size_t>(path.lag[k])]);
    for (std::size_t j = 0; j < kLagsAtOnce; ++j) y[t - from + j] = sum[j];
  }
  while (t < to) one();
  return y;
}

// The parts of stretches that are not among others. @param kept  within the stretches, in order
std::vector<Stretch> without(const std::vector<Stretch>& stretches, const std::vector<Stretch>& kept) {
  std::vector<Stretch> rest;
  for (Stretch s : stretches) {
    for (const Stretch& k : kept) {
      if (k.to <= s.from || k.from >= s.to) continue;
      if (k.from > s.from) rest.push_back({s.from, k.from});
      s.from = k.to;
    }
    if (s.from < s.to) rest.push_back(s);
  }
  return rest;
}

// The residual of the channel after the path; outside of the stretches it is unchanged.
std::vector<float> left_of(std::span<const float> own, std::span<const float> other,
                           const std::vector<Stretch>& stretches, const EchoPath& path) {
  std::vector<float> left(own.begin(), own.end());
  for (const Stretch& s : stretches) {
    const std::vector<float> y = echo_of(other, path, s.from, s.to);
    for (std::size_t t = s.from; t < s.to; ++t) left[t] -= y[t - s.from];
  }
  return left;
}

// Adds one more reflection from the path's residual, if it is distinct.
bool add_reflection(const Fft& fft, std::span<const float> left, std::span<const float> other,
                    const std::vector<Stretch>& stretches, EchoPath& path) {
  const Peak next = peak_of(response(fft, kLongLag, left, other, stretches), path.lag);
  if (next.over_mean < kStandsOut) return false;
  const std::vector<int> more = lags_around(next.lag, kFewTaps / 4, kFewTaps);
  std::vector<int> all;
  std::set_union(path.lag.begin(), path.lag.end(), more.begin(), more.end(), std::back_inserter(all));
  path.lag = std::move(all);
  return true;
}

// The intervals without the parts that the path explains badly: there the channel has another signal.
std::vector<Stretch> well_explained(std::span<const float> left, std::span<const float> other,
                                    const std::vector<Stretch>& stretches) {
  constexpr std::size_t kEchoBlock = kHop / 4;
  constexpr std::size_t kLeast = kRateHz / 4 / kEchoBlock;  // blocks
  struct Block {
    std::size_t at;
    double left, source;
  };
  std::vector<Block> blocks;
  double source = 0;
  for (const Stretch& s : stretches) {
    for (std::size_t t = s.from; t + kEchoBlock <= s.to; t += kEchoBlock) {
      blocks.push_back({t, mean_power(left.subspan(t, kEchoBlock)), mean_power(other.subspan(t, kEchoBlock))});
      source += blocks.back().source;
    }
  }
  std::erase_if(blocks,
                [least = source / static_cast<double>(4 * blocks.size())](const Block& b) { return b.source < least; });
  std::vector<double> sorted;
  sorted.reserve(blocks.size());
  for (const Block& b : blocks) sorted.push_back(b.left);
  std::sort(sorted.begin(), sorted.end());
  if (sorted.empty()) return stretches;
  const double most = std::max(4 * sorted[sorted.size() / 20], sorted[std::min(sorted.size() - 1, kLeast)]);
  std::vector<Stretch> kept;
  for (const Block& b : blocks) {
    if (b.left > most) continue;
    if (!kept.empty() && kept.back().to == b.at) {
      kept.back().to += kEchoBlock;
    } else {
      kept.push_back({b.at, b.at + kEchoBlock});
    }
  }
  return kept;
}

double energy_left(std::span<const float> own, std::span<const float> other, const std::vector<Stretch>& stretches,
                   const EchoPath& path) {
  const std::vector<float> left = left_of(own, other, stretches, path);
  double sum = 0;
  for (const Stretch& s : stretches) {
    sum += static_cast<double>(s.to - s.from) * mean_power(std::span(left).subspan(s.from, s.to - s.from));
  }
  return sum;
}

// The samples of a channel from kBeforeStretch before `from` to one behind `to`; silence before the channel. An
// interval is processed in pieces of this length, so that it takes the same time in a long recording as in a short one.
std::vector<float> around(std::span<const float> x, std::size_t from, std::size_t to) {
  const std::size_t silence = kBeforeStretch - std::min(kBeforeStretch, from);
  std::vector<float> y(silence);
  const std::size_t begin = from + silence - kBeforeStretch;
  const auto some = x.subspan(begin, std::min(x.size(), to + 1) - begin);
  y.insert(y.end(), some.begin(), some.end());
  return y;
}

// @param last  the path until then, or null  @return none if it gains nothing, or equals the last
std::optional<EchoPath> fit(const Fft& fft, std::span<const float> own_channel, std::span<const float> other_channel,
                            std::vector<Stretch> stretches, int lag, const EchoPath* last) {
  EchoPath path;
  const std::size_t first = stretches.front().from;
  path.t0 = static_cast<double>(first) / kRateHz;
  path.t1 = static_cast<double>(stretches.back().to) / kRateHz;
  const std::vector<float> own_near = around(own_channel, first, stretches.back().to),
                           other_near = around(other_channel, first, stretches.back().to);
  const std::span<const float> own = own_near, other = other_near;
  for (Stretch& s : stretches) s = {s.from - first + kBeforeStretch, s.to - first + kBeforeStretch};
  path.lag = lags_around(lag, kBefore, kPathTaps);
  LeastSquares squares(own, other, stretches, path.lag);
  path.taps = squares.solve();
  // All reflections first: a late one does not exist in the beginning, which would then seem to be explained best.
  const auto add = [&] {
    const bool room = path.lag.size() < kPathTaps + (kReflections - 1) * kFewTaps;
    return room && add_reflection(fft, left_of(own, other, stretches, path), other, stretches, path);
  };
  while (add()) {
    squares.extend(path.lag);
    path.taps = squares.solve();
  }
  std::vector<Stretch> kept = well_explained(left_of(own, other, stretches, path), other, stretches);
  squares.keep(kept, without(stretches, kept));
  stretches = std::move(kept);
  if (add()) squares.extend(path.lag);
  path.taps = squares.solve();
  double before = 0, source = 0;
  for (const Stretch& s : stretches) {
    const auto length = static_cast<double>(s.to - s.from);
    before += length * mean_power(own.subspan(s.from, s.to - s.from));
    source += length * mean_power(other.subspan(s.from, s.to - s.from));
    path.learnt_s += length / kRateHz;
  }
  const double after = energy_left(own, other, stretches, path);
  path.loss_db = 10 * std::log10(source / std::max(before - after, 1e-9));
  path.enhancement_db = 10 * std::log10(before / std::max(after, 1e-9));
  if (last != nullptr && (path.learnt_s < kLeastLearnt || energy_left(own, other, stretches, *last) < 2 * after)) {
    return std::nullopt;
  }
  const bool enough = path.learnt_s * kRateHz > kSamplesATap * static_cast<double>(path.taps.size());
  if (!enough || path.enhancement_db < kWorthwhileDb) return std::nullopt;
  return path;
}

// Looks for windows that hold nothing but an echo.
class Windows {
 public:
  /// @return the delay of the echo in a window that holds nothing else, or -1
  int echo_alone(std::span<const float> own_channel, std::span<const float> other_channel, std::size_t from) const {
    const double here = mean_power(own_channel.subspan(from, kWindow)),
                 source = mean_power(other_channel.subspan(from, kWindow));
    if (source < kQuiet || here * kLeastLoss > source || here < 0.25) return -1;
    const std::vector<float> own = around(own_channel, from, from + kWindow),
                             other = around(other_channel, from, from + kWindow);
    const Stretch window{kBeforeStretch, kBeforeStretch + kWindow};
    bool broad = false;
    Peak peak = peak_of(response(short_, kShortLag, own, other, {window}, &broad));
    if (!broad) return -1;
    if (peak.over_mean < kStandsOut && here * kMuchLoss < source) {
      peak = peak_of(response(long_, kLongLag, own, other, {window}));
    }
    if (peak.over_mean < kStandsOut) return -1;
    EchoPath path;
    path.lag = lags_around(peak.lag, kFewTaps / 4, kFewTaps);
    LeastSquares squares(own, other, {window}, path.lag);
    path.taps = squares.solve();
    for (int k = 1; k < kReflections && squares.explained() > kSomeEcho && squares.explained() < kEchoOnly; ++k) {
      if (!add_reflection(long_, left_of(own, other, {window}, path), other, {window}, path)) break;
      squares.extend(path.lag);
      path.taps = squares.solve();
    }
    return squares.explained() < kEchoOnly ? -1 : peak.lag;
  }
  const Fft& fft() const { return long_; }

 private:
  Fft short_{2 * kWindow}, long_{16384};
};

}  // namespace

double EchoPath::delay_ms() const {
  const auto strongest =
      std::max_element(taps.begin(), taps.end(), [](float a, float b) { return std::abs(a) < std::abs(b); });
  return strongest == taps.end() ? 0 : 1000.0 * lag[static_cast<std::size_t>(strongest - taps.begin())] / kRateHz;
}

std::vector<EchoPath> find_echo_paths(std::span<const float> own, std::span<const float> other) {
  const Windows windows;
  std::vector<EchoPath> paths;
  std::vector<Stretch> stretches;
  int lag = 0;
  const auto close = [&] {
    if (stretches.empty()) return;
    const EchoPath* const last = paths.empty() ? nullptr : &paths.back();
    if (auto path = fit(windows.fft(), own, other, stretches, lag, last)) paths.push_back(std::move(*path));
    stretches.clear();
  };
  for (std::size_t at = 0; at + kWindow < own.size(); at += kHop) {
    const Stretch window{at, at + kWindow};
    const int here = windows.echo_alone(own, other, at);
    if (here < 0) continue;
    if (!stretches.empty() && (at > stretches.back().to + kFarTogether ||
                               at > stretches.front().from + kLongestLearnt || std::abs(here - lag) > kBefore / 2))
      close();
    if (stretches.empty()) lag = here;
    if (!stretches.empty() && at <= stretches.back().to) {
      stretches.back().to = window.to;
    } else {
      stretches.push_back(window);
    }
  }
  close();
  return paths;
}

namespace {

// A part of a channel that is cleaned at once: samples [at, end) of the stretch that a path serves.
struct Piece {
  std::size_t channel;
  const EchoPath* path;
  Stretch stretch;
  std::size_t at, end;
  // The first sample that the work needs, of either channel.
  std::size_t needs() const { return at - std::min(at, kGuard + kBeforeStretch); }
};

std::vector<Piece> pieces_of(std::size_t channel, std::span<const EchoPath> paths, std::size_t size) {
  constexpr std::size_t kPiece = 8 * kGuard;
  std::vector<Piece> pieces;
  const auto sample = [](double t) { return static_cast<std::size_t>(t * kRateHz); };
  for (std::size_t k = 0; k < paths.size(); ++k) {
    const Stretch stretch{k == 0 ? 0 : sample(paths[k].t0), k + 1 < paths.size() ? sample(paths[k + 1].t0) : size};
    for (std::size_t at = stretch.from; at < stretch.to; at += kPiece)
      pieces.push_back({channel, &paths[k], stretch, at, std::min(stretch.to, at + kPiece)});
  }
  return pieces;
}

// @return [end - at]: the samples of a piece less the echo, if it is present
std::vector<float> clean(std::span<const float> own, std::span<const float> other, const Piece& p) {
  const std::size_t from = std::max(p.stretch.from, p.at - std::min(p.at, kGuard));
  const std::vector<float> y = echo_of(other, *p.path, from, std::min(p.stretch.to, p.end + kGuard));
  // The share of the estimate that is present, over some seconds. The channel's own signal makes it more uncertain for
  // fainter echoes: only the certainly absent part is left out.
  std::vector<double> both(y.size() + 1), alone(y.size() + 1), here(y.size() + 1);
  for (std::size_t t = 0; t < y.size(); ++t) {
    both[t + 1] = both[t] + static_cast<double>(y[t]) * own[from + t];
    alone[t + 1] = alone[t] + static_cast<double>(y[t]) * y[t];
    here[t + 1] = here[t] + static_cast<double>(own[from + t]) * own[from + t];
  }
  std::vector<float> left;
  left.reserve(p.end - p.at);
  for (std::size_t t = p.at - from; t < p.end - from; ++t) {
    const std::size_t a = t - std::min(t, kGuard);
    const std::size_t b = std::min(y.size(), t + kGuard);
    const double echo = alone[b] - alone[a], lacks = echo - (both[b] - both[a]);
    const double by_chance = std::sqrt(echo * (here[b] - here[a]) / static_cast<double>(b - a));
    left.push_back(own[from + t] - (lacks < std::max(0.5 * echo, kSurelyAway * by_chance) ? y[t] : 0.f));
  }
  return left;
}

}  // namespace

void take_echo_off(const std::array<std::span<float>, 2>& channel,
                   const std::array<std::span<const EchoPath>, 2>& paths) {
  std::vector<Piece> pieces = pieces_of(0, paths[0], channel[0].size());
  const std::vector<Piece> more = pieces_of(1, paths[1], channel[1].size());
  pieces.insert(pieces.end(), more.begin(), more.end());
  std::stable_sort(pieces.begin(), pieces.end(), [](const Piece& a, const Piece& b) { return a.at < b.at; });
  // A piece is computed from both original channels: clean samples are put back when no later piece needs the original.
  struct Clean {
    std::span<float> place;
    std::size_t end;
    std::vector<float> samples;
  };
  std::deque<Clean> waiting;
  const auto put_back = [&waiting](std::size_t needed_from) {
    std::erase_if(waiting, [&](const Clean& c) {
      if (c.end > needed_from) return false;
      std::copy(c.samples.begin(), c.samples.end(), c.place.begin());
      return true;
    });
  };
  for (const Piece& p : pieces) {
    put_back(p.needs());
    const std::span<float> own = channel[p.channel];
    waiting.push_back({own.subspan(p.at, p.end - p.at), p.end, clean(own, channel[1 - p.channel], p)});
  }
  put_back(channel[0].size());
}

}  // namespace offhook::decode
