// SPDX-License-Identifier: MIT
#include "hostsim/call/pump_call.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <stdexcept>

#include "driver/core/logged_instrument.h"
#include "driver/core/logged_rate.h"
#include "hostsim/call/pump_connection.h"
#include "hostsim/call/registered_pump.h"
#include "hostsim/call/subscriber_call.h"
#include "hostsim/call/tested_pump.h"
#include "hostsim/channel/loop.h"

namespace offhook::hostsim {
namespace {

constexpr std::uint32_t kMostMetrics = 64;
constexpr float kTxLevelDbm0 = -13;  // as driver/modem

struct Role {
  oh_pump_role role;
  oh_pump_format format;
};

oh_pump_format mirrored(const oh_pump_format& f) {
  return {f.tx, f.rx};
}

std::uint32_t faster_hz(const oh_pump_format& f) {
  return std::max(f.rx.rate_hz, f.tx.rate_hz);
}

std::uint32_t ratio_of(const oh_pump_format& f) {
  return faster_hz(f) / std::min(f.rx.rate_hz, f.tx.rate_hz);
}

/// A type's formats are those of the calling end.
Role near_role(const oh_pump_type& type, const Scenario& s) {
  if ((type.roles & 1u << s.role) == 0)
    throw std::invalid_argument("the pump \"" + s.device.pump +
                                "\" has no answering end; expected pump.role = \"call\"");
  std::string known;
  for (std::uint32_t k = 0; k < type.format_count; ++k) {
    const oh_pump_format& calling = type.formats[k];
    if (faster_hz(calling) == s.device.rate_hz) return {s.role, s.role == OH_PUMP_CALL ? calling : mirrored(calling)};
    known += (known.empty() ? "" : " or ") + std::to_string(faster_hz(calling));
  }
  throw std::invalid_argument("a card of " + std::to_string(s.device.rate_hz) + " samples/s; expected " + known +
                              " for the pump \"" + s.device.pump + "\"");
}

void check_line(const Scenario& s, const oh_pump_format& format) {
  if (s.line_kind == LineKind::kAir)
    throw std::invalid_argument(
        "a registered pump cannot be on the air; expected line.kind = \"analogue\" (a wire) or "
        "\"subscriber-loop\"");
  if (s.line_kind != LineKind::kSubscriberLoop) return;
  const std::uint32_t fast = faster_hz(format);
  const bool fits = fast / ratio_of(format) == kUpstreamHz && (fast == 1'104'000 || fast == 2'208'000) &&
                    (format.rx.rate_hz == fast) == (s.role == OH_PUMP_CALL) && format.rx.encoding == OH_LINEAR16 &&
                    format.tx.encoding == OH_LINEAR16;
  if (!fits)
    throw std::invalid_argument(
        "the format of the pump \"" + s.device.pump +
        "\" does not fit a subscriber loop; expected 1104000 or 2208000 samples/s received and 276000 sent at the "
        "calling end, of 16 bits");
}

Role checked_role(const Scenario& s) {
  const Role near = near_role(registered_pump(s.device.pump), s);
  check_line(s, near.format);
  return near;
}

/// One end: its pump, and the last values that it reported.
class PumpEnd {
 public:
  PumpEnd(const oh_pump_type& type, const Role& role, std::uint32_t pattern)
      : pump_(&type, config(type, role), pattern) {}

  TestedPump& pump() { return pump_; }
  const TestedPump& pump() const { return pump_; }
  std::optional<float> instrument(oh_instrument what) const { return seen_.at(what); }

 private:
  oh_pump_config config(const oh_pump_type& type, const Role& role) {
    observer_.user = this;
    observer_.instrument = [](void* self, oh_instrument what, float value) {
      auto& seen = static_cast<PumpEnd*>(self)->seen_;
      if (static_cast<std::size_t>(what) < seen.size()) seen[what] = value;
    };
    oh_pump_config c{};
    c.format = role.format;
    c.role = role.role;
    c.tx_level_dbm0 = kTxLevelDbm0;
    c.observer = &observer_;
    if (type.size(&c) == 0) throw std::invalid_argument(std::string("the pump ") + type.name + " has no such end");
    return c;
  }
  oh_pump_observer observer_{};
  std::array<std::optional<float>, OH_INSTRUMENT_SLIPS + 1> seen_{};
  TestedPump pump_;
};

/// One end in the log, and the data of its last data mode.
class PumpWatch {
 public:
  PumpWatch(PumpEnd& end, std::uint16_t id, oh_event_log* log) : end_(end), id_(id), log_(log) {}

  void look(Ns now) {
    const oh_pump_status s = end_.pump().status();
    if (s.state != state_) {
      if (state_ == OH_PUMP_DATA) end_.pump().test().restart();  // the pattern does not continue after a training
      state_ = s.state;
      write(now, OH_EV_PUMP_STATE, static_cast<std::uint32_t>(state_));
      if (state_ == OH_PUMP_DATA) {
        received_.bit_rate = s.rx_bit_rate;
        write(now, OH_EV_PUMP_RATES, logged_rate(s.tx_bit_rate) | logged_rate(s.rx_bit_rate) << 16);
      }
    }
    if (state_ == OH_PUMP_DATA && now >= next_instrument_) {
      next_instrument_ = now + kInstrumentEvery;
      for (const oh_instrument what : {OH_INSTRUMENT_SNR, OH_INSTRUMENT_CLOCK}) {
        const auto value = end_.instrument(what);
        if (value)
          write(now, OH_EV_PUMP_INSTRUMENT, static_cast<std::uint32_t>(what) << 24 | logged_hundredths(*value));
      }
    }
    retrains_ = s.retrains;
    const BitErrorTester& test = end_.pump().test();
    received_.bits = test.compared();
    received_.wrong_bits = test.wrong();
    received_.pattern_losses = test.losses();
  }
  bool in_data() const { return state_ == OH_PUMP_DATA; }
  std::uint32_t retrains() const { return retrains_; }
  const PumpDirection& received() const { return received_; }

