// SPDX-License-Identifier: MIT
//
// The test application of Regehr and Stankovic (2001, 4.1): a thread that never blocks and reads the time stamp counter
// over and over. Two reads further apart than 2.2 us mean that time was stolen between them. At the end of each period
// since the reservation was granted, it counts a deadline hit if it received the requested time, or else a miss.
#pragma once

#include <algorithm>
#include <vector>

#include "hostsim/cpu/cpu.h"

namespace offhook::hostsim {

class StolenTimeProbe final : public CpuObserver, public Program {
 public:
  struct Config {
    Ns needed = 4'000'000;   ///< in each period
    Ns period = 20'000'000;  ///< counted from the first instant at which it runs
    Ns gap = 2'200;          ///< a longer time between two reads counts as stolen
    Ns path = 550;           ///< time between two reads if nothing is stolen
    bool keep_intervals = false;
  };
  struct Interval {
    Ns begin, end;
  };
  struct Period {
    Ns received;
    bool hit;
  };

  explicit StolenTimeProbe(const Config& config) : config_(config) {}
  /// Set this as the CPU's observer, and release one job of `thread`, whose program is this object.
  void watch(EntityId thread) { thread_ = thread; }
  Ns next(Ns) override { return Ns{1} << 60; }

  void on_event(Ns now, EntityId entity, Kind kind) override {
    if (entity != thread_) return;
    if (kind == Kind::kStart || kind == Kind::kResume) {
      run(now);
    } else if (running_ && (kind == Kind::kPreempt || kind == Kind::kThrottle || kind == Kind::kFinish)) {
      pause(now);
    }
  }

  const std::vector<Period>& periods() const { return periods_; }  ///< that are over
  const std::vector<Interval>& intervals() const { return intervals_; }
  double missed_share() const {
    const auto misses = std::count_if(periods_.begin(), periods_.end(), [](const Period& p) { return !p.hit; });
    return periods_.empty() ? 0 : static_cast<double>(misses) / static_cast<double>(periods_.size());
  }

 private:
  void run(Ns now) {
    if (last_ < 0) {
      end_ = now + config_.period;
    } else {
      const Ns gap = now - last_;
      if (gap + config_.path <= config_.gap) {
        receive(last_, now);  // too short to be detected
      } else {
        if (config_.keep_intervals) intervals_.push_back({since_, last_});
        since_ = now;
      }
    }
    if (last_ < 0) since_ = now;
    running_ = true;
    last_ = now;
    close_periods(now);
  }

  void pause(Ns now) {
    running_ = false;
    receive(last_, now);
    last_ = now;
  }

  void receive(Ns begin, Ns end) {
    while (end > end_) {
      received_ += std::max<Ns>(0, end_ - begin);
      begin = std::max(begin, end_);
      close_periods(end_);
    }
    received_ += end - begin;
  }

  void close_periods(Ns now) {
    for (; end_ <= now; end_ += config_.period) {
      periods_.push_back({received_, received_ >= config_.needed});
      received_ = 0;
    }
  }

  Config config_;
  EntityId thread_ = kNoEntity;
  std::vector<Period> periods_;
  std::vector<Interval> intervals_;
  bool running_ = false;
  Ns since_ = 0;     // beginning of the current interval
  Ns last_ = -1;     // last read
  Ns end_ = 0;       // of the current period
  Ns received_ = 0;  // in it
};

}  // namespace offhook::hostsim
