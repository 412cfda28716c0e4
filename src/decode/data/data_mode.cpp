// SPDX-License-Identifier: MIT
#include "src/decode/data/data_mode.h"

#include <algorithm>
#include <cmath>

#include "src/decode/line/recording.h"

namespace offhook::decode {
namespace {

Cf to_cf(v34::Point p) {
  return {static_cast<float>(p.re), static_cast<float>(p.im)};
}

// B1 as it is sent: x', of mean power 1, and y, what the receiver is to see after the whitening filter.
struct B1 {
  std::vector<Cf> sent, seen;
};

// By the Recommendation the differential encoder begins B1 at zero; some modems begin elsewhere.
B1 make_b1(const v34::DataParameters& p, int quadrant) {
  B1 b;
  v34::Encoder encoder(p.coding, quadrant);
  const v34::NonlinearEncoder nonlinear(p.nonlinear ? v34::kNonlinearTheta : 0.f, p.mean_energy());
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

}  // namespace

DataHeard read_data(const Baseband& line, const Baseband* other, const Direction& direction,
                    const v34::DataParameters& parameters, const ReceiverState& start, double end) {
  DataHeard heard;
  heard.parameters = parameters;
  heard.t0 = start.t / kRateHz;
  SymbolReceiver receiver(line, other, symbol_rate_hz(direction.rate));
  receiver.state = start;

  // Level and phase from B1, with the loops standing still; for each quadrant it may begin in.
  std::vector<Cf> head;
  const int length = parameters.coding.framing.symbols_per_data_frame();
  for (int i = 0; i < length; ++i) {
    head.push_back(receiver.equalise());
    receiver.adapt({}, {}, 0);
  }
  receiver.state = start;
  B1 b1;
  Cd c;
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
    c = sum / sent;
  }
  const double gain = std::abs(c);
  if (heard.b1_match < 0.8 || gain <= 0) {
    heard.t1 = heard.t0;
    return heard;
  }
  const auto grid = static_cast<float>(std::sqrt(parameters.transmitted_energy()));
  receiver.scale(static_cast<float>(grid / gain));
  receiver.state.power = parameters.transmitted_energy();
  receiver.state.phase += std::arg(c);

  Bits bits(parameters);
  const float theta = parameters.nonlinear ? v34::kNonlinearTheta : 0.f;
  const v34::NonlinearEncoder nonlinear(theta, parameters.mean_energy());
  Cf h[3];
  for (int k = 0; k < 3; ++k) {
    const auto& tap = parameters.coding.precoder.h[k];
    h[k] = {static_cast<float>(tap.re) / 16384, static_cast<float>(tap.im) / 16384};
  }
  Cf x[3]{}, last[2]{};
  Cd alike;
  double power = 0, noise = 0;
  int pairs = 0;
  std::vector<double> track;
  double next_mark = heard.t0 + 0.1;
  long symbols = 0;
  while (receiver.state.t < end) {
    const Cf out = receiver.equalise();
    // S: each symbol equals the one two before.
    alike = 0.97 * alike + Cd(out) * std::conj(Cd(last[1]));
    power = 0.97 * power + std::norm(out);
    last[1] = last[0];
    last[0] = out;
    if (symbols > 200 && std::abs(alike) > 0.85 * power) {
      heard.s_after = true;
      heard.t_s = (receiver.state.t - 70 * receiver.state.step) / kRateHz;
      break;
    }
    float re = out.real(), im = out.imag();
    nonlinear.decode(&re, &im);
    const Cf now(re, im);
    const Cf y = now + h[0] * x[0] + h[1] * x[1] + h[2] * x[2];
    x[2] = x[1];
    x[1] = x[0];
    x[0] = now;
    const bool in_b1 = static_cast<std::size_t>(symbols) < b1.seen.size();
    const Cf best = bits.put(y, heard);
    const Cf d = in_b1 ? b1.seen[static_cast<std::size_t>(symbols)] : best;
    if (bits.pair_completed()) {
      noise += bits.noise() / 2;
      ++pairs;
    }
    if (symbols % 7 == 0 && heard.constellation.size() < 8000) heard.constellation.push_back(y);
    // The error before the whitening filter and after the non-linear encoder, as near as makes no difference.
    const Cf error = (d - y) * (std::abs(now) > 1e-6f ? std::abs(out) / std::abs(now) : 1.f);
    receiver.adapt(error, out + error, in_b1 ? 0.01f : 0.002f);
    ++symbols;
    const double t = receiver.state.t / kRateHz;
    if (t >= next_mark) {
      next_mark += 0.1;
      const double snr = 10 * std::log10(parameters.mean_energy() / std::max(noise / std::max(pairs, 1), 1e-9));
      heard.snr_track.emplace_back(t, snr);
      heard.times.emplace_back(t, heard.bits.size());
      noise = 0;
      pairs = 0;
      if (receiver.state.error > 0.5) break;
    }
  }
  heard.t1 = receiver.state.t / kRateHz;
  for (const auto& [t, snr] : heard.snr_track) track.push_back(snr);
  if (!track.empty()) {
    std::nth_element(track.begin(), track.begin() + static_cast<long>(track.size() / 2), track.end());
    heard.snr_db = track[track.size() / 2];
  }
  receiver.scale(static_cast<float>(std::sqrt(2.0) / grid));
  heard.at_end = receiver.state;
  heard.at_end.error = 0;
  return heard;
}

}  // namespace offhook::decode
