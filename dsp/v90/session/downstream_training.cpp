// SPDX-License-Identifier: MIT
#include "dsp/v90/session/downstream_training.h"

#include "dsp/v90/pcm/downstream.h"

namespace offhook::v90 {
namespace {

constexpr int kSettle = 1200;   // symbols from the first taps until the clock is right
constexpr int kMeasure = 1020;  // whole frames, of which the levels of the intervals are a mean

// From a level to the point half way to the next, in standard deviations of the noise. 4.5 is enough: of 1000 bits,
// some 140 symbols, one in a thousand has an error. The rest, 1 dB, is for effects that the mean error does not show.
constexpr float kHalfDistance = 5.05f;
constexpr int kTrainingBits = 12;                      // K of CPt: four points per interval
constexpr int kLeastUpstream = 2, kMostUpstream = 14;  // in 2400 bit/s

// Data mode: from a level to the point half way to the next, in standard deviations of the noise.
constexpr float kTooNear = 4.2f;  // measured in data: renegotiate
constexpr float kLost = 1.9f;     // decisions and errors of no relation give 1.7
constexpr float kSpare = 1.12f;   // 1 dB: a higher rate is to last
constexpr int kWindow = 2048;     // symbols
constexpr int kNoisyWindows = 4;
constexpr int kLostWindows = 2;
constexpr int kMostGoodWindows = 1024;
constexpr float kMostlyEcho = 0.5f;  // of the errors' power; of 2048 that are none, 1/16
constexpr int64_t kBetweenSilences = 8 * 30000;

}  // namespace

uint8_t choose_u_info(Law law, int max_power) {
  constexpr uint8_t kLeast = 67, kMost = 111;  // Table 10; and UINFO + 16 is sent
  uint8_t u = kMost;
  while (u > kLeast && linear_of(law, u) > power_limit_root(max_power)) --u;
  return u;
}

Dil usual_dil(uint8_t u_info) {
  constexpr int kSegment = 48;
  Dil dil{};
  const int most = u_info + 2 * kUchord < kUcodes ? u_info + 2 * kUchord : kUcodes - 1;
  dil.segments = static_cast<uint8_t>(most + 1);
  for (int u = 0; u <= most; ++u) dil.ucode[u] = static_cast<uint8_t>(u);
  for (uint8_t& h : dil.length) h = kSegment / kFrameIntervals - 1;
  for (uint8_t& r : dil.reference) r = u_info;
  dil.training_length = 1;
  dil.training[0] = 1;
  // Pseudo-random signs, so that the residual echoes average out, and then their opposite, so that no interval
  // has a mean.
  dil.sign_length = kSegment;
  Scrambler scrambler(kGpc);
  for (int k = 0; k < kLeastTrn1d; ++k) scrambler.scramble(1);
  for (int k = 0; k < kSegment / 2; ++k) {
    const int bit = scrambler.scramble(1);
    dil.sign[k / 8] = static_cast<uint8_t>(dil.sign[k / 8] | bit << k % 8);
    const int at = k + kSegment / 2;
    dil.sign[at / 8] = static_cast<uint8_t>(dil.sign[at / 8] | (1 - bit) << at % 8);
  }
  return dil;
}

DownstreamTraining::DownstreamTraining(const AnalogueConfig& config, const oh_bit_port& port)
    : config_(config), reader_(config.law, config.u_info, port) {
  level_ = static_cast<float>(linear_of(config.law, config.u_info));
  if (!config.without_dil) dil_ = usual_dil(config.u_info);
}

void DownstreamTraining::begin_equaliser() {
  reader_.begin_two_levels();
  trained_ = false;
  equalising_ = Equalising::kClock;
}

void DownstreamTraining::note_taps() {
  trained_ = true;
  symbols_ = 0;
  task_ = PcmReceiver::Task::kFollow;
}

DownstreamReader::Result DownstreamTraining::listen(float level, int interval, float error_power, bool refitting,
                                                    bool equalises) {
  const DownstreamReader::Result r = reader_.put(level, interval);
  error_rms_ = square_root(error_power);
  if (equalises) advance_equaliser(level > 0 ? level : -level, interval, refitting, error_power);
  if (r.found == DownstreamReader::Found::kLearnt) choose_data_rate(noise_rms_);
  if (r.found == DownstreamReader::Found::kMoved) noisy_ = 0;
  return r;
}

void DownstreamTraining::choose_training_points() {
  cpt_ = cp_;
  choose_training(reader_.levels(), limits(noise_rms_), kTrainingBits, &cpt_);
  frame_parameters(cpt_, config_.law, &training_frames_);
}

void DownstreamTraining::renew_training_points() {
  frame_parameters(cpt_, config_.law, &training_frames_);
  training_frames_.shaping_bits = data_frames_.shaping_bits;
  training_frames_.look_ahead = data_frames_.look_ahead;
  training_frames_.filter = data_frames_.filter;
}

ConstellationLimits DownstreamTraining::limits(float rms) const {
  ConstellationLimits limits;
  limits.law = config_.law;
  limits.max_power = config_.max_power;
  limits.rates = jd_.rates;
  limits.shaping_bits = config_.shaping_bits;
  limits.least_distance = 2 * kHalfDistance * rms;
  if (config_.max_bit_rate > 0) {
    for (int drn = 1; drn <= Cp::kMaxDrn; ++drn) {
      if (static_cast<uint32_t>(drn + 20) * 4000 > 3 * config_.max_bit_rate) limits.rates &= ~(1u << (drn - 1));
    }
  }
  return limits;
}

// The highest rate that this noise allows, and the constellations for it.
void DownstreamTraining::choose_data_rate(float rms) {
  noise_rms_ = rms;
  cp_ = {};
  cp_.upstream_mask = upstream_mask();
  cp_.trn1d_ratio = 0x2000;
  cp_.a_law = config_.law == Law::kA;
  if (config_.shaping_bits > 0) {
    cp_.look_ahead = jd_.look_ahead;
    cp_.a1 = 64;
  }
  distance_ = choose_rate(reader_.levels(), limits(rms), &cp_);
  frame_parameters(cp_, config_.law, &data_frames_);
}

void DownstreamTraining::choose_next_rate() {
  const FrameParameters running = data_frames_;
  choose_data_rate(wanted_rms_ > 0 ? wanted_rms_ : noise_rms_);
  wanted_rms_ = 0;
  data_frames_ = running;
}

void DownstreamTraining::follow_data_frames() {
  frame_parameters(cp_, config_.law, &data_frames_);
  reader_.begin_frames(data_frames_, reader_.levels(), true);
}

uint16_t DownstreamTraining::upstream_mask() const {
  uint16_t mask = 0;
  for (int r = kLeastUpstream; r <= kMostUpstream; ++r) {
    const uint32_t rate = static_cast<uint32_t>(r) * 2400;
    if (config_.max_bit_rate > 0 && rate > config_.max_bit_rate) continue;
    if (v34::is_supported(config_.symbol_rate, rate)) mask = static_cast<uint16_t>(mask | 1u << (r - kLeastUpstream));
  }
  return mask;
}

// After the first taps the clock settles. The levels of the intervals are measured, which robbed bits make different;
// the taps are computed again; the levels are measured again, now without echoes; then the error.
void DownstreamTraining::advance_equaliser(float magnitude, int interval, bool refitting, float error_power) {
  if (!trained_) return;
  ++symbols_;
  const auto enter = [this](Equalising next) {
    equalising_ = next;
    symbols_ = 0;
    for (float& sum : two_level_sum_) sum = 0;
  };
  switch (equalising_) {
    case Equalising::kClock:
      if (symbols_ >= kSettle && interval == kFrameIntervals - 1) enter(Equalising::kLevels);
      break;
    case Equalising::kLevels:
    case Equalising::kFineLevels: {
      two_level_sum_[interval] += magnitude;
      if (symbols_ < kMeasure) break;
      float levels[kFrameIntervals];
      for (int i = 0; i < kFrameIntervals; ++i) levels[i] = two_level_sum_[i] * kFrameIntervals / kMeasure;
      reader_.set_two_levels(levels);
      if (equalising_ == Equalising::kLevels) {
        ++refits_;
        enter(Equalising::kTaps);
      } else {
        enter(Equalising::kError);
      }
      break;
    }
    case Equalising::kTaps:
      if (symbols_ > 1 && !refitting && interval == kFrameIntervals - 1) enter(Equalising::kFineLevels);
      break;
    case Equalising::kError:
      if (symbols_ < 3 * kMeasure) break;
      noise_rms_ = square_root(error_power);
      enter(Equalising::kDone);
      break;
    case Equalising::kDone:
      break;
  }
}

void DownstreamTraining::deliver(bool live) {
  rx_live_ = live;
  reader_.deliver(live);
  watched_ = noisy_ = good_ = 0;
}

DownstreamTraining::LineAdvice DownstreamTraining::follow_line(float error_power, int64_t now) {
  if (++watched_ % kWindow != 0) return LineAdvice::kNone;
  const float rms = square_root(error_power);
  const float half = reader_.decision_distance();
  if (half < kLost * rms) return ++noisy_ >= kLostWindows ? LineAdvice::kLost : LineAdvice::kNone;
  if (half < kTooNear * rms) {
    if (++noisy_ == 1) echo_share_ = 0;
    if (noisy_ < kNoisyWindows) return LineAdvice::kNone;
    const bool echo = echo_share_ > kMostlyEcho && now >= no_silence_until_;
    if (echo) no_silence_until_ = now + kBetweenSilences;
    // Without the echo the current rate is right.
    if (!echo) wanted_rms_ = rms > noise_rms_ ? rms : noise_rms_;
    return echo ? LineAdvice::kRenegotiateWithSilence : LineAdvice::kRenegotiate;
  }
  noisy_ = 0;
  good_ = kSpare * rms < noise_rms_ ? good_ + 1 : 0;
  if (good_ < wait_for_higher_) return LineAdvice::kNone;
  good_ = 0;
  if (wait_for_higher_ < kMostGoodWindows) wait_for_higher_ *= 2;
  Cp higher = cp_;
  choose_rate(reader_.levels(), limits(kSpare * rms), &higher);
  if (higher.drn <= cp_.drn) return LineAdvice::kNone;
  wanted_rms_ = kSpare * rms;
  return LineAdvice::kRenegotiate;
}

}  // namespace offhook::v90
