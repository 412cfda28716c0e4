// SPDX-License-Identifier: MIT
#include "src/decode/v34/training.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "dsp/blocks/sincos.h"
#include "src/decode/v34/known_symbols.h"
#include "src/decode/v34/sequence_reader.h"

namespace offhook::decode {
namespace {

constexpr double kGoodFit = 3e-4;  // mean square error of an equaliser: a longer one is not needed
constexpr int kTrnKnown = 512;     // symbols of TRN that are sure to come, except some at their end
constexpr int kSSymbols = 128, kSBarSymbols = 16;

// Follows one anchor.
class Follower {
 public:
  Follower(const Baseband& line, const Baseband* other, const Direction& d, double clock_ppm = 0)
      : line_(line), direction_(d), receiver_(line, other, symbol_rate_hz(d.rate)) {
    receiver_.expected_step /= 1 + 1e-6 * clock_ppm;
  }

  Segment run(const Anchor& anchor, double end);
  Segment run_sequences(const ReceiverState& state, double end);
  Segment run_s_bar(const ReceiverState& trained, double s_bar, double end);

 private:
  double now() const { return seconds(receiver_.state.t); }
  static double offset_hz(const ReceiverState& s) { return s.turn / (2 * kPi) * kRateHz / s.step; }
  bool has_16_points();
  void find_s(Segment& p, double t, double step) const;
  std::optional<Anchor> shifted_trn(const Anchor& pp);
  double fit(double t, const std::vector<Cf>& known, std::optional<double> offset_hz = {});
  std::size_t count_trn(const std::vector<Cf>& known, std::size_t before, v34::TrainingPoints points, double end);
  void follow_known(const std::vector<Cf>& known, std::size_t before, std::size_t length, Segment& p);
  void sequences(Segment& p, v34::TrainingDecoder decoder, v34::TrainingPoints points, double end);

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

// S before the signal that begins at `t` samples.
void Follower::find_s(Segment& p, double t, double step) const {
  const double s_bar = t - kSBarSymbols * step;
  p.s_correlation = s_share(line_, s_bar, step);
  if (p.s_correlation <= 0.5) return;
  p.t_s_bar = seconds(s_bar);
  p.t_s = seconds(s_bar - kSSymbols * step);
}

// With a longer equaliser if that explains more than its taps would of noise.
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

// Length of TRN, by decisions. @param known  the symbols before it, and TRN
std::size_t Follower::count_trn(const std::vector<Cf>& known, std::size_t before, v34::TrainingPoints points,
                                double end) {
  constexpr std::size_t kWindow = 32;
  std::vector<bool> right;
  int wrong = 0;
  while (receiver_.state.t < end && right.size() < known.size()) {
    const std::size_t i = right.size();
    const Cf y = receiver_.equalise();
    right.push_back(i < before || nearest_of_trn(y, points) == known[i]);
    wrong += !right[i];
    if (i >= kWindow) wrong -= !right[i - kWindow];
    if (wrong > 12) {  // it ended; most of its last wrong symbols lie after the end
      std::size_t k = i + 1 - std::min(i + 1, kWindow);
      while (k <= i && right[k]) ++k;
      return k > before ? k - before : 0;
    }
    receiver_.decided(known[i], 0.003f);
  }
  return right.size() > before ? right.size() - before : 0;
}

// TRN whose beginning is not 288 symbols behind that of PP: some senders begin it a symbol later. @return its
// anchor
std::optional<Anchor> Follower::shifted_trn(const Anchor& pp) {
  constexpr int kShifted = 512;
  constexpr double kFits = 0.3;
  const double step = kRateHz / symbol_rate_hz(direction_.rate);
  const std::vector<Cf> trn = trn_symbols(direction_.scrambling, pp.points, kShifted);
  std::optional<Anchor> best;
  double least = kFits;
  for (const int shift : {1, -1, 2, -2}) {
    Anchor a = pp;
    a.pp = false;
    a.t = pp.t + (v34::kPpSymbols + shift) * step;
    receiver_.state = {};
    receiver_.state.w.resize(SymbolReceiver::kTaps);
    const double error = receiver_.fit(a.t, trn);
    if (error < least) least = error, best = a;
  }
  return best;
}

/// Through the known symbols; what follows is read by decisions. @param before  symbols of PP  @param length  of TRN
void Follower::follow_known(const std::vector<Cf>& known, std::size_t before, std::size_t length, Segment& p) {
  for (std::size_t i = 0; i < before + length; ++i) {
    const Cf y = receiver_.equalise();
    receiver_.decided(known[i], 0.002f);
    if (i >= before && i % 8 == 0 && p.constellation.size() < 4000) p.constellation.push_back(y);
  }
  p.trained = receiver_.state;
}

Segment Follower::run(const Anchor& anchor, double end) {
  const double step = kRateHz / symbol_rate_hz(direction_.rate);
  Segment p;
  p.anchor = anchor;
  // What is known: PP, and TRN as long as it lasts.
  std::vector<Cf> known;
  if (anchor.pp) known = pp_symbols();
  const std::size_t before = known.size();
  const std::vector<Cf> trn = trn_symbols(direction_.scrambling, anchor.points, 65536);
  known.insert(known.end(), trn.begin(), trn.end());
  const auto first = [&](std::size_t n) {
    return std::vector<Cf>(known.begin(), known.begin() + static_cast<long>(n));
  };
  double error = fit(anchor.t, first(before + kTrnKnown - 48));
  if (error > 0.05 && anchor.pp) {
    if (const std::optional<Anchor> late = shifted_trn(anchor)) {
      Segment shifted = run(*late, end);
      if (shifted.trn_symbols > kTrnKnown) {
        shifted.t_pp = seconds(anchor.t);
        find_s(shifted, anchor.t, step);
        return shifted;
      }
    }
    error = fit(anchor.t, first(before + kTrnKnown - 48));
  }
  if (error > 0.3) {
    p.training_mse_db = 10 * std::log10(error + 1e-12);
    p.t_lost = seconds(anchor.t);
    return p;
  }
  const ReceiverState fitted = receiver_.state;
  const std::size_t length = count_trn(known, before, anchor.points, end);
  if (length > 200) {
    // Fits again, to the useful part of it.
    error = fit(anchor.t, first(before + std::min<std::size_t>(length - 8, 2400)), offset_hz(fitted));
  }
  p.training_mse_db = 10 * std::log10(error + 1e-12);
  p.t_pp = anchor.pp ? seconds(anchor.t) : 0;
  p.t_trn = seconds(anchor.t + static_cast<double>(before) * step);
  p.trn_symbols = static_cast<int>(length);
  find_s(p, anchor.t, step);
  follow_known(known, before, length, p);
  p.t_trn_end = now();
  p.clock_ppm = (step / receiver_.state.step - 1) * 1e6;
  p.frequency_offset_hz = offset_hz(receiver_.state);

  v34::TrainingDecoder decoder(direction_.scrambling, anchor.points);
  if (length > 0) {  // reference of the first change of quadrant
    const Cf last = known[before + length - 1];
    std::uint8_t drop[4];
    decoder.sequence({static_cast<std::int16_t>(last.real()), static_cast<std::int16_t>(last.imag())}, drop);
  }
  sequences(p, decoder, anchor.points, end);
  return p;
}

void Follower::sequences(Segment& p, v34::TrainingDecoder decoder, v34::TrainingPoints points, double end) {
  SequenceReader reader(p, direction_.v90);
  while (receiver_.state.t < end) {
    const double t = now();
    const Cf y = receiver_.equalise();
    const Cf d = nearest_of_trn(y, points);
    receiver_.decided(d, 0.002f);
    if (receiver_.state.error > 0.25) break;
    if (p.constellation.size() < 8000) p.constellation.push_back(y);
    std::uint8_t bits[4];
    decoder.sequence({static_cast<std::int16_t>(d.real()), static_cast<std::int16_t>(d.imag())}, bits);
    const SequenceReader::Found found = reader.put(bits, v34::training_bits(points), t, seconds(receiver_.state.step));
    if (found == SequenceReader::Found::kE) break;
    if (found != SequenceReader::Found::kJPrime) continue;
    // A new TRN is a separate anchor. Some callers send none: then MP comes at once, with as many points as the far J
    // requested.
    if (end - receiver_.state.t < 64 * receiver_.state.step) break;
    if (has_16_points()) {
      points = v34::TrainingPoints::k16;
      receiver_.scale(std::sqrt(5.f));
      decoder = v34::TrainingDecoder(direction_.scrambling, points);
    }
  }
  p.t_lost = now();
  p.at_data = receiver_.state;
}

Segment Follower::run_sequences(const ReceiverState& state, double end) {
  Segment p;
  receiver_.state = state;
  sequences(p, v34::TrainingDecoder(direction_.scrambling, v34::TrainingPoints::k4), v34::TrainingPoints::k4, end);
  return p;
}

Segment Follower::run_s_bar(const ReceiverState& trained, double s_bar, double end) {
  Segment p;
  // The last of S that is sure to be S, and S-bar.
  constexpr int kS = 96;
  const double step = trained.step;
  std::vector<Cf> known;
  for (int i = 0; i < kS; ++i) known.push_back(to_cf(v34::s_symbol(i)));
  for (int i = 0; i < kSBarSymbols; ++i) known.push_back(to_cf(v34::s_bar_symbol(i)));
  receiver_.state = trained;
  p.s_correlation = receiver_.lock(s_bar - kS * step, known);
  p.t_s_bar = now() + seconds(kS * step);
  p.t_s = p.t_s_bar - seconds(kSSymbols * step);
  for (const Cf s : known) {
    receiver_.equalise();
    receiver_.decided(s, 0);
  }
  const ReceiverState locked = receiver_.state;
  // The CRC shows how many points there are, and whether the first sequence is the only one. The scrambler and the
  // differential encoder begin the first CPt at zero (8.5.2); before a later CP they may have any state.
  Segment best = p;
  best.t_lost = now();
  for (const bool from_zero : {false, true}) {
    for (const auto points : {v34::TrainingPoints::k4, v34::TrainingPoints::k16}) {
      Segment tried = p;
      receiver_.state = locked;
      if (points == v34::TrainingPoints::k16) receiver_.scale(std::sqrt(5.f));
      v34::TrainingDecoder decoder(direction_.scrambling, points);
      std::uint8_t drop[4];
      for (int i = 0; i < kSBarSymbols && !from_zero; ++i) decoder.sequence(v34::s_bar_symbol(i), drop);
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

}  // namespace

bool Segment::is_cleardown() const {
  return std::any_of(mp.begin(), mp.end(), [](const MpHeard& m) { return m.is_cleardown(); }) ||
         std::any_of(cp.begin(), cp.end(), [](const CpHeard& h) { return h.cp.drn == 0; });
}

Segment follow_sequences(const Baseband& line, const Baseband* other, const Direction& direction,
                         const ReceiverState& state, double end) {
  return Follower(line, other, direction).run_sequences(state, end);
}

Segment follow_s_bar(const Baseband& line, const Baseband* other, const Direction& direction,
                     const ReceiverState& trained, double s_bar, double end) {
  return Follower(line, other, direction).run_s_bar(trained, s_bar, end);
}

std::vector<Segment> follow(const Baseband& line, const Baseband* other, const Direction& direction,
                            const std::vector<Anchor>& anchors) {
  constexpr int kLeastTrn = 64;     // symbols that are as they should be: not a likeness by chance
  constexpr int kClockTold = 2000;  // and this many give the clock to a few ppm
  std::vector<Segment> all;
  double end = static_cast<double>(line.size());
  for (auto anchor = anchors.rbegin(); anchor != anchors.rend(); ++anchor) {
    Segment p = Follower(line, other, direction).run(*anchor, end);
    if (p.trn_symbols < kLeastTrn) continue;
    p.t_end = end;
    end = anchor->t;
    all.push_back(std::move(p));
  }
  std::reverse(all.begin(), all.end());
  // The TRN of a renegotiation is short: its sender's clock is that of the training before.
  const Segment* told = nullptr;
  for (Segment& p : all) {
    if (p.trn_symbols >= kClockTold) {
      told = &p;
    } else if (told != nullptr) {
      Segment again = Follower(line, other, direction, told->clock_ppm).run(p.anchor, p.t_end);
      if (again.trn_symbols >= p.trn_symbols - kLeastTrn) {
        again.t_end = p.t_end;
        p = std::move(again);
      }
    }
  }
  return all;
}

}  // namespace offhook::decode
