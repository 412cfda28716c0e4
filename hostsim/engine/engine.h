// SPDX-License-Identifier: MIT
//
// The virtual clock and the event queue. Time is integer nanoseconds. Events of one instant run in the order of
// (time, stage, sequence of insertion); everything of one instant is done before the CPUs dispatch (see cpu/cpu.h).
#pragma once

#include <cstdint>
#include <limits>
#include <memory>

namespace offhook::hostsim {

using Ns = std::int64_t;
inline constexpr Ns kNever = std::numeric_limits<Ns>::max();

class Processor;

/// An action at a given time. The object must outlive its pending event.
class Event {
 public:
  virtual ~Event() = default;
  virtual void fire(Ns now) = 0;
};

class Engine {
 public:
  Engine();
  ~Engine();
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  Ns now() const { return now_; }
  /// Fire `event` at `when` (>= now). Several pending events may share one Event object. No allocation in the steady
  /// state.
  void at(Ns when, Event& event);
  /// Called by an event that fires. @return time up to which only its own processor acts: at most the horizon; now if
  /// there is another processor, or after stop().
  Ns undisturbed_until() const;
  /// Exactly one processor takes part.
  bool has_one_processor() const;
  /// Called by an event that fires: sets the clock to `when`. The event continues as if it fired then, which replaces
  /// `times` calls of at() for itself.
  /// @pre when < undisturbed_until(), and nothing is due on the processor until then
  void skip_to(Ns when, std::uint64_t times);
  /// Runs every instant before `horizon`; the clock is then at `horizon`. It may be called again with a later one.
  void run_until(Ns horizon);
  /// Makes run_until return after the current instant.
  void stop();
  /// Instants and events handled so far, for benchmarks.
  std::uint64_t events_handled() const;

  /// Adds a processor to every instant from now on; it must outlive the engine's runs.
  void attach(Processor& processor);

 private:
  struct Impl;
  Ns now_ = 0;
  std::unique_ptr<Impl> impl_;
};

}  // namespace offhook::hostsim