 private:
  void write(Ns now, oh_event_kind kind, std::uint32_t argument) {
    oh_event_log_write(log_, static_cast<std::uint64_t>(now), kind, id_, argument);
  }
  PumpEnd& end_;
  std::uint16_t id_;
  oh_event_log* log_;
  oh_pump_state state_ = OH_PUMP_IDLE;
  Ns next_instrument_ = 0;
  std::uint32_t retrains_ = 0;
  PumpDirection received_;
};

/// Passes both ends' samples at the same instants, or silence from a far end that is absent.
struct Wire {
  oh_pump far{};
  std::size_t period_octets = 0;  // received by the near end
  std::uint8_t silence = 0;
  oh_line_end handle() {
    return {[](void* self, const void* played, void* captured, std::size_t n) {
              const Wire& wire = *static_cast<Wire*>(self);
              if (wire.far.process != nullptr) {
                wire.far.process(wire.far.self, played, captured, n);
              } else {
                std::memset(captured, wire.silence, n * wire.period_octets);
              }
            },
            this};
  }
};

oh_streams streams_of(const SoftDevice& in_periods, const oh_pump_format& format) {
  oh_streams streams = in_periods.streams();
  const auto fit = [&](oh_stream_format* direction, const oh_sample_format& samples) {
    direction->ring_samples *= samples.rate_hz / in_periods.rate_hz;
    direction->rate_hz = samples.rate_hz;
    direction->encoding = samples.encoding;
  };
  fit(&streams.rx, format.rx);
  fit(&streams.tx, format.tx);
  return streams;
}

class RegisteredConnection final : public PumpConnection {
 public:
  RegisteredConnection(const Scenario& s, const oh_pump_type& type, const Role& near, oh_event_log* log)
      : PumpConnection(s),
        type_(type),
        near_(type, near, 1),
        near_watch_(near_, 0, log),
        streams_(streams_of(pump_in_periods(s), near.format)) {
    if ((type.roles & 1u << OH_PUMP_ANSWER) != 0) {
      const oh_pump_role other = near.role == OH_PUMP_CALL ? OH_PUMP_ANSWER : OH_PUMP_CALL;
      far_.emplace(type, Role{other, mirrored(near.format)}, 1u << 30);
      far_watch_.emplace(*far_, std::uint16_t{1}, log);
      wire_.far = far_->pump().pump();
    }
    const oh_ring received = oh_ring_of(&streams_, &streams_.rx, nullptr);
    wire_.period_octets = received.period_octets;
    wire_.silence = received.silence;
    if (s.line_kind == LineKind::kSubscriberLoop) {
      if (!far_) throw std::invalid_argument(std::string("the pump ") + type.name + " has no far end for a loop");
      loop_.emplace(loop_of(s), s.seed, far_->pump().pump());
    }
  }

  oh_streams streams() const override { return streams_; }
  oh_pump near_pump() override { return near_.pump().pump(); }
  oh_line_end line() override { return loop_ ? loop_->handle() : wire_.handle(); }
  bool in_data() const override { return near_watch_.in_data() && (!far_watch_ || far_watch_->in_data()); }
  std::shared_ptr<const PumpStatus> pump_status() const override { return std::make_shared<PumpStatus>(current()); }

 private:
  PumpStatus current() const {
    PumpStatus s;
    s.name = type_.name;
    s.received = near_watch_.received();
    if (far_watch_) s.sent = far_watch_->received();
    s.connected_s = connected_s();
    s.retrains = retrains();
    s.in_data = in_data();
    s.near_in_data = near_watch_.in_data();
    oh_metric metric{};
    for (std::uint32_t k = 0; k < kMostMetrics && oh_pump_metric(&type_, near_.pump().self(), k, &metric) == 0; ++k)
      s.metrics.push_back(
          {metric.name != nullptr ? metric.name : "", metric.unit != nullptr ? metric.unit : "", metric.value});
    return s;
  }
  void look(Ns now) override {
    near_watch_.look(now);
    if (far_watch_) far_watch_->look(now);
  }
  std::uint32_t retrains() const override {
    return std::max(near_watch_.retrains(), far_watch_ ? far_watch_->retrains() : 0u);
  }
  std::string problem() const override {
    if (card_ != nullptr && samples_lost(*driver_, *card_)) return "the device was late";
    const PumpStatus s = current();
    if (s.intact()) return "";
    if (s.connected_s < 0) return "data mode was not reached";
    return s.in_data && s.retrains == 0 ? "wrong data arrived" : "the line was lost in data mode";
  }

  const oh_pump_type& type_;
  PumpEnd near_;
  std::optional<PumpEnd> far_;
  PumpWatch near_watch_;
  std::optional<PumpWatch> far_watch_;
  oh_streams streams_;
  Wire wire_;
  std::optional<Loop> loop_;
};

}  // namespace

SoftDevice pump_in_periods(const Scenario& s) {
  return s.device.in_periods(ratio_of(checked_role(s).format));
}

std::unique_ptr<Connection> make_pump_connection(const Scenario& scenario, oh_event_log* log) {
  const Role near = checked_role(scenario);
  return std::make_unique<RegisteredConnection>(scenario, registered_pump(scenario.device.pump), near, log);
}

}  // namespace offhook::hostsim
