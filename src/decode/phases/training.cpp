// SPDX-License-Identifier: MIT
#include "src/decode/phases/training.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "src/decode/line/recording.h"

namespace offhook::decode {
namespace {

constexpr double kPi = std::numbers::pi;
constexpr double kGoodFit = 3e-4;  // mean square error of an equaliser: a longer one is not needed
constexpr int kBlock = 48;         // symbols that are correlated coherently: 7 Hz turn by a tenth in 14 ms

Cf times_conj(Cf a, Cf b) {
  return {a.real() * b.real() + a.imag() * b.imag(), a.imag() * b.real() - a.real() * b.imag()};
}

double step_of(v34::SymbolRate rate) {
  return kRateHz / symbol_rate_hz(rate);
}

Cf to_cf(v34::Point p) {
  return {static_cast<float>(p.re), static_cast<float>(p.im)};
}

std::vector<Cf> pp_symbols() {
  std::vector<Cf> s;
  // PP has the power of TRN's four points.
  for (int i = 0; i < v34::kPpSymbols; ++i) {
    s.push_back(Cf(std::polar(std::numbers::sqrt2, 2 * kPi * v34::pp_phase(i) / 12)));
  }
  return s;
}

std::vector<Cf> trn_symbols(Scrambling scrambling, v34::TrainingPoints points, int n) {
  std::vector<Cf> s;
  v34::TrainingEncoder encoder(scrambling, points);
  for (int i = 0; i < n; ++i) s.push_back(to_cf(encoder.trn()));
  return s;
}

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

// What the correlations at `k` and at the symbols around it explain together, beyond what chance does.
template <class Correlation>
double over_paths(std::size_t k, std::size_t size, Correlation&& at) {
  constexpr std::size_t kSymbols = 8;
  double sum = 0;
  for (std::size_t i = k - std::min(k / 2, kSymbols) * 2; i <= k + 2 * kSymbols && i < size; i += 2) {
    sum += std::max(0.0, static_cast<double>(at(i)) - 1.0 / kBlock);
  }
  return sum;
}

}  // namespace

std::vector<Anchor> find_anchors(const Baseband& line, const Direction& direction, double from_s, double to_s) {
  const double half = step_of(direction.rate) / 2;
  const double first = std::max(0.0, from_s) * kRateHz;
  const double last = std::min(static_cast<double>(line.size()), to_s * kRateHz);
  if (last <= first) return {};
  std::vector<Cf> z(static_cast<std::size_t>((last - first) / half));
  for (std::size_t k = 0; k < z.size(); ++k) z[k] = line.at(first + static_cast<double>(k) * half);

  const std::vector<Cf> pp = pp_symbols();
  struct Kind {
    bool pp;
    v34::TrainingPoints points;
    std::vector<Cf> known;
  };
  const Kind kinds[] = {
      {true, v34::TrainingPoints::k4, pp},
      {false, v34::TrainingPoints::k4, trn_symbols(direction.scrambling, v34::TrainingPoints::k4, 6 * kBlock)},
      {false, v34::TrainingPoints::k16, trn_symbols(direction.scrambling, v34::TrainingPoints::k16, 6 * kBlock)},
  };
  std::vector<Anchor> found;
  for (const Kind& kind : kinds) {
    const std::size_t span = 2 * kind.known.size();
    if (z.size() < span) continue;
    const std::vector<Cf> head(kind.known.begin(), kind.known.begin() + 2 * kBlock);
    Anchor best;
    std::size_t best_k = 0;
    const auto keep = [&] {
      if (best.correlation > 0) found.push_back(best);
      best = {};
    };
    std::vector<float> alike(z.size() - span + 1);
    for (std::size_t k = 0; k < alike.size(); ++k) alike[k] = static_cast<float>(correlation(z, k, head));
    for (std::size_t k = 0; k < alike.size(); ++k) {
      // A line that disperses has a share at each of many symbols; the strongest is the anchor.
      if (alike[k] < kLeastPath || over_paths(k, alike.size(), [&](std::size_t i) { return alike[i]; }) < 0.25)
        continue;
      const double c = correlation(z, k, kind.known);
      if (c < kLeastPath || over_paths(k, alike.size(), [&](std::size_t i) {
                              return i == k ? c : correlation(z, i, kind.known);
                            }) < 0.4) {
        continue;
      }
      if (best.correlation > 0 && k > best_k + span) keep();
      if (c > best.correlation) {
        best = {first + static_cast<double>(k) * half, kind.pp, kind.points, c};
        best_k = k;
      }
    }
    keep();
  }
  std::sort(found.begin(), found.end(), [](const Anchor& a, const Anchor& b) { return a.t < b.t; });
  // A PP counts with this direction's TRN after it (the other's echo has the same PP); that TRN is then no anchor of
  // its own.
  std::vector<Anchor> kept;
  const double pp_samples = v34::kPpSymbols * 2 * half;
  for (const Anchor& a : found) {
    if (a.pp) {
      const bool trn = std::any_of(found.begin(), found.end(), [&](const Anchor& b) {
        return !b.pp && std::abs(b.t - a.t - pp_samples) < 4 * half;
      });
      if (trn) kept.push_back(a);
    } else {
      const bool after_pp = std::any_of(found.begin(), found.end(), [&](const Anchor& b) {
        return b.pp && std::abs(a.t - b.t - pp_samples) < 4 * half;
      });
      if (!after_pp) kept.push_back(a);
    }
  }
  return kept;
}

namespace {

// Follows one anchor.
class Follower {
 public:
  Follower(const Baseband& line, const Baseband* other, const Direction& d)
      : line_(line), direction_(d), receiver_(line, other, symbol_rate_hz(d.rate)) {}

