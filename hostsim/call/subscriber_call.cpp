// SPDX-License-Identifier: MIT
#include "hostsim/call/subscriber_call.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>

#include "driver/core/logged_instrument.h"
#include "driver/core/logged_rate.h"
#include "dsp/dmt/loading.h"
#include "dsp/dmt/pump.h"
#include "hostsim/call/loop_rates.h"
#include "hostsim/call/pump_connection.h"
#include "hostsim/call/tested_pump.h"

namespace offhook::hostsim {
namespace {

constexpr std::uint32_t kLiteHz = 1'104'000, kFullHz = 2'208'000;

std::uint32_t ratio_of(const Scenario& s) {
  const std::uint32_t hz = s.device.rate_hz;
  if (hz != kLiteHz && hz != kFullHz) {
    throw std::invalid_argument("a card of " + std::to_string(hz) +
                                " samples/s; expected 1104000 (G.lite) or 2208000 (full rate) on a subscriber loop");
  }
  return hz / kUpstreamHz;
}

bool in_cells(const Scenario& s) {
  return s.protocol == TransferProtocol::kAtm;
}

class SubscriberEnd : public TestedPump {
 public:
  SubscriberEnd(const oh_pump_type* type, oh_pump_role role, std::uint32_t downstream_hz, std::uint32_t pattern,
                bool in_cells)
      : TestedPump(type, config(type, role, downstream_hz), pattern, in_cells),
        instruments_of_(role == OH_PUMP_CALL ? oh_dmt_remote_instruments : oh_dmt_central_instruments) {}

  oh_dmt_instruments instruments() const {
    oh_dmt_instruments i{};
    instruments_of_(self(), &i);
    return i;
  }

 private:
  static oh_pump_config config(const oh_pump_type* type, oh_pump_role role, std::uint32_t downstream_hz) {
    oh_pump_config c{};
    c.format = type->formats[downstream_hz == kFullHz ? 1 : 0];
    c.role = role;
    return c;
  }
  void (*instruments_of_)(const void*, oh_dmt_instruments*);
};

/// SNR in dB for b bits on a tone, at the error rate and coding gain of the loading, without its margin.
double needed_db(int bits) {
  return 10 * std::log10(static_cast<double>(dmt::kGap) * static_cast<double>((1 << bits) - 1)) - dmt::kMarginDb;
}

/// One end in the log, and the record of its last data mode.
class SubscriberWatch {
 public:
  SubscriberWatch(SubscriberEnd& end, std::uint16_t id, oh_event_log* log) : end_(end), id_(id), log_(log) {}

  void set_loop(const LoopRates& rates) {
    of_receiver_.loop_bit_rate = rates.whole_bits;
    of_receiver_.capacity_bit_rate = rates.capacity;
  }
  void look(Ns now) {
    const oh_pump_status s = end_.status();
    const oh_dmt_instruments i = end_.instruments();
    if (s.state != state_) {
      if (state_ == OH_PUMP_DATA) end_.test().restart();  // the pattern does not continue after a training
      state_ = s.state;
      write(now, OH_EV_PUMP_STATE, static_cast<std::uint32_t>(state_));
      if (state_ == OH_PUMP_DATA) {
        write(now, OH_EV_PUMP_RATES, logged_rate(s.tx_bit_rate) | logged_rate(s.rx_bit_rate) << 16);
        write_instrument(now, OH_INSTRUMENT_SNR, mean_snr_db(i));
        keep(s, i);
      }
    }
    if (i.crc_errors != of_receiver_.pump.crc_errors) write(now, OH_EV_LINK_BAD_FRAME, i.crc_errors);
    if (state_ == OH_PUMP_DATA && now >= next_instrument_) {
      next_instrument_ = now + kInstrumentEvery;
      write_instrument(now, OH_INSTRUMENT_CLOCK, static_cast<double>(i.clock_ppm));
    }
    count(i, now);
  }
  bool in_data() const { return state_ == OH_PUMP_DATA; }
  std::uint32_t trainings() const { return of_receiver_.pump.trainings; }
  std::uint32_t fast_retrains() const { return of_receiver_.pump.fast_retrains; }
  const DmtDirection& received() const { return of_receiver_; }

