// SPDX-License-Identifier: MIT
#include "hostsim/call/tcp_flow.h"

#include <algorithm>

namespace offhook::hostsim {

// RFC 2988, 2.2 and 2.3: alpha 1/8, beta 1/4, K 4.
void TcpSender::measure(Ns round_trip) {
  if (smoothed_ == 0) {
    smoothed_ = round_trip;
    variation_ = round_trip / 2;
  } else {
    const Ns off = smoothed_ > round_trip ? smoothed_ - round_trip : round_trip - smoothed_;
    variation_ += (off - variation_) / 4;
    smoothed_ += (round_trip - smoothed_) / 8;
  }
  timeout_ = std::clamp(smoothed_ + 4 * variation_, kLeastTimeout, kMostTimeout);
}

void TcpSender::acknowledge(std::size_t upto, std::size_t far_window, Ns now) {
  far_window_ = far_window;
  const bool opens = !answered_;
  answered_ = true;
  if (opens || upto <= acknowledged_) return;
  acknowledged_ = upto;
  sent_ = std::max(sent_, acknowledged_);
  attempts_ = 0;
  if (timed_from_ != kNever && upto >= timed_end_) {
    measure(now - timed_from_);
    timed_from_ = kNever;
  }
  window_ += window_ < slow_start_below_ ? segment_ : std::max<std::size_t>(1, segment_ * segment_ / window_);
  expires_ = sent_ > acknowledged_ ? now + timeout_ : kNever;
}

std::optional<TcpSender::Segment> TcpSender::next(Ns now) {
  if (!answered_ || sent_ >= file_) return std::nullopt;
  const std::size_t n = std::min(segment_, file_ - sent_);
  if (sent_ + n > acknowledged_ + std::min(window_, far_window_)) return std::nullopt;
  const Segment out{sent_, n};
  sent_ += n;
  if (expires_ == kNever) expires_ = now + timeout_;
  if (timed_from_ == kNever && attempts_ == 0 && sent_ > timed_end_) {
    timed_from_ = now;
    timed_end_ = sent_;
  }
  return out;
}

// RFC 2581, 3.1 (4) and RFC 2988, 5.4 to 5.6.
void TcpSender::advance(Ns now) {
  if (now < expires_) return;
  slow_start_below_ = std::max((sent_ - acknowledged_) / 2, 2 * segment_);
  window_ = segment_;
  timed_end_ = std::max(timed_end_, sent_);  // everything is sent twice
  timed_from_ = kNever;
  sent_ = acknowledged_;
  timeout_ = std::min(2 * timeout_, kMostTimeout);
  expires_ = now + timeout_;
  attempts_++;
}

bool TcpReceiver::put(std::size_t from, std::size_t size, Ns now) {
  const bool in_order = from == received_;
  if (in_order) {
    received_ += size;
    if (++unacknowledged_ == 1) acknowledge_by_ = now + kDelayed;
  }
  if (in_order && unacknowledged_ < 2) return false;
  unacknowledged_ = 0;
  acknowledge_by_ = kNever;
  return true;
}

bool TcpReceiver::advance(Ns now) {
  if (now < acknowledge_by_) return false;
  unacknowledged_ = 0;
  acknowledge_by_ = kNever;
  return true;
}

}  // namespace offhook::hostsim
