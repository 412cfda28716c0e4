// SPDX-License-Identifier: MIT
//
// For tests of the CPU: programs of fixed segments, periodic releases, and the events of section 9 as text.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "hostsim/cpu/cpu.h"

namespace offhook::hostsim {

/// Each job runs these segments; calls `at_begin(n)` when segment n begins (n = 0, 1 ...) and when the job ends.
class Segments final : public Program {
 public:
  explicit Segments(std::vector<Ns> costs, std::function<void(std::size_t)> at_begin = {})
      : costs_(std::move(costs)), at_begin_(std::move(at_begin)) {}
  Ns next(Ns) override {
    const std::size_t segment = segment_;
    segment_ = segment == costs_.size() ? 0 : segment + 1;
    if (at_begin_) at_begin_(segment);
    return segment == costs_.size() ? 0 : costs_[segment];
  }

 private:
  std::vector<Ns> costs_;
  std::function<void(std::size_t)> at_begin_;
  std::size_t segment_ = 0;
};

class Once final : public Event {
 public:
  explicit Once(std::function<void(Ns)> what) : what_(std::move(what)) {}
  void fire(Ns now) override { what_(now); }

 private:
  std::function<void(Ns)> what_;
};

class Periodic final : public Event {
 public:
  Periodic(Engine& engine, Cpu& cpu, EntityId id, Ns offset, Ns period)
      : engine_(engine), cpu_(cpu), id_(id), period_(period) {
    engine.at(offset, *this);
  }
  void fire(Ns now) override {
    cpu_.release(id_);
    engine_.at(now + period_, *this);
  }

 private:
  Engine& engine_;
  Cpu& cpu_;
  EntityId id_;
  Ns period_;
};

/// "12 audio start" etc.
class Recorder final : public CpuObserver {
 public:
  explicit Recorder(Cpu& cpu) : cpu_(cpu) { cpu.set_observer(this); }
  void on_event(Ns time, EntityId id, Kind kind) override {
    static constexpr const char* kNames[] = {"start", "resume", "preempt", "finish", "miss", "throttle", "replenish"};
    events.push_back(std::to_string(time) + ' ' + std::string(cpu_.name(id)) + ' ' + kNames[static_cast<int>(kind)]);
  }
  std::vector<std::string> events;

 private:
  Cpu& cpu_;
};

}  // namespace offhook::hostsim
