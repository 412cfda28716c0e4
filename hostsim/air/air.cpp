// SPDX-License-Identifier: MIT
#include "hostsim/air/air.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <string_view>

#include "driver/core/logged_instrument.h"
#include "driver/core/logged_rate.h"
#include "dsp/blocks/level.h"
#include "dsp/radio/ofdm.h"
#include "dsp/radio/radio.h"
#include "dsp/radio/single_carrier.h"
#include "hostsim/air/radio_channel.h"
#include "hostsim/call/pump_connection.h"
#include "hostsim/call/radio_call.h"
#include "hostsim/call/tested_pump.h"

namespace offhook::hostsim {
namespace {

constexpr float kLevelDbm0 = -15;     // of both ends
constexpr unsigned kCardSamples = 2;  // for one complex sample
constexpr Ns kInstrumentEvery = 100'000'000;

bool is_ofdm(const AirScenario& air) {
  return air.waveform == radio::Ofdm::kName;
}

template <class Waveform>
std::span<const std::uint32_t> card_rates() {
  static constexpr auto kRates = [] {
    std::array<std::uint32_t, Waveform::kSampleRatesHz.size()> rates{};
    for (std::size_t k = 0; k < rates.size(); ++k) rates[k] = kCardSamples * Waveform::kSampleRatesHz[k];
    return rates;
  }();
  return kRates;
}

const oh_pump_type* type_of(const AirScenario& air) {
  return is_ofdm(air) ? oh_radio_ofdm_type() : oh_radio_burst_type();
}

oh_pump_role other(oh_pump_role role) {
  return role == OH_PUMP_CALL ? OH_PUMP_ANSWER : OH_PUMP_CALL;
}

RadioChannelConfig channel_of(const Scenario& s) {
  RadioChannelConfig c;
  const auto path = [&](double delay_s, double loss_db) {
    return RadioPath{delay_s, loss_db, s.air.doppler_hz, s.air.rice_db};
  };
  c.paths = {path(0, 0)};
  if (s.air.echo_us > 0) c.paths.push_back(path(s.air.echo_us * 1e-6, s.air.echo_loss_db));
  c.snr_db = s.air.snr_db;
  c.sample_rate_hz = static_cast<double>(s.device.rate_hz) / kCardSamples;
  c.signal_dbm0 = static_cast<double>(kLevelDbm0);
  c.offset_hz = s.role == OH_PUMP_CALL ? s.air.offset_hz : -s.air.offset_hz;
  return c;
}

/// One end: its pump, its measurements, and the losses caused by the host.
class End {
 public:
  End(const AirScenario& air, std::uint32_t rate_hz, oh_pump_role role, std::uint32_t io_delay, std::uint16_t id,
      oh_event_log* log)
      : id_(id),
        log_(log),
        slot_samples_(kCardSamples * (is_ofdm(air) ? radio::Ofdm::kSlotSamples : radio::SingleCarrier::kSlotSamples)),
        observer_(observer()),
        pump_(type_of(air), config(rate_hz, role, io_delay), id + 1u),
        inner_(pump_.pump()) {}
  End(const End&) = delete;
  End& operator=(const End&) = delete;

  std::uint32_t slot_samples() const { return slot_samples_; }
  void process(const std::int16_t* rx, std::int16_t* tx, std::size_t n) {
    inner_.process(inner_.self, rx, tx, n);
    taken_ += n;
    blame();
  }
  void report_gap(std::size_t n) {
    inner_.report_gap(inner_.self, n);
    taken_ += n;
    host_lost_samples();
    blame();
  }
  /// The host has just lost received samples of this end.
  void host_lost_samples() { lost_at_ = taken_; }

