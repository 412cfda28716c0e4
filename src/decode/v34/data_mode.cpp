// SPDX-License-Identifier: MIT
#include "src/decode/v34/data_mode.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <span>

#include "src/decode/v34/known_symbols.h"

namespace offhook::decode {
namespace {

// B1 as it is sent: x', of mean power 1, and y, what the receiver is to see after the whitening filter.
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

// Whitened symbols to bits.
class Bits {
 public:
  Bits(const v34::DataParameters& p, const v34::EncoderStart& start)
      : framing_(p.coding.framing),
        decoder_(p.coding, start),
        ahead_(p.coding.framing),
        b1_frames_(framing_.mapping_frames - start.frame) {
    for (int k = 0; k < start.frame; ++k) ahead_.advance();
    viterbi_.reset(p.coding.trellis, start.trellis_state == 0);
  }

  /// What `y` was meant to be: the nearest odd point; for the second of a pair, that of the best path.
  Cf put(Cf y, DataHeard& heard) {
    received_[2 * second_] = y.real();
    received_[2 * second_ + 1] = y.imag();
    second_ = !second_;
    if (second_) return {nearest(y.real()), nearest(y.imag())};
    const bool ready = viterbi_.decode(received_, ahead_.bit_inversion(pair_), decided_ + count_);
    if (++pair_ == v34::kGroupsPerMappingFrame) {
      pair_ = 0;
      ahead_.advance();
    }
    v34::Point newest[2];
    viterbi_.tentative(newest);
    if (ready && (count_ += 2) == v34::kSymbolsPerMappingFrame) {
      count_ = 0;
      std::uint8_t bits[v34::kMaxMappingFrameBits], aux = 0;
      const int n = decoder_.frame(decided_, bits, &aux);
      if (b1_frames_ > 0) {
        --b1_frames_;
        for (int k = 0; k < n; ++k) heard.b1_errors += !bits[k];
      } else {
        heard.bits.insert(heard.bits.end(), bits, bits + n);
      }
    }
    return to_cf(newest[1]);
  }
  /// Of the newest pair, both points together.
  double noise() const { return viterbi_.path_metric_step(); }
  bool pair_completed() const { return !second_; }

 private:
  static float nearest(float v) { return std::clamp(2 * std::floor(v / 2) + 1, -255.f, 255.f); }

  v34::Framing framing_;
  v34::ViterbiDecoder viterbi_;
  v34::Decoder decoder_;
  v34::FramePosition ahead_;
  int b1_frames_;
  int pair_ = 0;
  float received_[4]{};
  bool second_ = false;
  v34::Point decided_[v34::kSymbolsPerMappingFrame]{};
  int count_ = 0;
};

// What undoes the precoder: y(n) = x(n) + sum of h(i) x(n - i).
class WhiteningFilter {
 public:
  explicit WhiteningFilter(const v34::PrecoderCoefficients& c) {
    for (int k = 0; k < 3; ++k) h_[k] = {static_cast<float>(c.h[k].re) / 16384, static_cast<float>(c.h[k].im) / 16384};
  }
  Cf put(Cf x) {
    const Cf y = x + h_[0] * x_[0] + h_[1] * x_[1] + h_[2] * x_[2];
    x_[2] = x_[1];
    x_[1] = x_[0];
    x_[0] = x;
    return y;
  }

