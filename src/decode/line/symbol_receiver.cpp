// SPDX-License-Identifier: MIT
#include "src/decode/line/symbol_receiver.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <optional>

#include "dsp/blocks/sincos.h"
#include "src/decode/line/least_squares.h"
#include "src/decode/line/spectrum.h"

namespace offhook::decode {
namespace {

constexpr float kLeastEnergy = 0.25f;  // of its mean: with less, nothing is to be learnt
constexpr double kLongestEchoS = 0.2, kEarlyEchoS = 0.005;
constexpr double kEchoOverChance = 25;  // of the best lag; chance alone gives 10 or so
constexpr double kLeastSource = 1e-3;   // power of the other direction, relative to this one, while its echo is learnt

struct Likeness {
  int lag = 0;
  double share = 0, energy = 1;  ///< of `left`; of the other direction
};

/// The correlations of `left` with every second one of `u`, from `parity` on: how strongly it lies at each place of
/// that parity. By FFT, to a few millionths of the energies.
std::vector<float> correlations(std::span<const Cf> left, std::span<const Cf> u, std::size_t parity) {
  const std::size_t inputs = (u.size() - parity + 1) / 2, places = inputs - left.size() + 1;
  constexpr std::size_t kUsual = 4096;
  static const Fft usual(kUsual);
  std::optional<Fft> larger;
  const Fft& fft = inputs <= kUsual ? usual : larger.emplace(std::bit_ceil(inputs));
  std::vector<oh_complex> a(fft.size()), b(fft.size());
  for (std::size_t i = 0; i < left.size(); ++i) a[i] = {left[i].real(), left[i].imag()};
  for (std::size_t k = 0; k < inputs; ++k) b[k] = {u[parity + 2 * k].real(), u[parity + 2 * k].imag()};
  fft.forward(a);
  fft.forward(b);
  for (std::size_t k = 0; k < a.size(); ++k) b[k] = times_conj(b[k], a[k]);
  fft.inverse(b);
  std::vector<float> squared(places);
  for (std::size_t k = 0; k < places; ++k) squared[k] = b[k].re * b[k].re + b[k].im * b[k].im;
  return squared;
}

/// The share of `left` that the symbols of `u` from a place on explain.
double share_at(std::span<const Cf> left, std::span<const Cf> u, std::size_t place, double all, double* energy) {
  float re = 0, im = 0;
  *energy = 1e-9;
  for (std::size_t i = 0; i < left.size(); ++i) {
    const Cf x = u[place + 2 * i];
    re += left[i].real() * x.real() + left[i].imag() * x.imag();
    im += left[i].imag() * x.real() - left[i].real() * x.imag();
    *energy += std::norm(x);
  }
  return (re * re + im * im) / *energy / all;
}

/// Best match of `left` with the other direction. @param u  that one, two per symbol, from `lags` before the first
Likeness most_alike(const std::vector<Cf>& left, const std::vector<Cf>& u, int early, int lags) {
  constexpr double kNearBest = 0.999;  // the correlations are that exact: these are computed again
  const std::size_t last = static_cast<std::size_t>(lags + early);  // place of the earliest lag in u
  double all = 1e-12;
  for (const Cf e : left) all += std::norm(e);
  std::vector<double> share(last + 1);
  double most = 0;
  for (std::size_t parity = 0; parity < 2; ++parity) {
    const std::vector<float> squared = correlations(left, u, parity);
    double energy = 1e-9;
    for (std::size_t i = 0; i < left.size(); ++i) energy += std::norm(u[parity + 2 * i]);
    for (std::size_t place = parity; place <= last; place += 2) {
      share[place] = squared[place / 2] / std::max(energy, 1e-9) / all;
      if (place > 0) most = std::max(most, share[place]);
      energy -= std::norm(u[place]);
      if (place + 2 * left.size() < u.size()) energy += std::norm(u[place + 2 * left.size()]);
    }
  }
  Likeness best;
  if (most <= 0) return best;
  for (std::size_t place = last; place >= 1; --place) {
    if (share[place] < kNearBest * most) continue;
    double energy = 0;
    const double exact = share_at(left, u, place, all, &energy);
    if (exact > best.share) best = {lags - static_cast<int>(place), exact, energy};
  }
  return best;
}

/// The sum of conj(x[2 i]) y[2 i], i below n.
Cd sum_of_products(std::span<const Cf> x, std::span<const Cf> y, std::size_t n) {
  double re = 0, im = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const double a = x[2 * i].real(), b = x[2 * i].imag(), c = y[2 * i].real(), d = y[2 * i].imag();
    re += a * c + b * d;
    im += a * d - b * c;
  }
  return {re, im};
}

}  // namespace

