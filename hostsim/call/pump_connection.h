// SPDX-License-Identifier: MIT
//
// A connection of a device with real pumps at both ends, for a given time. It reports when both were in data mode
// first, whether the host lost samples, and how it ended.
#pragma once

#include <string>

#include "hostsim/call/connection.h"

namespace offhook::hostsim {

class PumpConnection : public Connection {
 public:
  /// Runs for scenario.device_s, or until the first loss if scenario.stop_at_loss is set.
  explicit PumpConnection(const Scenario& s)
      : runs_(static_cast<Ns>(s.device_s * 1e9)), stop_at_loss_(s.stop_at_loss) {}

  void bind(Engine& engine, SimulatedCard& card, const oh_driver& driver) override {
    engine_ = &engine;
    card_ = &card;
    driver_ = &driver;
  }
  void start(Ns now) override { started_ = now; }
  void exchange_user_data(Ns now) override {
    look(now);
    if (connected_at_ < 0 && in_data()) connected_at_ = now;
  }
  TransferStatus status() const override {
    TransferStatus s;
    s.connected = connected_at_ >= 0;
    s.connected_at = started_;  // for a device, the start-up is part of the time
    if (started_ < 0) return s;
    s.retrains = retrains();
    const bool some_lost = samples_lost(*driver_, *card_);
    const bool stopped = stop_at_loss_ && some_lost;
    if (engine_->now() - started_ < runs_ && !stopped) return s;
    const std::string cause = stopped ? "" : problem();
    s.intact = s.done = !stopped && cause.empty();
    s.failed = !s.done;
    if (s.done) s.done_at = started_ + runs_;
    if (s.failed) s.failure = (stopped ? "" : cause + "; ") + (some_lost ? "samples were lost" : "no sample was lost");
    return s;
  }

 protected:
  /// Reads the pumps' status and instruments.
  virtual void look(Ns now) = 0;
  virtual std::uint32_t retrains() const = 0;
  /// The fault, for people; empty: none.
  virtual std::string problem() const = 0;
  /// From the start until both ends first reached data mode; negative: never.
  double connected_s() const { return connected_at_ >= 0 ? static_cast<double>(connected_at_ - started_) * 1e-9 : -1; }

  SimulatedCard* card_ = nullptr;  ///< null until bind()
  const oh_driver* driver_ = nullptr;

 private:
  const Ns runs_;
  const bool stop_at_loss_;
  Engine* engine_ = nullptr;
  Ns started_ = -1, connected_at_ = -1;
};

}  // namespace offhook::hostsim
