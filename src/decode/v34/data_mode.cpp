// SPDX-License-Identifier: MIT
#include "src/decode/v34/data_mode.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>
#include <span>
#include <utility>

#include "src/decode/v34/grid.h"
#include "src/decode/v34/known_symbols.h"
#include "src/decode/v34/lattice.h"
#include "src/decode/v34/second_reading.h"
#include "src/decode/v34/slip.h"

namespace offhook::decode {
namespace {

constexpr double kMarkS = 0.1;

// B1 in its transmitted form: x', of mean power 1, and y, the receiver's signal after the whitening filter.
struct B1 {
  v34::EncoderStart start;
  std::vector<Cf> sent, seen;
};

B1 make_b1(const v34::DataParameters& p, const v34::EncoderStart& start) {
  B1 b;
  b.start = start;
  v34::Encoder encoder(p.coding, start);
  const qam::NonlinearEncoder nonlinear(p.nonlinear ? v34::kNonlinearTheta : 0.f, p.mean_energy());
  const float scale = 1 / std::sqrt(p.transmitted_energy());
  const std::vector<std::uint8_t> ones(v34::kMaxMappingFrameBits, 1);
  for (int f = start.frame; f < p.coding.framing.mapping_frames; ++f) {
    v34::Encoder::Symbol symbols[v34::kSymbolsPerMappingFrame];
    encoder.frame(ones.data(), 1, symbols);
    for (const auto& s : symbols) {
      float re = static_cast<float>(s.x.re) / 128, im = static_cast<float>(s.x.im) / 128;
      nonlinear.encode(&re, &im);
      b.sent.emplace_back(scale * re, scale * im);
      b.seen.push_back(to_cf(s.y));
    }
  }
  return b;
}

// Immediate decisions on whitened symbols: good enough to follow the line by.
class Decisions {
 public:
  Decisions(const v34::DataParameters& p, const v34::EncoderStart& start) : ahead_(p.coding.framing) {
    for (int k = 0; k < start.frame; ++k) ahead_.advance();
    viterbi_.reset(p.coding.trellis, start.trellis_state == 0);
  }

  /// @return the nearest odd point; for the second of a pair, that of the best path
  Cf put(Cf y) {
    received_[2 * second_] = y.real();
    received_[2 * second_ + 1] = y.imag();
    second_ = !second_;
    if (second_) return {nearest(y.real()), nearest(y.imag())};
    v34::Point pair[2];
    viterbi_.decode(received_, ahead_.bit_inversion(pair_), pair);
    if (++pair_ == v34::kGroupsPerMappingFrame) {
      pair_ = 0;
      ahead_.advance();
    }
    viterbi_.tentative(pair);
    return to_cf(pair[1]);
  }

 private:
  static float nearest(float v) { return std::clamp(2 * std::floor(v / 2) + 1, -255.f, 255.f); }

  v34::ViterbiDecoder viterbi_;
  v34::FramePosition ahead_;
  int pair_ = 0;
  float received_[4]{};
  bool second_ = false;
};

// Hears S in the symbols of data mode: each equals the one two before.
class SDetector {
 public:
  bool put(Cf y) {
    alike_ = 0.97 * alike_ + Cd(y) * std::conj(Cd(last_[1]));
    power_ = 0.97 * power_ + std::norm(y);
    last_[1] = last_[0];
    last_[0] = y;
    return std::abs(alike_) > 0.85 * power_;
  }