SymbolReceiver::SymbolReceiver(const Baseband& line, const Baseband* other, double symbol_rate_hz, double slope_hz)
    : expected_step(kRateHz / symbol_rate_hz),
      line_(line),
      other_(other),
      nominal_step_(kRateHz / symbol_rate_hz),
      slope2_(std::pow(2 * kPi * slope_hz / kRateHz, 2)) {
  state.step = nominal_step_;
  state.w.assign(kTaps, {});
}

// Neighbouring symbols share all inputs but two. The clock moves so little from one symbol to the next that those
// inputs may stay where they are; the loops move each by less than the interpolator's step.
void SymbolReceiver::gather(double t) {
  constexpr double kSameClock = 0.02;  // samples
  const double half = state.step / 2;
  const bool follows = std::abs(t - gathered_t_ - state.step) < kSameClock;
  // @return the first of the inputs that are new
  const auto shift = [](std::vector<Cf>& x, std::size_t size, bool same) {
    same = same && x.size() == size && size > 2;
    x.resize(size);
    if (same) std::copy(x.begin() + 2, x.end(), x.begin());
    return same ? size - 2 : 0;
  };
  const std::size_t from = shift(z_, state.w.size(), follows), middle = z_.size() / 2;
  shift(dz_, state.w.size(), from > 0);
  const double first = t - static_cast<double>(middle) * half;
  for (std::size_t k = from; k < z_.size(); ++k) line_.at(first + static_cast<double>(k) * half, &z_[k], &dz_[k]);
  for (std::size_t k = shift(u_, state.v.size(), follows && state.echo_delay == gathered_delay_); k < u_.size(); ++k)
    u_[k] = other_->at(t - state.echo_delay + (static_cast<double>(k) - kEchoMiddle) * half);
  gathered_t_ = t;
  gathered_delay_ = state.echo_delay;
}

// Neighbouring symbols share all inputs but two: each half symbol is interpolated once.
SymbolReceiver::Equations SymbolReceiver::equations(double t, std::size_t symbols) const {
  const std::size_t taps = state.w.size(), echo_taps = state.v.size(), n = taps + echo_taps;
  const double half = state.step / 2, first = t - static_cast<double>(taps / 2) * half;
  std::vector<Cf> own(symbols > 0 ? 2 * (symbols - 1) + taps : 0),
      other(echo_taps > 0 ? own.size() - taps + echo_taps : 0);
  for (std::size_t k = 0; k < own.size(); ++k) own[k] = line_.at(first + static_cast<double>(k) * half);
  for (std::size_t k = 0; k < other.size(); ++k)
    other[k] = other_->at(t - state.echo_delay + (static_cast<double>(k) - kEchoMiddle) * half);
  Equations e{
      .inputs = std::vector<Cf>(symbols * n), .re = std::vector<double>(n * n), .im = std::vector<double>(n * n)};
  for (std::size_t i = 0; i < symbols; ++i) {
    Cf* const z = &e.inputs[i * n];
    std::copy_n(own.begin() + static_cast<long>(2 * i), taps, z);
    if (echo_taps > 0) std::copy_n(other.begin() + static_cast<long>(2 * i), echo_taps, z + taps);
  }
  if (symbols > 0) e.correlate(own, other, taps);
  return e;
}

// Element (r, k) sums conj(input r) times input k over the symbols. From symbol to symbol the inputs advance
// by two. So (r, k) equals (r - 2, k - 2) without its first product and with one new product, and only two rows or
// columns of each part are summed.
void SymbolReceiver::Equations::correlate(std::span<const Cf> own, std::span<const Cf> other, std::size_t taps) {
  const std::size_t n = taps + (other.empty() ? 0 : other.size() - own.size() + taps), symbols = inputs.size() / n;
  const auto input = [&](std::size_t k) { return k < taps ? own.subspan(k) : other.subspan(k - taps); };
  for (std::size_t r = 0; r < n; ++r) {
    const std::span<const Cf> x = input(r);
    for (std::size_t k = 0; k <= r; ++k) {
      const std::span<const Cf> y = input(k);
      const bool summed = k < 2 || r - taps < 2 || k - taps < 2;
      Cd sum;
      if (summed) {
        sum = sum_of_products(x, y, symbols);
      } else {
        const Cd before{re[(r - 2) * n + k - 2], im[(r - 2) * n + k - 2]};
        const Cf* const p = x.data() - 2;
        const Cf* const q = y.data() - 2;
        sum = before - times_conj(Cd(q[0]), Cd(p[0])) + times_conj(Cd(q[2 * symbols]), Cd(p[2 * symbols]));
      }
      re[r * n + k] = sum.real();
      im[r * n + k] = sum.imag();
    }
  }
}

