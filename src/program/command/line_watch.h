// SPDX-License-Identifier: MIT
//
// The state of a line for `--page`, gathered on the owner's thread: counters, the status of the call, and the events of
// the log while they are drained.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "driver/live/live_card.h"
#include "driver/session/live_driver.h"
#include "driver/tty/dce.h"
#include "src/live_page/view.h"
#include "traces/log/writer.h"

namespace offhook::command {

/// Only from the owner's thread.
class LineWatch {
 public:
  /// Events of the driver and the pump. The longest times of the last second are in the view.
  void add(std::span<const oh_event> events, std::int64_t now_ms);
  /// Reads all events in a ring. @param writer  also receives the events; may be null
  void drain(oh_event_log& log, traces::LogWriter* writer, std::int64_t now_ms);
  void follow(const modem::Dce& dce, const modem::CallLine& line, modem::Carriers carriers, std::int64_t now_ms);
  void follow(const oh_driver_counters& driver, const oh_card_counters& card, const LiveContext& context,
              std::int64_t now_ms);
  void follow(const std::vector<CardFigure>& figures);
  /// The card has failed.
  void gone() { view.phase = live_page::Phase::kGone; }
  /// Quantiles of a histogram of ns.
  static live_page::Quantiles quantiles(const LogLinearHistogram& h);

  live_page::LineView view;

 private:
  /// The largest value in 100 ms.
  struct Peak {
    std::int64_t slot = -1;
    std::uint32_t pending = 0;
    std::uint64_t dispatch_ns = 0, service_ns = 0;
  };
  void show_peaks(std::int64_t slot);
  live_page::Phase phase_of(const modem::Dce& dce, const modem::CallLine& line, const modem::CallStatus& status);

  static constexpr std::size_t kSlots = 10;
  std::array<Peak, kSlots> peaks_{};
  std::uint64_t requested_ns_ = 0, run_ns_ = 0;  // 0: none
  std::int64_t call_began_ms_ = 0, quantiles_at_ms_ = 0;
  bool calling_ = false, had_data_ = false;
};

/// Rings of this size are sufficient for a page, which drains them ten times per second.
inline constexpr std::size_t kPageEvents = 1 << 13;

}  // namespace offhook::command
