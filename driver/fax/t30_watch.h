// SPDX-License-Identifier: MIT
//
// T.30 as every fax terminal of this program uses it, for every carrier of its signals: its settings at the start, and
// the record of its actions. T.30, T.4 and T.6 are spandsp's.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "driver/fax/slots.h"

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

/// spandsp's set of the modulations (T30_SUPPORT_V17 ...) that TerminalConfig::max_bit_rate allows.
/// @throws std::invalid_argument: another rate
int supported_modems(std::uint32_t max_bit_rate);

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
  std::uint32_t trainings = 0;         ///< test signals announced by DCS
  std::uint32_t failed_trainings = 0;  ///< test signals refused by FTT
  std::uint32_t refused_pages = 0;     ///< pages whose quality was refused (RTN)
  std::string far_ident;               ///< number of the far end
  bool over = false;                   ///< T.30 has ended
  bool complete = false;               ///< and without errors
  std::string failure;                 ///< otherwise the reason, for people
};

/// Only from the thread that runs T.30.
class T30Watch {
 public:
  /// @throws std::invalid_argument: the rate
  explicit T30Watch(const TerminalConfig& config);
  T30Watch(const T30Watch&) = delete;
  T30Watch& operator=(const T30Watch&) = delete;

  /// Gives a new T.30 its settings. @param t30  calls back until it ends, before the watch
  void begin(t30_state_s* t30);
  /// The line is gone, or the user has cancelled: T.30 ends with an error. @param reason  for people; empty: T.30's
  void end_call(std::string reason = {});
  void note_signal(Signal signal) {
    if (is_page_signal(signal) && v34_bit_rate_ == 0) progress_.modulation = signal;
  }
  /// V.34 half duplex carries the pages, whatever T.30 has agreed. @param bit_rate  of its primary channel
  void note_v34(std::uint32_t bit_rate) {
    progress_.modulation = Signal::kV34;
    progress_.bit_rate = v34_bit_rate_ = bit_rate;
  }
  const Progress& progress() const { return progress_; }

 private:
  std::uint32_t take_statistics();
  void on_block(std::span<const std::uint8_t> frame);
  void on_frame(bool received, std::span<const std::uint8_t> frame);
  void on_page();
  void on_end(int code);

  TerminalConfig config_;
  int modems_;
  t30_state_s* t30_ = nullptr;
  Progress progress_;
  std::uint32_t v34_bit_rate_ = 0;
  std::uint32_t block_ = 0, block_frames_ = 0;  // newest page and block that PPS has named, and its frames
};

}  // namespace offhook::fax