  /// Writes changes to the log.
  void look(Ns now) {
    const oh_pump_status s = pump_.status();
    const oh_radio_slots slots = oh_radio_slot_counts(pump_.self());
    if (s.state != state_) {
      if (state_ == OH_PUMP_DATA) pump_.test().restart();  // the pattern does not continue after a training
      state_ = s.state;
      write(now, OH_EV_PUMP_STATE, static_cast<std::uint32_t>(state_));
    }
    if (state_ == OH_PUMP_DATA && (s.tx_bit_rate != sent_bit_rate_ || s.rx_bit_rate != received_.bit_rate)) {
      sent_bit_rate_ = s.tx_bit_rate;
      received_.bit_rate = s.rx_bit_rate;
      write(now, OH_EV_PUMP_RATES, logged_rate(s.tx_bit_rate) | logged_rate(s.rx_bit_rate) << 16);
    }
    if (const std::uint64_t lost = slots.missed + slots.broken; lost != received_.lost())
      write(now, OH_EV_LINK_BAD_FRAME, static_cast<std::uint32_t>(lost));
    if (state_ == OH_PUMP_DATA && received_.snr_db != 0 && now >= next_instrument_) {
      next_instrument_ = now + kInstrumentEvery;
      write_instrument(now, OH_INSTRUMENT_SNR, received_.snr_db);
      write_instrument(now, OH_INSTRUMENT_CARRIER, offset_hz_);
    }
    received_.due = slots.due;
    received_.missed = slots.missed;
    received_.broken = slots.broken;
    received_.bits = pump_.test().compared();
    received_.wrong_bits = pump_.test().wrong();
    received_.pattern_losses = pump_.test().losses();
    retrains_ = s.retrains;
  }
  bool in_data() const { return state_ == OH_PUMP_DATA; }
  std::uint32_t retrains() const { return retrains_; }
  const RadioDirection& received() const { return received_; }

 private:
  oh_pump_config config(std::uint32_t rate_hz, oh_pump_role role, std::uint32_t io_delay) const {
    oh_pump_config c{};
    const oh_sample_format card = {rate_hz, OH_LINEAR16};
    c.format = {card, card};
    c.role = role;
    c.tx_level_dbm0 = kLevelDbm0;
    c.io_delay_samples = io_delay;
    c.observer = &observer_;
    return c;
  }
  oh_pump_observer observer() {
    oh_pump_observer o{};
    o.user = this;
    o.instrument = [](void* self, oh_instrument what, float value) {
      auto& end = *static_cast<End*>(self);
      if (what == OH_INSTRUMENT_SNR) end.received_.snr_db = value;
      if (what == OH_INSTRUMENT_CARRIER) end.offset_hz_ = value;
    };
    return o;
  }
  /// A lost burst is known at the end of its slot.
  void blame() {
    const oh_radio_slots slots = oh_radio_slot_counts(pump_.self());
    const std::uint64_t lost = slots.missed + slots.broken;
    if (lost > blamed_ && lost_at_ >= 0 && taken_ - lost_at_ <= std::int64_t{kBlamedSlots} * slot_samples_)
      received_.late += lost - blamed_;
    blamed_ = lost;
  }
  void write(Ns now, oh_event_kind kind, std::uint32_t argument) {
    oh_event_log_write(log_, static_cast<std::uint64_t>(now), kind, id_, argument);
  }
  void write_instrument(Ns now, oh_instrument what, float value) {
    write(now, OH_EV_PUMP_INSTRUMENT, static_cast<std::uint32_t>(what) << 24 | logged_hundredths(value));
  }

  // The slot itself, the previous one, where its burst may have been made, and the block that reported the loss.
  static constexpr unsigned kBlamedSlots = 3;