 private:
  void write(Ns now, oh_event_kind kind, std::uint32_t argument) {
    oh_event_log_write(log_, static_cast<std::uint64_t>(now), kind, id_, argument);
  }
  void write_instrument(Ns now, oh_instrument what, double value) {
    write(now, OH_EV_PUMP_INSTRUMENT,
          static_cast<std::uint32_t>(what) << 24 | logged_hundredths(static_cast<float>(value)));
  }
  static double mean_snr_db(const oh_dmt_instruments& i) {
    double sum = 0;
    int tones = 0;
    for (int k = 0; k < OH_DMT_TONES; ++k) {
      if (i.bits[k] == 0) continue;
      sum += static_cast<double>(i.snr_db[k]);
      ++tones;
    }
    return tones > 0 ? sum / tones : 0;
  }
  void keep(const oh_pump_status& s, const oh_dmt_instruments& i) {
    DmtDirection& d = of_receiver_;
    d.gross_bit_rate = i.gross_bit_rate;
    d.net_bit_rate = s.rx_bit_rate;
    d.tones.clear();
    for (std::uint32_t k = 0; k < OH_DMT_TONES; ++k)
      if (i.snr_db[k] > 0) d.tones.push_back({k, i.bits[k], i.snr_db[k]});
    const std::uint32_t tone_bits = std::accumulate(std::begin(i.bits), std::end(i.bits), 0u);
    d.trellis_bits = tone_bits - i.gross_bit_rate / dmt::kDataSymbolsPerSecond;
    const double coded_db = d.trellis_bits > 0 ? dmt::kTrellisGainDb : 0;
    double least = 1000;
    for (int k = 0; k < OH_DMT_TONES; ++k) {
      if (i.bits[k] > 0)
        least = std::min(least, static_cast<double>(i.snr_db[k] + i.gain_db[k]) - needed_db(i.bits[k]) + coded_db);
    }
    d.margin_db = static_cast<float>(least);
  }
  void measure_carried(Ns now) {
    DmtDirection& d = of_receiver_;
    const std::uint64_t right = d.bits - d.wrong_bits;
    if (right == 0) return;
    if (first_right_at_ < 0) {
      first_right_at_ = now;
      first_right_ = right;
    }
    const double s = static_cast<double>(now - first_right_at_) * 1e-9;
    if (s > 0) d.carried_bit_rate = static_cast<std::uint32_t>(static_cast<double>(right - first_right_) / s);
  }
  void count(const oh_dmt_instruments& i, Ns now) {
    DmtDirection& d = of_receiver_;
    if (i.swapped_bits != d.pump.swapped_bits)
      for (DmtDirection::Tone& tone : d.tones) tone.bits = i.bits[tone.tone];
    if (state_ == OH_PUMP_DATA) d.margin_now_db = i.margin_db;
    d.pump = i;
    d.bits = end_.test().compared();
    d.wrong_bits = end_.test().wrong();
    measure_carried(now);
    d.pattern_losses = end_.test().losses();
    if (const TestCells* cells = end_.cells()) {
      const oh_cells_status c = cells->status();
      d.cells = {c.received, c.idle_received, c.hec_errors, c.losses};
    }
  }

  SubscriberEnd& end_;
  std::uint16_t id_;
  oh_event_log* log_;
  oh_pump_state state_ = OH_PUMP_IDLE;
  Ns next_instrument_ = 0;
  Ns first_right_at_ = -1;
  std::uint64_t first_right_ = 0;  // correct bits of the pattern by then
  DmtDirection of_receiver_;
};

class SubscriberConnection final : public PumpConnection {
 public:
  SubscriberConnection(const Scenario& s, oh_event_log* log)
      : PumpConnection(s),
        near_is_exchange_(s.role == OH_PUMP_ANSWER),
        remote_(oh_dmt_remote_type(), OH_PUMP_CALL, s.device.rate_hz, 1, in_cells(s)),
        central_(oh_dmt_central_type(), OH_PUMP_ANSWER, s.device.rate_hz, 1u << 30, in_cells(s)),
        remote_watch_(remote_, near_is_exchange_ ? 1 : 0, log),
        central_watch_(central_, near_is_exchange_ ? 0 : 1, log),
        loop_(loop_of(s), s.seed, near_is_exchange_ ? remote_.pump() : central_.pump()),
        streams_(subscriber_streams(s)) {
    const LoopConfig loop = loop_of(s);
    const bool full = s.device.rate_hz == kFullHz;
    remote_watch_.set_loop(loop_rates(loop, full ? dmt::kFullDown : dmt::kLiteDown));
    central_watch_.set_loop(loop_rates(loop, full ? dmt::kFullUp : dmt::kLiteUp));
  }

