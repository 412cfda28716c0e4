// SPDX-License-Identifier: MIT
#pragma once

#include <span>
#include <vector>

#include "hostsim/call/call.h"
#include "offhook/event_log.h"

namespace offhook::hostsim {

/// The log of a call in memory, read between slices of it: a whole host every 50 ms, a modem alone every 10 ms. A
/// thread that was starved catches up at one instant, with three records for each block that it owes: there is room for
/// four seconds of 3200 blocks a second, the longest that Windows leaves a thread that is ready without the CPU.
class CallEvents {
 public:
  explicit CallEvents(Logged what = Logged::kAll)
      : slice_(what == Logged::kAll ? 50'000'000 : 10'000'000), ring_(1 << 16), events_(ring_.size()) {
    oh_event_log_init(&log_, ring_.data(), ring_.size(), 0);
  }
  CallEvents(const CallEvents&) = delete;
  CallEvents& operator=(const CallEvents&) = delete;

  oh_event_log* log() { return &log_; }
  /// Run on for a slice. @return the events that came; valid until the next
  std::span<const oh_event> advance(Call& call) {
    over_ = !call.advance(call.now() + slice_);
    return {events_.data(), oh_event_log_read(&log_, events_.data(), events_.size())};
  }
  bool over() const { return over_; }  ///< the call is
  std::uint64_t lost() const { return oh_event_log_lost(&log_); }

 private:
  Ns slice_;
  std::vector<oh_event> ring_, events_;
  oh_event_log log_{};
  bool over_ = false;
};

}  // namespace offhook::hostsim
