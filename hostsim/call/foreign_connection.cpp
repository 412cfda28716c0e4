// SPDX-License-Identifier: MIT
#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <stdexcept>

#include "hostsim/call/connection.h"
#include "hostsim/call/modem_config.h"
#include "hostsim/call/network_side.h"
#include "hostsim/call/planned_hold.h"
#include "hostsim/channel/line.h"

namespace offhook::hostsim {

namespace {

// The far end may still wait for the acknowledgement of its last frame; without V.42, the last characters may be on
// their way. This is its time to confirm the end.
constexpr Ns kFarewell = 1'000'000'000;
constexpr Ns kClearing = 10'000'000'000;
// Without V.42, early characters are lost, and a far end reports its connection later than this end.
constexpr Ns kBeforeCharacters = 1'000'000'000;

/// One pump under V.42 or V.14. Only the samples of the other end are known. Over an analogue line, or from the
/// digital end of a trunk.
class ForeignConnection final : public Connection, private LineEnd {
 public:
  ForeignConnection(const Scenario& scenario, const ForeignCall& call, ForeignModem& modem, oh_event_log* log)
      : call_(call),
        modem_(modem),
        near_(logged(near_modem(scenario, call.near_end), log, 0, this)),
        hold_(scenario.hold, near_, nullptr),
        format_(near_format(scenario)),
        config_(scenario.trunk),
        log_(log) {
    if (scenario.hold.at_s > 0 && scenario.hold.by_far_end)
      throw std::invalid_argument(
          "hold.by is \"far-end\", but the far end is an external modem; expected \"near-end\"");
    if (scenario.line_kind == LineKind::kDigitalTrunk) {
      trunk_.emplace(scenario.trunk, scenario.seed,
                     [this](const std::int16_t* rx, std::int16_t* tx) { modem_.process(rx, tx, 1); });
    } else {
      line_.emplace(scenario.line, scenario.seed, modem);
    }
  }

  /// Time of the log, ns.
  std::uint64_t now() const { return engine_ == nullptr ? 0 : static_cast<std::uint64_t>(engine_->now()); }

  void bind(Engine& engine, SimulatedCard&, const oh_driver&) override { engine_ = &engine; }
  oh_pump near_pump() override { return near_.pump(); }
  oh_streams streams() const override { return card_streams(format_); }
  oh_line_end line() override {
    if (!trunk_) return handle();
    return {[](void* self, const void* played, void* captured, std::size_t n) {
              static_cast<ForeignConnection*>(self)->exchange_octets(static_cast<const std::uint8_t*>(played),
                                                                     static_cast<std::uint8_t*>(captured), n);
            },
            this};
  }

  void start(Ns) override {
    started_ = true;
    near_.start();
  }

  void exchange_user_data(Ns now) override {
    follow_connection(now);
    hold_.follow(now, connected_at_);
    while (sent_ < call_.send.size() && (!near_.direct() || connected_at_ >= 0)) {
      const std::size_t taken = near_.write(call_.send.data() + sent_, call_.send.size() - sent_);
      if (taken == 0) break;
      sent_ += taken;
    }
    std::array<std::uint8_t, 1024> bytes;
    bool received = false;
    while (const std::size_t n = near_.read(bytes.data(), bytes.size())) {
      const std::size_t due = std::min<std::size_t>(n, call_.expect.size() - received_);
      if (std::memcmp(bytes.data(), call_.expect.data() + received_, due) != 0) intact_ = false;
      received_ += due;
      // Without V.42, the end of the connection also produces characters.
      const std::size_t meant = near_.direct() && !call_.expect.empty() ? due : n;
      if (call_.received && meant > 0) call_.received({bytes.data(), meant});
      received = true;
    }
    if (received) {
      oh_event_log_write(log_, static_cast<std::uint64_t>(now), OH_EV_LINK_BYTES, 0,
                         static_cast<std::uint32_t>(received_));
    }
    const bool asked = !call_.send.empty() || !call_.expect.empty();
    const bool all = arrived() == call_.send.size() && received_ == call_.expect.size();
    if (done_at_ < 0 && connected_at_ >= 0 && (asked ? all : !modem_.failure().empty())) done_at_ = now;
    if (done_at_ < 0) return;
    if (now >= done_at_ + kFarewell && !hanging_up_) {
      hanging_up_ = true;
      near_.hang_up();
    }
    over_ = near_.hung_up() || now >= done_at_ + kFarewell + kClearing || !modem_.failure().empty();
  }