  oh_streams streams() const override { return streams_; }
  oh_pump near_pump() override { return near_is_exchange_ ? central_.pump() : remote_.pump(); }
  oh_line_end line() override { return loop_.handle(); }
  bool in_data() const override { return remote_watch_.in_data() && central_watch_.in_data(); }
  std::shared_ptr<const DmtStatus> dmt_status() const override { return std::make_shared<DmtStatus>(dmt()); }

 private:
  DmtStatus dmt() const {
    DmtStatus s;
    s.down = remote_watch_.received();
    s.up = central_watch_.received();
    s.trainings = std::max(remote_watch_.trainings(), central_watch_.trainings());
    s.fast_retrains = std::max(remote_watch_.fast_retrains(), central_watch_.fast_retrains());
    s.in_data = in_data();
    s.trained_s = connected_s();
    return s;
  }
  void look(Ns now) override {
    remote_watch_.look(now);
    central_watch_.look(now);
  }
  std::uint32_t retrains() const override {
    const auto trainings = std::max(remote_watch_.trainings(), central_watch_.trainings());
    if (trainings == 0) return 0;
    return trainings - 1 + std::max(remote_watch_.fast_retrains(), central_watch_.fast_retrains());
  }
  std::string problem() const override { return fault_in_words(dmt().fault()); }

  const bool near_is_exchange_;
  SubscriberEnd remote_, central_;
  SubscriberWatch remote_watch_, central_watch_;
  Loop loop_;
  oh_streams streams_;
};

}  // namespace

const char* fault_in_words(DmtFault fault) {
  switch (fault) {
    case DmtFault::kNone:
      return "";
    case DmtFault::kStartUp:
      return "the start-up did not complete";
    case DmtFault::kLineLost:
      return "the line was lost in data mode";
    case DmtFault::kMarginLost:
      return "the margin was lost in data mode";
    case DmtFault::kWrongData:
      return "wrong data arrived";
    case DmtFault::kSuperframes:
      return "superframes were wrong";
  }
  return "";
}

LoopConfig loop_of(const Scenario& s) {
  LoopConfig c;
  c.cable = cable_named(s.loop.cable);
  c.downstream_hz = s.device.rate_hz;
  c.near_is_exchange = s.role == OH_PUMP_ANSWER;
  c.noise_dbm_hz = s.loop.noise_dbm_hz;
  c.disturbers = disturbers_named(s.loop.disturbers);
  c.ingress = ingress_named(s.loop.ingress);
  c.disturbers_from_s = s.loop.disturbers_from_s;
  c.impulse_rate_hz = s.loop.impulse_rate_hz;
  c.impulse_volts = s.loop.impulse_volts;
  c.clock_ppm = s.loop.clock_ppm;
  c.front_end.hybrid_loss_db = s.loop.hybrid_loss_db;
  c.front_end.bits = s.loop.converter_bits;
  const dmt::Band& band = s.device.rate_hz == kFullHz ? dmt::kFullDown : dmt::kLiteDown;
  c.front_end.full_scale_volts = static_cast<double>(band.full_scale_volts);
  return c;
}

SoftDevice in_periods(const Scenario& s) {
  return s.device.in_periods(ratio_of(s));
}

oh_streams subscriber_streams(const Scenario& s) {
  oh_streams streams = in_periods(s).streams();
  oh_stream_format& fast = s.role == OH_PUMP_ANSWER ? streams.tx : streams.rx;
  fast.rate_hz *= ratio_of(s);
  fast.ring_samples *= ratio_of(s);
  return streams;
}

std::unique_ptr<Connection> make_subscriber_connection(const Scenario& scenario, oh_event_log* log) {
  return std::make_unique<SubscriberConnection>(scenario, log);
}

}  // namespace offhook::hostsim
