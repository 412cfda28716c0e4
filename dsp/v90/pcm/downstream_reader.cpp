// SPDX-License-Identifier: MIT
#include "dsp/v90/pcm/downstream_reader.h"

#include "dsp/blocks/renew.h"
#include "dsp/v90/pcm/downstream.h"
#include "dsp/v90/pcm/slicer.h"

namespace offhook::v90 {
namespace {

using Trust = PcmReceiver::Trust;

constexpr int kCertainR = 3;        // frames in a row: by chance once in 10^5 of two levels, never of more
constexpr float kNearLevel = 0.3f;  // of the level of UINFO, or of a largest point

// Share of an error by which a level follows: corrects the error left by the DIL's few symbols.
constexpr float kLevelStep = 1.f / 256;

float absolute(float x) {
  return x < 0 ? -x : x;
}

}  // namespace

void DilLearner::init(const Dil& dil) {
  dil_ = dil;
  pass_ = segment_ = symbol_ = 0;
  for (int i = 0; i < kFrameIntervals; ++i) {
    for (int u = 0; u < kUcodes; ++u) {
      levels_.level[i][u] = -1;
      sum_[i][u] = 0;
      count_[i][u] = 0;
    }
  }
}

void DilLearner::assume(Law law) {
  for (auto& interval : levels_.level) {
    for (int u = 0; u < kUcodes; ++u) interval[u] = static_cast<float>(linear_of(law, u));
  }
  pass_ = kPasses;
}

float DilLearner::put(float level, int interval, Trust* trust) {
  const Pcm p = dil_.symbol(segment_, symbol_);
  const float sign = p.positive ? 1 : -1;
  const float known = levels_.level[interval][p.ucode];
  const float reference = pass_ > 0 && known >= 0 ? sign * known : level;
  *trust = pass_ > 0 ? Trust::kTiming : Trust::kNone;
  sum_[interval][p.ucode] += sign * level;
  ++count_[interval][p.ucode];
  if (++symbol_ == dil_.symbols(segment_)) {
    symbol_ = 0;
    if (++segment_ == dil_.segments) {
      segment_ = 0;
      end_pass();
    }
  }
  return reference;
}

void DilLearner::end_pass() {
  for (int i = 0; i < kFrameIntervals; ++i) {
    for (int u = 0; u < kUcodes; ++u) {
      if (count_[i][u] == 0) continue;
      const float mean = sum_[i][u] / count_[i][u];
      levels_.level[i][u] = mean > 0 ? mean : 0;
    }
  }
  ++pass_;
}

void DownstreamReader::begin_two_levels() {
  mode_ = Mode::kTwoLevels;
  for (float& l : two_) l = static_cast<float>(linear_of(law_, u_info_));
  jd_found_ = false;
  jd_receiver_ = {};
}

void DownstreamReader::set_two_levels(const float* levels) {
  for (int i = 0; i < kFrameIntervals; ++i) two_[i] = levels[i];
}

void DownstreamReader::begin_dil(const Dil& dil) {
  told_ = false;
  in_r_ = false;
  r_frames_ = r_bar_frames_ = 0;
  if (dil.segments == 0) {
    mode_ = Mode::kR;
    return;
  }
  mode_ = Mode::kDil;
  learner_.init(dil);
}

void DownstreamReader::begin_frames(const FrameParameters& p, const LearntLevels& levels, bool data) {
  mode_ = data ? Mode::kB1d : Mode::kTraining;
  decoder_ = FrameDecoder(p);
  descrambler_.reset();
  following_ = levels;
  set_levels();
  alignment_ = FrameAlignment(p, distance_);
  frame_error_ = 0;
  mp_receiver_ = {};
  suv_receiver_ = {};
  renew(cpd_receiver_);
  mp_frames_ = mp_at_ = frames_ = until_next_ = 0;
  in_ed_ = in_r_ = false;
  r_frames_ = r_bar_frames_ = 0;
}

void DownstreamReader::begin_silence() {
  mode_ = Mode::kSilence;
  in_r_ = false;
  r_frames_ = r_bar_frames_ = 0;
}

// Levels of the points in use, by label.
void DownstreamReader::set_levels() {
  const LabelledPoints& points = decoder_.parameters().points;
  distance_ = 1e9f;
  for (int i = 0; i < kFrameIntervals; ++i) {
    for (int n = 0; n < points.count[i]; ++n) {
      const float level = following_.level[i][points.ucode[i][n]];
      level_[i][n] = level;
      const float apart = n == 0 ? 1e9f : level_[i][n - 1] - level;
      if (apart < distance_) distance_ = apart;
    }
    const float inner = 2 * level_[i][points.count[i] - 1];
    if (inner < distance_) distance_ = inner;
  }
}

void DownstreamReader::move(int intervals) {
  learner_.move(intervals);
  following_.move(intervals);
  set_levels();
}

DownstreamReader::Result DownstreamReader::put(float level, int interval) {
  const bool positive = level > 0;
  const float magnitude = absolute(level);
  const auto with_sign = [positive](float x) { return positive ? x : -x; };
  const auto near = [magnitude](float x) { return absolute(magnitude - x) < kNearLevel * x; };
  signs_[interval] = positive;
  Result r{level, Trust::kNone, Found::kNone};
  switch (mode_) {
    case Mode::kNone:
      break;
    case Mode::kTwoLevels:
      r = {with_sign(two_[interval]), Trust::kAll, two_levels(positive)};
      break;
    case Mode::kDil:
      if (!told_) {
        r.reference = learner_.put(level, interval, &r.trust);
        told_ = learner_.learnt();
        if (told_) r.found = Found::kLearnt;
        break;
      }
      // It may end with any segment: the received level is fed back unchanged.
      watch_r(interval, near(learner_.levels().level[interval][u_info_]));
      if (!in_r_) break;
      mode_ = Mode::kR;
      r.found = Found::kR;
      break;
    case Mode::kR: {
      const float u_info = learner_.learnt() ? learner_.levels().level[interval][u_info_] : two_[interval];
      const bool was = in_r_;
      watch_r(interval, near(u_info));
      r = {with_sign(u_info), was ? Trust::kTiming : Trust::kNone, Found::kNone};
      if (in_r_ && !was) r.found = Found::kR;
      if (r_bar_over()) r.found = Found::kRBar;
      break;
    }
    case Mode::kSilence: {
      const float largest = level_[interval][0];
      const bool was = in_r_;
      watch_r(interval, near(largest));
      if (was) r = {with_sign(largest), Trust::kTiming, Found::kNone};
      if (in_r_ && !was) r.found = Found::kR;
      if (r_bar_over()) r.found = Found::kRBar;
      break;
    }
    default:
      return put_frames(level, interval);
  }
  return r;
}

// Frames of training and of data.
DownstreamReader::Result DownstreamReader::put_frames(float level, int interval) {
  const bool positive = level > 0;
  const float magnitude = absolute(level);
  const int points = decoder_.parameters().points.count[interval];
  const float* level_of = level_[interval];
  const int label = nearest_label(magnitude, points, [=](int n) { return level_of[n]; });
  const float apart = magnitude - level_of[label];
  labels_[interval] = static_cast<uint8_t>(label);
  frame_error_ += apart * apart;
  const bool all = !in_r_ && !alignment_.searching();
  float& known = level_[interval][label];
  if (all) {
    known += kLevelStep * (magnitude - known);
    following_.level[interval][decoder_.parameters().points.ucode[interval][label]] = known;
  }
  Result r{positive ? known : -known, all ? Trust::kAll : in_r_ ? Trust::kTiming : Trust::kNone, Found::kNone};
  const bool was = in_r_;
  watch_r(interval, label == 0);
  if (alignment_.searching() && !in_r_) {  // R is no data
    r.move = alignment_.put(level, interval, following_);
    r.reference = alignment_.reference();  // wrong points, fed back, would spoil all alignments
  }
  if (interval == kFrameIntervals - 1) {
    if (in_r_) {
      if (!was) r.found = Found::kR;
      if (r_bar_over()) r.found = Found::kRBar;
    } else {
      r.found = end_frame();
    }
    frame_error_ = 0;
  }
  using Verdict = FrameAlignment::Verdict;
  const Verdict verdict = alignment_.take_verdict();
  if (r.move != 0) {
    const float distance = distance_;
    move(r.move);
    const bool merged = 2 * distance_ < distance;  // points of which a robbed bit makes one
    r.found = merged || verdict == Verdict::kPoor ? Found::kPoor : Found::kMoved;
  } else if (verdict == Verdict::kLost) {
    r.found = Found::kLost;
  }
  return r;
}

// R is three symbols of one sign and three of the other, all of the largest magnitude; R-bar the opposite.
void DownstreamReader::watch_r(int interval, bool largest) {
  largest_ = largest && (largest_ || interval == 0);
  if (interval < kFrameIntervals - 1) return;
  const bool polarity = signs_[0] != 0;
  bool is_r = largest_;
  for (int k = 0; k < kFrameIntervals; ++k) is_r &= (signs_[k] != 0) == (k < 3 ? polarity : !polarity);
  if (in_r_) {
    r_bar_frames_ = is_r && polarity != r_polarity_ ? r_bar_frames_ + 1 : 0;
    return;
  }
  r_frames_ = !is_r ? 0 : polarity == r_polarity_ ? r_frames_ + 1 : 1;
  r_polarity_ = polarity;
  in_r_ = r_frames_ >= kCertainR;
  r_bar_frames_ = 0;
}

DownstreamReader::Found DownstreamReader::two_levels(bool positive) {
  const int bit = descrambler_.descramble(sign_ ^ static_cast<int>(positive));
  sign_ = positive;
  if (jd_found_) {
    ++jd_at_;
    if (jd_at_ == Jd::kBits) jd_at_ = zeros_ = 0;
    if (jd_at_ >= 1 && jd_at_ <= kJdPrimeBits) zeros_ += bit == 0;
    if (jd_at_ == kJdPrimeBits && zeros_ >= kJdPrimeBits - 1) {
      jd_found_ = false;
      return Found::kJdPrime;
    }
  }
  static_assert(Jd::kBits == Jp::kBits && Jd::kFillBits == Jp::kFillBits);
  const bool is_jp = v92_ && jp_receiver_.put(bit, &jp_);
  Jd jd;
  // Bit 47, of 16 points in V.90, is set in Jp.
  const bool is_jd = jd_receiver_.put(bit, &jd) && !(v92_ && jd.points16);
  if (!is_jp && !is_jd) return Found::kNone;
  if (is_jd) jd_ = jd;
  jd_found_ = true;
  jd_at_ = Jd::kBits - Jd::kFillBits;
  return is_jp ? Found::kJp : Found::kJd;
}

DownstreamReader::Found DownstreamReader::end_frame() {
  uint8_t bits[FrameParameters::kMaxBits];
  const FrameParameters& p = decoder_.parameters();
  const uint64_t number = decoder_.put(signs_, labels_, bits);
  const int d = p.bits();
  uint64_t word = (number & ((uint64_t{1} << p.k) - 1)) << p.sign_bits();
  for (int k = 0; k < p.sign_bits(); ++k) word |= uint64_t{bits[k]} << k;
  word = descrambler_.descramble(word, d);
  if (frames_ < INT32_MAX) ++frames_;
  if (mode_ == Mode::kTraining) {
    for (int k = 0; k < d; ++k) bits[k] = static_cast<uint8_t>(word >> k & 1);
    return read_training(bits, d);
  }
  if (mode_ == Mode::kB1d) {
    if (frames_ < kB1dFrames) return Found::kNone;
    mode_ = Mode::kData;
    return Found::kB1d;
  }
  if (!live_) return Found::kNone;
  alignment_.watch(word, number, frame_error_);
  uint8_t octets[(FrameParameters::kMaxBits + 7) / 8];
  for (int k = 0; k < static_cast<int>(sizeof octets); ++k) octets[k] = static_cast<uint8_t>(word >> 8 * k);
  oh_port_put(&port_, octets, static_cast<size_t>(d));
  bits_received_ += static_cast<uint64_t>(d);
  return Found::kNone;
}

// MP lasts whole frames, so after one was found, another begins every MP length, or Ed does: zeros instead of ones.
DownstreamReader::Found DownstreamReader::read_training(const uint8_t* bits, int d) {
  if (in_ed_) {
    mode_ = Mode::kNone;
    return Found::kEd;
  }
  if (v92_) return read_training_v92(bits, d);
  Found found = Found::kNone;
  int ones = 0;
  for (int k = 0; k < d; ++k) {
    ones += bits[k];
    if (!mp_receiver_.put(bits[k], &mp_)) continue;
    found = Found::kMp;
    mp_frames_ = (mp_.bits() + d - 1) / d;
    mp_at_ = (mp_.bits() - 2) / d;  // of the frame that has the last CRC bit
  }
  if (mp_frames_ == 0) return found;
  if (mp_at_ == 0 && found == Found::kNone && ones <= d / 4) in_ed_ = true;
  mp_at_ = (mp_at_ + 1) % mp_frames_;
  return found;
}

// Sequences of different lengths, each of whole frames; where one would begin, Ed may.
DownstreamReader::Found DownstreamReader::read_training_v92(const uint8_t* bits, int d) {
  Found found = Found::kNone;
  int ones = 0, size = 0;
  for (int k = 0; k < d; ++k) {
    ones += bits[k];
    if (suv_receiver_.put(bits[k], &suv_)) found = Found::kSuv, size = Suv::kBits;
    if (cpd_receiver_.put(bits[k], &cpd_)) found = Found::kCpd, size = cpd_receiver_.size() + 1;
  }
  const bool begins = until_next_ == 1;
  if (until_next_ > 0) --until_next_;
  if (found != Found::kNone) until_next_ = (size + d - 1) / d - (size - 2) / d;
  if (begins && found == Found::kNone && ones <= d / 4) in_ed_ = true;
  return found;
}

}  // namespace offhook::v90