 private:
  Cd alike_;
  double power_ = 0;
  Cf last_[2]{};
};

// The share of `head` that a B1 explains. @return 0 to 1; @param[out] gain  from the sender to the received signal
double likeness(const B1& b1, std::span<const Cf> head, Cd* gain) {
  Cd sum;
  double sent = 0, received = 0;
  for (std::size_t i = 0; i < b1.sent.size(); ++i) {
    sum += Cd(times_conj(head[i], b1.sent[i]));
    sent += std::norm(b1.sent[i]);
    received += std::norm(head[i]);
  }
  *gain = sum / std::max(sent, 1e-12);
  return sent * received > 0 ? std::norm(sum) / (sent * received) : 0;
}

// B1 as senders begin it. The encoder is at zero as 10.1.3.1 requires, or elsewhere in its differential encoder; or the
// trellis encoder is as the training or the data before left it, at once or one mapping frame late. The others of
// the four quadrants are these, turned by half a circle.
std::vector<B1> possible_b1s(const v34::DataParameters& p) {
  std::vector<B1> all;
  for (int frame = 0; frame < 2; ++frame) {
    for (int state = 0; state < v34::trellis_states(p.coding.trellis); ++state) {
      for (int quadrant = 0; quadrant < 2; ++quadrant) all.push_back(make_b1(p, {quadrant, state, frame}));
    }
  }
  return all;
}

// Level and phase from B1, with the loops standing still; even if it comes late: some senders put a few empty
// symbols between E and B1. Fills in t0, b1_match and b1_start, and puts the receiver into the data mode's units.
// @return B1, or nothing if it is absent
std::optional<B1> find_b1(SymbolReceiver& receiver, const v34::DataParameters& parameters, V34DataHeard& heard) {
  constexpr std::size_t kMostLate = 48;  // symbols
  constexpr double kLeast = 0.8;         // of its energy
  // A B1 turned by a quarter is the B1 of another trellis state. Except for rounding both fit equally well, and the
  // first is taken.
  constexpr double kMore = 1 + 1e-5;
  const ReceiverState start = receiver.state;
  const auto symbols = static_cast<std::size_t>(parameters.coding.framing.symbols_per_data_frame());
  std::vector<Cf> head;
  std::vector<ReceiverState> at;
  for (std::size_t i = 0; i < symbols + kMostLate; ++i) {
    if (i <= kMostLate) at.push_back(receiver.state);
    head.push_back(receiver.equalise());
    receiver.adapt({}, {}, 0);
  }
  receiver.state = start;
  B1 b1;
  Cd gain;
  std::size_t late = 0;
  for (const B1& candidate : possible_b1s(parameters)) {
    for (std::size_t lag = 0; lag <= kMostLate; ++lag) {
      Cd g;
      const double match = likeness(candidate, std::span(head).subspan(lag), &g);
      if (match <= kMore * heard.b1_match) continue;
      heard.b1_match = match;
      b1 = candidate;
      gain = g;
      late = lag;
    }
  }
  heard.b1_start = b1.start;
  if (heard.b1_match < kLeast || gain == Cd{}) return std::nullopt;
  receiver.state = at[late];
  heard.t0 = heard.t1 = seconds(receiver.state.t);
  receiver.scale(static_cast<float>(std::sqrt(parameters.transmitted_energy()) / std::abs(gain)));
  receiver.state.power = parameters.transmitted_energy();
  receiver.state.phase += std::arg(gain);
  return b1;
}

// Puts the receiver into the data mode's units, before the first symbol that can be read.
// @return a B1 of no symbols, or nothing if no data are found
std::optional<B1> begin_without_b1(SymbolReceiver& receiver, const v34::DataParameters& parameters, double end,
                                   V34DataHeard& heard) {
  const std::optional<LatticeStart> found = find_lattice(receiver, parameters, end, heard.lattice);
  if (!found) return std::nullopt;
  receiver.state = found->receiver;
  heard.t0 = heard.t1 = seconds(receiver.state.t);
  return B1{found->start, {}, {}};
}

// Follows the symbols of data mode from the first of B1 on.
class DataReader {
 public:
  // @param each_segment  gets the available symbols when a segment is complete, and returns how many are no longer
  // needed
  DataReader(SymbolReceiver& receiver, const v34::DataParameters& parameters, double carrier_hz, const B1& b1,
             V34DataHeard& heard, std::function<std::size_t(std::span<const EqualisedSymbol>)> each_segment)
      : receiver_(receiver),
        parameters_(parameters),
        carrier_hz_(carrier_hz),
        b1_(b1),
        heard_(heard),
        each_segment_(std::move(each_segment)),
        nonlinear_(parameters.nonlinear ? v34::kNonlinearTheta : 0.f, parameters.mean_energy()),
        at_{Decisions(parameters, b1.start), WhiteningFilter(parameters.coding.precoder), {}} {}

  /// Those of this direction: a time, and the samples that were put in there.
  std::vector<std::pair<double, int>> slips() const {
    std::vector<std::pair<double, int>> all;
    for (const Jump& jump : slips_) {
      if (jump.slip.samples != 0) all.emplace_back(seconds(jump.t), jump.slip.samples);
    }
    return all;
  }
  /// The symbols that no segment has read, up to the end of data.
  std::span<const EqualisedSymbol> symbols() const { return symbols_; }

