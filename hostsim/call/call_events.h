// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <span>

#include "hostsim/call/call.h"
#include "offhook/event_log.h"

namespace offhook::hostsim {

/// The log of a call in memory, read between slices of it: a whole host every 50 ms, a modem without a host every 10
/// ms. A starved thread catches up at one instant, with three records per owed block. The memory holds four seconds of
/// 3200 blocks per second: Windows leaves a ready thread without the CPU for at most four seconds.
class CallEvents {
 public:
  explicit CallEvents(Logged what = Logged::kAll) : slice_(what == Logged::kAll ? 50'000'000 : 10'000'000) {
    oh_event_log_init(&log_, ring_.get(), kEvents, 0);
  }
  CallEvents(const CallEvents&) = delete;
  CallEvents& operator=(const CallEvents&) = delete;

  oh_event_log* log() { return &log_; }
  /// Runs the call for one slice. @return its events, valid until the next slice
  std::span<const oh_event> advance(Call& call) {
    over_ = !call.advance(call.now() + slice_);
    return {events_.get(), oh_event_log_read(&log_, events_.get(), kEvents)};
  }
  bool over() const { return over_; }  ///< the call is
  std::uint64_t lost() const { return oh_event_log_lost(&log_); }

 private:
  static constexpr std::size_t kEvents = 1 << 16;
  Ns slice_;
  // Not cleared, because most calls use only a few of them.
  std::unique_ptr<oh_event[]> ring_ = std::make_unique_for_overwrite<oh_event[]>(kEvents),
                              events_ = std::make_unique_for_overwrite<oh_event[]>(kEvents);
  oh_event_log log_{};
  bool over_ = false;
};

}  // namespace offhook::hostsim
