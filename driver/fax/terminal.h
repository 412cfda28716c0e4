// SPDX-License-Identifier: MIT
//
// A fax terminal: T.30 and the pages of a TIFF file, outside the service routine. The owner's thread calls poll() every
// few milliseconds. T.30, T.4 and T.6 are spandsp's.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "driver/fax/modems.h"

struct t30_state_s;

namespace offhook::fax {

struct Progress;

struct TerminalConfig {
  bool calls = true;          ///< the calling machine sends CNG, the other one CED
  std::string send, receive;  ///< TIFF files: of the pages to send, and for the received pages; empty: none
  std::string ident{};        ///< own number, up to 20 digits, spaces and '+'
  bool error_correction = true;
  std::uint32_t max_bit_rate = 14'400;  ///< 14 400: V.17, V.29, V.27ter; 9600: V.29, V.27ter; 4800: V.27ter
  /// A control frame that was sent or received, with address and control octets. May be empty.
  std::function<void(bool received, std::span<const std::uint8_t> frame)> frame{};
  std::function<void(const Progress&)> page{};  ///< a page is complete. May be empty.
};

/// The state of a terminal.
struct Progress {
  std::uint32_t pages_sent = 0;       ///< that the far end has confirmed
  std::uint32_t pages_received = 0;   ///< written to the file
  std::uint32_t bit_rate = 0;         ///< bit/s of the pages
  Signal modulation = Signal::kNone;  ///< of the pages, from the first test signal on
  bool error_correction = false;
  std::uint32_t bad_lines = 0;         ///< lines of the received pages that could not be decoded, without correction
  std::uint32_t repeated_frames = 0;   ///< requests to send frames of a page again, with correction
  std::uint32_t frames_again = 0;      ///< frames that these requests name
  std::uint32_t trainings = 0;         ///< test signals announced (DCS)
  std::uint32_t failed_trainings = 0;  ///< of these: refused (FTT)
  std::uint32_t refused_pages = 0;     ///< pages whose quality was refused (RTN)
  std::string far_ident;               ///< number of the far end
  bool over = false;                   ///< T.30 has ended
  bool complete = false;               ///< and without an error
  std::string failure;                 ///< the reason otherwise, for people
};

class Terminal {
 public:
  /// @param pump  memory of a pump of pump_type(); outlives the terminal
  /// @throws std::invalid_argument: the rate; std::runtime_error: T.30 could not be started
  Terminal(void* pump, const TerminalConfig& config);
  ~Terminal();
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;

  /// Exchanges messages with the pump and runs T.30 up to the pump's clock. Not real-time.
  void poll();
  /// The line is gone, or the user has cancelled: T.30 ends with an error.
  void end_call();
  const Progress& progress() const { return progress_; }

 private:
  void create(const TerminalConfig& config);
  void configure(const TerminalConfig& config);
  void set_receiver(int type, int bit_rate, int short_training, int frames);
  void set_transmitter(int type, int bit_rate, int short_training, int frames);
  void send_frame(const std::uint8_t* octets, int length);
  void order(Kind kind, Signal signal, std::uint8_t turn, std::int32_t value, bool short_training, bool frames);
  void take_reports();
  void take(const Message& report);
  void feed_bits();
  void flush();
  void on_block(std::span<const std::uint8_t> frame);
  void on_frame(bool received, std::span<const std::uint8_t> frame);
  void on_page();
  void on_end(int code);

  struct Free {
    void operator()(t30_state_s* t30) const;
  };

  void* pump_;
  Rings rings_;
  TerminalConfig config_;
  Progress progress_;
  std::uint64_t clock_ = 0;  // samples that T.30 has seen
  int transmitter_ = -1, receiver_ = -1;
  bool sends_frames_ = false, sends_bits_ = false;
  std::uint32_t block_ = 0, block_frames_ = 0;  // newest page and block that PPS has named, and its frames
  std::uint8_t send_turn_ = 0, receive_turn_ = 0;
  std::deque<Message> orders_, frames_;  // that found no room, or are early
  std::unique_ptr<t30_state_s, Free> t30_;
};

}  // namespace offhook::fax