  /// @param end  in samples
  void run(double end) {
    at_.next_mark = heard_.t0 + kMarkS;
    Checkpoint begin = here();
    marks_.assign(2, begin);
    bool again = false;
    for (; receiver_.state.t < end; ++at_.symbol) {
      if (symbols_.size() % kStretch == 0) {  // reading goes back by at most two of them
        const std::size_t gone =
            each_segment_(std::span(symbols_).first(symbols_.size() - std::min(symbols_.size(), kGoesBack)));
        symbols_.erase(symbols_.begin(), symbols_.begin() + static_cast<std::ptrdiff_t>(gone));
        gone_ += gone;
      }
      // An echo may come, or change its path, in mid-call: a stretch that shows one is read again without it.
      if (past_.size() == kStretch) {
        const bool learnt = receiver_.learn_echo(past_) > kWorthAgain;
        past_.clear();
        again = learnt && !again;
        if (again) {
          go_back(begin);
          marks_.assign(2, begin);
        }
        begin = here();
      }
      if (seconds(receiver_.state.t) >= at_.next_mark && !pass_mark()) return;
      slip();
      const Cf out = receiver_.equalise();
      if (at_.s.put(out) && at_.symbol > 200) {
        heard_.s_after = true;
        heard_.t_s = seconds(receiver_.state.t - kSSeen * receiver_.state.step);
        resize(at_.symbol - kSSeen);
        return;
      }
      take(out);
    }
  }

 private:
  static constexpr std::size_t kSSeen = 70;      // symbols of S until it is distinguished from data
  static constexpr std::size_t kStretch = 2000;  // symbols that an echo is learnt from
  static constexpr std::size_t kGoesBack = 4 * kStretch;
  static constexpr double kWorthAgain = 0.1;  // of the errors' energy
  static constexpr double kGuesses = 0.58;    // of grid_error(): most of a mark's points were

  // The position of reading, without the receiver.
  struct Position {
    Decisions decisions;
    WhiteningFilter filter;
    SDetector s;
    std::size_t symbol = 0;
    double next_mark = 0;
  };
  struct Checkpoint {
    Position position;
    ReceiverState receiver;
    std::size_t points;
  };
  Checkpoint here() const { return {at_, receiver_.state, heard_.constellation.size()}; }
  // With the current taps of the echo.
  void go_back(const Checkpoint& to) {
    std::vector<Cf> echo = std::move(receiver_.state.v);
    const double delay = receiver_.state.echo_delay;
    at_ = to.position;
    receiver_.state = to.receiver;
    receiver_.state.v = std::move(echo);
    receiver_.state.echo_delay = delay;
    resize(at_.symbol);
    heard_.constellation.resize(to.points);
  }

  // @param symbol  the next one
  void resize(std::size_t symbol) { symbols_.resize(symbol - gone_); }

  // @return whether the points can still be distinguished. After a slip, decoding goes back before it.
  bool pass_mark() {
    at_.next_mark += kMarkS;
    heard_.lost = receiver_.state.error > 0.5;
    const bool guesses = heard_.lost || grid_errors_ > kGuesses * grid_symbols_;
    grid_errors_ = grid_symbols_ = 0;
    if (guesses && !guesses_) {
      const ReceiverState behind = std::exchange(receiver_.state, marks_[0].receiver);
      const std::optional<Slip> slip = find_slip(receiver_, parameters_, b1_.start,
                                                 static_cast<long>(marks_[0].position.symbol), behind.t, carrier_hz_);
      if (slip && (slips_.empty() || slip->symbol > slips_.back().slip.symbol)) {
        slips_.push_back({*slip});
        at_ = marks_[0].position;
        resize(at_.symbol);
        heard_.constellation.resize(marks_[0].points);
        past_.clear();
        marks_[1] = marks_[0];
        heard_.lost = false;
        return true;
      }
      receiver_.state = behind;
    }
    guesses_ = guesses;
    marks_[0] = std::exchange(marks_[1], here());
    return !heard_.lost;
  }

  // The sender's symbols come earlier or later from here on.
  void slip() {
    for (Jump& jump : slips_) {
      if (jump.slip.symbol != at_.symbol) continue;
      const int samples = jump.slip.samples;
      jump.t = receiver_.state.t;
      jump.over_t = jump.t + std::max(samples, 0) + kSlipBlurs;
      receiver_.state.t += samples;
      receiver_.state.echo_delay += jump.slip.echo_samples;
      receiver_.state.phase -= std::remainder(2 * kPi * carrier_hz_ / kRateHz * samples, 2 * kPi);
    }
  }
  // The line lacks this symbol, or has it mixed with others.
  bool in_slip() const {
    const double blurred = kSlipBlurs / receiver_.state.step;
    return std::any_of(slips_.begin(), slips_.end(), [&](const Jump& jump) {
      return at_.symbol < jump.slip.symbol ? static_cast<double>(jump.slip.symbol - at_.symbol) < blurred
                                           : receiver_.state.t < jump.over_t;
    });
  }

