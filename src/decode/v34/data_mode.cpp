// SPDX-License-Identifier: MIT
#include "src/decode/v34/data_mode.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "src/decode/v34/known_symbols.h"

namespace offhook::decode {
namespace {

// B1 as it is sent: x', of mean power 1, and y, what the receiver is to see after the whitening filter.
struct B1 {
  std::vector<Cf> sent, seen;
};

// By the Recommendation the differential encoder begins B1 at zero; some modems begin elsewhere.
B1 make_b1(const v34::DataParameters& p, int quadrant) {
  B1 b;
  v34::Encoder encoder(p.coding, quadrant);
  const qam::NonlinearEncoder nonlinear(p.nonlinear ? v34::kNonlinearTheta : 0.f, p.mean_energy());
  const float scale = 1 / std::sqrt(p.transmitted_energy());
  const std::vector<std::uint8_t> ones(v34::kMaxMappingFrameBits, 1);
  for (int f = 0; f < p.coding.framing.mapping_frames; ++f) {
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
  explicit Bits(const v34::DataParameters& p)
      : framing_(p.coding.framing), decoder_(p.coding), ahead_(p.coding.framing), b1_frames_(framing_.mapping_frames) {
    viterbi_.reset(p.coding.trellis, true);
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

// Level and phase from B1, with the loops standing still; for each quadrant it may begin in. Fills in b1_match and
// b1_quadrant, and puts the receiver into the data mode's units. @return B1, or nothing where it is not to be seen
std::optional<B1> find_b1(SymbolReceiver& receiver, const v34::DataParameters& parameters, V34DataHeard& heard) {
  const ReceiverState start = receiver.state;
  std::vector<Cf> head;
  for (int i = 0; i < parameters.coding.framing.symbols_per_data_frame(); ++i) {
    head.push_back(receiver.equalise());
    receiver.adapt({}, {}, 0);
  }
  receiver.state = start;
  B1 b1;
  Cd gain;
  for (int quadrant = 0; quadrant < 4; ++quadrant) {
    B1 candidate = make_b1(parameters, quadrant);
    Cd sum;
    double sent = 0, received = 0;
    for (std::size_t i = 0; i < head.size(); ++i) {
      sum += Cd(head[i]) * std::conj(Cd(candidate.sent[i]));
      sent += std::norm(candidate.sent[i]);
      received += std::norm(head[i]);
    }
    const double match = sent * received > 0 ? std::norm(sum) / (sent * received) : 0;
    if (match <= heard.b1_match) continue;
    heard.b1_match = match;
    heard.b1_quadrant = quadrant;
    b1 = std::move(candidate);
    gain = sum / sent;
  }
  if (heard.b1_match < 0.8 || gain == Cd{}) return std::nullopt;
  receiver.scale(static_cast<float>(std::sqrt(parameters.transmitted_energy()) / std::abs(gain)));
  receiver.state.power = parameters.transmitted_energy();
  receiver.state.phase += std::arg(gain);
  return b1;
}

double median(std::vector<double> x) {
  if (x.empty()) return 0;
  const auto middle = x.begin() + static_cast<long>(x.size() / 2);
  std::nth_element(x.begin(), middle, x.end());
  return *middle;
}

}  // namespace

V34DataHeard read_data(const Baseband& line, const Baseband* other, const Direction& direction,
                       const v34::DataParameters& parameters, const ReceiverState& start, double end) {
  constexpr double kMarkS = 0.1;
  constexpr int kDecoderDelay = 70;  // symbols
  constexpr int kSSeen = 70;         // symbols of S when it is told from data
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

  Bits bits(parameters);
  const qam::NonlinearEncoder nonlinear(parameters.nonlinear ? v34::kNonlinearTheta : 0.f, parameters.mean_energy());
  WhiteningFilter filter(parameters.coding.precoder);
  SDetector s;
  double noise = 0, next_mark = heard.t0 + kMarkS;
  int pairs = 0;
  for (std::size_t symbol = 0; receiver.state.t < end; ++symbol) {
    const Cf out = receiver.equalise();
    if (s.put(out) && symbol > 200) {
      heard.s_after = true;
      heard.t_s = seconds(receiver.state.t - kSSeen * receiver.state.step);
      break;
    }
    float re = out.real(), im = out.imag();
    nonlinear.decode(&re, &im);
    const Cf x(re, im), y = filter.put(x);
    const bool in_b1 = symbol < b1->seen.size();
    const Cf best = bits.put(y, heard);
    const Cf d = in_b1 ? b1->seen[symbol] : best;
    if (bits.pair_completed()) {
      noise += bits.noise() / 2;
      ++pairs;
    }
    if (symbol % 7 == 0 && heard.constellation.size() < 8000) heard.constellation.push_back(y);
    // The error before the whitening filter and after the non-linear encoder, as near as makes no difference.
    const Cf error = (d - y) * (std::abs(x) > 1e-6f ? std::abs(out) / std::abs(x) : 1.f);
    receiver.adapt(error, out + error, in_b1 ? 0.01f : 0.002f);
    const double t = seconds(receiver.state.t);
    if (t < next_mark) continue;
    next_mark += kMarkS;
    const double snr = 10 * std::log10(parameters.mean_energy() / std::max(noise / std::max(pairs, 1), 1e-9));
    heard.snr_track.emplace_back(t, snr);
    heard.times.emplace_back(t, heard.bits.size());
    noise = 0;
    pairs = 0;
    heard.lost = receiver.state.error > 0.5;
    if (heard.lost) break;
  }
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