  std::uint16_t id_;
  oh_event_log* log_;
  std::uint32_t slot_samples_;
  oh_pump_observer observer_;
  TestedPump pump_;
  oh_pump inner_;
  std::int64_t taken_ = 0, lost_at_ = -1;  // samples of the card
  std::uint64_t blamed_ = 0;
  oh_pump_state state_ = OH_PUMP_IDLE;
  std::uint32_t sent_bit_rate_ = 0, retrains_ = 0;
  Ns next_instrument_ = 0;
  float offset_hz_ = 0;
  RadioDirection received_;
};

class RadioConnection final : public PumpConnection {
 public:
  RadioConnection(const Scenario& s, oh_event_log* log)
      : PumpConnection(s),
        streams_(s.device.streams()),
        near_(s.air, s.device.rate_hz, s.role, s.device.lead(), 0, log),
        far_(s.air, s.device.rate_hz, other(s.role), 0, 1, log),
        there_(channel_of(s), s.seed, s.role == OH_PUMP_CALL ? 0 : 1),
        back_(channel_of(s), s.seed, s.role == OH_PUMP_CALL ? 1 : 0) {}

  oh_streams streams() const override { return streams_; }
  oh_pump near_pump() override {
    return {[](void* self, const void* rx, void* tx, std::size_t n) {
              static_cast<End*>(self)->process(static_cast<const std::int16_t*>(rx), static_cast<std::int16_t*>(tx), n);
            },
            [](void* self, std::size_t n) { static_cast<End*>(self)->report_gap(n); }, &near_};
  }
  oh_line_end line() override {
    return {[](void* self, const void* played, void* captured, std::size_t n) {
              static_cast<RadioConnection*>(self)->exchange(static_cast<const std::int16_t*>(played),
                                                            static_cast<std::int16_t*>(captured), n);
            },
            this};
  }
  bool in_data() const override { return near_.in_data() && far_.in_data(); }
  std::shared_ptr<const RadioStatus> radio_status() const override { return std::make_shared<RadioStatus>(radio()); }

 private:
  void exchange(const std::int16_t* played, std::int16_t* captured, std::size_t n) {
    if (card_ != nullptr) {
      const std::uint64_t lost = card_->counters().underrun_samples + driver_->counters.samples_late;
      if (lost != not_played_) far_.host_lost_samples();
      not_played_ = lost;
    }
    for (std::size_t k = 0; k < n; ++k) {
      pair_[odd_] = played[k];
      captured[k] = waiting_[odd_];
      if ((odd_ ^= 1) != 0) continue;
      there_.step(pair_);
      const std::array<std::int16_t, 2> in = {clip(std::round(pair_[0])), clip(std::round(pair_[1]))};
      std::array<std::int16_t, 2> out;
      far_.process(in.data(), out.data(), out.size());
      std::array<float, 2> answer = {static_cast<float>(out[0]), static_cast<float>(out[1])};
      back_.step(answer);
      waiting_ = {clip(std::round(answer[0])), clip(std::round(answer[1]))};
    }
  }
  RadioStatus radio() const {
    RadioStatus s;
    s.received = near_.received();
    s.sent = far_.received();
    s.slot_s = static_cast<double>(near_.slot_samples()) / streams_.rx.rate_hz;
    s.retrains = retrains();
    s.in_data = in_data();
    s.connected_s = connected_s();
    return s;
  }
  void look(Ns now) override {
    near_.look(now);
    far_.look(now);
  }
  std::uint32_t retrains() const override { return std::max(near_.retrains(), far_.retrains()); }
  std::string problem() const override {
    const RadioStatus radio = this->radio();
    if (radio.in_time()) return "";
    if (radio.connected_s < 0) return "the radios did not connect";
    if (!radio.in_data || radio.retrains > 0) return "the link was lost";
    return "bursts were lost";
  }

  oh_streams streams_;
  End near_, far_;
  RadioChannel there_, back_;
  std::array<float, 2> pair_{};
  std::array<std::int16_t, 2> waiting_{};
  unsigned odd_ = 0;
  std::uint64_t not_played_ = 0;
};

}  // namespace

void register_air() {
  register_radio({[](const AirScenario& air) {
                    return is_ofdm(air) ? card_rates<radio::Ofdm>() : card_rates<radio::SingleCarrier>();
                  },
                  [](const Scenario& s, oh_event_log* log) -> std::unique_ptr<Connection> {
                    return std::make_unique<RadioConnection>(s, log);
                  }});
}

}  // namespace offhook::hostsim