  void take(Cf out) {
    float re = out.real(), im = out.imag();
    nonlinear_.decode(&re, &im);
    const Cf x(re, im), y = at_.filter.put(x);
    const bool in_b1 = at_.symbol < b1_.seen.size();
    const Cf best = at_.decisions.put(y);
    const Cf d = in_b1 ? b1_.seen[at_.symbol] : best;
    symbols_.push_back({receiver_.state.t, receiver_.state.phase, out});
    if (at_.symbol % 7 == 0 && heard_.constellation.size() < 8000) heard_.constellation.push_back(y);
    // The error before the whitening filter and after the non-linear encoder, in a sufficient approximation.
    const Cf error = (d - y) * (std::abs(x) > 1e-6f ? std::abs(out) / std::abs(x) : 1.f);
    if (in_slip()) {
      receiver_.adapt({}, {}, 0);
      return;
    }
    grid_errors_ += grid_error(y);
    ++grid_symbols_;
    past_.push_back({receiver_.state.t, receiver_.state.phase, error});
    receiver_.adapt(error, out + error, in_b1 ? 0.01f : 0.002f);
  }

  SymbolReceiver& receiver_;
  const v34::DataParameters& parameters_;
  double carrier_hz_;
  const B1& b1_;
  V34DataHeard& heard_;
  std::function<std::size_t(std::span<const EqualisedSymbol>)> each_segment_;
  qam::NonlinearEncoder nonlinear_;
  Position at_;
  std::vector<EqualisedSymbol> symbols_;
  std::size_t gone_ = 0;  // symbols before these
  std::vector<SymbolReceiver::Decided> past_;
  std::vector<Checkpoint> marks_;              // at the last one but one, and at the last one
  double grid_errors_ = 0, grid_symbols_ = 0;  // since the last mark
  bool guesses_ = false;                       // points before the last mark were but guesses, and no slip the reason
  struct Jump {
    Slip slip;
    double t = 0, over_t = 0;  // in samples: when, and when it blurs nothing any more
  };
  std::vector<Jump> slips_;
};

double mean(std::span<const float> x) {
  double sum = 0;
  for (const float v : x) sum += v;
  return sum / static_cast<double>(x.size());
}

// How many of the symbols behind `done` are data. The last ones may not be: the next signal begins a few symbols early,
// or the sender has gone silent. Decisions after the beginning of silence are only guesses.
// @param done  symbols that have been read already, at the beginning  @param[out] silence  the sender has gone silent
std::size_t count_data(std::span<const EqualisedSymbol> symbols, const SecondReading& reading, double energy,
                       std::size_t done, bool* silence) {
  constexpr std::size_t kFrame = v34::kSymbolsPerMappingFrame, kRun = 4 * kFrame, kFew = 8 * kFrame;
  constexpr double kSilence = 0.05;  // of the energy
  const std::size_t all = reading.squared.size();
  const std::span<const float> squared = reading.squared;
  const double usual = median({squared.begin(), squared.end()}) / std::log(2.0),
               limit = std::sqrt(usual * kGuessSquared);
  std::size_t data = all;
  while (data >= kRun && mean(squared.subspan(data - kRun, kRun)) > limit) data -= kFrame;
  while (data >= kRun && mean(squared.subspan(data - kFrame, kFrame)) > limit) data -= kFrame;
  if (data < kRun) return all;
  double power = 0;
  for (std::size_t k = data; k < all && !*silence; ++k) {
    power += std::norm(symbols[k].out);
    if (k >= data + kRun) power -= std::norm(symbols[k - kRun].out);
    *silence = k + 1 >= data + kRun && power < kSilence * energy * static_cast<double>(kRun);
  }
  return *silence || all - data <= kFew ? std::max(data, std::min(done, all)) : all;
}

// The mark from which on most decisions are too uncertain. @return its time, or 0
double unsure_since(const std::vector<std::pair<double, double>>& squared) {
  constexpr std::size_t kLeastMarks = 3;
  constexpr double kMost = 0.8;
  auto unsure = static_cast<double>(
      std::count_if(squared.begin(), squared.end(), [](const auto& mark) { return mark.second > kUnsureSquared; }));
  for (std::size_t k = 0; k + kLeastMarks <= squared.size(); ++k) {
    const bool here = squared[k].second > kUnsureSquared;
    if (here && unsure >= kMost * static_cast<double>(squared.size() - k)) return squared[k].first - kMarkS;
    unsure -= here;
  }
  return 0;
}

// Bits, and the quality of their decisions; the symbols may come in parts.
class Bits {
 public:
  Bits(const B1& b1, V34DataHeard& heard)
      : b1_(b1), heard_(heard), decoder_(heard.parameters.coding, b1.start), next_mark_(heard.t0 + kMarkS) {}

