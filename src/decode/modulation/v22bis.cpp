// SPDX-License-Identifier: MIT
//
// V.22bis, heard passively: 600 symbols/s of sixteen points around 1200 Hz (call) or 2400 Hz (answer). At 1200 bit/s it
// uses four of the sixteen, so one receiver is sufficient for the whole call, including training.
#include "src/decode/modulation/v22bis.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <utility>

#include "dsp/blocks/root_raised_cosine.h"
#include "dsp/blocks/scrambler.h"
#include "dsp/blocks/sincos.h"
#include "dsp/modulation/modulation.h"
#include "src/decode/line/spectrum.h"
#include "src/decode/line/symbol_receiver.h"
#include "src/decode/modulation/start_stop.h"

namespace offhook::decode {
namespace {

constexpr double kV22SymbolRateHz = 600;  // 2.5.1
constexpr double kRollOff = 0.75;         // 2.4
constexpr double kV22Step = kRateHz / kV22SymbolRateHz;
constexpr double kMeanPower = 10;      // of the points of Figure 2, and of those of 1200 bit/s
constexpr double kLeastSnrDb = 12;     // sixteen points with less are no more than noise
constexpr double kSureSnrDb = 14;      // a tone, decided for sixteen points, has 13.4
constexpr double kGoodError = 0.1;     // mean square, of kMeanPower: 20 dB
constexpr double kMostAlike = 0.4;     // sum of the squared shares of the four dibits; scrambled ones have 0.25
constexpr std::size_t kAcquire = 600;  // symbols used for clock and carrier
constexpr double kOffsetLimitHz = 10;  // 2.6 requires 7

// A point of Figure 2: coordinates -3, -1, 1 or 3.
Cf nearest(Cf y) {
  const auto level = [](float v) { return v < -2 ? -3.f : v < 0 ? -1.f : v < 2 ? 1.f : 3.f; };
  return {level(y.real()), level(y.imag())};
}

// Quadrants counted from the first, anticlockwise, from 0.
int quadrant(Cf p) {
  return p.real() > 0 ? (p.imag() > 0 ? 0 : 3) : (p.imag() > 0 ? 1 : 2);
}

// The pair of bits next to a point in Figure 2, the left one in bit 1.
int inner_bits(Cf p) {
  constexpr std::array<Cf, 4> kTurns = {Cf{1, 0}, Cf{0, -1}, Cf{-1, 0}, Cf{0, 1}};
  const Cf first = p * kTurns[static_cast<std::size_t>(quadrant(p))];
  return (first.imag() > 2 ? 2 : 0) | (first.real() > 2 ? 1 : 0);
}

// Table 1, by quarter turns anticlockwise; the left bit in bit 1.
constexpr std::array<int, 4> kDibitOfTurn = {1, 0, 2, 3};
constexpr int kInnerAt1200 = 1, kInnerMirrored = 2;
constexpr std::size_t kMirroredRun = 40;

struct Symbol {
  double t;  // s
  int dibit, inner;
  float error;  // squared distance
  Cf y;
};

// The grid of the symbols: symbol k of a run at t0_s + k symbol_s, by the line through those of the longest undisturbed
// stretch of data. Nothing if that is short.
struct Grid {
  double t0_s, symbol_s;
};
std::optional<Grid> grid_of(const std::vector<Symbol>& s, const std::vector<DataHeard>& data) {
  constexpr double kSettlesS = 1, kLeastPatternS = 1;
  double from_s = 0, to_s = 0;
  for (const DataHeard& d : data) {
    double t = d.t0 + kSettlesS;
    for (std::size_t k = 0; k <= d.spoilt.size(); ++k) {
      const double end = k < d.spoilt.size() ? d.spoilt[k].first : d.t1;
      if (end - t > to_s - from_s) from_s = t, to_s = end;
      if (k < d.spoilt.size()) t = d.spoilt[k].second + kSettlesS;
    }
  }
  if (to_s - from_s < kLeastPatternS) return std::nullopt;
  double n = 0, sum_k = 0, sum_t = 0, sum_kk = 0, sum_kt = 0;
  for (std::size_t i = 0; i < s.size(); ++i) {
    if (s[i].t < from_s || s[i].t > to_s) continue;
    const double k = static_cast<double>(i), t = s[i].t - from_s;
    n += 1, sum_k += k, sum_t += t, sum_kk += k * k, sum_kt += k * t;
  }
  const double symbol_s = (n * sum_kt - sum_k * sum_t) / (n * sum_kk - sum_k * sum_k);
  return Grid{from_s + (sum_t - symbol_s * sum_k) / n, symbol_s};
}

class Listener {
 public:
  Listener(const std::vector<float>& x, int carrier_hz)
      : band_(x, carrier_hz, 2 * 525 / 1.1), receiver_(band_, nullptr, kV22SymbolRateHz, 200) {}