// With the phase and the turn of `state`, which the matrix does not depend on.
double SymbolReceiver::solve(const Equations& e, const std::vector<Cf>& known) {
  const std::size_t taps = state.w.size(), n = taps + state.v.size();
  std::vector<Cd> a(n * n), b(n);
  double energy = 0, trace = 0;
  for (std::size_t i = 0; i < known.size(); ++i) {
    const Cd symbol = Cd(known[i]) * std::polar(1.0, state.phase + state.turn * static_cast<double>(i));
    const double sr = symbol.real(), si = symbol.imag();
    energy += sr * sr + si * si;
    for (std::size_t r = 0; r < n; ++r) {  // conj(input r) times the symbol
      const double p = e.inputs[i * n + r].real(), q = e.inputs[i * n + r].imag();
      b[r] += Cd(p * sr + q * si, p * si - q * sr);
    }
  }
  for (std::size_t r = 0; r < n; ++r) trace += e.re[r * n + r];
  for (std::size_t r = 0; r < n; ++r) {
    for (std::size_t k = 0; k <= r; ++k) a[r * n + k] = {e.re[r * n + k], e.im[r * n + k]};
    a[r * n + r] += 1e-6 * trace / static_cast<double>(n) + 1e-9;
  }
  const std::vector<Cd> rhs = b;
  solve_positive_definite(a, b);
  double explained = 0;
  for (std::size_t r = 0; r < n; ++r) explained += (std::conj(b[r]) * rhs[r]).real();
  for (std::size_t r = 0; r < taps; ++r) state.w[r] = Cf(b[r]);
  for (std::size_t r = taps; r < n; ++r) state.v[r - taps] = Cf(b[r]);
  return std::max(0.0, 1 - explained / energy);
}

double SymbolReceiver::solve(double t, const std::vector<Cf>& known) {
  return solve(equations(t, known.size()), known);
}

void SymbolReceiver::find_echo(double t, const std::vector<Cf>& known) {
  // Best match of the equaliser's residual with the other channel, up to 200 ms before.
  state.t = t;
  state.phase = 0;
  const ReceiverState before = state;
  const double half = state.step / 2;
  const int lags = static_cast<int>(kLongestEchoS * kRateHz / half);
  const int early = static_cast<int>(kEarlyEchoS * kRateHz / half);
  std::vector<Cf> left;
  for (std::size_t i = 0; i < known.size(); ++i) {
    left.push_back(times(known[i] - equalise(), Cf(std::polar(1.0, state.phase))));
    state.t += state.step;
    state.phase += state.turn;
  }
  state = before;
  std::vector<Cf> u(2 * known.size() + static_cast<std::size_t>(lags + early));
  for (std::size_t k = 0; k < u.size(); ++k) u[k] = other_->at(t + (static_cast<double>(k) - lags) * half);
  double own_energy = 0;
  for (std::size_t i = 0; i < known.size(); ++i) {
    own_energy += std::norm(line_.at(t + static_cast<double>(i) * state.step));
  }
  const Likeness best = most_alike(left, u, early, lags);
  // Chance alone gives 10 / symbols or so. Silence has no echo, nor has the residual of this direction's own echo.
  if (best.share < kEchoOverChance / static_cast<double>(known.size()) ||
      best.energy < std::max(1.0, kLeastSource * own_energy))
    return;
  state.echo_delay = best.lag * half;
  state.v.assign(kEchoTaps, {});
}

