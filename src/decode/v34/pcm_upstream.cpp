// SPDX-License-Identifier: MIT
#include "src/decode/v34/pcm_upstream.h"

#include <algorithm>
#include <cmath>
#include <memory>

#include "dsp/v90/pcm/upstream_receiver.h"
#include "dsp/v90/session/digital_v92.h"
#include "src/decode/line/drift.h"

namespace offhook::decode {
namespace {

using Found = v90::UpstreamSequences::Found;

class Reader {
 public:
  Reader(double from_s, double ppm, const std::optional<v90::Jp>& jp) : from_s_(from_s), ppm_(ppm), jp_(jp) {
    receiver_.init(v90::Law::kMu);
  }

  PcmUpstreamHeard run(std::span<const float> x) {
    for (const float sample : x) {
      receiver_.put(sample, sample);
      if (receiver_.six().take_reversal()) reversed();
      v90::UpstreamReceiver::Symbol symbol{};
      while (follows_ && receiver_.next(&symbol)) take(symbol);
    }
    return std::move(heard_);
  }

 private:
  enum class Stage { kRu, kJa, kSu, kCpt, kFinal, kData };

  // Of a sample; the recorder's time.
  double time_of(std::int64_t sample) const { return from_s_ + seconds(static_cast<long>(sample)) * (1 + 1e-6 * ppm_); }
  long reversal() const { return static_cast<long>(receiver_.now()) - v90::SixDetector::kReversalAge; }

  void reversed() {
    constexpr int kSuReversals = 3;  // to Su-bar, to the Su that is half a symbol late, to its Su-bar
    switch (stage_) {
      case Stage::kRu:
        heard_.t_ru_bar = time_of(reversal());
        follow(false);
        stage_ = Stage::kJa;
        break;
      case Stage::kSu:
        if (++su_reversals_ < kSuReversals) break;
        follow(true);
        heard_.t_trn1u = time_of(receiver_.after_reversal());
        heard_.segments.emplace_back().t_trn = heard_.t_trn1u;
        stage_ = Stage::kCpt;
        break;
      case Stage::kData:
        heard_.segments.emplace_back().t_trn = time_of(reversal());
        renegotiate();
        break;
      default:
        break;
    }
  }

  void follow(bool locked) {
    sequences_.begin(2);
    receiver_.train(locked);
    follows_ = true;
  }

  void renegotiate() {
    points_ = jp_->points8_renegotiation ? 8 : 4;
    sequences_.begin(points_);
    sequences_.set_sign(false);
    receiver_.set_points(points_);
    receiver_.resume();
    follows_ = true;
    stage_ = Stage::kFinal;
  }

  void take(const v90::UpstreamReceiver::Symbol& symbol) {
    const std::int64_t sample = receiver_.sample_of(symbol.position);
    const double t = time_of(sample);
    switch (sequences_.put(symbol.negative, symbol.magnitude)) {
      case Found::kDil:
        if (stage_ != Stage::kJa) break;
        heard_.dil = sequences_.dil();
        heard_.t_ja_end = t;
        follows_ = false;
        stage_ = Stage::kSu;
        break;
      case Found::kCp:
        take_cp(t);
        break;
      case Found::kE:
        take_e(t, sample);
        break;
      default:
        break;
    }
  }

  void take_cp(double t) {
    if (heard_.segments.empty()) return;
    const v90::Cp& cp = sequences_.cp();
    std::vector<CpHeard>& all = heard_.segments.back().cp;
    if (all.empty() || all.back().cp != cp) {
      CpHeard& next = all.emplace_back();
      next.cp = cp;
      next.points = points_;
      next.t_first = t;
    }
    all.back().t_last = all.back().t_last_end = t;
    ++all.back().count;
  }

  void take_e(double t, std::int64_t sample) {
    if (heard_.segments.empty() || heard_.segments.back().cp.empty()) return;
    if (stage_ == Stage::kCpt) {
      heard_.t_e1u = t;
      heard_.training_db = 10 * std::log10(std::max(1e-9, static_cast<double>(receiver_.error_power())));
      follows_ = jp_.has_value();
      if (!jp_) return;
      points_ = jp_->points8 ? 8 : 4;
      sequences_.begin(points_);
      receiver_.set_points(points_);
      stage_ = Stage::kFinal;
    } else if (stage_ == Stage::kFinal) {
      heard_.segments.back().t_e = heard_.segments.back().t_e_end = t;
      heard_.e2u_ends.push_back(static_cast<long>(sample) + 1);
      follows_ = false;
      stage_ = Stage::kData;
    }
  }

  double from_s_, ppm_;
  std::optional<v90::Jp> jp_;
  v90::UpstreamReceiver receiver_;
  v90::UpstreamSequences sequences_;
  PcmUpstreamHeard heard_;
  Stage stage_ = Stage::kRu;
  int su_reversals_ = 0, points_ = 2;
  bool follows_ = false;
};

std::span<const float> part_of(std::span<const float> x, double from_s, double to_s) {
  const auto at = [&](double t) { return std::min(x.size(), static_cast<std::size_t>(std::max(0.0, t) * kRateHz)); };
  return x.subspan(at(from_s), at(std::max(from_s, to_s)) - at(from_s));
}

}  // namespace

NetworkSamples::NetworkSamples(std::span<const float> channel, double from, double to_s, double clock_ppm)
    : from_s(from), ppm(-clock_ppm) {
  const std::span<const float> part = part_of(channel, from, to_s);
  x = on_slower_clock(part, ppm, part.size());
}

PcmUpstreamHeard read_ja(std::span<const float> x, double from_s, double to_s) {
  return std::make_unique<Reader>(from_s, 0, std::nullopt)->run(part_of(x, from_s, to_s));
}

PcmUpstreamHeard read_pcm_upstream(const NetworkSamples& samples, const std::optional<v90::Jp>& jp) {
  return std::make_unique<Reader>(samples.from_s, samples.ppm, jp)->run(samples.x);
}

}  // namespace offhook::decode
