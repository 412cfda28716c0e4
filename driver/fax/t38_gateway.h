// SPDX-License-Identifier: MIT
//
// A T.38 gateway: a telephone line with a fax machine on one side, packets of T.38 on the other. It demodulates the
// machine's signals and sends their contents as packets, and modulates what the packets contain. T.30 runs in the two
// machines; the gateway follows it to know the next signal. All of it is spandsp's.
//
//      service routine                       |  owner's thread                         network
//      samples -> receivers -> T.38 packets -|-> poll() -> send   -> UDPTL             -> T.38 machine
//      samples <- modulators <- buffers <----|-- receive()        <- UDPTL, in order   <-
//
// DC and mains hum are removed before the receivers, as in driver/fax.
//
// The modem signals must not be late, and packets may be. The pump and its owner exchange packets through two rings.
// The pump takes all received packets with its next block. spandsp's buffers allow for packets that come late.
//
// The frames of T.30 that pass are reported, in both directions. Non-standard facilities (NSF, NSC, NSS) are
// overwritten, because two machines that agree on them would leave T.30.
//
// Source: the texts of T.30 and T.38 were not available; spandsp 0.0.6 is the source.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>

#include "driver/fax/slots.h"
#include "driver/fax/t38_terminal.h"
#include "dsp/pump/pump_type.h"
#include "offhook/pump.h"

namespace offhook::fax {

/// The pump. Its configuration needs no port. Both roles are equal.
const oh_pump_type* gateway_type();

struct GatewayConfig {
  bool error_correction = true;         ///< false: the gateway removes it from DIS
  std::uint32_t max_bit_rate = 14'400;  ///< as in TerminalConfig
};

/// Counters of a gateway.
struct GatewayCounters {
  std::uint64_t packets_to_network = 0, packets_to_line = 0;
  std::uint64_t lost_packets = 0;  ///< packets that found a ring full, in both directions
  std::uint32_t pages = 0;         ///< pages that MCF has confirmed
  std::uint32_t bit_rate = 0;      ///< bit/s of the newest page
  bool error_correction = false;
};

/// Pump and owner's side of one call. All functions are for one thread, except the pump's own.
class T38Gateway {
 public:
  using Send = T38Terminal::Send;
  /// A control frame that passed, with address and control octets.
  using Frame = std::function<void(bool from_network, std::span<const std::uint8_t> frame)>;
  /// @throws std::bad_alloc; std::invalid_argument: the rate
  T38Gateway(const GatewayConfig& config, Send send, Frame frame);
  ~T38Gateway();
  T38Gateway(const T38Gateway&) = delete;
  T38Gateway& operator=(const T38Gateway&) = delete;

  /// For the line; it lives as long as the gateway.
  oh_pump pump() const { return oh_pump_at(gateway_type(), pump_.get()); }
  void* pump_memory() const { return pump_.get(); }
  /// A packet from an untrusted source; each is given once, in order. @param number  of UDPTL
  /// @return false if it is not a packet of T38Terminal::kVersion, and was ignored
  bool receive(std::uint16_t number, std::span<const std::uint8_t> packet);
  /// Sends the packets, and reports the frames, since the last call.
  void poll();
  /// Whether DCN, T.30's end of a call, has passed.
  bool is_disconnected() const { return disconnected_; }
  GatewayCounters counters() const;

 private:
  struct Free {
    void operator()(void* self) const;
  };
  std::unique_ptr<void, Free> pump_;
  Send send_;
  Frame frame_;
  std::uint64_t lost_ = 0;
  bool disconnected_ = false;
};

}  // namespace offhook::fax
