// SPDX-License-Identifier: MIT
#include "src/decode/v34/downstream.h"

#include <algorithm>
#include <cmath>

#include "dsp/blocks/scrambler.h"
#include "dsp/v90/coding/data_frame.h"
#include "dsp/v90/pcm/downstream.h"
#include "dsp/v90/pcm/downstream_reader.h"
#include "src/decode/v34/levels.h"
#include "src/decode/v34/pcm_equaliser.h"

namespace offhook::decode {
namespace {

using Found = v90::DownstreamReader::Found;

constexpr double kLeastLikeness = 0.7;  // of TRN1d, over a line that is not equalised: 0.89 to 0.99 were seen
constexpr double kLeastFit = 0.1;       // of TRN1d's power, left by the equaliser: more is no fit
constexpr std::size_t kBatch = 4096;    // symbols that the taps are fitted to again
constexpr std::size_t kMark = kRateHz / 10;

// The signs of TRN1d (8.4.6): ones through the scrambler, from zero.
std::vector<float> trn1d(std::size_t n) {
  std::vector<float> signs(n);
  Scrambler scrambler(kGpc);
  for (float& s : signs) s = scrambler.scramble(1) != 0 ? 1.f : -1.f;
  return signs;
}

// Sample at which TRN1d begins, to a few; -1: it is not there.
long find_trn1d(std::span<const float> x, double from_s, double to_s) {
  constexpr std::size_t kHead = 256;
  const std::vector<float> signs = trn1d(kHead);
  const auto from = static_cast<std::size_t>(std::max(0.0, from_s) * kRateHz);
  const std::size_t to = std::min(x.size(), static_cast<std::size_t>(std::max(0.0, to_s) * kRateHz));
  double best = kLeastLikeness * kLeastLikeness;
  long at = -1;
  for (std::size_t k = from; k + kHead <= to; ++k) {
    float sum = 0, energy = 1;
    for (std::size_t i = 0; i < kHead; ++i) {
      sum += x[k + i] * signs[i];
      energy += x[k + i] * x[k + i];
    }
    const double share = static_cast<double>(sum) * sum / (static_cast<double>(energy) * kHead);
    if (share > best) best = share, at = static_cast<long>(k);
  }
  return at;
}

class Reading {
 public:
  Reading(std::span<const float> own, std::span<const float> other, const DownstreamAsked& asked)
      : own_(own), asked_(asked), equaliser_(own, other) {}

  DownstreamHeard run() {
    first_ = find_trn1d(own_, asked_.from_s, asked_.to_s);
    if (first_ < 0) {
      stop("TRN1d was not found", asked_.from_s);
      return std::move(heard_);
    }
    heard_.t_trn1d = seconds(first_);
    if (!train()) {
      stop("TRN1d could not be equalised at the samples of the recording", heard_.t_trn1d);
      return std::move(heard_);
    }
    reader_ = v90::DownstreamReader(asked_.law, asked_.u_info, {nullptr, put_bit, this});
    reader_.begin_two_levels();
    reader_.deliver(true);
    // The equaliser needs later samples.
    const long last = static_cast<long>(own_.size()) - PcmEqualiser::kTaps / 2;
    const auto end = std::min(last, static_cast<long>(asked_.to_s * kRateHz));
    for (now_ = first_; now_ < end && heard_.stopped.empty(); ++now_) put(equaliser_.at(now_));
    end_data();
    return std::move(heard_);
  }

 private:
  enum class Stage { kTwoLevels, kDil, kFinal, kData };

  static void put_bit(void* user, int bit) {
    auto* r = static_cast<Reading*>(user);
    if (r->stage_ == Stage::kData) r->heard_.data.back().bits.push_back(static_cast<std::uint8_t>(bit));
  }
  int interval() const { return static_cast<int>((now_ - first_ + moved_) % v90::kFrameIntervals); }

  void stop(const char* why, double t) {
    heard_.stopped = why;
    heard_.t_lost = t;
  }

  bool train() {
    std::vector<float> levels = trn1d(v90::kLeastTrn1d);
    for (float& l : levels) l *= static_cast<float>(linear_of(asked_.law, asked_.u_info));
    const double left = equaliser_.fit(first_, levels);
    heard_.training_db = 10 * std::log10(std::max(left, 1e-12));
    return left < kLeastFit;
  }

  // The last CP of a kind that was begun before now.
  const v90::Cp* cp(bool data_mode) const {
    const v90::Cp* last = nullptr;
    for (const auto& c : asked_.cps) {
      if (c.cp.data_mode == data_mode && c.cp.drn > 0 && !c.cp.silence && c.t <= seconds(now_)) last = &c.cp;
    }
    return last;
  }

  void put(float level) {
    // Ri continues until the CPt was received: earlier signals are not needed here.
    if (stage_ <= Stage::kDil && !asked_.cps.empty() && seconds(now_) >= asked_.cps.front().t && interval() == 0) {
      reader_.begin_dil({});
      stage_ = Stage::kFinal;
    }
    if (stage_ == Stage::kDil) {
      learn(level);
      return;
    }
    const v90::DownstreamReader::Result r = reader_.put(level, interval());
    if (frame_bits_ > 0) {
      keep(r);
      if (stage_ == Stage::kData) mark(level, r.reference);
    }
    // A slip or a jump of the network: the reader has found the data frames again.
    moved_ += r.move;
    take(r.found);
  }

  // Over one DIL, and then until it may end.
  void learn(float level) {
    if (!dil_levels_ || (dil_levels_->whole() && seconds(now_) > dil_end_)) return;
    dil_levels_->put(level, interval());
  }

