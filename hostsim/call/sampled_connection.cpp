// SPDX-License-Identifier: MIT
#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "hostsim/call/connection.h"
#include "hostsim/call/line_between.h"
#include "hostsim/call/modem_config.h"
#include "hostsim/call/network_side.h"
#include "hostsim/call/planned_hold.h"
#include "hostsim/call/ppp_tcp.h"

namespace offhook::hostsim {

namespace {

/// Two pumps over a line, each under V.42. The far end sends the file and is always served on time. Until the far end
/// answers, the line is silent in both directions.
class SampledConnection final : public Connection {
 public:
  SampledConnection(const Scenario& scenario, const RealPumps& pumps, oh_event_log* log)
      : file_(pumps.file),
        tap_(pumps.tap),
        trunk_(scenario.trunk),
        format_(near_format(scenario)),
        near_(logged(near_modem(scenario, pumps.near_end), log, 0, this)),
        far_(logged(far_modem(scenario, pumps.far_end), log, 1, this)),
        hold_(scenario.hold, scenario.hold.by_far_end ? far_ : near_, scenario.hold.by_far_end ? &near_ : &far_),
        ppp_(scenario.protocol == TransferProtocol::kPppTcp),
        server_(pumps.file),
        line_(make_line_between(scenario, [this](const void* rx, void* tx, std::size_t n) { serve_far(rx, tx, n); })),
        log_(log) {}

  /// Time of the log, ns.
  std::uint64_t now() const { return engine_ == nullptr ? 0 : static_cast<std::uint64_t>(engine_->now()); }

  void bind(Engine& engine, SimulatedCard&, const oh_driver&) override { engine_ = &engine; }

  oh_streams streams() const override { return card_streams(format_); }
  oh_pump near_pump() override { return near_.pump(); }
  oh_line_end line() override {
    return {[](void* self, const void* played, void* captured, std::size_t n) {
              static_cast<SampledConnection*>(self)->exchange(played, captured, n);
            },
            this};
  }

  void start(Ns) override {
    started_ = true;
    near_.start();
    far_.start();
  }

  // The application above the driver; its time is not part of the service.
  void exchange_user_data(Ns now) override {
    std::array<std::uint8_t, 1024> bytes;
    bool received = false;
    while (const std::size_t n = near_.read(bytes.data(), bytes.size())) {
      came_.clear();
      if (ppp_) {
        client_.receive(std::span(bytes).first(n), now, &came_);
      } else {
        came_.assign(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(n));
      }
      const std::size_t due = std::min<std::size_t>(came_.size(), file_.size() - delivered_);
      if (due < came_.size() ||
          !std::equal(came_.begin(), came_.end(), file_.begin() + static_cast<std::ptrdiff_t>(delivered_)))
        intact_ = false;
      delivered_ += due;
      received |= due > 0;
    }
    if (ppp_) run_client(now);
    if (received) {
      oh_event_log_write(log_, static_cast<std::uint64_t>(now), OH_EV_LINK_BYTES, 0,
                         static_cast<std::uint32_t>(delivered_));
    }
    if (connected_at_ < 0 && (near_.lapm_status().state == OH_LAPM_CONNECTED || in_direct_mode(near_))) {
      connected_at_ = now;
    }
    if (delivered_ == file_.size() && done_at_ < 0) done_at_ = now;
    hold_.follow(now, connected_at_);
  }

  // The connection is opened as soon as the modems are connected.
  void run_client(Ns now) {
    if (connected_at_ >= 0 && !opened_) client_.open();
    opened_ = connected_at_ >= 0;
    client_.advance(now);
    const auto waiting = client_.ppp().output();
    client_.ppp().consume(near_.write(waiting.data(), waiting.size()));
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
    s.mnp_class = near.mnp_class;
    s.frames_retransmitted = near.retransmitted + far.retransmitted;
    s.timeouts = near.timeouts + far.timeouts;
    s.bad_frames = near.bad_frames + far.bad_frames;
    s.retrains = std::max(near_.pump_status().retrains, far_.pump_status().retrains);
    s.hold = hold_.status();
    return s;
  }

 private:
  std::uint32_t ratio() const { return format_.rx.rate_hz / format_.tx.rate_hz; }

  void exchange(const void* played, void* captured, std::size_t n) {
    if (!started_) {
      std::memset(captured, oh_silence(format_.rx.encoding), n * ratio() * oh_sample_bytes(format_.rx.encoding));
      return;
    }
    line_->exchange(played, captured, n);
    if (!tap_) return;
    if (format_.rx.encoding == OH_LINEAR16) {
      show(static_cast<const std::int16_t*>(played), static_cast<const std::int16_t*>(captured), n);
    } else {
      show_octets(tap_, trunk_, static_cast<const std::uint8_t*>(played), static_cast<const std::uint8_t*>(captured),
                  n);
    }
  }
  void show(const std::int16_t* played, const std::int16_t* captured, std::size_t n) {
    const std::size_t each = ratio();
    if (each > 1) {
      held_.resize(n * each);
      for (std::size_t i = 0; i < held_.size(); ++i) held_[i] = played[i / each];
      played = held_.data();
    }
    tap_({captured, n * each}, {played, n * each});
  }

  static bool in_direct_mode(const modem::Modem& m) { return m.direct() && m.pump_status().state == OH_PUMP_DATA; }

  void serve_far(const void* rx, void* tx, std::size_t n) {
    // Without error control, early data are lost, so the far user waits until both ends are connected.
    const bool may_send = !far_.direct() || (in_direct_mode(far_) && connected_at_ >= 0);
    if (ppp_) {
      run_server();
    } else {
      send_file(may_send);
    }
    far_.process(rx, tx, n);
  }
  void run_server() {
    std::array<std::uint8_t, 256> bytes;
    while (const std::size_t n = far_.read(bytes.data(), bytes.size())) server_.receive(std::span(bytes).first(n));
    const auto waiting = server_.ppp().output();
    if (!waiting.empty()) server_.ppp().consume(far_.write(waiting.data(), waiting.size()));
  }
  void send_file(bool may_send) {
    while (may_send && sent_ < file_.size()) {
      const std::size_t taken = far_.write(file_.data() + sent_, file_.size() - sent_);
      if (taken == 0) break;
      sent_ += taken;
    }
  }

  std::span<const std::uint8_t> file_;
  LineTap tap_;
  DigitalTrunkConfig trunk_;
  oh_pump_format format_;  // of the near end
  Engine* engine_ = nullptr;
  modem::Modem near_, far_;
  PlannedHold hold_;
  bool ppp_;
  TcpServer server_;  // at the far end
  TcpClient client_;
  bool opened_ = false;
  std::vector<std::uint8_t> came_;  // of the file, in order
  std::unique_ptr<LineBetween> line_;
  std::vector<std::int16_t> held_;
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