 private:
  Cf h_[3], x_[3]{};
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

// How much of `head` a B1 explains. @return 0 to 1; @param[out] gain  of the sender to what is received
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

// B1 as senders begin it: the encoder at zero as 10.1.3.1 has it, or somewhere else in its differential encoder; or
// with the trellis encoder as the training or the data before left it, at once or one mapping frame late. The others of
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

// Level and phase from B1, with the loops standing still; also where it comes late: some senders put a few empty
// symbols between E and B1. Fills in t0, b1_match and b1_start, and puts the receiver into the data mode's units.
// @return B1, or nothing where it is not to be seen
std::optional<B1> find_b1(SymbolReceiver& receiver, const v34::DataParameters& parameters, V34DataHeard& heard) {
  constexpr std::size_t kMostLate = 48;  // symbols
  constexpr double kLeast = 0.8;         // of its energy
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
      if (match <= heard.b1_match) continue;
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

// Follows the symbols of data mode from the first of B1 on.
class Reader {
 public:
  Reader(SymbolReceiver& receiver, const v34::DataParameters& parameters, const B1& b1, V34DataHeard& heard)
      : receiver_(receiver),
        parameters_(parameters),
        b1_(b1),
        heard_(heard),
        nonlinear_(parameters.nonlinear ? v34::kNonlinearTheta : 0.f, parameters.mean_energy()),
        at_{Bits(parameters, b1.start), WhiteningFilter(parameters.coding.precoder), {}} {}

  /// @param end  in samples
  void run(double end) {
    constexpr int kSSeen = 70;  // symbols of S when it is told from data
    at_.next_mark = heard_.t0 + kMarkS;
    Checkpoint begin = here();
    bool again = false;
    for (; receiver_.state.t < end; ++at_.symbol) {
      // An echo may come, or change its path, in mid-call: a stretch that shows one is read again without it.
      if (past_.size() == kStretch) {
        const bool learnt = receiver_.learn_echo(past_) > kWorthAgain;
        past_.clear();
        again = learnt && !again;
        if (again) go_back(begin);
        begin = here();
      }
      const Cf out = receiver_.equalise();
      if (at_.s.put(out) && at_.symbol > 200) {
        heard_.s_after = true;
        heard_.t_s = seconds(receiver_.state.t - kSSeen * receiver_.state.step);
        return;
      }
      take(out);
      const double t = seconds(receiver_.state.t);
      if (t < at_.next_mark) continue;
      at_.next_mark += kMarkS;
      mark(t);
      heard_.lost = receiver_.state.error > 0.5;
      if (heard_.lost) return;
    }
  }

 private:
  static constexpr double kMarkS = 0.1;
  static constexpr std::size_t kStretch = 2000;  // symbols that an echo is learnt from
  static constexpr double kWorthAgain = 0.1;     // of the errors' energy

  // Where reading stands, but for the receiver.
  struct Position {
    Bits bits;
    WhiteningFilter filter;
    SDetector s;
    double noise = 0;
    int pairs = 0;
    std::size_t symbol = 0;
    double next_mark = 0;
  };
  struct Checkpoint {
    Position position;
    ReceiverState receiver;
    int b1_errors;
    std::size_t bits, marks, points;
  };
  Checkpoint here() const {
    return {
        at_, receiver_.state, heard_.b1_errors, heard_.bits.size(), heard_.times.size(), heard_.constellation.size()};
  }
  // With the echo's taps as they are now.
  void go_back(const Checkpoint& to) {
    std::vector<Cf> echo = std::move(receiver_.state.v);
    const double delay = receiver_.state.echo_delay;
    at_ = to.position;
    receiver_.state = to.receiver;
    receiver_.state.v = std::move(echo);
    receiver_.state.echo_delay = delay;
    heard_.b1_errors = to.b1_errors;
    heard_.bits.resize(to.bits);
    heard_.times.resize(to.marks);
    heard_.snr_track.resize(to.marks);
    heard_.constellation.resize(to.points);
  }

  void take(Cf out) {
    float re = out.real(), im = out.imag();
    nonlinear_.decode(&re, &im);
    const Cf x(re, im), y = at_.filter.put(x);
    const bool in_b1 = at_.symbol < b1_.seen.size();
    const Cf best = at_.bits.put(y, heard_);
    const Cf d = in_b1 ? b1_.seen[at_.symbol] : best;
    if (at_.bits.pair_completed()) {
      at_.noise += at_.bits.noise() / 2;
      ++at_.pairs;
    }
    if (at_.symbol % 7 == 0 && heard_.constellation.size() < 8000) heard_.constellation.push_back(y);
    // The error before the whitening filter and after the non-linear encoder, as near as makes no difference.
    const Cf error = (d - y) * (std::abs(x) > 1e-6f ? std::abs(out) / std::abs(x) : 1.f);
    past_.push_back({receiver_.state.t, receiver_.state.phase, error});
    receiver_.adapt(error, out + error, in_b1 ? 0.01f : 0.002f);
  }
  void mark(double t) {
    const double snr = 10 * std::log10(parameters_.mean_energy() / std::max(at_.noise / std::max(at_.pairs, 1), 1e-9));
    heard_.snr_track.emplace_back(t, snr);
    heard_.times.emplace_back(t, heard_.bits.size());
    at_.noise = 0;
    at_.pairs = 0;
  }

  SymbolReceiver& receiver_;
  const v34::DataParameters& parameters_;
  const B1& b1_;
  V34DataHeard& heard_;
  qam::NonlinearEncoder nonlinear_;
  Position at_;
  std::vector<SymbolReceiver::Decided> past_;
};

}  // namespace

V34DataHeard read_data(const Baseband& line, const Baseband* other, const Direction& direction,
                       const v34::DataParameters& parameters, const ReceiverState& start, double end) {
  constexpr int kDecoderDelay = 70;  // symbols
  V34DataHeard heard;
  heard.parameters = parameters;
  heard.bit_rate = parameters.bit_rate;
  heard.t0 = heard.t1 = seconds(start.t);
  heard.decoder_delay_s = kDecoderDelay / symbol_rate_hz(direction.rate);
  SymbolReceiver receiver(line, other, symbol_rate_hz(direction.rate));
  receiver.state = start;
  const std::optional<B1> b1 = find_b1(receiver, parameters, heard);
  if (!b1) return heard;
  heard.b1_found = true;

  Reader(receiver, parameters, *b1, heard).run(end);
  heard.t1 = seconds(receiver.state.t);
  std::vector<double> track;
  for (const auto& [t, snr] : heard.snr_track) track.push_back(snr);
  heard.snr_db = median(std::move(track));
  receiver.scale(static_cast<float>(std::sqrt(2.0 / parameters.transmitted_energy())));
  heard.at_end = receiver.state;
  heard.at_end.error = 0;
  return heard;
}

}  // namespace offhook::decode
