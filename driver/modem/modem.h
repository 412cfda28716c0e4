// SPDX-License-Identifier: MIT
//
// One end of a connection: a pump with V.42 above it, or start-stop characters (V.14) where there is no error control.
// Silent until start(). What happens to it (training, retransmissions, received symbols) goes into the event log under
// its id.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>

#include "dsp/pump/pump_type.h"
#include "dsp/link/start_stop.h"
#include "dsp/link/lapm.h"
#include "offhook/event_log.h"
#include "offhook/pump.h"

namespace offhook::modem {

/// What is wanted above the pump (V.250: +ES, +DS, +DS44).
struct ErrorControl {
  enum Mode : std::uint8_t {
    kNone,      ///< start-stop characters (V.14): what arrives may be wrong
    kOptional,  ///< V.42, or none where the far end does not know it
    kRequired
  };
  Mode mode = kRequired;
  bool detect = true;            ///< V.42's detection phase
  std::uint8_t compression = 0;  ///< V.42bis: of enum oh_lapm_compression
  std::uint16_t codewords = 2048;
  std::uint8_t max_string = 32;
  std::uint8_t v44 = 0;  ///< V.44, preferred to V.42bis: of enum oh_lapm_compression
  oh_v44_parameters v44_tx{.codewords = 2048, .history = 6144, .max_string = 255}, v44_rx = v44_tx;
};

class Modem {
 public:
  struct Config {
    const oh_pump_type* pump;
    oh_pump_role role;
    std::uint16_t id;                       ///< in the log: 0 near, 1 far
    oh_event_log* log;                      ///< may be null
    std::function<std::uint64_t()> now_ns;  ///< for the log
    bool log_symbols = false;
    std::uint32_t io_delay_samples = 0;  ///< of card and driver, see oh_pump_config
    std::uint32_t max_bit_rate = 0;      ///< 0: the pump's highest
    std::uint32_t min_bit_rate = 0;      ///< this and the next for automode, see oh_pump_config
    std::uint32_t modulations = 0;       ///< where V.42 is required, only those that have it are used
    std::uint8_t window = 15;            ///< of V.42, frames; what a round trip holds, up to 64
    ErrorControl error_control{};
    oh_pump_format format = kLinear8000;  ///< of the card's samples
    std::uint32_t hold_timeout = 0;       ///< what a far end that asks for a hold is granted, oh_pump_type::allow_hold
  };
  /// @throws std::invalid_argument when the pump refuses
  explicit Modem(const Config& config);
  ~Modem();
  Modem(const Modem&) = delete;
  Modem& operator=(const Modem&) = delete;

  void start() { started_ = true; }
  /// Real-time: yes, for a pump that is. @param rx, tx  n periods, as the pump's process() has them
  void process(const void* rx, void* tx, std::size_t n);
  /// Real-time: yes.
  void report_gap(std::size_t n);

  /// For a driver: process() and report_gap() behind the pump contract, with nothing else of it.
  oh_pump pump();
  /// No error control: configured so, or the far end has none.
  bool direct() const { return direct_; }
  /// The user's bytes, whatever is under them; none before it is known what that is. Real-time: yes.
  std::size_t writable() const;
  std::size_t write(const std::uint8_t* bytes, std::size_t n);  ///< @return bytes taken
  std::size_t read(std::uint8_t* bytes, std::size_t n);         ///< @return bytes given
  /// Without error control: bytes written that the pump has not taken. Real-time: yes.
  std::size_t unsent() const { return characters_ ? characters_->unsent() : 0; }
  /// Releases the link, then the connection, each telling the far end. Real-time: yes.
  void hang_up();
  /// Both are done. Takes some round trips; a far end that does not answer costs the link's timers.
  bool hung_up() const { return hung_up_; }
  /// Modem-on-hold; pump_status() says what becomes of it.  @return false: the pump has none, or it is not possible
  /// now. Real-time: yes.
  bool hold(oh_hold_order order) { return oh_pump_hold(config_.pump, pump_memory_.get(), order) == 0; }
  /// What the pump's operations call self, for calls that only one kind of pump has.
  void* pump_memory() { return pump_memory_.get(); }
  oh_pump_status pump_status() const;
  oh_lapm_status lapm_status() const;
  /// Why nothing will ever come again from this end; empty while it lives. A literal. Real-time: yes.
  std::string_view failure() const { return failure(pump_status(), lapm_status(), direct_); }
  static std::string_view failure(const oh_pump_status& pump, const oh_lapm_status& link, bool direct);

 private:
  struct Free {
    void operator()(void* p) const;
  };
  oh_lapm_config lapm_config();
  oh_pump_config pump_config();
  oh_pump_observer observer();
  oh_bit_port port() { return direct_ ? characters_->port() : lapm_port_; }
  oh_bit_port either_port();
  void follow(std::size_t n);
  void clear();
  void record(oh_event_kind kind, std::uint32_t argument) const;

  Config config_;
  std::unique_ptr<void, Free> pump_memory_, lapm_memory_;
  oh_lapm* lapm_ = nullptr;
  oh_bit_port lapm_port_{};
  std::unique_ptr<v14::Link> characters_;  // where error control is not required
  bool direct_ = false;
  bool started_ = false;
  oh_pump_state state_ = OH_PUMP_IDLE;
  oh_hold_state hold_ = OH_HOLD_NONE;
  std::uint32_t tx_bit_rate_ = 0, rx_bit_rate_ = 0;  // that the link knows
  std::uint32_t symbols_ = 0;
  bool hanging_up_ = false;  // the link is asked to
  bool clearing_ = false;    // and the pump
  bool hung_up_ = false;
};

}  // namespace offhook::modem
