// SPDX-License-Identifier: MIT
//
// A fax terminal without modems: T.30 over T.38. The packets go through a network as they are; the owner carries them
// (driver/base/udptl.h) and lets time pass. T.30 and T.38 are spandsp's.
//
//   TIFF file <-> T.30 <-> T.38 <-> packets
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>

#include "driver/fax/t30_watch.h"

struct t38_core_state_s;
struct t38_terminal_state_s;

namespace offhook::fax {

class T38Terminal {
 public:
  /// Version of T.38 in packets and in session descriptions.
  static constexpr int kVersion = 0;
  /// Method of rate management: the test of the line is data for the network.
  static constexpr int kTransferredTest = 2;
  static constexpr std::uint32_t kClockHz = 8000;

  /// @param send  a packet of T.38. `times`: number of copies that are sent at once, for an indicator
  using Send = std::function<void(std::span<const std::uint8_t> packet, int times)>;
  /// @throws std::invalid_argument: the rate; std::runtime_error: T.38 could not be started
  T38Terminal(const TerminalConfig& config, Send send);
  ~T38Terminal();
  T38Terminal(const T38Terminal&) = delete;
  T38Terminal& operator=(const T38Terminal&) = delete;

  /// A packet from an untrusted source; each is given once, in order. @param number  of UDPTL
  /// @return false if it is not a packet of this version, and was ignored
  bool receive(std::uint16_t number, std::span<const std::uint8_t> packet);
  /// Lets T.30 run until this time. @param ticks  of kClockHz
  void advance(std::uint32_t ticks);
  /// The line is gone, or the user has cancelled: T.30 ends with an error.
  void end_call() { watch_.end_call(); }
  const Progress& progress() const { return watch_.progress(); }

 private:
  struct Free {
    void operator()(t38_terminal_state_s* t38) const;
  };
  Send send_;
  T30Watch watch_;
  std::unique_ptr<t38_terminal_state_s, Free> t38_;
};

}  // namespace offhook::fax
