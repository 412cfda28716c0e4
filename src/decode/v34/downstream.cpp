// SPDX-License-Identifier: MIT
#include "src/decode/v34/downstream.h"

#include <algorithm>
#include <cmath>
#include <tuple>

#include "dsp/v90/coding/data_frame.h"
#include "dsp/v90/pcm/downstream_reader.h"
#include "src/decode/line/rate_converter.h"
#include "src/decode/line/recording.h"
#include "src/decode/v34/levels.h"

namespace offhook::decode {
namespace {

using DownstreamFound = v90::DownstreamReader::Found;
using Trust = v90::PcmReceiver::Trust;

constexpr std::size_t kMark = kRateHz / 10;
constexpr int kLostMarks = 5;  // in a row: the levels are lost, as by the modem's own judgement of half a second

// The mean magnitude of each interval in TRN1d and Jd, which robbed bits make different, once the clock has settled.
class TwoLevels {
 public:
  // @return whether the levels are complete with this one
  bool put(float level, int interval) {
    constexpr int kSettle = 1200, kMeasure = 1020;  // symbols
    ++symbols_;
    if (symbols_ <= kSettle || symbols_ > kSettle + kMeasure) return false;
    sum_[interval] += std::abs(level);
    if (symbols_ < kSettle + kMeasure) return false;
    for (float& sum : sum_) sum *= static_cast<float>(v90::kFrameIntervals) / kMeasure;
    return true;
  }
  const float* levels() const { return sum_; }

 private:
  int symbols_ = 0;
  float sum_[v90::kFrameIntervals]{};
};

class Reading {
 public:
  Reading(PcmInput& input, const DownstreamAsked& asked) : input_(input), asked_(asked) {}

  DownstreamHeard run() {
    const char* const why =
        input_.begin(asked_.from_s, asked_.to_s, static_cast<float>(linear_of(asked_.law, asked_.u_info)));
    heard_.t_trn1d = input_.t_trn1d();
    if (why != nullptr) {
      heard_.training_db = input_.training_db();
      stop(why, heard_.t_trn1d > 0 ? heard_.t_trn1d : asked_.from_s);
      return std::move(heard_);
    }
    reader_ = v90::DownstreamReader(asked_.law, asked_.u_info, {nullptr, put_bit, this});
    if (asked_.v92) reader_.set_v92();
    reader_.begin_two_levels();
    reader_.deliver(true);
    while (heard_.stopped.empty()) {
      const std::optional<float> level = input_.next();
      if (!level || (stage_ == Stage::kData && tone_begins())) break;
      put(*level);
    }
    heard_.training_db = input_.training_db();
    heard_.clock_ppm = input_.clock_ppm();
    end_data(input_.t(1));
    return std::move(heard_);
  }

 private:
  enum class Stage { kTwoLevels, kDil, kFinal, kData };

  static void put_bit(void* user, int bit) {
    auto* r = static_cast<Reading*>(user);
    if (r->stage_ == Stage::kData) r->heard_.data.back().bits.push_back(static_cast<std::uint8_t>(bit));
  }
  int interval() const { return static_cast<int>((input_.position() + moved_) % v90::kFrameIntervals); }

  double r_from_s() const { return asked_.r_from_s > 0 || asked_.cps.empty() ? asked_.r_from_s : asked_.cps.front().t; }

  // Whether a tone of Phase 2 begins here that began behind the data's begin.
  bool tone_begins() const {
    const double begin = heard_.data.back().t0;
    const auto tone = std::find_if(asked_.tones_s.begin(), asked_.tones_s.end(), [&](double t) { return t > begin; });
    return tone != asked_.tones_s.end() && input_.t() >= *tone;
  }

  void stop(const char* why, double t) {
    heard_.stopped = why;
    heard_.t_lost = t;
  }

  // The last CP of a kind that was begun before now.
  const v90::Cp* cp(bool data_mode) const {
    const v90::Cp* last = nullptr;
    for (const auto& c : asked_.cps) {
      if (c.cp.data_mode == data_mode && c.cp.drn > 0 && !c.cp.silence && c.t <= input_.t()) last = &c.cp;
    }
    return last;
  }