double SymbolReceiver::learn_echo(std::span<const Decided> symbols) {
  if (other_ == nullptr || symbols.size() < 2) return 0;
  const double half = state.step / 2;
  const int lags = static_cast<int>(kLongestEchoS * kRateHz / half),
            early = static_cast<int>(kEarlyEchoS * kRateHz / half);
  const std::size_t n = symbols.size();
  // Includes the output of the present taps: they are replaced.
  std::vector<Cf> target(n);
  double before = 1e-12;
  for (std::size_t i = 0; i < n; ++i) {
    target[i] = times(symbols[i].error, Cf(std::polar(1.0, symbols[i].phase)));
    before += std::norm(target[i]);
    for (std::size_t k = 0; k < state.v.size(); ++k) {
      const double at = symbols[i].t - state.echo_delay + (static_cast<double>(k) - kEchoMiddle) * half;
      target[i] += times(state.v[k], other_->at(at));
    }
  }
  std::vector<Cf> u(2 * n + static_cast<std::size_t>(lags + early));
  const double t0 = symbols.front().t, spacing = (symbols.back().t - t0) / static_cast<double>(2 * (n - 1));
  for (std::size_t k = 0; k < u.size(); ++k) u[k] = other_->at(t0 + (static_cast<double>(k) - lags) * spacing);
  const Likeness best = most_alike(target, u, early, lags);
  if (best.share < kEchoOverChance / static_cast<double>(n) || best.energy < static_cast<double>(n)) return 0;
  const double delay = best.lag * half;
  std::vector<Cd> a(kEchoTaps * kEchoTaps), b(kEchoTaps);
  std::vector<Cf> x(kEchoTaps);
  double trace = 0;
  for (std::size_t i = 0; i < n; ++i) {
    for (int k = 0; k < kEchoTaps; ++k) {
      x[static_cast<std::size_t>(k)] = other_->at(symbols[i].t - delay + (k - kEchoMiddle) * half);
    }
    for (std::size_t r = 0; r < kEchoTaps; ++r) {
      b[r] += Cd(times_conj(target[i], x[r]));
      for (std::size_t k = 0; k <= r; ++k) a[r * kEchoTaps + k] += Cd(times_conj(x[k], x[r]));
    }
  }
  for (std::size_t r = 0; r < kEchoTaps; ++r) trace += a[r * kEchoTaps + r].real();
  for (std::size_t r = 0; r < kEchoTaps; ++r) a[r * kEchoTaps + r] += 1e-4 * trace / kEchoTaps + 1e-9;
  solve_positive_definite(a, b);
  state.v.assign(kEchoTaps, {});
  for (std::size_t r = 0; r < kEchoTaps; ++r) state.v[r] = Cf(b[r]);
  state.echo_delay = delay;
  double left = 0;
  for (std::size_t i = 0; i < n; ++i) {
    Cf e = target[i];
    for (int k = 0; k < kEchoTaps; ++k)
      e -= times(state.v[static_cast<std::size_t>(k)], other_->at(symbols[i].t - delay + (k - kEchoMiddle) * half));
    left += std::norm(e);
  }
  return std::max(0.0, 1 - left / before);
}

// The carrier's offset in radians per symbol at which an equaliser explains most of `known`. Most lines have none.
double SymbolReceiver::search_offset(double t, const std::vector<Cf>& known) {
  const double hertz = 2 * kPi * nominal_step_ / kRateHz;
  const Equations same = equations(t, known.size());
  double best = 0, least = 1;
  for (int k = 0; k <= 16; ++k) {  // 0, 1, -1, 2, -2 ... 8, -8
    state.turn = hertz * ((k & 1) != 0 ? (k + 1) / 2 : -k / 2);
    const double error = solve(same, known);
    if (error < least) least = error, best = state.turn;
    if (k == 0 && error < 0.1) break;
  }
  return best;
}

double SymbolReceiver::fit(double t, const std::vector<Cf>& known, std::optional<double> offset_hz) {
  const std::size_t first = std::min<std::size_t>(known.size(), 640);
  state.step = expected_step;
  state.phase = 0;
  state.v.clear();
  state.power = 0;
  for (const Cf s : known) state.power += std::norm(s) / static_cast<double>(known.size());
  double error = 1;
  const std::vector<Cf> head(known.begin(), known.begin() + static_cast<long>(first));
  state.turn = offset_hz ? 2 * kPi * *offset_hz * nominal_step_ / kRateHz : search_offset(t, head);
  for (int pass = 0; pass < 3; ++pass) {
    const std::vector<Cf>& with = pass == 0 ? head : known;
    state.phase = 0;
    error = solve(t, with);
    if (error > 0.5 || pass == 2) break;
    // Follow the known symbols to learn clock and carrier, then fit again with them.
    state.t = t;
    state.error = error;
    const double before = state.step;
    double sum_t = 0;
    const ReceiverState start = state;
    for (const Cf s : known) {
      equalise();
      decided(s, pass == 0 ? 0.002f : 0.f);
    }
    sum_t = (state.t - t) / static_cast<double>(known.size());
    const double turn = state.turn, step = known.size() > 1000 ? 0.5 * (sum_t + state.step) : before;
    state = start;
    state.turn = turn;
    state.step = step;
  }
  // A loud echo must be cancelled before decisions are possible; a faint one needs enough known symbols.
  if (other_ != nullptr && error < 0.5 && (known.size() > 1000 || error > 0.003)) {
    find_echo(t, known);
    state.phase = 0;
    if (!state.v.empty()) error = solve(t, known);
  }
  state.t = t;
  state.phase = 0;
  state.error = error;
  return error;
}

