// SPDX-License-Identifier: MIT
#include "src/lab/analysis/figures.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>

#include "driver/base/record.h"
#include "driver/core/logged_rate.h"
#include "traces/log/event_names.h"

namespace offhook {

namespace {
constexpr std::uint64_t kLastTimeNs = std::uint64_t{1} << 62;  // 146 years, so that no sum of times overflows
constexpr std::size_t kMaxPhases = 64;
constexpr std::size_t kMaxOwed = 4096;                 // blocks; a ring of 512 samples overwrites them long before
constexpr std::uint64_t kSteadyAfterNs = 500'000'000;  // of an undisturbed phase

std::uint64_t since(std::uint64_t now, std::uint64_t then) {
  return now > then ? now - then : 0;
}

float q4_12(std::uint32_t bits) {
  return static_cast<float>(static_cast<std::int16_t>(bits & 0xffff)) / 4096.0f;
}
}  // namespace

Analyzer::Driver& Analyzer::driver(std::uint16_t id) {
  for (auto& [known, d] : drivers_) {
    if (known == id) return d;
  }
  return drivers_.emplace_back(id, Driver{}).second;
}

template <typename Change>
void Analyzer::count(Change change) {
  change(figures_.total);
  if (!figures_.phases.empty()) change(figures_.phases.back());
}

void Analyzer::loss(std::uint64_t time_ns, const char* what) {
  if (loss_seen_) return;
  loss_seen_ = true;
  figures_.timeline.look_at(Timeline::Moment::kFirstLoss, std::string("First loss: ") + what, time_ns);
}

void Analyzer::begin_phase(std::uint64_t time_ns, std::uint32_t phase) {
  const double modem_ns = figures_.timeline.modem_ns_so_far();
  if (!figures_.phases.empty()) {
    figures_.phases.back().end_ns = time_ns;
    figures_.phases.back().modem_cpu_ns += modem_ns - modem_ns_at_phase_;
  }
  modem_ns_at_phase_ = modem_ns;
  if (figures_.phases.size() < kMaxPhases) {
    figures_.phases.emplace_back();
    figures_.phases.back().begin_ns = time_ns;
  }
  figures_.phases.back().phase = phase;
  steady_since_ns_ = time_ns;
  steady_seen_ = false;
}

void Analyzer::isr_done(Driver& d, std::uint64_t time_ns) {
  if (!d.in_isr) return;
  d.in_isr = false;
  d.isr_entity = kIdle;
  const std::uint64_t elapsed = time_ns - std::min(time_ns, d.isr_enter_ns);
  figures_.isr_elapsed.add(elapsed);
  figures_.isr_elapsed_over_time.add(d.isr_enter_ns, static_cast<double>(elapsed) * 1e-6);
}

// The next `samples` of the received stream went to service or were lost.
void Analyzer::take(Driver& d, std::uint64_t time_ns, std::uint32_t samples, bool lost) {
  d.taken_position += samples;
  if (!lost) d.awaiting_output.clear();
  while (!d.owed.empty() && d.owed.front().end_position <= d.taken_position) {
    if (!lost) {
      figures_.interrupt_to_service.add(time_ns - std::min(time_ns, d.owed.front().raised_ns));
      d.awaiting_output.push_back(d.owed.front());
    }
    d.owed.pop_front();
  }
}

// Events of the card.
void Analyzer::add_card(const oh_event& event) {
  Figures& f = figures_;
  const std::uint64_t now = event.time_ns;
  switch (event.kind) {
    case OH_EV_INTERRUPT: {
      Driver& d = driver(event.id);
      d.raised_position += event.argument;
      if (d.owed.size() == kMaxOwed) d.owed.pop_front();
      if (d.unacknowledged.size() == kMaxOwed) d.unacknowledged.pop_front();
      const Driver::Block block{now, d.raised_position, event.argument, d.rate_hz};
      d.owed.push_back(block);
      d.unacknowledged.push_back(block);
      if (d.last_interrupt_ns != 0) {
        f.interrupt_period.add(since(now, d.last_interrupt_ns));
        f.interrupt_period_over_time.add(now, static_cast<double>(since(now, d.last_interrupt_ns)) * 1e-6);
      }
      d.last_interrupt_ns = now;
      break;
    }
    case OH_EV_CARD_RATE:
      if (event.argument > 0) driver(event.id).rate_hz = event.argument;
      break;
    case OH_EV_RX_OVERRUN:
      f.overruns_over_time.add(now, event.argument);
      loss(now, "receive overrun");
      break;
    case OH_EV_TX_UNDERRUN:
      f.underruns_over_time.add(now, event.argument);
      loss(now, "transmit underrun");
      break;
    default:
      break;
  }
}

// Events of the driver: interrupt routine and wake-up.
void Analyzer::add_wake_up(const oh_event& event) {
  Figures& f = figures_;
  const std::uint64_t now = event.time_ns;
  switch (event.kind) {
    case OH_EV_ISR_ENTER: {
      Driver& d = driver(event.id);
      for (const auto& block : d.unacknowledged) f.interrupt_to_isr.add(since(now, block.raised_ns));
      d.unacknowledged.clear();
      d.isr_enter_ns = now;
      d.in_isr = true;
      // A simulated isr happens at one instant. Its cost is that of its job, which begins with it.
      const Timeline::Entity* e = f.timeline.running(event.cpu);
      d.isr_entity = e != nullptr && e->job_begin_ns == now ? e->id : kIdle;
      break;
    }
    case OH_EV_ISR_EXIT: {
      Driver& d = driver(event.id);
      if (d.isr_entity == kIdle) isr_done(d, now);
      break;
    }
    case OH_EV_FINISH:
      for (auto& [id, d] : drivers_) {
        if (d.isr_entity == event.id) isr_done(d, now);
      }
      break;
    case OH_EV_SERVICE_RUN_BEGIN: {
      Driver& d = driver(event.id);
      d.run_begin_ns = now;
      d.in_run = true;
      break;
    }
    case OH_EV_SERVICE_RUN_END: {
      Driver& d = driver(event.id);
      if (!d.in_run) break;
      d.in_run = false;
      const std::uint64_t elapsed = since(now, d.run_begin_ns);
      f.service_run_elapsed.add(elapsed);
      f.service_run_elapsed_over_time.add(d.run_begin_ns, static_cast<double>(elapsed) * 1e-6);
      count([&](PhaseFigures& p) { p.elapsed_max_ns = std::max(p.elapsed_max_ns, elapsed); });
      break;
    }
    default:
      break;
  }
}

// Events of the driver: the blocks that it serves.
void Analyzer::add_service(const oh_event& event) {
  Figures& f = figures_;
  const std::uint64_t now = event.time_ns;
  switch (event.kind) {
    case OH_EV_SERVICE_BEGIN:
      take(driver(event.id), now, event.argument, false);
      break;
    case OH_EV_FILL_IN:
      take(driver(event.id), now, event.argument, true);
      f.samples_filled_in_over_time.add(now, event.argument);
      loss(now, "received samples gone");
      break;
    case OH_EV_OUTPUT_READY: {
      Driver& d = driver(event.id);
      for (const Driver::Block& block : d.awaiting_output) {
        const double latency_ns = static_cast<double>(since(now, block.raised_ns));
        const double lead_used = block.samples + latency_ns * 1e-9 * block.rate_hz;
        f.interrupt_to_output.add(since(now, block.raised_ns));
        f.output_latency_over_time.add(now, latency_ns * 1e-6);
        if (block.rate_hz > 0)
          count([&](PhaseFigures& p) { p.lead_used_max_samples = std::max(p.lead_used_max_samples, lead_used); });
      }
      d.awaiting_output.clear();
      if (event.argument == 0) break;
      f.samples_late_over_time.add(now, event.argument);
      loss(now, "output too late");
      break;
    }
    case OH_EV_SERVICE_END: {
      f.pending.add(now, event.argument);
      f.pending_samples.add(event.argument);
      if (!steady_seen_ && since(now, steady_since_ns_) >= kSteadyAfterNs) {
        steady_seen_ = true;
        f.timeline.look_at(Timeline::Moment::kSteady, "Steady state, half a second into the last phase", now);
      }
      break;
    }
    default:
      break;
  }
}

// Events of one end's pump and link.
void Analyzer::add_end(const oh_event& event) {
  Figures::End& end = figures_.ends[event.id];
  const std::uint64_t now = event.time_ns;
  end.add(event);
  switch (event.kind) {
    case OH_EV_PUMP_STATE:
      if (end.pump_states.size() < 256) {
        end.pump_states.push_back({now, static_cast<double>(event.argument)});
      }
      break;
    case OH_EV_PUMP_RATES:
      end.data_modes += 1;
      end.sent_bps = rate_logged(event.argument & 0xffff);
      end.received_bps = rate_logged(event.argument >> 16);
      break;
    case OH_EV_SYMBOL:
      end.constellation.add({q4_12(event.argument), q4_12(event.argument >> 16)});
      break;
    case OH_EV_PUMP_INSTRUMENT:
      if (event.argument >> 24 < kInstruments) {
        end.instruments[event.argument >> 24].add(now, 0.01 * traces::instrument_hundredths(event.argument));
      }
      break;
    case OH_EV_PUMP_SEQUENCE: {
      const std::size_t which = event.argument >> 28, at = 3 * (event.argument >> 24 & 15);
      if (which >= OH_SEQUENCES || at >= OH_SEQUENCE_OCTETS) break;
      if (at == 0) end.sequences[which].clear();
      if (end.sequences[which].size() != at) break;
      for (unsigned k = 0; k < 3; ++k)
        end.sequences[which].push_back(static_cast<std::uint8_t>(event.argument >> 8 * k));
      break;
    }
    case OH_EV_CALL_END:
      if (!end.end) end.end = event.argument;
      break;
    case OH_EV_PUMP_TAP:
      if (event.argument >> 24 == 0) end.taps_db.clear();
      if (end.taps_db.size() == event.argument >> 24)
        end.taps_db.push_back(-0.01f * static_cast<float>(event.argument & 0xffffff));
      break;
    case OH_EV_LINK_RETRANSMIT:
      end.retransmitted.add(now, event.argument);
      break;
    case OH_EV_LINK_BAD_FRAME:
      end.bad_frames = event.argument;
      end.bad.add(now, event.argument);
      break;
    case OH_EV_LINK_BYTES:
      end.bytes.add(now, event.argument);
      break;
    default:
      break;
  }
}

void Analyzer::add(const oh_event& logged) {
  Figures& f = figures_;
  oh_event event = logged;
  event.time_ns = std::min(event.time_ns, kLastTimeNs);
  if (f.events++ == 0) f.begin_ns = event.time_ns;
  f.end_ns = std::max(f.end_ns, event.time_ns);
  f.timeline.add(event);
  if (event.kind == OH_EV_SERVICE_END && event.argument > f.total.pending_max) {
    f.timeline.look_at(Timeline::Moment::kWorst,
                       "Largest backlog: " + std::to_string(event.argument) + " samples pending after service",
                       event.time_ns);
  }
  count([&](PhaseFigures& p) { p.add(event); });
  switch (event.kind) {
    case OH_EV_INTERRUPT:
    case OH_EV_CARD_RATE:
    case OH_EV_RX_OVERRUN:
    case OH_EV_TX_UNDERRUN:
      return add_card(event);
    case OH_EV_ISR_ENTER:
    case OH_EV_ISR_EXIT:
    case OH_EV_FINISH:
    case OH_EV_SERVICE_RUN_BEGIN:
    case OH_EV_SERVICE_RUN_END:
      return add_wake_up(event);
    case OH_EV_SERVICE_BEGIN:
    case OH_EV_FILL_IN:
    case OH_EV_OUTPUT_READY:
    case OH_EV_SERVICE_END:
      return add_service(event);
    case OH_EV_TIMER_CALLBACK:
      if (event.argument != 0) {
        f.timer_interval.add(event.argument);
        f.timer_interval_log.add(event.argument);
      }
      break;
    case OH_EV_PHASE:
      f.ends[0].add(event);
      return begin_phase(event.time_ns, event.argument);
    default:
      if (event.id < f.ends.size()) add_end(event);
  }
}

const Figures& Analyzer::finish(std::uint64_t end_ns) {
  if (finished_) return figures_;
  finished_ = true;
  figures_.end_ns = std::max(figures_.end_ns, std::min(end_ns, kLastTimeNs));
  figures_.timeline.finish(figures_.end_ns);
  figures_.total.begin_ns = figures_.begin_ns;
  figures_.total.end_ns = figures_.end_ns;
  figures_.total.modem_cpu_ns = figures_.timeline.modem_ns_so_far();
  if (!figures_.phases.empty()) {
    figures_.phases.back().end_ns = figures_.end_ns;
    figures_.phases.back().modem_cpu_ns += figures_.total.modem_cpu_ns - modem_ns_at_phase_;
  }
  return figures_;
}

namespace {

using record::Row;
using record::Rows;
using record::Table;

using Histogram = Rows<LogLinearHistogram>;
constexpr Row kLatencyRows[] = {
    Histogram::of<&LogLinearHistogram::count>("count", "", "number of these times"),
    Histogram::of<&LogLinearHistogram::max>("max_ms", "ms", "greatest time").scale(1e-6),
    Histogram::of<&LogLinearHistogram::mean>("mean_ms", "ms", "mean time").scale(1e-6),
    Histogram::of<&LogLinearHistogram::min>("min_ms", "ms", "least time").scale(1e-6),
    Histogram::of("p50_ms", "ms", "median time", [](const LogLinearHistogram& h) { return h.quantile(0.5); })
        .scale(1e-6),
    Histogram::of("p999_ms", "ms", "99.9 % of the times are below",
                  [](const LogLinearHistogram& h) { return h.quantile(0.999); })
        .scale(1e-6),
    Histogram::of("p99_ms", "ms", "99 % of the times are below",
                  [](const LogLinearHistogram& h) { return h.quantile(0.99); })
        .scale(1e-6),
};
constexpr Table kLatency{kLatencyRows};

double modem_cpu_share(const PhaseFigures& p) {
  const double seconds = static_cast<double>(p.end_ns - p.begin_ns) * 1e-9;
  return seconds > 0 ? p.modem_cpu_ns * 1e-9 / seconds : 0.0;
}

using Phase = Rows<PhaseFigures>;
constexpr Row kPhaseRows[] = {
    Phase::of<&PhaseFigures::begin_ns>("begin_s", "s", "start of the whole log, or of a phase of the call").scale(1e-9),
    Phase::of<&PhaseFigures::blocks>("blocks", "", "blocks served"),
    Phase::of<&PhaseFigures::losses, &Losses::blocks_late>("blocks_late", "",
                                                           "blocks served after their samples were due"),
    Phase::of<&PhaseFigures::end_ns>("end_s", "s", "end of the whole log, or of a phase of the call").scale(1e-9),
    Phase::of<&PhaseFigures::interrupts>("interrupts", "", "interrupts of the card"),
    Phase::of<&PhaseFigures::lead_used_max_samples>("lead_used_max_samples", "samples",
                                                    "greatest part of the transmit lead that was used"),
    Phase::of("modem_cpu_share", "", "CPU time of the driver over time, 0 to 1",
              [](const PhaseFigures& p) { return modem_cpu_share(p); }),
    Phase::of<&PhaseFigures::losses, &Losses::overrun_samples>("overrun_samples", "samples",
                                                               "received samples that were lost"),
    Phase::of<&PhaseFigures::pending_max>("pending_max_samples", "samples",
                                          "greatest number of samples that waited for service"),
    Phase::of<&PhaseFigures::phase>("phase", "", "0 on hook, 1 dialling, 2 connecting, 3 connected"),
    Phase::of<&PhaseFigures::losses, &Losses::samples_filled_in>("samples_filled_in", "samples",
                                                                 "samples replaced by silence"),
    Phase::of<&PhaseFigures::losses, &Losses::samples_late>("samples_late", "samples",
                                                            "samples that were ready after they were due"),
    Phase::of<&PhaseFigures::elapsed_max_ns>("service_run_elapsed_max_ms", "ms", "longest service run").scale(1e-6),
    Phase::of<&PhaseFigures::losses, &Losses::underrun_samples>("underrun_samples", "samples",
                                                                "samples missing when due for sending"),
};
constexpr Table kPhase{kPhaseRows};

using End = Rows<Figures::End>;
constexpr Row kEndRows[] = {
    End::of<&Figures::End::bad_frames>("bad_frames", "", "V.42 frames or superframes that arrived damaged"),
    End::of<&Figures::End::bytes_delivered>("bytes_delivered", "bytes", "bytes delivered to this end's user"),
    End::of<&Figures::End::data_modes>("data_modes", "", "times that data mode began"),
    End::of<&Figures::End::frames_retransmitted>("frames_retransmitted", "", "frames that V.42 retransmitted"),
    End::of<&Figures::End::received_bps>("received_bps", "bit/s", "bit rate of the last data mode; near end, far end"),
    End::of<&Figures::End::recoveries>("recoveries", "", "recoveries of V.42"),
    End::of<&Figures::End::sent_bps>("sent_bps", "bit/s", "bit rate of the last data mode; near end, far end"),
};
constexpr Table kEnd{kEndRows};

using All = Rows<Figures>;
constexpr Row kFigureRows[] = {
    All::part<&Figures::ends>("ends", kEnd),
    All::of<&Figures::events>("events", "", "events in the log"),
    All::part<&Figures::interrupt_period>("interrupt_period", kLatency),
    All::part<&Figures::interrupt_to_isr>("interrupt_to_isr", kLatency),
    All::part<&Figures::interrupt_to_output>("interrupt_to_output", kLatency),
    All::part<&Figures::interrupt_to_service>("interrupt_to_service", kLatency),
    All::part<&Figures::isr_elapsed>("isr_elapsed", kLatency),
    All::part<&Figures::phases>("phases", kPhase),
    All::part<&Figures::service_run_elapsed>("service_run_elapsed", kLatency),
    All::part<&Figures::timer_interval_log>("timer_interval", kLatency),
    All::part<&Figures::total>("total", kPhase),
};

}  // namespace

constexpr Table kFigures{kFigureRows};

nlohmann::ordered_json to_json(const Figures& figures) {
  return record::to_json(kFigures, &figures);
}

}  // namespace offhook