  // Every symbol from the first signal in the band on, or none if it holds no V.22bis.
  std::vector<Symbol> listen() {
    const auto [first, last] = busy();
    if (last - first < 2.0 * kRateHz) return {};
    // Clock, carrier and equaliser from the middle of the run, or 4 s in; then everything with them. If that
    // fails, as with a slip or a burst of noise there, from elsewhere.
    std::vector<Symbol> best;
    for (const double share : {1.0, 0.5, 1.6}) {
      const double anchor = first + share * std::min(4.0 * kRateHz, (last - first) / 2);
      std::vector<Symbol> symbols = listen_from(first, last, anchor);
      if (best.empty() || (!symbols.empty() && mean_error(symbols) < mean_error(best))) {
        best = std::move(symbols);
        begin_ = tried_;
        begin_.w = receiver_.state.w;
        end_ = last;
      }
      if (!best.empty() && mean_error(best) < kGoodError) break;
    }
    return best;
  }

  // The sender's clock. The loop that follows it swings for seconds, and an adapting equaliser absorbs a part of the
  // difference: so once more with the equaliser's final taps, from the measured places of the symbols.
  double measure_clock_ppm(const std::vector<DataHeard>& data) {
    constexpr int kTimes = 6;  // each leaves a fifth of the error
    for (int i = 0; i < kTimes; ++i) {
      receiver_.state = begin_;
      const std::optional<Grid> grid = grid_of(run(end_, 0), data);
      if (!grid) break;
      clock_ppm_ = (1 / (grid->symbol_s * kV22SymbolRateHz) - 1) * 1e6;
      begin_.step = grid->symbol_s * kRateHz;
      begin_.t = grid->t0_s * kRateHz - begin_.step;  // the first symbol of a run has none before it
    }
    return clock_ppm_;
  }

  double clock_ppm() const { return clock_ppm_; }
  double offset_hz() const { return offset_hz_; }
  double power() const { return power_; }

 private:
  static double mean_error(const std::vector<Symbol>& s) {
    double sum = 0;
    for (const Symbol& symbol : s) sum += symbol.error;
    return sum / static_cast<double>(s.size());
  }

  std::vector<Symbol> listen_from(double first, double last, double anchor) {
    power_ = 0;
    if (!acquire(anchor)) return {};
    const ReceiverState at = receiver_.state;
    run(std::min(last, anchor + 4.0 * kRateHz), 0.01f);
    const double turn = receiver_.state.turn, step = receiver_.state.step;
    clock_ppm_ = (kV22Step / step - 1) * 1e6;
    offset_hz_ = turn * kV22SymbolRateHz / (2 * kPi);
    const double back = std::floor((at.t - first) / step);
    const double phase = at.phase - turn * back;
    receiver_.state.t = at.t - back * step;
    receiver_.state.phase = std::remainder(phase, 2 * kPi);
    tried_ = receiver_.state;
    return run(last, 0.005f);
  }

