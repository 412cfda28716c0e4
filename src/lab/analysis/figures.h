// SPDX-License-Identifier: MIT
//
// All figures, derived only from the event log: pass the events in order, then read the figures. One pass; memory
// depends on the number of entities and phases, not on the length of the call. Live and simulated logs are treated
// alike.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <vector>

#include "driver/base/histogram.h"
#include "offhook/event_log.h"
#include "offhook/pump.h"
#include "src/lab/analysis/series.h"
#include "src/lab/analysis/tally.h"
#include "src/lab/analysis/timeline.h"

namespace offhook {

namespace record {
struct Table;
}

/// One phase of the call (OH_EV_PHASE).
struct PhaseFigures : ServiceTally {
  std::optional<std::uint32_t> phase;  ///< none: the whole log
  std::uint64_t begin_ns = 0, end_ns = 0;
  std::uint64_t elapsed_max_ns = 0;  ///< longest service run
  double modem_cpu_ns = 0;           ///< of the entities that run the driver
  /// Largest share of the transmit lead that a block used: its length plus the samples played between its interrupt and
  /// its output. Above 1, the block was late.
  double lead_used_max_samples = 0;
};

/// A received constellation point, decision units.
struct ConstellationPoint {
  float re = 0, im = 0;
};

inline constexpr std::size_t kInstruments = OH_INSTRUMENT_SLIPS + 1;

struct Figures {
  std::uint64_t events = 0;
  std::uint64_t begin_ns = 0, end_ns = 0;

  std::vector<PhaseFigures> phases;  ///< in order of time; at most 64, later changes count in the last one
  PhaseFigures total;                ///< the whole log

  ExtremaSeries pending{4096};  ///< samples pending after each service
  LogLinearHistogram pending_samples;
  /// Latencies, ns. Each block counts from the interrupt that completed it.
  LogLinearHistogram interrupt_to_isr;
  LogLinearHistogram interrupt_to_service;  ///< until the service that read its last sample
  LogLinearHistogram interrupt_to_output;   ///< until its output was queued
  /// The whole job of the interrupt if it is a separate entity (in INT, including the service: Figure 2), otherwise the
  /// time from enter to exit. Includes preemptions.
  LogLinearHistogram isr_elapsed;
  LogLinearHistogram service_run_elapsed;  ///< one wake-up: SERVICE_RUN_BEGIN to SERVICE_RUN_END, including preemptions
  LogLinearHistogram interrupt_period;     ///< between interrupts
  ExtremaSeries service_run_elapsed_over_time{4096};
  ExtremaSeries isr_elapsed_over_time{2048};
  ExtremaSeries interrupt_period_over_time{4096};
  ExtremaSeries output_latency_over_time{4096};
  ExtremaSeries samples_late_over_time{1024}, samples_filled_in_over_time{1024};
  ExtremaSeries overruns_over_time{1024}, underruns_over_time{1024};

  LinearHistogram timer_interval{50'000, 400};  ///< ns between 1 ms timer callbacks, in buckets of 50 us as the paper
  LogLinearHistogram timer_interval_log;

  /// The link, near end (0) and far end (1).
  struct End : TransferTally {
    ExtremaSeries bytes{2048};          ///< user bytes delivered in order
    ExtremaSeries retransmitted{1024};  ///< I-frames sent again in each recovery
    std::uint64_t bad_frames = 0;       ///< for V.42, or superframes of ADSL
    ExtremaSeries bad{1024};            ///< the same over time
    ThinnedSample<ConstellationPoint> constellation{4096};
    /// The pump's measurements of its line, by enum oh_instrument; retrain causes are in their own units.
    std::array<ExtremaSeries, kInstruments> instruments{ExtremaSeries{1024}, ExtremaSeries{1024}, ExtremaSeries{1024},
                                                        ExtremaSeries{1024}, ExtremaSeries{1024}, ExtremaSeries{256},
                                                        ExtremaSeries{256},  ExtremaSeries{256},  ExtremaSeries{256},
                                                        ExtremaSeries{256},  ExtremaSeries{256}};
    /// The octets of both ends' capabilities, by enum oh_sequence, with zeros at the end; empty: not exchanged.
    std::array<std::vector<std::uint8_t>, OH_SEQUENCES> sequences;
    std::optional<std::uint32_t> end;      ///< why the call ended, a code of V.59
    std::vector<float> taps_db;            ///< the equaliser's last taps, relative to the largest
    std::vector<SeriesPoint> pump_states;  ///< changes; at most 256
    std::uint32_t data_modes = 0;          ///< how often data mode began: one more than trainings and renegotiations
    std::uint32_t sent_bps = 0, received_bps = 0;  ///< of the last one
  };
  std::array<End, 2> ends;

  Timeline timeline;
};

class Analyzer {
 public:
  /// Events in the order of the log. Real-time: no. Amortised O(1).
  void add(const oh_event& event);
  /// There are no more events. @param end_ns end of the call if later than the last event
  const Figures& finish(std::uint64_t end_ns = 0);
  const Figures& figures() const { return figures_; }

 private:
  /// The current work of one driver instance. Card and driver of one modem have the same id.
  struct Driver {
    struct Block {
      std::uint64_t raised_ns;
      std::uint64_t end_position;
      std::uint32_t samples;
      double rate_hz;
    };
    std::deque<Block> unacknowledged;    ///< interrupts that the isr has not handled
    std::deque<Block> owed;              ///< blocks whose samples were not all read
    std::vector<Block> awaiting_output;  ///< the blocks that are being served
    std::uint64_t raised_position = 0;
    std::uint64_t taken_position = 0;
    std::uint64_t last_interrupt_ns = 0;
    double rate_hz = 0;  ///< OH_EV_CARD_RATE; 0 if it is not in the log
    std::uint64_t isr_enter_ns = 0, run_begin_ns = 0;
    bool in_isr = false, in_run = false;
    std::uint16_t isr_entity = kIdle;  ///< entity whose job is the isr, if it is a separate one
  };
  void add_card(const oh_event& event);
  void add_wake_up(const oh_event& event);
  void add_service(const oh_event& event);
  void add_end(const oh_event& event);
  Driver& driver(std::uint16_t id);
  void isr_done(Driver& driver, std::uint64_t time_ns);
  void take(Driver& driver, std::uint64_t time_ns, std::uint32_t samples, bool lost);
  template <typename Change>
  void count(Change change);
  void loss(std::uint64_t time_ns, const char* what);
  void begin_phase(std::uint64_t time_ns, std::uint32_t phase);

  Figures figures_;
  std::vector<std::pair<std::uint16_t, Driver>> drivers_;
  double modem_ns_at_phase_ = 0;
  std::uint64_t steady_since_ns_ = 0;
  bool steady_seen_ = false;
  bool loss_seen_ = false;
  bool finished_ = false;
};

/// The scalar figures for summary.json and --json: times in ms, shares from 0 to 1.
extern const record::Table kFigures;
nlohmann::ordered_json to_json(const Figures& figures);

}  // namespace offhook