  void begin_dil() {
    heard_.t_jd_end = dil_end_ = seconds(now_ + 1);
    stage_ = Stage::kDil;
    if (asked_.dil && asked_.dil->segments > 0) dil_levels_.emplace(*asked_.dil, asked_.law, asked_.u_info);
    const double cpt = asked_.cps.empty() ? 0 : asked_.cps.front().t;
    for (const double t : asked_.s_s) {
      if (t < cpt) dil_end_ = std::max(dil_end_, t);
    }
  }

  void take(Found found) {
    switch (found) {
      case Found::kJd:
        heard_.jd = reader_.jd();
        break;
      case Found::kJdPrime:
        begin_dil();
        break;
      case Found::kMp:
        take_mp();
        break;
      case Found::kR:
        end_data();
        break;
      case Found::kRBar:
        begin_frames(false);
        break;
      case Found::kEd:
        begin_frames(true);
        break;
      case Found::kLost:
        stop("the levels can no longer be distinguished", seconds(now_));
        break;
      default:
        break;
    }
  }

  void take_mp() {
    const v90::Mp& mp = reader_.mp();
    const double t_end = seconds(now_ + 1);
    std::vector<std::uint8_t> bits(static_cast<std::size_t>(mp.bits()));
    encode(mp, bits.data());
    if (heard_.mp.empty() || heard_.mp.back().bits != bits) {
      const int frames = (mp.bits() + frame_bits_ - 1) / frame_bits_;
      heard_.mp.push_back({mp, std::move(bits), t_end - seconds(frames * v90::kFrameIntervals), 0, 0});
    }
    ++heard_.mp.back().count;
    heard_.mp.back().t_last_end = t_end;
  }

  void begin_frames(bool data) {
    const v90::Cp* c = cp(data);
    v90::FrameParameters p;
    if (c == nullptr || !frame_parameters(*c, asked_.law, &p)) {
      stop(data ? "no CP for data mode was decoded" : "no CPt was decoded", seconds(now_));
      return;
    }
    if (!data && !heard_.data.empty()) p.shaping_bits = shaping_bits_;  // 8.6: that of the data that ran
    if (data) shaping_bits_ = p.shaping_bits;
    v90::LearntLevels levels = levels_of(*c, asked_.law);
    if (dil_levels_ && dil_levels_->whole()) heard_.learnt = dil_levels_->take(levels, moved_);
    reader_.begin_frames(p, levels, data);
    frame_bits_ = p.bits();
    batch_.clear();
    trusted_.clear();
    if (!data) return;
    stage_ = Stage::kData;
    DataHeard& d = heard_.data.emplace_back();
    d.bit_rate = static_cast<std::uint32_t>(downstream_bit_rate(*c));
    d.t0 = d.t1 = seconds(now_ + 1);
    squares_ = errors_ = 0;
    marked_ = 0;
  }

  void end_data() {
    if (stage_ != Stage::kData) return;
    stage_ = Stage::kFinal;
    DataHeard& d = heard_.data.back();
    d.t1 = seconds(now_);
    std::vector<double> track;
    for (const auto& [t, snr] : d.snr_track) track.push_back(snr);
    d.snr_db = median(std::move(track));
  }

  // Collects decisions until there are enough to fit the taps to.
  void keep(const v90::DownstreamReader::Result& r) {
    batch_.push_back(r.reference);
    trusted_.push_back(r.trust == v90::PcmReceiver::Trust::kAll);
    if (batch_.size() < kBatch) return;
    const long first = now_ + 1 - static_cast<long>(kBatch);
    if (!equaliser_.has_echo()) equaliser_.find_echo(first, batch_);
    equaliser_.fit(first, batch_, trusted_);
    batch_.clear();
    trusted_.clear();
  }

  void mark(float level, float reference) {
    constexpr double kLost = 1 / 1.9;  // of the distance to the border of a point; errors of no relation give 1 / 1.7
    squares_ += static_cast<double>(reference) * reference;
    errors_ += static_cast<double>(level - reference) * (level - reference);
    if (++marked_ < kMark) return;
    DataHeard& d = heard_.data.back();
    const double t = seconds(now_ + 1);
    d.snr_track.emplace_back(t, 10 * std::log10(squares_ / std::max(errors_, 1e-9)));
    d.times.emplace_back(t, d.bits.size());
    const double distance = reader_.decision_distance();
    if (errors_ > kLost * kLost * distance * distance * static_cast<double>(marked_))
      stop("the levels can no longer be distinguished", t);
    squares_ = errors_ = 0;
    marked_ = 0;
  }

  std::span<const float> own_;
  const DownstreamAsked& asked_;
  PcmEqualiser equaliser_;
  v90::DownstreamReader reader_;
  DownstreamHeard heard_;
  Stage stage_ = Stage::kTwoLevels;
  std::optional<DilLevels> dil_levels_;
  double dil_end_ = 0;  // s, at the earliest
  long first_ = -1, now_ = 0;
  long moved_ = 0;      // intervals that the data frames have moved
  int frame_bits_ = 0;  // 0: no data frames yet
  std::uint8_t shaping_bits_ = 0;
  std::vector<float> batch_;
  std::vector<char> trusted_;
  double squares_ = 0, errors_ = 0;
  std::size_t marked_ = 0;
};

}  // namespace

DownstreamHeard read_downstream(std::span<const float> own, std::span<const float> other,
                                const DownstreamAsked& asked) {
  return Reading(own, other, asked).run();
}

}  // namespace offhook::decode