double SymbolReceiver::lock(double t, const std::vector<Cf>& known) {
  const ReceiverState before = state;
  double best = 0, best_t = t, energy = 0;
  Cd gain;
  for (const Cf s : known) energy += std::norm(s);
  const auto share = [&](double from) {
    state = before;
    state.t = from;
    state.phase = 0;
    Cd c;
    double power = 1e-12;
    for (const Cf s : known) {
      const Cf y = equalise();
      c += Cd(times(y, std::conj(s)));
      power += std::norm(y);
      state.t += state.step;
      state.phase += state.turn;
    }
    gain = c / energy;
    return std::norm(c) / (power * energy);
  };
  constexpr int kSteps = 8;  // of a symbol
  for (int k = -3 * kSteps / 2; k <= 3 * kSteps / 2; ++k) {
    const double from = t + k * state.step / kSteps, s = share(from);
    if (s > best) best = s, best_t = from;
  }
  best = share(best_t);
  state = before;
  state.t = best_t;
  state.phase = std::arg(gain);
  state.error = 1 - best;
  scale(static_cast<float>(1 / std::max(std::abs(gain), 1e-6)));
  state.power = before.power;
  return best;
}

Cf SymbolReceiver::equalise() {
  gather(state.t);
  Cf y{}, dy{};
  for (std::size_t k = 0; k < z_.size(); ++k) {
    y += times(state.w[k], z_[k]);
    dy += times(state.w[k], dz_[k]);
  }
  for (std::size_t k = 0; k < u_.size(); ++k) y += times(state.v[k], u_[k]);
  const Cf back = Cf(std::polar(1.0, -state.phase));
  y_ = y * back;
  dy_ = dy * back;
  return y_;
}

void SymbolReceiver::scale(float gain) {
  for (Cf& w : state.w) w *= gain;
  for (Cf& v : state.v) v *= gain;
  state.power *= gain * gain;
}

void SymbolReceiver::decided(Cf symbol, float rate) {
  adapt(symbol - y_, symbol, rate);
}

void SymbolReceiver::adapt(Cf e, Cf symbol, float rate) {
  const double power = std::max(state.power, 1e-9);
  // A signal much louder than the learnt one is off by more symbols than one, and gives no information about the clock.
  const double timing = std::clamp((std::conj(e) * dy_).real() / (slope2_ * power), -nominal_step_, nominal_step_);
  const double carrier = -(std::conj(symbol) * e).imag() / power;
  state.t += state.step + 0.004 * timing;
  state.step += 4e-6 * timing;
  state.step = std::clamp(state.step, nominal_step_ * (1 - 5e-4), nominal_step_ * (1 + 5e-4));
  state.phase += state.turn + 0.03 * carrier;
  state.turn += 2e-4 * carrier;
  if (state.phase > kPi) state.phase -= 2 * kPi;
  if (state.phase < -kPi) state.phase += 2 * kPi;
  state.error += 0.005 * (std::norm(e) / power - state.error);
  if (rate <= 0) return;
  const Cf forward = Cf(std::polar(1.0, state.phase - state.turn));
  float energy = 1e-6f;
  for (const Cf z : z_) energy += std::norm(z);
  if (energy < kLeastEnergy * state.energy) return;  // the signal is away
  state.energy += 0.01f * (energy - state.energy);
  const Cf g = e * forward * (rate / energy);
  for (std::size_t k = 0; k < z_.size(); ++k) state.w[k] += times(g, std::conj(z_[k]));
  if (!u_.empty()) {
    float echo = 1e-6f;
    for (const Cf u : u_) echo += std::norm(u);
    const Cf ge = e * forward * (rate / std::max(echo, energy * 0.01f));
    for (std::size_t k = 0; k < u_.size(); ++k) state.v[k] += times(ge, std::conj(u_[k]));
  }
}

}  // namespace offhook::decode
