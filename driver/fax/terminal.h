// SPDX-License-Identifier: MIT
//
// A fax terminal: T.30 and the pages of a TIFF file, outside the service routine. The owner's thread calls poll() every
// few milliseconds. T.30, T.4 and T.6 are spandsp's.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>

#include "driver/fax/modems.h"
#include "driver/fax/t30_watch.h"

namespace offhook::fax {

class Terminal {
 public:
  /// @param rings  of a pump that outlives the terminal: rings_of(), or V34Modems::rings()
  /// @throws std::invalid_argument: the rate; std::runtime_error: T.30 could not be started
  Terminal(const Rings& rings, const TerminalConfig& config);
  /// @param pump  memory of a pump of pump_type()
  Terminal(void* pump, const TerminalConfig& config) : Terminal(rings_of(pump), config) {}
  ~Terminal();
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;

  /// Exchanges messages with the pump and runs T.30 up to the pump's clock. Not real-time.
  void poll();
  /// The line is gone, or the user has cancelled: T.30 ends with an error.
  void end_call();
  const Progress& progress() const { return watch_.progress(); }

 private:
  void create(const TerminalConfig& config);
  void set_receiver(int type, int bit_rate, int short_training, int frames);
  void set_transmitter(int type, int bit_rate, int short_training, int frames);
  void send_frame(const std::uint8_t* octets, int length);
  void order(Kind kind, Signal signal, std::uint8_t turn, std::int32_t value, bool short_training, bool frames);
  void take_reports();
  void take(const Message& report);
  void feed_bits();
  void test_line();
  void flush();

  struct Free {
    void operator()(t30_state_s* t30) const;
  };

  Rings rings_;
  T30Watch watch_;
  std::uint64_t clock_ = 0;  // samples that T.30 has seen
  int transmitter_ = -1, receiver_ = -1;
  bool sends_frames_ = false, sends_bits_ = false;
  bool by_v34_ = false;                  // V.34 half duplex carries the call
  bool sends_test_ = false;              // TCF is due
  std::int32_t receives_test_rate_ = 0;  // TCF is due at this bit rate
  std::uint8_t send_turn_ = 0, receive_turn_ = 0;
  std::deque<Message> orders_, frames_;  // messages that found no room or are early
  std::unique_ptr<t30_state_s, Free> t30_;
};

}  // namespace offhook::fax