  // Symbols [first, last) of a reading, whole mapping frames.
  void take(const SecondReading& reading, std::span<const EqualisedSymbol> symbols, std::size_t first,
            std::size_t last) {
    constexpr std::size_t kFrame = v34::kSymbolsPerMappingFrame;
    for (std::size_t k = first; k + kFrame <= last; k += kFrame, number_ += kFrame) {
      std::uint8_t bits[v34::kMaxMappingFrameBits], aux = 0;
      const int n = decoder_.frame(&reading.points[k], bits, &aux);
      if (number_ < b1_.seen.size()) {
        for (int i = 0; i < n; ++i) heard_.b1_errors += !bits[i];
      } else {
        heard_.bits.insert(heard_.bits.end(), bits, bits + n);
      }
      for (const float squared : std::span(reading.squared).subspan(k, kFrame)) sum_ += squared;
      marked_ += kFrame;
      const double t = seconds(symbols[k + kFrame - 1].t);
      if (t >= next_mark_) mark(t);
    }
  }
  void finish() { heard_.unsure_t = unsure_since(squared_); }

 private:
  void mark(double t) {
    next_mark_ += kMarkS;
    const double noise = sum_ / static_cast<double>(marked_);
    sum_ = 0;
    marked_ = 0;
    squared_.emplace_back(t, noise);
    heard_.snr_track.emplace_back(t, 10 * std::log10(heard_.parameters.mean_energy() / std::max(noise, 1e-9)));
    heard_.times.emplace_back(t, heard_.bits.size());
  }

  const B1& b1_;
  V34DataHeard& heard_;
  v34::Decoder decoder_;
  double next_mark_, sum_ = 0;
  std::size_t marked_ = 0, number_ = 0;             // symbols since the last mark, and in all
  std::vector<std::pair<double, double>> squared_;  // by mark
};

}  // namespace

V34DataHeard read_data(const Baseband& line, const Baseband* other, const Direction& direction,
                       const v34::DataParameters& parameters, const ReceiverState& start, double end) {
  V34DataHeard heard;
  heard.parameters = parameters;
  heard.bit_rate = parameters.bit_rate;
  heard.t0 = heard.t1 = heard.due_t = seconds(start.t);
  SymbolReceiver receiver(line, other, symbol_rate_hz(direction.rate));
  receiver.state = start;
  std::optional<B1> b1 = find_b1(receiver, parameters, heard);
  heard.b1_found = b1.has_value();
  if (!b1) b1 = begin_without_b1(receiver, parameters, end, heard);
  if (!b1) return heard;

  const double carrier = carrier_hz(direction.rate, direction.carrier);
  SegmentedReading segments(parameters, b1->start, carrier);
  Bits bits(*b1, heard);
  DataReader reader(receiver, parameters, carrier, *b1, heard, [&](std::span<const EqualisedSymbol> symbols) {
    if (symbols.size() < segments.last() + SegmentedReading::kBeside) return std::size_t{0};
    const SecondReading reading = segments.read(symbols);
    bits.take(reading, symbols, segments.first(), segments.last());
    return segments.go_on(reading);
  });
  reader.run(end);
  heard.slips = reader.slips();
  heard.t1 = seconds(receiver.state.t);
  std::span<const EqualisedSymbol> symbols = reader.symbols();
  const SecondReading plain = segments.read_plainly(symbols);
  const std::size_t data =
      count_data(symbols, plain, parameters.transmitted_energy(), segments.first(), &heard.silence_after);
  if (heard.silence_after) {
    heard.t1 = seconds(symbols[data].t);
    heard.lost = false;
  }
  symbols = symbols.first(data);
  bits.take(segments.read_without_pulses(symbols, plain), symbols, segments.first(), symbols.size());
  bits.finish();
  std::vector<double> track;
  for (const auto& [t, snr] : heard.snr_track) track.push_back(snr);
  heard.snr_db = median(std::move(track));
  receiver.scale(static_cast<float>(std::sqrt(2.0 / parameters.transmitted_energy())));
  heard.at_end = receiver.state;
  heard.at_end.error = 0;
  return heard;
}

}  // namespace offhook::decode