  // The longest stretch in which the band is within 20 dB of its usual power, in samples.
  std::pair<double, double> busy() const {
    constexpr std::size_t kBlock = kRateHz / 50;
    std::vector<double> power;
    for (std::size_t i = 0; i + kBlock <= band_.size(); i += kBlock) {
      double sum = 0;
      for (std::size_t k = 0; k < kBlock; k += 8) sum += std::norm(band_.at(static_cast<double>(i + k)));
      power.push_back(sum);
    }
    if (power.empty()) return {0, 0};
    std::vector<double> sorted = power;
    std::nth_element(sorted.begin(), sorted.begin() + static_cast<long>(sorted.size() * 3 / 4), sorted.end());
    const double limit = std::max(0.01 * sorted[sorted.size() * 3 / 4], 20.0);
    std::size_t best = 0, best_end = 0, begin = 0;
    for (std::size_t i = 0; i <= power.size(); ++i) {
      if (i < power.size() && power[i] >= limit) continue;
      if (i - begin > best_end - best) best = begin, best_end = i;
      begin = i + 1;
    }
    return {static_cast<double>(best * kBlock), static_cast<double>(best_end * kBlock)};
  }

  static constexpr std::size_t kPhases = 8;
  using Phases = std::array<std::vector<Cf>, kPhases>;

  /// kAcquire outputs of the filter at each phase of the symbol. @return the phase where the symbols are
  std::size_t find_phase(double t0, Phases& y) {
    ReceiverState& s = receiver_.state;
    // The power of the filter's output beats at the symbol rate, strongest where the symbols are.
    Cd beat = 0;
    for (std::size_t p = 0; p < kPhases; ++p) {
      const double part = static_cast<double>(p) / kPhases;
      for (std::size_t i = 0; i < kAcquire; ++i) {
        s.t = t0 + (static_cast<double>(i) + part) * kV22Step;
        s.phase = 0;
        const Cf v = receiver_.equalise();
        y[p].push_back(v);
        beat += std::polar(static_cast<double>(std::norm(v)), -2 * kPi * part);
        power_ += std::norm(v) / (kPhases * kAcquire);
      }
    }
    const double symbols_at = std::fmod(1 - std::arg(beat) / (2 * kPi), 1.0);  // of a symbol, after t0
    return static_cast<std::size_t>(std::lround(symbols_at * kPhases)) % kPhases;
  }

  struct Offset {
    double hz = 0;
    double angle = 0;  ///< of the line at four times the carrier's phase
  };
  /// The fourth power of sixteen points, or of four, has a line at four times the carrier's error.
  static Offset find_offset(const std::vector<Cf>& y) {
    constexpr int kStepsAHertz = 20;
    constexpr auto kSteps = static_cast<int>(kOffsetLimitHz) * kStepsAHertz;
    double best = 0;
    Offset offset;
    for (int step = -kSteps; step <= kSteps; ++step) {
      const double hz = static_cast<double>(step) / kStepsAHertz;
      Cd sum = 0;
      for (std::size_t i = 0; i < kAcquire; ++i) {
        const Cd v = Cd(y[i]);
        sum += v * v * v * v * std::polar(1.0, -2 * kPi * 4 * hz / kV22SymbolRateHz * static_cast<double>(i));
      }
      if (std::abs(sum) > best) best = std::abs(sum), offset = {hz, std::arg(sum)};
    }
    return offset;
  }

  /// Sixteen points: the mean fourth power is negative. For the four of 1200 bit/s it is that of (3 + i)^4 = 28 + 96
  /// i; the decisions show which it is. @return mean square of the error of the better one
  double choose_points(double line_angle) {
    ReceiverState& s = receiver_.state;
    const ReceiverState start = s;
    double least = 1e9;
    ReceiverState chosen;
    for (const double of_points : {kPi, std::arg(Cd(28, 96))}) {
      s = start;
      s.phase = (line_angle - of_points) / 4;
      double sum = 0;
      for (std::size_t i = 0; i < kAcquire; ++i) {
        const Cf v = receiver_.equalise();
        const Cf d = nearest(v);
        sum += std::norm(v - d) / kAcquire;
        receiver_.decided(d, 0.01f);
      }
      if (sum < least) least = sum, chosen = s;
    }
    s = chosen;
    return least;
  }

