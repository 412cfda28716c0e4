// SPDX-License-Identifier: MIT
//
// The device of a fax call, as its T.30: a fax machine whose modem signals are the device's work, or a T.38 gateway.
// With a gateway, T.30 runs in a machine on T.38 behind a packet network:
//
//   line, card, driver --- gateway's modem signals --- datagrams of UDPTL: lost, delayed --- fax machine on T.38
//                          (work of the device)        (fax.packet_loss, _delay_ms, _copies)   (ideal)
#pragma once

#include <cstdint>
#include <memory>

#include "driver/fax/t30_watch.h"
#include "hostsim/call/scenario.h"
#include "hostsim/engine/engine.h"
#include "offhook/pump.h"

namespace offhook::hostsim {

class FaxMachine {
 public:
  virtual ~FaxMachine() = default;
  /// The work of the device; it lives as long as the machine.
  virtual oh_pump pump() const = 0;
  virtual oh_pump_status status() const = 0;
  /// Lets T.30 run until now.
  virtual void poll(Ns now) = 0;
  virtual void end_call() = 0;
  virtual const fax::Progress& progress() const = 0;
  virtual std::uint64_t starved_bits() const { return 0; }
  /// Packets of T.38 in both directions.
  struct Packets {
    std::uint64_t sent = 0;
    std::uint64_t recovered = 0;  ///< lost, and received as copies
    std::uint64_t lost = 0;       ///< lost with all copies
  };
  virtual Packets packets() const { return {}; }
};

/// @param by_v34  by V.34 half duplex; config.send or config.receive decides which end is the source
std::unique_ptr<FaxMachine> make_fax_machine(oh_pump_role role, const fax::TerminalConfig& config, bool by_v34);
/// @param config  of the machine behind the gateway
std::unique_ptr<FaxMachine> make_fax_gateway(const Scenario& scenario, const fax::TerminalConfig& config);

}  // namespace offhook::hostsim
