// SPDX-License-Identifier: MIT
//
// A modem on a live card: a live driver (live_driver.h), and the call that is on the line, if any. In the driver's
// context run pump and V.42, and bytes move between V.42 and two rings. The owner's thread makes and ends calls, reads
// and writes the rings; it may be late or stall.
//
// Between calls the driver continues with silence, so the card never stops.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "driver/session/call_line.h"
#include "driver/session/line_memory.h"
#include "driver/session/live_driver.h"
#include "offhook/modem_card.h"

namespace offhook::modem {

using SessionConfig = LiveDriverConfig;

/// V.42 traffic in all calls: the user's bytes, and their octets on the link, which may be compressed.
struct Traffic {
  std::uint64_t bytes_sent = 0, bytes_received = 0;
  std::uint64_t octets_sent = 0, octets_received = 0;
};

class Session final : public CallLine {
 public:
  /// Starts the card. @param kept_periods  sample periods of each call, from its end on, that last_line() gives
  /// @throws std::runtime_error: privileges, device
  Session(LiveCard& card, const SessionConfig& config, std::size_t kept_periods = 0);
  ~Session() override = default;
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  bool ringing() const override { return oh_card_ringing(&card_.state()) != 0; }
  void begin_call(const CallConfig& call) override;
  /// If there is a link, first informs the far end, and waits at most kReleaseMs for its answer, or kGoneMs if it is
  /// silent. kReleaseMs is enough for the answer to DISC over a round trip of 1.2 s. It is also enough for V.34's
  /// cleardown: its S, and 2500 ms and two round trips until MP' has come (V.34 11.7, 11.6.2.1). If the far end has
  /// released the link, the answer gets kAnswerMs to leave: UA is 64 bits, 53 ms at 1200 bit/s, after the lead.
  void end_call() override {
    end_call([] { return false; });
  }
  /// @param far_end_left whether the network has reported that the far end left; then there is no wait
  void end_call(const std::function<bool()>& far_end_left);
  void note_end(oh_call_end why) override;
  static constexpr int kReleaseMs = 7000, kGoneMs = 1500, kAnswerMs = 150;
  static constexpr float kSilenceDbm0 = -48;
  void hold(oh_hold_order order) override {
    if (call_) call_->hold(order);
  }
  bool loop(oh_loop_order order) override { return call_ && call_->loop(order); }
  bool can_fax() const override { return true; }
  void* fax_pump() override { return call_ ? call_->fax_pump() : nullptr; }
  CallStatus status() const override;
  Caller caller() const override { return card_.caller(); }
  /// Format of the card's samples in the present call.
  oh_pump_format format() const {
    const oh_streams& streams = card_.card().streams;
    return {{streams.rx.rate_hz, card_.encoding()}, {streams.tx.rate_hz, card_.encoding()}};
  }
  Traffic traffic() const;
  /// The last samples of the last call, which is ended first if necessary.
  LineMemory::Samples last_line();
  /// Samples queued in driver, card and the device behind it, as in oh_pump_config.
  std::uint32_t io_delay_samples() const {
    return driver_.transmit_lead_samples() + card_.queued_samples() + driver_.device_delay_samples();
  }

  std::size_t write(const std::uint8_t* bytes, std::size_t n) override { return call_ ? call_->write(bytes, n) : 0; }
  std::size_t read(std::uint8_t* bytes, std::size_t n) override { return call_ ? call_->read(bytes, n) : 0; }
  std::size_t writable() const override { return call_ ? call_->writable() : 0; }

  /// Ends card and service; their counters stay.
  void stop() { driver_.stop(); }

  /// Why the card is gone. Empty while it exists.
  std::string card_failure() const;
  const LiveContext& context() const { return driver_.context(); }
  oh_driver_counters counters() const { return driver_.counters(); }
  oh_card_counters card_counters() const { return oh_card_counts(&card_.state()); }
  std::vector<std::string> shortcomings() const { return driver_.shortcomings(); }

 private:
  static void process(void* self, const void* rx, void* tx, std::size_t n);
  static void report_gap(void* self, std::size_t n);
  void skip(Call& call, std::size_t n);
  void swap_call(std::unique_ptr<Call> next);

  LiveCard& card_;
  oh_event_log* log_;
  std::unique_ptr<Call> call_;            // the owner's
  Traffic before_;                        // in earlier calls
  std::atomic<Call*> active_{nullptr};    // the context's view
  std::atomic<std::uint64_t> served_{0};  // pump calls so far, odd within one
  LineMemory memory_;                     // used by the context during a call, otherwise by the owner
  std::uint64_t position_;                // of the card; all samples before it are served. Used by the context
  LiveDriver driver_;                     // last member: it calls process() from its construction to its destruction
};

}  // namespace offhook::modem