  void put(float level) {
    // Ri continues until the CPt was received: earlier signals are not needed here.
    if (stage_ <= Stage::kDil && r_from_s() > 0 && input_.t() >= r_from_s() && interval() == 0) {
      reader_.begin_dil({});
      stage_ = Stage::kFinal;
    }
    if (stage_ == Stage::kDil) {
      learn(level);
      return;
    }
    const v90::DownstreamReader::Result r = reader_.put(level, interval());
    input_.sent(r.reference, r.trust);
    if (stage_ == Stage::kData) mark(level, r.reference);
    if (stage_ == Stage::kTwoLevels && input_.wants_levels() && two_levels_.put(level, interval())) {
      reader_.set_two_levels(two_levels_.levels());
      input_.refit();
    }
    // A slip or a jump of the network: the reader has found the data frames again.
    moved_ += r.move;
    take(r.found);
  }

  // Over one DIL, and then until it may end.
  void learn(float level) {
    const bool over = !dil_levels_ || (dil_levels_->whole() && input_.t() > dil_end_);
    const std::optional<float> known = over ? std::nullopt : dil_levels_->known(interval());
    float unknown = level;
    if (input_.feeds_back_much()) {
      const auto r = static_cast<float>(linear_of(asked_.law, asked_.u_info));  // Ri follows
      unknown = over ? std::copysign(r, level) : dil_levels_->expected();
    }
    input_.sent(known.value_or(unknown), known ? Trust::kTiming : Trust::kNone);
    if (!over) dil_levels_->put(level, interval());
  }

  void begin_dil() {
    heard_.t_jd_end = dil_end_ = input_.t(1);
    stage_ = Stage::kDil;
    if (asked_.dil && asked_.dil->segments > 0) dil_levels_.emplace(*asked_.dil, asked_.law, asked_.u_info);
    const double cpt = asked_.cps.empty() ? 0 : asked_.cps.front().t;
    for (const double t : asked_.s_s) {
      if (t < cpt) dil_end_ = std::max(dil_end_, t);
    }
  }

  void take(DownstreamFound found) {
    switch (found) {
      case DownstreamFound::kJd:
        heard_.jd = reader_.jd();
        break;
      case DownstreamFound::kJdPrime:
        begin_dil();
        break;
      case DownstreamFound::kJp:
        heard_.jp = reader_.jp();
        break;
      case DownstreamFound::kCpd:
        if (heard_.cpds.empty() || heard_.cpds.back().cpd != reader_.cpd())
          heard_.cpds.push_back({reader_.cpd(), input_.t(1)});
        break;
      case DownstreamFound::kMp:
        take_mp();
        break;
      case DownstreamFound::kR:
        end_data(input_.t());
        break;
      case DownstreamFound::kRBar:
        begin_frames(false);
        break;
      case DownstreamFound::kEd:
        begin_frames(true);
        break;
      case DownstreamFound::kLost:
        if (stage_ == Stage::kData) lose();
        break;
      default:
        break;
    }
  }

  void take_mp() {
    const v90::Mp& mp = reader_.mp();
    const double t_end = input_.t(1);
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
      stop(data ? "no CP for data mode was decoded" : "no CPt was decoded", input_.t());
      return;
    }
    if (!data && !heard_.data.empty()) p.shaping_bits = shaping_bits_;  // 8.6: that of the data that ran
    if (data) shaping_bits_ = p.shaping_bits;
    v90::LearntLevels levels = levels_of(*c, asked_.law);
    if (dil_levels_ && dil_levels_->whole()) heard_.learnt = dil_levels_->take(levels, moved_);
    reader_.begin_frames(p, levels, data);
    frame_bits_ = p.bits();
    input_.begin_frames();
    if (!data) return;
    stage_ = Stage::kData;
    DataHeard& d = heard_.data.emplace_back();
    d.bit_rate = static_cast<std::uint32_t>(downstream_bit_rate(*c));
    d.t0 = d.t1 = input_.t(1);
    squares_ = errors_ = 0;
    marked_ = lost_marks_ = 0;
  }