  bool acquire(double t0) {
    ReceiverState& s = receiver_.state;
    s.turn = 0;
    s.step = kV22Step;
    s.power = kMeanPower;
    const auto taps = static_cast<double>(s.w.size());
    for (std::size_t k = 0; k < s.w.size(); ++k)
      s.w[k] = static_cast<float>(root_raised_cosine(kRollOff, (static_cast<double>(k) - taps / 2) / 2));
    Phases y;
    const std::size_t phase = find_phase(t0, y);
    if (power_ < 1) return false;
    const Offset offset = find_offset(y[phase]);
    double at_symbols = 0;
    for (const Cf v : y[phase]) at_symbols += std::norm(v) / kAcquire;
    receiver_.scale(static_cast<float>(std::sqrt(kMeanPower / at_symbols)));
    s.power = kMeanPower;
    s.turn = 2 * kPi * offset.hz / kV22SymbolRateHz;
    s.t = t0 + static_cast<double>(phase) / kPhases * kV22Step;
    return 10 * std::log10(kMeanPower / choose_points(offset.angle)) > kLeastSnrDb - 3;
  }

  std::vector<Symbol> run(double end, float rate) {
    std::vector<Symbol> symbols;
    symbols.reserve(static_cast<std::size_t>(std::max(0.0, end - receiver_.state.t) / kV22Step * 1.01) + 1);
    int before = -1;
    std::size_t mirrored = 0;
    while (receiver_.state.t < end) {
      const double t = receiver_.state.t / kRateHz;
      const Cf y = receiver_.equalise();
      const Cf d = nearest(y);
      receiver_.decided(d, rate);
      const int q = quadrant(d);
      if (before >= 0) {
        const int dibit = kDibitOfTurn[static_cast<std::size_t>((q - before + 4) % 4)];
        symbols.push_back({t, dibit, inner_bits(d), std::norm(y - d), y});
        mirrored = symbols.back().inner == kInnerMirrored ? mirrored + 1 : 0;
      }
      // At another angle, the four points of 1200 bit/s also coincide with four of the sixteen: a false lock.
      if (mirrored == kMirroredRun) {
        receiver_.state.phase += std::arg(Cf(1, 3)) - std::arg(Cf(3, 1));
        for (std::size_t i = symbols.size() - kMirroredRun; i < symbols.size(); ++i) symbols[i].inner = kInnerAt1200;
        mirrored = 0;
      }
      before = q;
    }
    return symbols;
  }

  Baseband band_;
  SymbolReceiver receiver_;
  ReceiverState tried_, begin_;  // before the first symbol
  double end_ = 0;
  double clock_ppm_ = 0, offset_hz_ = 0, power_ = 0;
};

// 5.2, and the guard against lock-up of 5.1.
class GuardedDescrambler {
 public:
  int descramble(int bit) {
    const bool inverted = ones_ == 64;
    if (inverted) ones_ = 0;
    ones_ = bit != 0 ? ones_ + 1 : 0;
    return descrambler_.descramble(bit) ^ static_cast<int>(inverted);
  }

