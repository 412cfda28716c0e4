// SPDX-License-Identifier: MIT
#include "src/program/command/line_watch.h"

#include <algorithm>
#include <variant>

namespace offhook::command {

namespace {

using live_page::LineView;
using live_page::Phase;

constexpr std::int64_t kSlotMs = 100, kQuantilesMs = 1000;

float us(std::uint64_t ns) {
  return static_cast<float>(static_cast<double>(ns) * 1e-3);
}

}  // namespace

live_page::Quantiles LineWatch::quantiles(const LogLinearHistogram& h) {
  return {h.count(), us(h.quantile(0.5)), us(h.quantile(0.99)), us(h.quantile(0.999)), us(h.max())};
}

void LineWatch::add(std::span<const oh_event> events, std::int64_t now_ms) {
  const std::int64_t slot = now_ms / kSlotMs;
  Peak& peak = peaks_[static_cast<std::size_t>(slot) % kSlots];
  if (peak.slot != slot) peak = {slot};
  for (const oh_event& e : events) {
    switch (e.kind) {
      case OH_EV_SYMBOL:
        view.points[view.symbols++ % LineView::kPoints] = {static_cast<std::int16_t>(e.argument & 0xffff),
                                                           static_cast<std::int16_t>(e.argument >> 16)};
        break;
      case OH_EV_SERVICE_REQUEST:
        if (requested_ns_ == 0) requested_ns_ = e.time_ns;
        break;
      case OH_EV_SERVICE_RUN_BEGIN:
        if (requested_ns_ != 0 && e.time_ns > requested_ns_)
          peak.dispatch_ns = std::max(peak.dispatch_ns, e.time_ns - requested_ns_);
        requested_ns_ = 0;
        run_ns_ = e.time_ns;
        break;
      case OH_EV_SERVICE_RUN_END:
        if (run_ns_ != 0 && e.time_ns > run_ns_) peak.service_ns = std::max(peak.service_ns, e.time_ns - run_ns_);
        run_ns_ = 0;
        break;
      case OH_EV_SERVICE_END:
        peak.pending = std::max(peak.pending, e.argument);
        break;
      default:
        break;
    }
  }
  show_peaks(slot);
}

void LineWatch::show_peaks(std::int64_t slot) {
  Peak longest;
  for (const Peak& p : peaks_) {
    if (p.slot <= slot - static_cast<std::int64_t>(kSlots)) continue;
    longest.pending = std::max(longest.pending, p.pending);
    longest.dispatch_ns = std::max(longest.dispatch_ns, p.dispatch_ns);
    longest.service_ns = std::max(longest.service_ns, p.service_ns);
  }
  view.pending_peak = longest.pending;
  view.dispatch_peak_us = us(longest.dispatch_ns);
  view.service_peak_us = us(longest.service_ns);
}

void LineWatch::drain(oh_event_log& log, traces::LogWriter* writer, std::int64_t now_ms) {
  std::array<oh_event, 256> batch;
  do {
    const std::size_t n = oh_event_log_read(&log, batch.data(), batch.size());
    const std::span<const oh_event> events(batch.data(), n);
    add(events, now_ms);
    view.events_lost = oh_event_log_lost(&log);
    if (writer != nullptr) writer->append(log.cpu, events, view.events_lost);
    if (n == 0) break;
  } while (true);
  if (writer != nullptr) writer->flush();
}

Phase LineWatch::phase_of(const modem::Dce& dce, const modem::CallLine& line, const modem::CallStatus& status) {
  if (dce.state() == modem::Dce::State::kOnHook) return line.ringing() ? Phase::kRinging : Phase::kOnHook;
  const oh_hold_state hold = status.pump.hold;
  if (hold == OH_HOLD_AWAY || hold == OH_HOLD_WAITING) return Phase::kHold;
  had_data_ |= status.pump.state == OH_PUMP_DATA;
  if (status.pump.state == OH_PUMP_DATA) return Phase::kData;
  if (had_data_) return Phase::kRetraining;
  return status.pump.state == OH_PUMP_TRAINING ? Phase::kTraining : Phase::kConnecting;
}

void LineWatch::follow(const modem::Dce& dce, const modem::CallLine& line, modem::Carriers carriers,
                       std::int64_t now_ms) {
  const modem::CallStatus status = line.status();
  const bool calling = dce.calling();
  if (calling && !calling_) {
    ++view.calls;
    call_began_ms_ = now_ms;
    had_data_ = false;
  }
  calling_ = calling;
  view.calls_failed = dce.failed_calls();
  view.call_ms = calling ? std::max<std::int64_t>(now_ms - call_began_ms_, 1) : 0;
  view.phase = phase_of(dce, line, status);
  view.state.set(dce.state_text());
  const modem::LastCall& last = dce.last_call();
  if (last.ended()) view.last_end.set(last.reason());
  view.caller.set(calling || view.phase == Phase::kRinging ? line.caller().number : "");
  if (!calling) return;  // measurements of the last call remain until the next one
  const oh_pump_status& pump = status.pump;
  view.carrier.set(pump.state == OH_PUMP_DATA || had_data_ ? modem::carrier_of(pump, carriers) : "");
  view.tx_bit_rate = pump.tx_bit_rate;
  view.rx_bit_rate = pump.rx_bit_rate;
  view.rx_level_dbm0 = pump.rx_level_dbm0;
  view.samples_lost = pump.filled_in;
  view.frames_again = status.link.retransmitted;
  view.bad_frames = status.link.bad_frames;
  const oh_modem_end_line& measured = status.line;
  view.snr_db = measured.snr_db;
  view.clock_ppm = measured.clock_ppm;
  view.carrier_hz = measured.carrier_hz;
  view.echo_return_loss_db = measured.echo_return_loss_db;
  view.round_trip_ms = measured.round_trip_ms;
  view.tx_symbol_rate = measured.tx_symbol_rate;
  view.rx_symbol_rate = measured.rx_symbol_rate;
  view.slips = measured.slips;
  std::copy(std::begin(measured.retrains), std::end(measured.retrains), std::begin(view.retrains));
}

void LineWatch::follow(const oh_driver_counters& driver, const oh_card_counters& card, const LiveContext& context,
                       std::int64_t now_ms) {
  view.interrupts = driver.interrupts;
  view.blocks_served = driver.blocks_served;
  view.blocks_late = driver.blocks_late;
  view.samples_late = driver.samples_late;
  view.samples_filled_in = driver.samples_filled_in;
  view.pending = driver.pending_last;
  view.pending_max = driver.pending_max;
  view.overrun_samples = card.overrun_samples;
  view.underrun_samples = card.underrun_samples;
  view.yields = context.yields();
  view.throttles = context.throttles();
  view.demoted = context.demoted() ? 1 : 0;
  if (now_ms < quantiles_at_ms_) return;
  quantiles_at_ms_ = now_ms + kQuantilesMs;
  view.dispatch = quantiles(context.dispatch_latency());
  view.service = quantiles(context.service_time());
}

void LineWatch::follow(const std::vector<CardFigure>& figures) {
  view.figure_count = 0;
  for (const CardFigure& figure : figures) {
    if (view.figure_count == view.figures.size()) return;
    live_page::Figure& f = view.figures[view.figure_count++];
    f.key.set(figure.key);
    f.value = std::visit([](auto value) { return static_cast<double>(value); }, figure.value);
  }
}

}  // namespace offhook::command
