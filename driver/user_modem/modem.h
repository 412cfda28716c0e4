// SPDX-License-Identifier: MIT
//
// The modem end (driver/modem/modem_end.h) in user space, with memory and all modulations.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

#include "driver/modem/modem_end.h"
#include "dsp/pump/pump_type.h"

namespace offhook::modem {

class Modem {
 public:
  using Config = oh_modem_end_config;  ///< without_v42 is set by this class
  /// @throws std::invalid_argument when the configuration is refused
  explicit Modem(const Config& config);

  void start() { oh_modem_end_start(end()); }
  /// Real-time: yes, if the pump is. @param rx, tx  n periods, as in the pump's process()
  void process(const void* rx, void* tx, std::size_t n) { oh_modem_end_process(end(), rx, tx, n); }
  void report_gap(std::size_t n) { oh_modem_end_report_gap(end(), n); }
  /// For a driver: only process() and report_gap(), behind the pump contract.
  oh_pump pump();

  bool direct() const { return oh_modem_end_direct(end()) != 0; }
  std::size_t writable() const { return oh_modem_end_writable(end()); }
  std::size_t write(const std::uint8_t* bytes, std::size_t n) { return oh_modem_end_write(end(), bytes, n); }
  std::size_t read(std::uint8_t* bytes, std::size_t n) { return oh_modem_end_read(end(), bytes, n); }
  std::size_t unsent() const { return oh_modem_end_unsent(end()); }
  void hang_up() { oh_modem_end_hang_up(end()); }
  bool hung_up() const { return oh_modem_end_released(end()) != 0; }
  bool ended() const { return oh_modem_end_ended(end()) != 0; }
  bool hold(oh_hold_order order) { return oh_modem_end_hold(end(), order) == 0; }
  void* pump_memory() { return oh_modem_end_pump_memory(end()); }
  oh_modem_end_status status() const;
  oh_pump_status pump_status() const;
  oh_lapm_status lapm_status() const;
  std::string_view failure() const;

 private:
  struct Free {
    void operator()(oh_modem_end* end) const;
  };
  oh_modem_end* end() const { return end_.get(); }
  std::unique_ptr<oh_modem_end, Free> end_;
};

}  // namespace offhook::modem
