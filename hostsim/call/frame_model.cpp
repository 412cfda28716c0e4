// SPDX-License-Identifier: MIT
#include "hostsim/call/frame_model.h"

#include <algorithm>

namespace offhook::hostsim {

void FrameModel::transmit(Ns until, Ns delay, std::deque<LineFrame>* line) {
  using Kind = LineFrame::Kind;
  while (free_ <= until) {
    LineFrame frame{free_ + delay, 0, Kind::kReady, 0, 0, expected_};
    while (!to_ask_.empty() && to_ask_.front() < expected_) to_ask_.pop_front();
    while (!again_.empty() && again_.front() < acknowledged_) again_.pop_front();
    if (!to_ask_.empty()) {
      frame.kind = Kind::kAskAgain;
      frame.number = to_ask_.front();
      frame.acknowledges = 0;
      to_ask_.pop_front();
    } else if (!again_.empty()) {
      send(again_.front(), &frame);
      again_.pop_front();
    } else if (may_send()) {
      if (!outstanding()) progress_at_ = free_;
      send(next_++, &frame);
    } else if (!owes_acknowledgement_) {
      free_ = until + 1;  // flags; it is checked again at the next service
      return;
    }
    if (frame.kind != Kind::kAskAgain) owes_acknowledgement_ = false;
    free_ += wire_time(frame.octets, config_.bps);
    frame.to = free_ + delay;
    line->push_back(frame);
  }
}

void FrameModel::send(std::uint64_t number, LineFrame* frame) {
  if (number == highest_) {
    octets_.push_back(static_cast<std::uint32_t>(std::min<std::uint64_t>(waiting_, config_.frame_octets)));
    waiting_ -= octets_.back();
    highest_++;
  } else {
    counters_.sent_again++;
  }
  counters_.sent++;
  frame->kind = LineFrame::Kind::kInformation;
  frame->number = number;
  frame->octets = octets_[number - acknowledged_];
}

std::uint32_t FrameModel::go_back() {
  const std::uint64_t frames = next_ - acknowledged_;
  next_ = acknowledged_;
  again_.clear();
  return static_cast<std::uint32_t>(frames);
}

void FrameModel::take_acknowledgement(const LineFrame& frame) {
  if (frame.acknowledges <= acknowledged_) return;
  const auto taken = static_cast<std::ptrdiff_t>(frame.acknowledges - acknowledged_);
  octets_.erase(octets_.begin(), octets_.begin() + taken);
  acknowledged_ = frame.acknowledges;
  next_ = std::max(next_, acknowledged_);
  progress_at_ = frame.to;
  attempts_ = 0;
}

std::uint32_t FrameModel::receive(const LineFrame& frame) {
  if (frame.kind == LineFrame::Kind::kAskAgain) {
    if (frame.number < acknowledged_ || frame.number >= next_) return 0;
    again_.push_back(frame.number);
    progress_at_ = frame.to;  // T401 is restarted
    return 1;
  }
  take_acknowledgement(frame);
  if (frame.kind == LineFrame::Kind::kReady) return 0;
  owes_acknowledgement_ = true;  // also for a repetition: report the progress again
  if (frame.number < expected_) return 0;
  early_[frame.number] = frame.octets;
  for (; asked_below_ < frame.number; asked_below_++) {
    if (asked_below_ >= expected_) to_ask_.push_back(asked_below_);
  }
  asked_below_ = std::max(asked_below_, frame.number + 1);
  for (auto first = early_.begin(); first != early_.end() && first->first == expected_; first = early_.erase(first)) {
    received_ += first->second;
    expected_++;
  }
  return 0;
}

std::uint32_t FrameModel::advance(Ns now) {
  if (!outstanding() || now - progress_at_ <= config_.t401) return 0;
  counters_.timeouts++;
  attempts_++;
  progress_at_ = now;
  return go_back();
}

void FrameModel::resume(Ns now) {
  free_ = std::max(free_, now);
  progress_at_ = now;
  go_back();
  to_ask_.clear();
  asked_below_ = expected_;
}

}  // namespace offhook::hostsim
