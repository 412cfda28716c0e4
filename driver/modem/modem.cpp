// SPDX-License-Identifier: MIT
#include "driver/modem/modem.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <stdexcept>

#include "driver/core/logged_instrument.h"
#include "driver/core/logged_rate.h"
#include "driver/pumps/modulations.h"

namespace offhook::modem {

namespace {

constexpr std::uint32_t kRateBeforeData = 1200;  // counts for nothing: no timer runs down before data mode
constexpr std::uint32_t kSymbolsPerEvent = 8;    // a constellation needs no more
constexpr float kTxLevelDbm0 = -12;              // as modems are set for the public network

void* aligned(std::size_t bytes) {
  return std::aligned_alloc(64, (bytes + 63) / 64 * 64);
}

// A coordinate as Q4.12, in 16 bits.
std::uint32_t q12(float x) {
  return static_cast<std::uint16_t>(static_cast<std::int16_t>(std::clamp(x, -7.9f, 7.9f) * 4096));
}

constexpr std::uint32_t kSilentTap = 9000;  // 90 dB down

}  // namespace

void Modem::Free::operator()(void* p) const {
  std::free(p);
}

Modem::Modem(const Config& config) : config_(config) {
  const oh_lapm_config link = lapm_config();
  lapm_memory_.reset(aligned(oh_lapm_size(&link)));
  lapm_ = oh_lapm_init(lapm_memory_.get(), &link);
  oh_lapm_port(lapm_, &lapm_port_);
  if (config.error_control.mode != ErrorControl::kRequired) characters_ = std::make_unique<v14::Link>();
  direct_ = config.error_control.mode == ErrorControl::kNone;

  oh_pump_config pump = pump_config();
  const oh_pump_observer watching = observer();
  if (config.log_symbols) pump.observer = &watching;
  const std::size_t bytes = config.pump->size(&pump);
  if (bytes == 0) {
    throw std::invalid_argument(std::string("the pump ") + config.pump->name +
                                " has nothing for these modulations and rates");
  }
  pump_memory_.reset(aligned(bytes));
  if (config.pump->init(pump_memory_.get(), &pump) != 0) {
    throw std::invalid_argument(std::string("the pump ") + config.pump->name + " refused its configuration");
  }
  if (config.hold_timeout != 0) oh_pump_allow_hold(config.pump, pump_memory_.get(), config.hold_timeout);
}

Modem::~Modem() {
  if (pump_memory_ != nullptr) config_.pump->release(pump_memory_.get());
}

oh_lapm_config Modem::lapm_config() {
  oh_lapm_config link;
  oh_lapm_default_config(&link, config_.role, kRateBeforeData);
  const oh_pump_format& format = config_.format;
  link.sample_rate_hz = std::min(format.rx.rate_hz, format.tx.rate_hz);  // a block counts the slower direction's
  if (config_.window > 0) link.k = config_.window;                       // 0: the link will never run
  link.detect = config_.error_control.detect;
  link.compression = config_.error_control.compression;
  link.codewords = config_.error_control.codewords;
  link.max_string = config_.error_control.max_string;
  link.v44 = config_.error_control.v44;
  link.v44_tx = config_.error_control.v44_tx;
  link.v44_rx = config_.error_control.v44_rx;
  // V.42 has 750 ms by default, less than a long round trip. A call that needs V.42 waits as long as one end may be in
  // data mode while the other one still trains: 15 s and five round trips (V.90 9.4.1).
  constexpr std::uint32_t kRoundTripMs = 1200, kTrainingMs = 15'000 + 5 * kRoundTripMs;
  link.t400_ms = config_.error_control.mode == ErrorControl::kRequired ? kTrainingMs : 3000;
  link.event = [](void* user, oh_lapm_event event, std::uint32_t argument) {
    const auto* self = static_cast<const Modem*>(user);
    switch (event) {
      case OH_LAPM_EVENT_STATE:
        self->record(OH_EV_LINK_STATE, argument);
        break;
      case OH_LAPM_EVENT_RETRANSMIT:
        self->record(OH_EV_LINK_RETRANSMIT, argument);
        break;
      case OH_LAPM_EVENT_BAD_FRAME:
        self->record(OH_EV_LINK_BAD_FRAME, argument);
        break;
      default:
        break;
    }
  };
  link.user = this;
  return link;
}

oh_pump_config Modem::pump_config() {
  oh_pump_config pump{};
  pump.format = config_.format;
  pump.role = config_.role;
  pump.tx_level_dbm0 = kTxLevelDbm0;
  pump.port = characters_ ? either_port() : lapm_port_;
  pump.max_bit_rate = config_.max_bit_rate;
  pump.min_bit_rate = config_.min_bit_rate;
  pump.modulations = config_.modulations;
  if (config_.error_control.mode == ErrorControl::kRequired) {  // what is without V.42 is not offered to the far end
    const std::uint32_t all = config_.modulations != 0 ? config_.modulations : kAllModulations;
    pump.modulations = all & kModulationsWithV42;
    if (pump.modulations == 0) throw std::invalid_argument("V.42 is required, and none of the modulations has it");
  }
  pump.io_delay_samples = config_.io_delay_samples;
  return pump;
}

oh_pump_observer Modem::observer() {
  oh_pump_observer observer{};
  observer.symbol = [](void* user, float re, float im) {
    auto* self = static_cast<Modem*>(user);
    if (self->symbols_++ % kSymbolsPerEvent == 0) self->record(OH_EV_SYMBOL, q12(re) | q12(im) << 16);
  };
  observer.instrument = [](void* user, oh_instrument what, float value) {
    static_cast<Modem*>(user)->record(OH_EV_PUMP_INSTRUMENT,
                                      static_cast<std::uint32_t>(what) << 24 | logged_hundredths(value));
  };
  observer.taps = [](void* user, const float* re, const float* im, int n) {
    float largest = 0;
    for (int k = 0; k < n; ++k) largest = std::max(largest, re[k] * re[k] + im[k] * im[k]);
    for (int k = 0; k < n && largest > 0; ++k) {
      const float power = (re[k] * re[k] + im[k] * im[k]) / largest;
      const std::uint32_t down = power > 1e-9f ? logged_hundredths(-10 * std::log10(power)) : kSilentTap;
      static_cast<Modem*>(user)->record(OH_EV_PUMP_TAP, static_cast<std::uint32_t>(k) << 24 | down);
    }
  };
  observer.user = this;
  return observer;
}

oh_bit_port Modem::either_port() {
  return {nullptr, nullptr, this,
          [](void* user, std::uint8_t* octets, std::size_t n) {
            const oh_bit_port port = static_cast<Modem*>(user)->port();
            oh_port_get(&port, octets, n);
          },
          [](void* user, const std::uint8_t* octets, std::size_t n) {
            const oh_bit_port port = static_cast<Modem*>(user)->port();
            oh_port_put(&port, octets, n);
          }};
}

std::size_t Modem::writable() const {
  if (direct_) return characters_->writable();
  return characters_ && lapm_status().state != OH_LAPM_CONNECTED ? 0 : oh_lapm_writable(lapm_);
}

std::size_t Modem::write(const std::uint8_t* bytes, std::size_t n) {
  n = std::min(n, writable());
  return direct_ ? characters_->write(bytes, static_cast<std::uint32_t>(n)) : oh_lapm_write(lapm_, bytes, n);
}

std::size_t Modem::read(std::uint8_t* bytes, std::size_t n) {
  return direct_ ? characters_->read(bytes, static_cast<std::uint32_t>(n)) : oh_lapm_read(lapm_, bytes, n);
}

oh_pump Modem::pump() {
  return {[](void* self, const void* rx, void* tx, std::size_t n) { static_cast<Modem*>(self)->process(rx, tx, n); },
          [](void* self, std::size_t n) { static_cast<Modem*>(self)->report_gap(n); }, this};
}

void Modem::record(oh_event_kind kind, std::uint32_t argument) const {
  if (config_.log != nullptr) oh_event_log_write(config_.log, config_.now_ns(), kind, config_.id, argument);
}

oh_pump_status Modem::pump_status() const {
  oh_pump_status status{};
  config_.pump->status(pump_memory_.get(), &status);
  return status;
}

oh_lapm_status Modem::lapm_status() const {
  oh_lapm_status status{};
  oh_lapm_get_status(lapm_, &status);
  return status;
}

void Modem::process(const void* rx, void* tx, std::size_t n) {
  if (!started_) {
    const oh_sample_format& out = config_.format.tx;
    const std::uint32_t ratio = out.rate_hz / std::min(out.rate_hz, config_.format.rx.rate_hz);
    std::memset(tx, oh_silence(out.encoding), n * ratio * oh_sample_bytes(out.encoding));
    return;
  }
  config_.pump->process(pump_memory_.get(), rx, tx, n);
  follow(n);
}

void Modem::report_gap(std::size_t n) {
  if (!started_) return;
  config_.pump->report_gap(pump_memory_.get(), n);
  follow(n);
}

// The link ages only while the pump carries bits: a retrain must not exhaust its timers.
void Modem::follow(std::size_t n) {
  const oh_pump_status status = pump_status();
  if (status.state != state_) {
    state_ = status.state;
    record(OH_EV_PUMP_STATE, state_);
    if (state_ == OH_PUMP_DATA)
      record(OH_EV_PUMP_RATES, logged_rate(status.tx_bit_rate) | logged_rate(status.rx_bit_rate) << 16);
  }
  if (status.hold != hold_) {
    hold_ = status.hold;
    record(OH_EV_PUMP_HOLD, hold_ | status.hold_timeout << 16);
  }
  if (state_ == OH_PUMP_DATA && (status.tx_bit_rate != tx_bit_rate_ || status.rx_bit_rate != rx_bit_rate_)) {
    tx_bit_rate_ = status.tx_bit_rate;
    rx_bit_rate_ = status.rx_bit_rate;
    oh_lapm_set_bit_rates(lapm_, tx_bit_rate_, rx_bit_rate_);
  }
  if (state_ == OH_PUMP_DATA && !direct_) {
    if (modulation_of(status.modulation).v42_window == 0) oh_lapm_do_without(lapm_);
    oh_lapm_advance(lapm_, static_cast<std::uint32_t>(n));
    direct_ = characters_ && lapm_status().state == OH_LAPM_UNSUPPORTED;
  }
  if (hanging_up_ && !hung_up_) clear();
}

void Modem::hang_up() {
  hanging_up_ = true;
  oh_lapm_disconnect(lapm_);
}

void Modem::clear() {
  const oh_lapm_state link = lapm_status().state;
  const bool stands_still = hold_ == OH_HOLD_AWAY;  // nothing of the link's would be sent
  if (!direct_ && !stands_still && link != OH_LAPM_DISCONNECTED && link != OH_LAPM_FAILED) return;
  if (!clearing_) config_.pump->hang_up(pump_memory_.get());
  clearing_ = true;
  hung_up_ = pump_status().state == OH_PUMP_IDLE;
}

std::string_view Modem::failure(const oh_pump_status& pump, const oh_lapm_status& link, bool direct) {
  if (pump.state == OH_PUMP_FAILED && pump.failure == OH_PUMP_NOTHING_IN_COMMON) {
    return "has no modulation in common with the other end";
  }
  if (pump.state == OH_PUMP_FAILED && pump.failure == OH_PUMP_TOO_SLOW) {
    return "ended the call: the rate agreed on is below its least";
  }
  if (pump.state == OH_PUMP_FAILED) return pump.bits_received > 0 ? "lost the carrier" : "could not connect";
  if (pump.state == OH_PUMP_IDLE && pump.bits_received > 0) return "was cleared down by the far end";
  if (direct) return "";
  switch (link.state) {
    case OH_LAPM_FAILED:
      return "gave up the V.42 link";
    case OH_LAPM_UNSUPPORTED:
      return modulation_of(pump.modulation).v42_window > 0 ? "found no V.42 at the other end"
                                                           : "requires V.42, which does not run over the modulation";
    case OH_LAPM_DISCONNECTED:
      return "released the V.42 link";
    default:
      return "";
  }
}

}  // namespace offhook::modem
