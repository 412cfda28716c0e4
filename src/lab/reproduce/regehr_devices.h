// SPDX-License-Identifier: MIT
//
// The work of the devices of Regehr and Stankovic (5, Table 1) on the CPU, counted: interrupts, accesses to ports,
// words of programmed I/O, descriptors, requests. The cost of each comes from other sources; no share of Table 1 is an
// input.
#pragma once

#include <string_view>

#include "hostsim/host/device.h"

namespace offhook::reproduce {

/// On the paper's 500 MHz Pentium III, ns.
struct UnitCosts {
  double interrupt = 0;      ///< enter, acknowledge at the card, queue a DPC: Jones and Saroiu 6.2.4, scaled by clock
  double completion = 0;     ///< end of a request and start of the next: Siemens, Table 2, scaled by clock
  double modem_block = 0;    ///< a block of a soft modem: Jones and Saroiu 6.2.3, without logging, scaled by clock
  double port_access = 500;  ///< access of 8 or 16 bits over PCI, not posted. Assumption: about 16 clocks of 33 MHz
  double descriptor = 100;   ///< one write or read. Assumption: 50 cycles
};
/// Computed from the published values of the other papers. @throws config::Error
UnitCosts unit_costs();

/// The work of one transfer on the CPU.
struct TransferWork {
  double every_ns = 0;
  int handler_accesses = 0;  ///< port accesses in the interrupt handler; with programmed I/O, also the data
  int accesses = 0;          ///< port accesses for the next command
  int descriptors = 0;
  bool completes = true;  ///< whether a request ends with it
  bool modem_block = false;
  double handler_ns(const UnitCosts& c) const { return c.interrupt + handler_accesses * c.port_access; }
  double dpc_ns(const UnitCosts& c) const {
    return accesses * c.port_access + descriptors * c.descriptor + (completes ? c.completion : 0) +
           (modem_block ? c.modem_block : 0);
  }
  /// Share of the CPU, 0 to 1.
  double share(const UnitCosts& c) const { return (handler_ns(c) + dpc_ns(c)) / every_ns; }
};

/// @param device with its name in Table 1, 5.3 and 5.4: "IDE / DMA" @throws config::Error if it is not modelled
TransferWork transfer_work(std::string_view device);
hostsim::LoadDevice load_of(std::string_view device, const UnitCosts& costs);

}  // namespace offhook::reproduce
