// SPDX-License-Identifier: MIT
#include <algorithm>
#include <array>
#include <cstring>

#include "hostsim/call/connection.h"
#include "hostsim/call/modem_config.h"
#include "hostsim/line/line.h"

namespace offhook::hostsim {

namespace {

oh_pump_role other(oh_pump_role role) {
  return role == OH_PUMP_CALL ? OH_PUMP_ANSWER : OH_PUMP_CALL;
}

/// Two pumps over a line, each under V.42; the far end, served on time by a machine that does nothing else, sends the
/// file. Until the far end answers, the line is silent in both directions.
class SampledConnection final : public Connection, private LineEnd, private FarEnd {
 public:
  SampledConnection(const Scenario& scenario, const RealPumps& pumps, oh_event_log* log)
      : file_(pumps.file),
        tap_(pumps.tap),
        near_(near_modem(scenario, pumps.near_end, log, [this] { return now(); })),
        far_({.pump = pumps.far_end,
              .role = other(scenario.role),
              .id = 1,
              .log = log,
              .now_ns = [this] { return now(); },
              .modulations = scenario.far_modulations,
              .window = modulation_of(scenario.far_modem.value_or(scenario.modem)).v42_window,
              .error_control = error_control(scenario.link)}),
        line_(scenario.line, scenario.seed, *this),
        log_(log) {}

  void bind(Engine& engine, SimulatedCard&, const oh_driver&) override { engine_ = &engine; }

  oh_pump near_pump() override { return near_.pump(); }
  oh_line_end line() override { return handle(); }

  void start(Ns) override {
    started_ = true;
    near_.start();
    far_.start();
  }

  // The application above the driver, in its own time: not part of service.
  void exchange_user_data(Ns now) override {
    std::array<std::uint8_t, 1024> bytes;
    bool received = false;
    while (const std::size_t n = near_.read(bytes.data(), bytes.size())) {
      const std::size_t due = std::min<std::size_t>(n, file_.size() - delivered_);
      if (due < n || std::memcmp(bytes.data(), file_.data() + delivered_, due) != 0) intact_ = false;
      delivered_ += due;
      received = true;
    }
    if (received) {
      oh_event_log_write(log_, static_cast<std::uint64_t>(now), OH_EV_LINK_BYTES, 0,
                         static_cast<std::uint32_t>(delivered_));
    }
    if (connected_at_ < 0 && (near_.lapm_status().state == OH_LAPM_CONNECTED || in_direct_mode(near_))) {
      connected_at_ = now;
    }
    if (delivered_ == file_.size() && done_at_ < 0) done_at_ = now;
  }

  TransferStatus status() const override {
    const oh_lapm_status near = near_.lapm_status();
    const oh_lapm_status far = far_.lapm_status();
    TransferStatus s;
    s.connected = connected_at_ >= 0;
    s.connected_at = connected_at_;
    s.done = done_at_ >= 0;
    s.done_at = done_at_;
    s.intact = intact_;
    if (const std::string why(near_.failure()); !why.empty()) s.failure = "the modem under test " + why;
    if (const std::string why(far_.failure()); s.failure.empty() && !why.empty()) s.failure = "the far modem " + why;
    s.failed = !s.done && (!s.failure.empty() || !intact_);
    if (!intact_) s.failure = "bytes arrived that were not sent";
    s.bytes_delivered = delivered_;
    s.octets_carried = near.octets_delivered;
    s.compression = near.compression;
    s.frames_retransmitted = near.retransmitted + far.retransmitted;
    s.timeouts = near.timeouts + far.timeouts;
    s.bad_frames = near.bad_frames + far.bad_frames;
    s.retrains = std::max(near_.pump_status().retrains, far_.pump_status().retrains);
    return s;
  }

 private:
  std::uint64_t now() const { return engine_ == nullptr ? 0 : static_cast<std::uint64_t>(engine_->now()); }

  void exchange(const std::int16_t* played, std::int16_t* captured, std::size_t n) override {
    if (!started_) {
      std::memset(captured, 0, n * sizeof *captured);
      return;
    }
    line_.exchange(played, captured, n);
    if (tap_) tap_({captured, n}, {played, n});
  }

  static bool in_direct_mode(const modem::Modem& m) { return m.direct() && m.pump_status().state == OH_PUMP_DATA; }

  void process(const std::int16_t* rx, std::int16_t* tx, std::size_t n) override {
    // Without error control nobody keeps what comes too early: the far user waits until both ends are connected.
    const bool may_send = !far_.direct() || (in_direct_mode(far_) && connected_at_ >= 0);
    while (may_send && sent_ < file_.size()) {
      const std::size_t taken = far_.write(file_.data() + sent_, file_.size() - sent_);
      if (taken == 0) break;
      sent_ += taken;
    }
    far_.process(rx, tx, n);
  }

  std::span<const std::uint8_t> file_;
  LineTap tap_;
  Engine* engine_ = nullptr;
  modem::Modem near_, far_;
  Line line_;
  oh_event_log* log_;
  bool started_ = false;
  bool intact_ = true;
  std::size_t sent_ = 0, delivered_ = 0;
  Ns connected_at_ = -1, done_at_ = -1;
};

}  // namespace

std::unique_ptr<Connection> make_sampled_connection(const Scenario& scenario, const RealPumps& pumps,
                                                    oh_event_log* log) {
  return std::make_unique<SampledConnection>(scenario, pumps, log);
}

}  // namespace offhook::hostsim
