// SPDX-License-Identifier: MIT
#include "hostsim/call/link_model.h"

#include <algorithm>
#include <cmath>

namespace offhook::hostsim {

namespace {

constexpr double kMs = 1e6;
constexpr std::uint32_t kAttempts = 10;  // N400
// Flag, address, two control octets, two of check sequence (V.42, 8.1), and one inserted zero in 62 random bits.
Ns wire_time(std::uint32_t information_bytes, double bps) {
  return static_cast<Ns>((information_bytes + 6) * 8 * (63.0 / 62.0) / bps * 1e9);
}

/// Octets on the link for the first `bytes` of the file, all but the last packet full.
double octets(const LinkProfile& p, std::uint64_t bytes) {
  const double packets = std::ceil(static_cast<double>(bytes) / p.packet_bytes);
  return (static_cast<double>(bytes) + packets * p.packet_header_octets) * (1 + p.escaped_share);
}

}  // namespace

LinkModel::LinkModel(const LinkProfile& profile, std::uint64_t bytes, Ns connect, Ns lead, std::uint64_t seed,
                     oh_event_log* log)
    : profile_(profile),
      bytes_(bytes),
      frames_(static_cast<std::uint64_t>(std::ceil(octets(profile, bytes) / profile.frame_bytes))),
      connect_(connect),
      lead_(lead),
      delay_(static_cast<Ns>(profile.one_way_delay_ms * kMs)),
      frame_time_(wire_time(profile.frame_bytes, profile.down_bps)),
      ack_time_(wire_time(0, profile.up_bps)),
      random_(seed, 0x6c696e6bU),  // "link"
      log_(log) {}

void LinkModel::record(Ns now, oh_event_kind kind, std::uint64_t argument) const {
  oh_event_log_write(log_, static_cast<std::uint64_t>(now), kind, 0,
                     static_cast<std::uint32_t>(std::min<std::uint64_t>(argument, UINT32_MAX)));
}

void LinkModel::set_state(State state, Ns now) {
  state_ = state;
  static constexpr oh_pump_state kPump[] = {OH_PUMP_IDLE, OH_PUMP_TRAINING, OH_PUMP_DATA, OH_PUMP_FAILED};
  record(now, OH_EV_PUMP_STATE, kPump[static_cast<int>(state)]);
}

void LinkModel::start(Ns now) {
  training_since_ = clean_since_ = now;
  training_needs_ = connect_;
  set_state(State::kTraining, now);
}

void LinkModel::hole(std::deque<Interval>& holes, Ns end, std::uint32_t samples, std::uint32_t rate_hz) {
  const Ns length = static_cast<Ns>(samples * 1e9 / rate_hz);
  holes.push_back({end - length, end + static_cast<Ns>(profile_.settling_ms * kMs)});
  // Frames still under way are younger than this.
  const Ns forget = end - static_cast<Ns>(2e9) - 2 * delay_;
  while (holes.front().to < forget) holes.pop_front();
  clean_since_ = std::max(clean_since_, end);
  if (state_ == State::kData) lose_sync_by(samples, end);
}

void LinkModel::transmit_hole(Ns end, std::uint32_t samples, std::uint32_t rate_hz) {
  hole(up_holes_, end, samples, rate_hz);
}
void LinkModel::receive_hole(Ns end, std::uint32_t samples, std::uint32_t rate_hz) {
  hole(down_holes_, end, samples, rate_hz);
}

void LinkModel::lose_sync_by(std::uint32_t samples, Ns now) {
  if (random_.exponential(draws_++) * profile_.sync_loss_samples > samples) return;
  counters_.retrains++;
  counters_.frames_lost += static_cast<std::uint32_t>(down_.size());
  down_.clear();
  up_.clear();
  training_since_ = clean_since_ = now;
  training_needs_ = static_cast<Ns>(profile_.training_ms * kMs);
  set_state(State::kTraining, now);
}

bool LinkModel::hit(const std::deque<Interval>& holes, const Frame& frame) const {
  return std::any_of(holes.begin(), holes.end(),
                     [&](const Interval& h) { return h.from < frame.to && frame.from < h.to; });
}

void LinkModel::train(Ns now) {
  const Ns clean = std::min(training_needs_, static_cast<Ns>(profile_.training_ms * kMs));
  if (now - training_since_ >= training_needs_ && now - clean_since_ >= clean) {
    if (connected_at_ < 0) connected_at_ = now;
    far_free_ = up_free_ = progress_at_ = now;
    next_ = acknowledged_;  // what was under way when synchronisation was lost is sent again
    set_state(State::kData, now);
  } else if (now - training_since_ >= static_cast<Ns>(profile_.give_up_ms * kMs)) {
    set_state(State::kFailed, now);
  }
}

// The far modem sends what its window allows, takes acknowledgements, and goes back when told to or when none come.
void LinkModel::far_end(Ns now) {
  while (!up_.empty() && up_.front().to + delay_ <= now) {
    const Frame ack = up_.front();
    up_.pop_front();
    if (hit(up_holes_, ack)) {
      counters_.frames_lost++;
      continue;
    }
    if (ack.number > acknowledged_) {
      acknowledged_ = ack.number;
      progress_at_ = ack.to + delay_;
      attempts_ = 0;
    }
    if (ack.reject) {
      record(now, OH_EV_LINK_RETRANSMIT, next_ - acknowledged_);
      next_ = acknowledged_;
    }
    next_ = std::max(next_, acknowledged_);
  }
  const Ns t401 = static_cast<Ns>(profile_.t401_ms * kMs);
  if (next_ > acknowledged_ && now - progress_at_ > t401) {
    counters_.timeouts++;
    record(now, OH_EV_LINK_RETRANSMIT, next_ - acknowledged_);
    next_ = acknowledged_;
    progress_at_ = now;
    if (++attempts_ > kAttempts) return set_state(State::kFailed, now);
  }
  while (far_free_ <= now) {
    if (next_ >= frames_ || next_ - acknowledged_ >= profile_.window) {
      far_free_ = now + 1;  // nothing to send now: looked at again at the next service
      break;
    }
    if (next_ == acknowledged_) progress_at_ = std::max(progress_at_, far_free_);
    counters_.frames_sent++;
    if (next_ < highest_) counters_.frames_retransmitted++;
    down_.push_back({far_free_ + delay_, far_free_ + frame_time_ + delay_, next_, false});
    far_free_ += frame_time_;
    next_++;
    highest_ = std::max(highest_, next_);
  }
}

void LinkModel::acknowledge(Ns now, bool reject) {
  const Ns from = std::max(up_free_, now + lead_);
  up_free_ = from + ack_time_;
  up_.push_back({from, up_free_, expected_, reject});
}

// Whole packets are delivered; without packets, every byte of a frame.
void LinkModel::deliver() {
  const double arrived = static_cast<double>(expected_) * profile_.frame_bytes;
  if (expected_ == frames_) {
    counters_.bytes_delivered = bytes_;
  } else if (profile_.packet_bytes >= bytes_) {
    counters_.bytes_delivered = std::min(bytes_, static_cast<std::uint64_t>(arrived));
  } else {
    const double packet = (profile_.packet_bytes + profile_.packet_header_octets) * (1 + profile_.escaped_share);
    counters_.bytes_delivered = static_cast<std::uint64_t>(arrived / packet) * profile_.packet_bytes;
  }
}

void LinkModel::serve(Ns now, Ns captured) {
  if (state_ == State::kTraining) train(now);
  if (state_ != State::kData) return;
  far_end(now);
  if (state_ != State::kData) return;
  bool received = false;
  while (!down_.empty() && down_.front().to <= captured) {
    const Frame frame = down_.front();
    down_.pop_front();
    if (hit(down_holes_, frame)) {
      counters_.frames_lost++;
      continue;
    }
    if (frame.number == expected_) {
      expected_++;
      rejected_ = false;
      received = true;
      deliver();
    } else if (frame.number > expected_ && !rejected_) {
      rejected_ = true;
      acknowledge(now, true);
    } else {
      received = true;  // a repetition: say again how far we are
    }
  }
  if (received) {
    acknowledge(now, false);
    record(now, OH_EV_LINK_BYTES, counters_.bytes_delivered);
    if (done() && done_at_ < 0) done_at_ = now;
  }
}

}  // namespace offhook::hostsim
