// SPDX-License-Identifier: MIT
#include "hostsim/call/connection.h"
#include "hostsim/call/fax_call.h"
#include "hostsim/call/pump_call.h"
#include "hostsim/call/radio_call.h"
#include "hostsim/call/subscriber_call.h"

namespace offhook::hostsim {

namespace {

class DeviceConnection final : public Connection {
 public:
  DeviceConnection(const DeviceWork& work, Ns runs, bool stop_at_loss)
      : work_(work), runs_(runs), stop_at_loss_(stop_at_loss) {}

  void bind(Engine& engine, SimulatedCard& card, const oh_driver& driver) override {
    engine_ = &engine;
    card_ = &card;
    driver_ = &driver;
  }
  oh_streams streams() const override { return work_.streams; }
  oh_pump near_pump() override { return work_.pump; }
  bool has_samples() const override { return work_.has_samples; }
  oh_line_end line() override { return work_.line; }
  void start(Ns now) override { started_ = now; }

  TransferStatus status() const override {
    TransferStatus s;
    s.connected_at = started_;
    s.connected = started_ >= 0;
    if (!s.connected) return s;
    const bool whole = engine_->now() - started_ >= runs_;
    if (!whole && !stop_at_loss_) return s;
    s.intact = !samples_lost(*driver_, *card_);
    s.failed = !s.intact;
    s.done = s.intact && whole;
    if (s.failed) s.failure = "samples were lost";
    if (s.done) s.done_at = started_ + runs_;
    return s;
  }

 private:
  DeviceWork work_;
  Ns runs_;
  bool stop_at_loss_;
  Ns started_ = -1;
  Engine* engine_ = nullptr;
  SimulatedCard* card_ = nullptr;
  const oh_driver* driver_ = nullptr;
};

}  // namespace

DeviceWork no_samples(const SoftDevice& device) {
  oh_streams streams = device.streams();
  streams.rx.encoding = streams.tx.encoding = OH_MULAW;
  return {streams,
          {[](void*, const void*, void*, std::size_t) {}, [](void*, std::size_t) {}, nullptr},
          {[](void*, const void*, void*, std::size_t) {}, nullptr},
          false};
}

bool samples_lost(const oh_driver& driver, const SimulatedCard& card) {
  const oh_driver_counters& lost = driver.counters;
  return lost.samples_late > 0 || lost.samples_filled_in > 0 || card.counters().underrun_samples > 0;
}

std::unique_ptr<Connection> make_device_connection(const DeviceWork& work, Ns runs, bool stop_at_loss) {
  return std::make_unique<DeviceConnection>(work, runs, stop_at_loss);
}

std::unique_ptr<Connection> make_device_connection(const Scenario& s, oh_event_log* log, LineTap tap) {
  if (s.fax.pages > 0) return make_fax_connection(s, log, std::move(tap));
  if (!s.device.pump.empty()) return make_pump_connection(s, log);
  if (s.line_kind == LineKind::kSubscriberLoop) return make_subscriber_connection(s, log);
  if (s.line_kind == LineKind::kAir) return make_radio_connection(s, log);
  return make_device_connection(no_samples(s.device), static_cast<Ns>(s.device_s * 1e9), s.stop_at_loss);
}

bool has_device_pump(const Scenario& s) {
  return s.pump == PumpKind::kDevice && (s.fax.pages > 0 || !s.device.pump.empty() ||
                                         s.line_kind == LineKind::kSubscriberLoop || s.line_kind == LineKind::kAir);
}

SoftDevice device_at_work(const Scenario& s) {
  if (s.fax.pages > 0) check_fax(s);
  if (!s.device.pump.empty()) return pump_in_periods(s);
  if (s.line_kind == LineKind::kSubscriberLoop) return in_periods(s);
  if (s.line_kind == LineKind::kAir) check_radio(s);
  return s.device;
}

}  // namespace offhook::hostsim
