// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cstring>

#include "dsp/pump/pump_type.h"
#include "hostsim/call/connection.h"
#include "hostsim/call/link_model.h"

namespace offhook::hostsim {

namespace {

class Silence final : public LineEnd {
  void exchange(const std::int16_t*, std::int16_t* captured, std::size_t n) override {
    std::memset(captured, 0, n * sizeof *captured);
  }
};

class LinkConnection final : public Connection {
 public:
  LinkConnection(const Scenario& scenario, const CostProfile& profile, oh_event_log* log)
      : link_(profile.link, scenario.bytes, profile.phases[static_cast<int>(Phase::kConnecting)].lasts_ns,
              static_cast<Ns>(scenario.transmit_lead_samples * 1e9 /
                              profile.phases[static_cast<int>(Phase::kConnected)].rate_hz),
              scenario.seed, log) {}

  void bind(Engine& engine, SimulatedCard& card, const oh_driver& driver) override {
    engine_ = &engine;
    card_ = &card;
    driver_ = &driver;
  }
  oh_pump near_pump() override { return pump_of(*this); }
  void process(const std::int16_t*, std::int16_t* tx, std::size_t n) {
    std::memset(tx, 0, n * sizeof *tx);
    const std::uint64_t underrun = card_->counters().underrun_samples;
    if (underrun > underrun_seen_) {
      link_.transmit_hole(engine_->now(), static_cast<std::uint32_t>(underrun - underrun_seen_), card_->rate_hz());
      underrun_seen_ = underrun;
    }
    link_.serve(engine_->now(), captured());
  }
  void report_gap(std::size_t n) { link_.receive_hole(captured(), static_cast<std::uint32_t>(n), card_->rate_hz()); }
  oh_line_end line() override { return line_.handle(); }
  void start(Ns now) override { link_.start(now); }

  bool trains_again() const override {
    return link_.connected_at() >= 0 && link_.state() == LinkModel::State::kTraining;
  }
  TransferStatus status() const override {
    const LinkCounters& c = link_.counters();
    TransferStatus s;
    s.connected_at = link_.connected_at();
    s.connected = s.connected_at >= 0;
    s.done_at = link_.done_at();
    s.done = link_.done();
    s.failed = link_.state() == LinkModel::State::kFailed;
    if (s.failed) s.failure = link_.failure();
    s.bytes_delivered = c.bytes_delivered;
    s.frames_retransmitted = c.frames_retransmitted;
    s.timeouts = c.timeouts;
    s.bad_frames = c.frames_lost;
    s.retrains = c.retrains;
    return s;
  }

 private:
  // The capture time of the newest received sample that the driver has read.
  Ns captured() const { return engine_->now() - static_cast<Ns>(oh_driver_pending(driver_) * 1e9 / card_->rate_hz()); }

  LinkModel link_;
  Silence line_;
  Engine* engine_ = nullptr;
  SimulatedCard* card_ = nullptr;
  const oh_driver* driver_ = nullptr;
  std::uint64_t underrun_seen_ = 0;
};

}  // namespace

std::unique_ptr<Connection> make_link_model_connection(const Scenario& scenario, const CostProfile& profile,
                                                       oh_event_log* log) {
  return std::make_unique<LinkConnection>(scenario, profile, log);
}

}  // namespace offhook::hostsim
