// SPDX-License-Identifier: MIT
//
// A fax machine on a live card. The driver's context runs dialling, call progress and the modem signals
// (driver/fax/modems.h, or v34_modems.h). The owner's thread calls poll(), in which T.30 runs and files are written.
//
// Until begin() the card is on hook and the driver sends silence.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>

#include "driver/fax/terminal.h"
#include "driver/fax/v34_modems.h"
#include "driver/session/call_progress.h"
#include "driver/session/fax_call.h"
#include "driver/session/live_driver.h"

namespace offhook::modem {

struct FaxCallConfig {
  std::string digits{};  ///< digits to dial; empty: only go off hook
  DialPlan plan{};
  fax::TerminalConfig terminal{};
  bool v34 = false;  ///< try V.34 half duplex; requires terminal.error_correction
};

class FaxSession final : public FaxCall {
 public:
  /// Starts the card, on hook. @throws std::runtime_error: privileges, device, or a card that is not a modem card
  FaxSession(LiveCard& card, const LiveDriverConfig& driver, const FaxCallConfig& call);
  ~FaxSession() override;
  FaxSession(const FaxSession&) = delete;
  FaxSession& operator=(const FaxSession&) = delete;

  bool ringing() const override;
  /// Goes off hook, dials if there are digits, and then starts T.30.
  void begin() override;
  void poll() override;
  void end_call() override;
  bool over() const override { return stopped_ || progress().over; }
  const fax::Progress& progress() const override { return terminal_ ? terminal_->progress() : before_; }
  fax::Counters counters() const { return v34_ ? v34_->counters() : fax::counters_of(pump_.get()); }
  std::string failure() const override { return failure_; }
  std::vector<std::string> shortcomings() const override { return driver_->shortcomings(); }
  std::uint64_t blocks_late() const override { return driver_->counters().blocks_late; }

 private:
  static void process(void* self, const void* rx, void* tx, std::size_t n);
  static void report_gap(void* self, std::size_t n);
  void listen(const std::int16_t* rx, std::size_t n);

  LiveCard& card_;
  FaxCallConfig config_;
  fax::OwnPump pump_;  // one of the two
  std::unique_ptr<fax::V34Modems> v34_;
  oh_pump modems_{};
  std::optional<fax::Terminal> terminal_;
  fax::Progress before_;
  std::string failure_;
  bool stopped_ = false;
  // Used by the context, from begin() on:
  Dialler dialler_;
  ProgressDetector detector_;
  std::atomic<bool> active_{false}, dialled_{false}, no_dial_tone_{false}, busy_{false};
  std::optional<LiveDriver> driver_;  // last member: it calls process() from its construction to its destruction
};

}  // namespace offhook::modem
