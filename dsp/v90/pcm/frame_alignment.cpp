// SPDX-License-Identifier: MIT
#include "dsp/v90/pcm/frame_alignment.h"

#include "dsp/v90/pcm/slicer.h"

namespace offhook::v90 {

FrameAlignment::FrameAlignment(const FrameParameters& p, float distance) : p_(p), distance_(distance) {}

void FrameAlignment::watch(uint64_t bits, uint64_t number, float error) {
  const int runs = ones_.put(bits, p_.bits());
  illegal_ += number >> p_.k != 0;
  error_ += error;
  if (++frames_ % kErrorFrames == 0) {
    const bool off = is_off(error_, kErrorFrames * kFrameIntervals);
    error_ = 0;
    if (off && !searching()) begin_search();
  }
  if (searching()) return;
  runs_ += runs;
  if (illegal_ + (is_hdlc() ? runs_ : 0) >= kSuspicion) return begin_search();
  if (frames_ < kWindowFrames) return;
  if (runs_ == 0) {
    clean_ = clean_ < kMostClean ? clean_ + 1 : clean_;
  } else {
    clean_ = is_hdlc() ? clean_ - 1 : 0;
  }
  frames_ = runs_ = illegal_ = 0;
}

void FrameAlignment::begin_search() {
  windows_left_ = kMostWindows;
  for (int& t : total_) t = 0;
  begin_window();
}

void FrameAlignment::begin_window() {
  symbols_ = 0;
  for (Candidate& c : candidate_) {
    const float recent = c.recent;
    c = {};
    c.recent = windows_left_ < kMostWindows ? recent : 0;
    c.signs = SignDecoder(p_.shaping_bits);
  }
}

int FrameAlignment::put(float level, int interval, const LearntLevels& levels) {
  const bool positive = level > 0;
  const float magnitude = positive ? level : -level;
  float least = 1e9f;
  for (int move = 0; move < kFrameIntervals; ++move) {
    Candidate& c = candidate_[move];
    const int i = (interval + move) % kFrameIntervals;
    const float* known = levels.level[interval];
    const uint8_t* ucode = p_.points.ucode[i];
    const int label = nearest_label(magnitude, p_.points.count[i], [=](int n) { return known[ucode[n]]; });
    const float distance = magnitude - known[ucode[label]];
    c.sign[i] = positive;
    c.label[i] = static_cast<uint8_t>(label);
    if (c.frames >= kQuietFrames) c.error += distance * distance;
    c.recent += kRecent * (distance * distance - c.recent);
    if (c.recent < least) {
      least = c.recent;
      reference_ = positive ? known[ucode[label]] : -known[ucode[label]];
    }
    if (i < kFrameIntervals - 1) continue;
    if (c.begun) end_frame(c);
    c.begun = true;
  }
  if (++symbols_ < kWindowFrames * kFrameIntervals) return 0;
  return decide();
}

void FrameAlignment::end_frame(Candidate& c) {
  uint8_t bits[FrameParameters::kMaxBits];
  const uint64_t number = decode_frame(p_, &c.signs, c.sign, c.label, bits);
  int runs = 0;
  for (int k = 0; k < p_.bits(); ++k) runs += c.ones.put(c.descrambler.descramble(bits[k]));
  if (++c.frames <= kFirstFrames) return;
  c.faults += (number >> p_.k != 0) + (is_hdlc() ? runs : 0);
}

int FrameAlignment::cost(const Candidate& c) const {
  return c.faults + (is_off(c.error, (c.frames - kQuietFrames) * kFrameIntervals) ? kOff : 0);
}

// A window has ended: the frames have moved if exactly one alignment is good.
int FrameAlignment::decide() {
  int best = 0, least = INT32_MAX, next = INT32_MAX;
  for (int move = 0; move < kFrameIntervals; ++move) {
    const int c = cost(candidate_[move]);
    total_[move] += c;
    if (c < least) {
      next = least;
      least = c;
      best = move;
    } else if (c < next) {
      next = c;
    }
  }
  const bool found = least <= kTrusted && next >= kRefused;
  if (--windows_left_ > 0 && !found) {
    begin_window();
    return 0;
  }
  windows_left_ = 0;
  frames_ = runs_ = illegal_ = 0;
  error_ = 0;
  ones_ = {};
  return found ? best : give_up();
}

int FrameAlignment::give_up() {
  int best = 0;
  for (int move = 1; move < kFrameIntervals; ++move) {
    if (total_[move] < total_[best]) best = move;
  }
  bool far = true;
  for (int move = 0; move < kFrameIntervals; ++move) far &= move == best || 4 * total_[best] < 3 * total_[move];
  if (is_hdlc()) verdict_ = far && best != 0 ? Verdict::kPoor : Verdict::kLost;
  clean_ = 0;
  return verdict_ == Verdict::kPoor ? best : 0;
}

}  // namespace offhook::v90