  void end_data(double end_s) {
    if (stage_ != Stage::kData) return;
    stage_ = Stage::kFinal;
    DataHeard& d = heard_.data.back();
    d.t1 = end_s;
    std::vector<double> track;
    for (const auto& [t, snr] : d.snr_track) track.push_back(snr);
    d.snr_db = median(std::move(track));
  }

  void mark(float level, float reference) {
    constexpr double kLost = 1 / 1.9;  // of the distance to the border of a point; errors of no relation give 1 / 1.7
    squares_ += static_cast<double>(reference) * reference;
    errors_ += static_cast<double>(level - reference) * (level - reference);
    if (++marked_ < kMark) return;
    DataHeard& d = heard_.data.back();
    const double t = input_.t(1);
    d.snr_track.emplace_back(t, 10 * std::log10(squares_ / std::max(errors_, 1e-9)));
    d.times.emplace_back(t, d.bits.size());
    const double distance = reader_.decision_distance();
    const bool guesses = errors_ > kLost * kLost * distance * distance * static_cast<double>(marked_);
    lost_marks_ = guesses ? lost_marks_ + 1 : 0;
    // A packet that the network lost spoils no more.
    if (lost_marks_ == kLostMarks) lose();
    squares_ = errors_ = 0;
    marked_ = 0;
  }

  // The bits of the lost marks were only guesses.
  void lose() {
    DataHeard& d = heard_.data.back();
    const std::size_t marks = d.times.size() - std::min(d.times.size(), static_cast<std::size_t>(lost_marks_));
    const double t = marks > 0 ? d.times[marks - 1].first : d.t0;
    d.bits.resize(marks > 0 ? d.times[marks - 1].second : 0);
    d.times.resize(marks);
    d.snr_track.resize(marks);
    stop("the levels can no longer be distinguished", t);
    end_data(t);
  }

  PcmInput& input_;
  const DownstreamAsked& asked_;
  TwoLevels two_levels_;
  v90::DownstreamReader reader_;
  DownstreamHeard heard_;
  Stage stage_ = Stage::kTwoLevels;
  std::optional<DilLevels> dil_levels_;
  double dil_end_ = 0;  // s, at the earliest
  long moved_ = 0;      // intervals that the data frames have moved
  int frame_bits_ = 0;  // 0: no data frames yet
  std::uint8_t shaping_bits_ = 0;
  double squares_ = 0, errors_ = 0;
  std::size_t marked_ = 0;
  int lost_marks_ = 0;  // in a row
};

// At 16 000 Hz. Nothing is above 4000 Hz.
std::vector<std::int16_t> at_wide_rate(std::span<const float> x) {
  RateConverter converter(kRateHz, kWideRateHz);
  converter.add(x);
  std::vector<std::int16_t> wide;
  for (const float v : converter.finish(0))
    wide.push_back(static_cast<std::int16_t>(std::lround(std::clamp(v, -32768.F, 32767.F))));
  wide.resize(2 * x.size());
  return wide;
}

// What was read, the later signals first.
auto progress(const DownstreamHeard& h) {
  std::size_t bits = 0;
  for (const DataHeard& d : h.data) bits += d.bits.size();
  return std::tuple(bits, h.mp.size() + h.cpds.size(), h.jp.has_value(), h.jd.has_value());
}

}  // namespace

DownstreamHeard read_downstream(const PcmLine& line, const DownstreamAsked& asked) {
  if (!line.wide.empty()) {
    DownstreamHeard heard = Reading(*on_any_clock(line), asked).run();
    if (heard.t_trn1d > 0) return heard;
  }
  DownstreamHeard at_samples = Reading(*on_the_networks_clock(line), asked).run();
  const bool read = at_samples.stopped.empty() && !at_samples.data.empty();
  if (!line.wide.empty() || read) return at_samples;
  const std::vector<std::int16_t> wide = at_wide_rate(line.own);
  PcmLine other_clock = line;
  other_clock.wide = wide;
  other_clock.band_limited = true;
  DownstreamHeard on_other_clock = Reading(*on_any_clock(other_clock), asked).run();
  return progress(on_other_clock) > progress(at_samples) ? on_other_clock : at_samples;
}

}  // namespace offhook::decode