 private:
  Descrambler descrambler_{Scrambling{14, 17}};
  int ones_ = 0;
};

// Symbols of a run that begins at `i` of dibits that follow `next`.
template <class Next>
std::size_t run_length(const std::vector<Symbol>& s, std::size_t i, Next&& next) {
  std::size_t n = 1;
  while (i + n < s.size() && s[i + n].inner == kInnerAt1200 && next(s[i + n - 1].dibit, s[i + n].dibit)) ++n;
  return n;
}

double snr_db(const std::vector<Symbol>& s, std::size_t from, std::size_t to) {
  std::vector<float> errors;
  for (std::size_t i = from; i < to; ++i) errors.push_back(s[i].error);
  if (errors.empty()) return 0;
  double sum = 0;
  for (const float e : errors) sum += e;
  return 10 * std::log10(kMeanPower / std::max(sum / static_cast<double>(errors.size()), 1e-6));
}

// Stretches whose decisions are no better than chance, as behind a slip of the recorder.
std::vector<std::pair<double, double>> spoilt_stretches(const std::vector<Symbol>& s, std::size_t from,
                                                        std::size_t to) {
  constexpr std::size_t kWindow = 12;    // symbols
  constexpr double kSpoilt = 0.6;        // of the mean error of decisions by chance
  constexpr double kByChance = 2.0 / 3;  // squared, within a square of +-1 around each point
  constexpr double kOverUsual = 5;       // noise alone has that in no window of an hour
  constexpr double kJoinS = 0.3;
  std::vector<double> error;
  for (std::size_t i = from; i + kWindow <= to; i += kWindow / 2) {
    double sum = 0;
    for (std::size_t k = i; k < i + kWindow; ++k) sum += static_cast<double>(s[k].error);
    error.push_back(sum / kWindow);
  }
  const double least = std::max(kSpoilt * kByChance, kOverUsual * median(error));
  std::vector<std::pair<double, double>> all;
  for (std::size_t k = 0; k < error.size(); ++k) {
    if (error[k] < least) continue;
    if (from + k * kWindow / 2 + 3 * kWindow > to) break;  // the signal's end
    const double t0 = s[from + k * kWindow / 2].t, t1 = s[from + k * kWindow / 2 + kWindow - 1].t;
    if (!all.empty() && t0 - all.back().second < kJoinS) {
      all.back().second = t1;
    } else {
      all.emplace_back(t0, t1);
    }
  }
  return all;
}

// Whether a signal fills the middle of the band, as scrambled symbols do: tones, and symbols of another modem that
// happen to lie near the points, do not.
bool fills_band(std::span<const float> x, int carrier_hz, double t0, double t1) {
  constexpr std::size_t kSize = 1024, kCells = 6;
  constexpr double kCellHz = 75;  // the power of 2.4's pulses falls by 1.3 dB over three of them
  constexpr double kDip = 20;     // 13 dB: the slope of a line and of the pulses together
  const auto from = static_cast<std::size_t>(t0 * kRateHz),
             to = std::min(x.size(), static_cast<std::size_t>(t1 * kRateHz));
  const Fft fft(kSize);
  std::vector<oh_complex> z(kSize);
  std::array<double, kCells> cells{};
  for (std::size_t at = from; at + kSize <= to; at += kSize) {
    const std::vector<float> w = hann(x.subspan(at, kSize));
    for (std::size_t k = 0; k < kSize; ++k) z[k] = {w[k], 0};
    fft.forward(z);
    for (std::size_t c = 0; c < kCells; ++c) {
      const double low = carrier_hz + kCellHz * (static_cast<double>(c) - kCells / 2.0);
      const auto first = static_cast<std::size_t>(std::lround(low * kSize / kRateHz));
      const auto last = static_cast<std::size_t>(std::lround((low + kCellHz) * kSize / kRateHz));
      for (std::size_t k = first; k < last; ++k)
        cells[c] += static_cast<double>(z[k].re) * z[k].re + static_cast<double>(z[k].im) * z[k].im;
    }
  }
  const auto [least, most] = std::minmax_element(cells.begin(), cells.end());
  return *most < kDip * *least;
}

DataHeard read_symbols(const std::vector<Symbol>& s, std::size_t from, std::size_t to, bool at_2400) {
  constexpr std::size_t kEvery = 60;  // symbols: 100 ms
  DataHeard d;
  d.bit_rate = at_2400 ? 2400 : 1200;
  d.t0 = s[from].t;
  d.t1 = s[to - 1].t;
  d.snr_db = snr_db(s, from, to);
  d.spoilt = spoilt_stretches(s, from, to);
  GuardedDescrambler descrambler;
  for (std::size_t i = from; i < to; ++i) {
    if ((i - from) % kEvery == 0) {
      d.times.emplace_back(s[i].t, d.bits.size());
      d.snr_track.emplace_back(s[i].t, snr_db(s, i, std::min(to, i + kEvery)));
      if (d.constellation.size() < 2000) {
        for (std::size_t k = i; k < std::min(to, i + 20); ++k) d.constellation.push_back(s[k].y);
      }
    }
    const int quadbit = s[i].dibit << 2 | s[i].inner;
    for (int b = 3; b >= (at_2400 ? 0 : 2); --b) {
      d.bits.push_back(static_cast<std::uint8_t>(descrambler.descramble(quadbit >> b & 1)));
    }
  }
  return d;
}

// Quality and scrambling as in data: in a tone or a chord, dibits repeat.
bool is_scrambled(const std::vector<Symbol>& s, std::size_t from, std::size_t to) {
  std::array<double, 4> count{};
  for (std::size_t i = from; i < to; ++i) ++count[static_cast<std::size_t>(s[i].dibit)];
  double alike = 0;
  for (const double n : count) alike += n * n;
  const auto all = static_cast<double>(to - from);
  return snr_db(s, from, to) > kSureSnrDb && alike < kMostAlike * all * all;
}

// At 2400 bit/s each of the four points of a quadrant is as frequent; noise moves those of 1200 bit/s to others, but
// not with equal frequency.
bool is_2400(const std::vector<Symbol>& s, std::size_t from, std::size_t to) {
  constexpr std::size_t kFew = 200;
  std::array<std::size_t, 4> count{};
  for (std::size_t i = from; i < to; ++i) ++count[static_cast<std::size_t>(s[i].inner)];
  const auto [least, most] = std::minmax_element(count.begin(), count.end());
  const auto all = static_cast<double>(to - from);
  const double spread = to - from < kFew ? 0.15 : 0.1;
  return snr_db(s, from, to) > kSureSnrDb && static_cast<double>(*least) > (0.25 - spread) * all &&
         static_cast<double>(*most) < (0.25 + spread) * all;
}

bool is_1200(const std::vector<Symbol>& s, std::size_t from, std::size_t to) {
  const auto count = std::count_if(s.begin() + static_cast<long>(from), s.begin() + static_cast<long>(to),
                                   [](const Symbol& x) { return x.inner == kInnerAt1200; });
  return 2 * static_cast<std::size_t>(count) > to - from;
}

// The content of the bits: frames, or characters.
Link link_of(const DataHeard& data, const Link* before) {
  Link link = read_link(data, before);
  if (!link.frames.empty()) return link;
  StartStopText text = read_start_stop(data.bits);
  link.format = text.format;
  link.characters = std::move(text.characters);
  return link;
}

// The trainings of a side.
struct Trainings {
  struct Trained {
    std::size_t begins, from;  // first symbols of its first signal, and of scrambled signals
  };
  std::vector<Trained> all;
  bool by_s1 = false;
  std::vector<double> retrains;  // their begins, s
};

// Finds unscrambled ones and S1 (6.3.1, 6.4). @param signal  gets each of them: first symbol, end, name
template <class Signal>
Trainings find_trainings(const std::vector<Symbol>& s, Signal&& signal) {
  constexpr std::size_t kLeastData = 300;  // symbols before S1, if the recording begins in data mode
  constexpr std::size_t kLeastRun = 40;    // S1 is 60 symbols, unscrambled ones 93
  const auto same = [](int before, int now) { return before == 3 && now == 3; };
  const auto alternate = [](int before, int now) { return before + now == 3 && (before == 0 || before == 3); };
  Trainings t;
  for (std::size_t i = 0; i < s.size();) {
    std::size_t n = run_length(s, i, same);
    if (n >= kLeastRun) {
      signal(i, i + n, "unscrambled ones, 1200 bit/s");
      i += n;
      if (t.all.empty())
        t.all.push_back({i - n, i});
      else if (!t.by_s1)
        t.all.back().from = i;
      continue;
    }
    n = run_length(s, i, alternate);
    if (n >= kLeastRun) {
      signal(i, i + n, "S1");
      if (t.all.empty() && i > kLeastData && is_scrambled(s, 0, i)) t.all.push_back({0, 0}), t.by_s1 = true;
      if (t.all.size() > 1 || (t.all.size() == 1 && t.by_s1)) t.retrains.push_back(s[i].t);
      i += n;
      if (t.all.size() == 1 && !t.by_s1)
        t.all.back().from = i;
      else
        t.all.push_back({i - n, i});
      t.by_s1 = true;
      continue;
    }
    ++i;
  }
  if (t.all.empty()) t.all.push_back({0, 0});
  return t;
}

// @return the first symbol in [from, to) whose points are no longer those of 1200 bit/s; to: none
std::size_t begin_of_2400(const std::vector<Symbol>& s, std::size_t from, std::size_t to) {
  constexpr std::size_t kWindow = 64;  // symbols; at 2400 bit/s three quarters of them are not of 1200
  for (std::size_t i = from; i + kWindow <= to; ++i) {
    if (s[i].inner == kInnerAt1200) continue;
    std::size_t others = 0;
    for (std::size_t j = i; j < i + kWindow; ++j) others += s[j].inner != kInnerAt1200;
    if (others > kWindow / 3) return i;
  }
  return to;
}

// 6.3.1 and 6.4: interprets the symbols, one training after the other. @return begins of retrains, s
std::vector<double> interpret(const std::vector<Symbol>& s, Connection::Side& side) {
  constexpr std::size_t kMostTraining = 1500;  // symbols at 1200 bit/s before those at 2400, 0.8 s by 6.3.1
  constexpr double kMostAt1200S = 1.5;         // after S1 in a training that continues to 2400 bit/s
  const auto signal = [&](std::size_t from, std::size_t to, const char* what) {
    side.signals.push_back({s[from].t, s[to - 1].t, what});
  };
  const Trainings trained = find_trainings(s, signal);
  for (std::size_t k = 0; k < trained.all.size(); ++k) {
    const std::size_t from = trained.all[k].from,
                      to = k + 1 < trained.all.size() ? trained.all[k + 1].begins : s.size();
    if (from >= to) continue;
    const std::size_t data = begin_of_2400(s, from, to);
    const bool at_2400 = data < to && data - from < kMostTraining && is_2400(s, data, to);
    const bool by_s1 = trained.by_s1 && from > 0;
    if (!at_2400 && by_s1 && s[to - 1].t - s[from].t < kMostAt1200S && s[to - 1].inner == kInnerAt1200) {
      signal(from, to, "scrambled ones, 1200 bit/s");
      continue;
    }
    if (at_2400 && data > from) signal(from, data, "scrambled ones, 1200 bit/s");
    DataHeard heard = read_symbols(s, at_2400 ? data : from, to, at_2400);
    Link link = link_of(heard, side.links.empty() ? nullptr : &side.links.back());
    // After a slip the receiver may have a wrong angle: points of neither rate.
    if (!at_2400 && link.frames.empty() && !is_1200(s, from, to)) continue;
    side.data.push_back(std::move(heard));
    side.links.push_back(std::move(link));
  }
  return trained.retrains;
}

// The end that requests a retrain sends S1, and the far end answers with S1 (6.4).
void find_retrains(Connection& found, const std::vector<double> (&begun)[2]) {
  constexpr double kOneExchangeS = 2, kBothS = 0.03;  // an answer comes when some of S1 has been heard
  const bool one_alone = found.call.channel < 0 || found.answer.channel < 0;
  std::vector<Change> all;
  for (const bool answer : {false, true}) {
    const Connection::Side& side = answer ? found.answer : found.call;
    for (const double t : begun[answer])
      all.push_back({Change::Kind::kRetrain, t, side.channel, one_alone ? nullptr : answer ? "answer" : "call", 0});
  }
  std::stable_sort(all.begin(), all.end(), [](const Change& a, const Change& b) { return a.t < b.t; });
  for (const Change& c : all) {
    if (found.changes.empty() || c.t - found.changes.back().t > kOneExchangeS) {
      found.changes.push_back(c);
    } else if (!one_alone && c.channel != found.changes.back().channel && c.t - found.changes.back().t < kBothS) {
      found.changes.back().by = "both";
    }
  }
  for (Change& c : found.changes) {
    for (const Connection::Side* side : {&found.call, &found.answer}) {
      const auto after =
          std::find_if(side->data.begin(), side->data.end(), [&](const DataHeard& d) { return d.t0 > c.t; });
      if (after != side->data.end()) c.bit_rate = after->bit_rate;
    }
  }
}

// Frames or V.42's detection are proof; otherwise the quality and the scrambling must be as good as those of data.
bool is_believable(const std::vector<Symbol>& s, const Connection::Side& side) {
  for (const Link& link : side.links)
    if (!link.frames.empty() || link.detection != nullptr) return true;
  const auto at = [&](double t) {
    return static_cast<std::size_t>(
        std::lower_bound(s.begin(), s.end(), t, [](const Symbol& x, double v) { return x.t < v; }) - s.begin());
  };
  return std::any_of(side.data.begin(), side.data.end(),
                     [&](const DataHeard& d) { return is_scrambled(s, at(d.t0), at(d.t1)); });
}

}  // namespace

Connection find_v22bis(const Recording& recording) {
  Connection found;
  std::vector<double> retrains[2];
  for (const bool answer : {false, true}) {
    Connection::Side& side = answer ? found.answer : found.call;
    double loudest = 0;
    for (std::size_t c = 0; c < recording.channel.size(); ++c) {
      Listener listener(recording.channel[c], answer ? 2400 : 1200);
      const std::vector<Symbol> symbols = listener.listen();
      // The other direction's echo gives equally good symbols: the louder channel is the sender's.
      if (symbols.size() < kAcquire || snr_db(symbols, 0, symbols.size()) < kLeastSnrDb) continue;
      if (listener.power() <= loudest) continue;
      Connection::Side heard;
      heard.channel = static_cast<int>(c);
      heard.carrier_hz = answer ? 2400 : 1200;
      heard.clock_ppm = listener.clock_ppm();
      heard.frequency_offset_hz = listener.offset_hz();
      loudest = listener.power();
      side = {};
      retrains[answer] = interpret(symbols, heard);
      if (!is_believable(symbols, heard)) continue;
      const auto longest = std::max_element(heard.data.begin(), heard.data.end(),
                                            [](const auto& a, const auto& b) { return a.t1 - a.t0 < b.t1 - b.t0; });
      if (!fills_band(recording.channel[c], heard.carrier_hz, longest->t0, longest->t1)) continue;
      heard.clock_ppm = listener.measure_clock_ppm(heard.data);
      side = std::move(heard);
    }
  }
  if (found.call.channel >= 0 || found.answer.channel >= 0) found.modulation = kV22bis.title;
  uncompress(found.call.links, found.answer.links);
  find_retrains(found, retrains);
  const auto at_2400 = [](const Connection::Side& side) {
    return std::any_of(side.data.begin(), side.data.end(), [](const DataHeard& d) { return d.bit_rate == 2400; });
  };
  const auto sends_s1 = [](const Connection::Side& side) {
    return side.channel < 0 ||
           std::any_of(side.signals.begin(), side.signals.end(), [](const auto& s) { return s.what == "S1"; });
  };
  // An S1 without an S1 as answer has no effect (6.3.1).
  const bool both = sends_s1(found.call) && sends_s1(found.answer);
  if (found.modulation != nullptr && !both && !at_2400(found.call) && !at_2400(found.answer))
    found.modulation = kV22.title;
  return found;
}

}  // namespace offhook::decode