  TransferStatus status() const override {
    const oh_lapm_status link = near_.lapm_status();
    TransferStatus s;
    s.connected = connected_at_ >= 0;
    s.connected_at = connected_at_;
    s.done = over_;
    s.done_at = done_at_;
    s.intact = intact_;
    if (const std::string why(near_.failure()); !why.empty()) s.failure = "the modem under test " + why;
    if (const std::string why = modem_.failure(); s.failure.empty() && !why.empty()) s.failure = "the far end " + why;
    if (!intact_) s.failure = "bytes arrived that were not expected";
    s.failed = done_at_ < 0 && !s.failure.empty();
    s.bytes_delivered = arrived() + received_;
    s.octets_carried = link.octets_sent + link.octets_delivered;
    s.at_line_rate_s = at_line_rate_s();
    s.compression = link.compression;
    s.frames_retransmitted = link.retransmitted;
    s.timeouts = link.timeouts;
    s.bad_frames = link.bad_frames;
    s.retrains = near_.pump_status().retrains;
    s.hold = hold_.status();
    return s;
  }

 private:
  void follow_connection(Ns now) {
    const oh_pump_status pump = near_.pump_status();
    const bool data = pump.state == OH_PUMP_DATA;
    if (data) {
      tx_bit_rate_ = std::max(tx_bit_rate_, pump.tx_bit_rate);
      rx_bit_rate_ = std::max(rx_bit_rate_, pump.rx_bit_rate);
    }
    if (!data) {
      data_since_ = -1;
    } else if (data_since_ < 0) {
      data_since_ = now;
    }
    if (connected_at_ >= 0) return;
    const bool connected = near_.direct() ? data && now >= data_since_ + kBeforeCharacters
                                          : near_.lapm_status().state == OH_LAPM_CONNECTED;
    if (connected) connected_at_ = now;
  }
  /// This end's bytes that the far end has acknowledged or, without V.42, that were sent on the line.
  std::uint64_t arrived() const { return near_.direct() ? sent_ - near_.unsent() : near_.lapm_status().bytes_sent; }
  double at_line_rate_s() const {
    // Start and stop bit. V.42's flags, addresses and check sequences are at most a twentieth, and are ignored.
    const double bits = near_.direct() ? 10 : 8;
    const auto time_s = [bits](std::size_t bytes, std::uint32_t bit_rate) {
      return bit_rate == 0 ? 0 : bits * static_cast<double>(bytes) / bit_rate;
    };
    return std::max(time_s(call_.send.size(), tx_bit_rate_), time_s(call_.expect.size(), rx_bit_rate_));
  }
  void exchange(const std::int16_t* played, std::int16_t* captured, std::size_t n) override {
    if (!started_) {  // on hook: the external modem's time has not begun
      std::memset(captured, 0, n * sizeof *captured);
      return;
    }
    line_->exchange(played, captured, n);
    if (call_.tap) call_.tap({captured, n}, {played, n});
  }
  void exchange_octets(const std::uint8_t* played, std::uint8_t* captured, std::size_t n) {
    if (!started_) {
      std::memset(captured, oh_silence(format_.rx.encoding), n);
      return;
    }
    trunk_->exchange(played, captured, n);
    if (call_.tap) show_octets(call_.tap, config_, played, captured, n);
  }

  ForeignCall call_;
  ForeignModem& modem_;
  Engine* engine_ = nullptr;
  modem::Modem near_;
  PlannedHold hold_;
  oh_pump_format format_;  // of the near end
  DigitalTrunkConfig config_;
  std::optional<Line> line_;  // one of the two
  std::optional<NetworkSide> trunk_;
  oh_event_log* log_;
  bool started_ = false;
  bool hanging_up_ = false;
  bool over_ = false;
  bool intact_ = true;
  std::size_t sent_ = 0, received_ = 0;
  std::uint32_t tx_bit_rate_ = 0, rx_bit_rate_ = 0;  // the highest rate of the call
  Ns data_since_ = -1, connected_at_ = -1, done_at_ = -1;
};

}  // namespace

std::unique_ptr<Connection> make_foreign_connection(const Scenario& scenario, const ForeignCall& call,
                                                    ForeignModem& modem, oh_event_log* log) {
  const bool trunk = scenario.line_kind == LineKind::kDigitalTrunk && scenario.near_is_digital;
  if (!trunk && scenario.line_kind != LineKind::kAnalogue) {
    throw std::invalid_argument(
        "line.kind: expected \"analogue\", or \"digital-trunk\" with trunk.near_end = \"digital\", because the far end "
        "is another program");
  }
  return std::make_unique<ForeignConnection>(scenario, call, modem, log);
}

}  // namespace offhook::hostsim