  Passage run(const Anchor& anchor, double end);
  Passage run_sequences(const ReceiverState& state, double end);
  Passage run_s_bar(const ReceiverState& trained, double s_bar, double end);

 private:
  static Cf nearest(Cf y, v34::TrainingPoints points) {
    const auto axis = [&](float v) {
      if (points == v34::TrainingPoints::k4) return v < 0 ? -1.f : 1.f;
      return v < -2 ? -3.f : v < 0 ? -1.f : v < 2 ? 1.f : 3.f;
    };
    return {axis(y.real()), axis(y.imag())};
  }
  double seconds() const { return receiver_.state.t / kRateHz; }
  bool has_16_points();
  double fit(double t, const std::vector<Cf>& known, std::optional<double> offset_hz = {});
  void stop(Passage& p) const;
  void sequences(Passage& p, v34::TrainingDecoder decoder, v34::TrainingPoints points, double end);

  const Baseband& line_;
  Direction direction_;
  SymbolReceiver receiver_;
};

// Whether S ends at `t` samples: how well each of its last 128 symbols equals the one two before.
double s_share(const Baseband& line, double t, double step) {
  Cd c;
  double energy = 0;
  for (int i = 2; i < 112; ++i) {
    const Cf x = line.at(t - (i + 2) * step), y = line.at(t - i * step);
    c += Cd(times_conj(y, x));
    energy += 0.5 * (std::norm(x) + std::norm(y));
  }
  return energy > 0 ? std::abs(c) / energy : 0;
}

// With a longer equaliser where that explains more than its taps would of noise.
double Follower::fit(double t, const std::vector<Cf>& known, std::optional<double> offset_hz) {
  receiver_.state.w.resize(SymbolReceiver::kTaps);
  const double error = receiver_.fit(t, known, offset_hz);
  if (error < kGoodFit) return error;
  const ReceiverState few = receiver_.state;
  receiver_.state.w.resize(SymbolReceiver::kManyTaps);
  const double with_many = receiver_.fit(t, known, offset_hz);
  const double by_chance = (SymbolReceiver::kManyTaps - SymbolReceiver::kTaps) / static_cast<double>(known.size());
  if (with_many < (1 - 2 * by_chance) * error) return with_many;
  receiver_.state = few;
  return error;
}

Passage Follower::run(const Anchor& anchor, double end) {
  const double step = step_of(direction_.rate);
  Passage p;
  p.anchor = anchor;
  // What is known: PP, and TRN as long as it lasts; 512 symbols at the least.
  constexpr int kTrnKnown = 512;
  const std::vector<Cf> pp = pp_symbols();
  const std::vector<Cf> trn = trn_symbols(direction_.scrambling, anchor.points, 65536);
  std::vector<Cf> known;
  if (anchor.pp) known = pp;
  const std::size_t pp_length = known.size();
  known.insert(known.end(), trn.begin(), trn.begin() + kTrnKnown - 48);
  double error = fit(anchor.t, known);
  if (error > 0.3) {
    p.training_mse_db = 10 * std::log10(error + 1e-12);
    p.t_lost = anchor.t / kRateHz;
    return p;
  }
  // How long TRN goes on, by decisions.
  const ReceiverState fitted = receiver_.state;
  std::size_t trn_length = 0;
  {
    int wrong = 0;
    std::vector<bool> right;
    for (std::size_t i = 0; receiver_.state.t < end && i < trn.size() + pp_length; ++i) {
      const Cf y = receiver_.equalise();
      const Cf expected = i < pp_length ? pp[i] : trn[i - pp_length];
      const bool good = i < pp_length || nearest(y, anchor.points) == expected;
      right.push_back(good);
      wrong += !good;
      if (right.size() > 32) wrong -= !right[right.size() - 33];
      if (wrong > 12) {  // it ended; most of its last wrong symbols lie after the end
        std::size_t k = right.size() - std::min<std::size_t>(right.size(), 32);
        while (k < right.size() && right[k]) ++k;
        trn_length = k > pp_length ? k - pp_length : 0;
        break;
      }
      receiver_.decided(expected, 0.003f);
      trn_length = right.size() > pp_length ? right.size() - pp_length : 0;
    }
  }
  if (trn_length > 200) {
    // Fit again, to as much of it as is of use.
    const std::size_t n = std::min<std::size_t>(trn_length - 8, 2400);
    known.resize(pp_length);
    known.insert(known.end(), trn.begin(), trn.begin() + static_cast<long>(n));
    error = fit(anchor.t, known, fitted.turn / (2 * kPi) * kRateHz / fitted.step);
  }
  p.training_mse_db = 10 * std::log10(error + 1e-12);
  p.t_pp = anchor.pp ? anchor.t / kRateHz : 0;
  p.t_trn = (anchor.t + static_cast<double>(pp_length) * step) / kRateHz;
  p.trn_symbols = static_cast<int>(trn_length);
  const double s_bar = anchor.t - 16 * step;
  p.s_correlation = s_share(line_, s_bar, step);
  if (p.s_correlation > 0.5) {
    p.t_s_bar = s_bar / kRateHz;
    p.t_s = (s_bar - 128 * step) / kRateHz;
  }
  // Through the known symbols, then by decisions.
  for (std::size_t i = 0; i < pp_length + trn_length; ++i) {
    const Cf y = receiver_.equalise();
    receiver_.decided(i < pp_length ? pp[i] : trn[i - pp_length], 0.002f);
    if (i >= pp_length && i % 8 == 0 && p.constellation.size() < 4000) p.constellation.push_back(y);
  }
  p.trained = receiver_.state;
  p.t_trn_end = seconds();
  p.clock_ppm = (step / receiver_.state.step - 1) * 1e6;
  p.frequency_offset_hz = receiver_.state.turn / (2 * kPi) * kRateHz / receiver_.state.step;

  v34::TrainingDecoder decoder(direction_.scrambling, anchor.points);
  if (trn_length > 0) {  // where the first change of quadrant counts from
    const Cf last = trn[trn_length - 1];
    std::uint8_t drop[4];
    decoder.sequence({static_cast<std::int16_t>(last.real()), static_cast<std::int16_t>(last.imag())}, drop);
  }
  sequences(p, decoder, anchor.points, end);
  return p;
}

void Follower::sequences(Passage& p, v34::TrainingDecoder decoder, v34::TrainingPoints points, double end) {
  v34::MpReceiver mp_receiver;
  v90::CpReceiver cp_receiver;
  std::uint32_t last16 = 0;
  std::vector<std::uint8_t> stream;
  long bits = 0;
  int ones = 0;
  bool e_may_come = false;
  long j_bit = -1;
  while (receiver_.state.t < end) {
    const double t = seconds();
    const Cf y = receiver_.equalise();
    const Cf d = nearest(y, points);
    receiver_.decided(d, 0.002f);
    if (receiver_.state.error > 0.25) break;
    if (p.constellation.size() < 8000) p.constellation.push_back(y);
    std::uint8_t b[4];
    decoder.sequence({static_cast<std::int16_t>(d.real()), static_cast<std::int16_t>(d.imag())}, b);
    bool done = false;
    for (int k = 0; k < v34::training_bits(points); ++k) {
      ++bits;
      stream.push_back(b[k]);
      last16 = (last16 << 1 | b[k]) & 0xFFFF;
      ones = b[k] ? ones + 1 : 0;
      if (!direction_.v90 && (last16 == v34::kSequenceJ4 || last16 == v34::kSequenceJ16)) {
        if (p.j_points == 0) p.t_j = t - 8 * receiver_.state.step / kRateHz;
        p.j_points = last16 == v34::kSequenceJ4 ? 4 : 16;
        ++p.j_repeats;
        p.t_j_end = t + receiver_.state.step / kRateHz;
        j_bit = bits;
      }
      if (p.j_points > 0 && last16 == v34::kSequenceJPrime && bits - j_bit <= 16) {
        p.t_j_prime = t - 7 * receiver_.state.step / kRateHz;
        // A fresh TRN is an anchor of its own. Some callers send none: then MP comes at once, with as many points as
        // the far J asked for.
        if (end - receiver_.state.t < 64 * receiver_.state.step) return stop(p);
        if (has_16_points()) {
          points = v34::TrainingPoints::k16;
          receiver_.scale(std::sqrt(5.f));
          decoder = v34::TrainingDecoder(direction_.scrambling, points);
        }
        break;
      }
      if (v90::Cp cp; direction_.v90 && cp_receiver.put(b[k], &cp)) {
        const double per_bit = receiver_.state.step / kRateHz / v34::training_bits(points);
        const double t_end = t + (k + 1 + v90::Cp::kFillBits) * per_bit;
        const std::vector<std::uint8_t> raw(cp_receiver.bits(), cp_receiver.bits() + cp_receiver.size());
        const double t_begin = t_end - cp.bits() * per_bit;
        if (p.cp.empty() || p.cp.back().bits != raw) {
          CpHeard h;
          h.cp = cp;
          h.bits = raw;
          h.points = points == v34::TrainingPoints::k4 ? 4 : 16;
          h.t_first = t_begin;
          p.cp.push_back(h);
        }
        ++p.cp.back().count;
        p.cp.back().t_last = t_begin;
        p.cp.back().t_last_end = t_end;
        // SCR, which is ones as well, may follow CPt and CPs.
        e_may_come = cp.data_mode && !cp.silence;
        ones = 0;
      }
      v34::Mp mp{};
      if (!direction_.v90 && mp_receiver.put(b[k], &mp)) {
        const int length = mp.bits() - (mp.type1 ? 1 : 3);
        const double per_bit = receiver_.state.step / kRateHz / v34::training_bits(points);
        const double t_end = t + (k + 1) * per_bit;
        e_may_come = true;
        const std::vector<std::uint8_t> raw(stream.end() - length, stream.end());
        if (p.mp.empty() || p.mp.back().bits != raw) {
          MpHeard h;
          h.mp = mp;
          h.bits = raw;
          h.t_first = t_end - length * per_bit;
          p.mp.push_back(h);
        }
        ++p.mp.back().count;
        p.mp.back().t_last_end = t_end;
        ones = 0;
      }
      if (e_may_come && ones == v34::kSequenceEBits && p.t_e_end == 0) {
        p.t_e_end = t + receiver_.state.step / kRateHz;
        p.t_e = p.t_e_end - v34::kSequenceEBits / v34::training_bits(points) * receiver_.state.step / kRateHz;
        done = true;
      }
    }
    if (done) break;
  }
  stop(p);
}

Passage Follower::run_sequences(const ReceiverState& state, double end) {
  Passage p;
  receiver_.state = state;
  sequences(p, v34::TrainingDecoder(direction_.scrambling, v34::TrainingPoints::k4), v34::TrainingPoints::k4, end);
  return p;
}

Passage Follower::run_s_bar(const ReceiverState& trained, double s_bar, double end) {
  Passage p;
  // The last of S that is sure to be S, and S-bar.
  constexpr int kS = 96, kSBar = 16;
  const double step = trained.step;
  std::vector<Cf> known;
  for (int i = 0; i < kS; ++i) known.push_back(to_cf(v34::s_symbol(i)));
  for (int i = 0; i < kSBar; ++i) known.push_back(to_cf(v34::s_bar_symbol(i)));
  receiver_.state = trained;
  p.s_correlation = receiver_.lock(s_bar - kS * step, known);
  p.t_s_bar = seconds() + kS * step / kRateHz;
  p.t_s = p.t_s_bar - 128 * step / kRateHz;
  for (const Cf s : known) {
    receiver_.equalise();
    receiver_.decided(s, 0);
  }
  const ReceiverState locked = receiver_.state;
  // How many points, and whether the first sequence is the only one: the CRC tells. The scrambler and the differential
  // encoder begin the first CPt at zero (8.5.2); before a later CP they may have any state.
  Passage best = p;
  best.t_lost = seconds();
  for (const bool from_zero : {false, true}) {
    for (const auto points : {v34::TrainingPoints::k4, v34::TrainingPoints::k16}) {
      Passage tried = p;
      receiver_.state = locked;
      if (points == v34::TrainingPoints::k16) receiver_.scale(std::sqrt(5.f));
      v34::TrainingDecoder decoder(direction_.scrambling, points);
      std::uint8_t drop[4];
      for (int i = 0; i < kSBar && !from_zero; ++i) decoder.sequence(v34::s_bar_symbol(i), drop);
      sequences(tried, decoder, points, end);
      if (tried.cp.size() > best.cp.size()) best = tried;
    }
  }
  return best;
}

// From the spread of the amplitudes of the next symbols: four points have one amplitude, of sixteen the mean fourth
// power is 1.32 times the square of the mean square.
bool Follower::has_16_points() {
  const ReceiverState before = receiver_.state;
  double second = 0, fourth = 0;
  constexpr int kSymbols = 96;
  for (int i = 0; i < kSymbols; ++i) {
    const double power = std::norm(receiver_.equalise());
    second += power / kSymbols;
    fourth += power * power / kSymbols;
    receiver_.adapt({}, {}, 0);
  }
  receiver_.state = before;
  return fourth > 1.15 * second * second;
}

void Follower::stop(Passage& p) const {
  p.t_lost = seconds();
  p.at_data = receiver_.state;
}

}  // namespace

Passage follow_sequences(const Baseband& line, const Baseband* other, const Direction& direction, ReceiverState state,
                         double end) {
  return Follower(line, other, direction).run_sequences(state, end);
}

Passage follow_s_bar(const Baseband& line, const Baseband* other, const Direction& direction,
                     const ReceiverState& trained, double s_bar, double end) {
  return Follower(line, other, direction).run_s_bar(trained, s_bar, end);
}

std::vector<Passage> follow(const Baseband& line, const Baseband* other, const Direction& direction,
                            const std::vector<Anchor>& anchors) {
  constexpr int kLeastTrn = 64;  // symbols that are as they should be: not a likeness by chance
  std::vector<Passage> all;
  double end = static_cast<double>(line.size());
  for (auto anchor = anchors.rbegin(); anchor != anchors.rend(); ++anchor) {
    Passage p = Follower(line, other, direction).run(*anchor, end);
    if (p.trn_symbols < kLeastTrn) continue;
    end = anchor->t;
    all.push_back(std::move(p));
  }
  std::reverse(all.begin(), all.end());
  return all;
}

}  // namespace offhook::decode
