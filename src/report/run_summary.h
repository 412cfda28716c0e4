// SPDX-License-Identifier: MIT
//
// The result of one run: the struct that the call's runner writes, the report reads and summary.json holds. Its
// tables (run_summary.cpp) describe each value once.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "driver/base/record.h"
#include "hostsim/call/connection.h"
#include "hostsim/call/fax_call.h"
#include "hostsim/call/pump_call.h"
#include "hostsim/call/radio_call.h"
#include "hostsim/call/subscriber_call.h"
#include "offhook/kernel_modem.h"
#include "src/lab/analysis/figures.h"

namespace offhook {

/// The result of a call on any host.
struct CallOutcome {
  bool complete = false;              ///< the whole file arrived, byte for byte, or a device ran to its end
  bool stopped = false;               ///< by the user
  bool lost = false;                  ///< whether a sample was lost, even if the file arrived
  double transfer_s = 0;              ///< from the first byte given to the link until the last one was delivered
  double at_line_rate_s = 0;          ///< at the line's bit rate; 0: unknown or not needed
  std::optional<double> simulated_s;  ///< virtual time
  std::optional<double> line_s;       ///< for the kernel's modem: line time, from its samples
  std::optional<std::uint64_t> bytes, bytes_delivered;  ///< none for a device that is not a modem
  std::uint64_t octets_carried = 0;                     ///< octets on the line between the ends of V.42; 0: unknown
  std::uint8_t compression = 0;                         ///< of enum oh_lapm_compression
  std::uint8_t mnp_class = 0;                           ///< of the link; 0: V.42, or no error control
  std::shared_ptr<const hostsim::DmtStatus> dmt;        ///< for a DMT pump; otherwise null
  std::shared_ptr<const hostsim::RadioStatus> radio;    ///< of a radio
  std::shared_ptr<const hostsim::PumpStatus> pump;      ///< of a registered pump
  std::shared_ptr<const hostsim::FaxStatus> fax;        ///< of a fax call
  std::optional<hostsim::HoldStatus> hold;              ///< present once a requested hold has been requested
  std::string ending;                      ///< for people: "the file arrived", "carrier lost", "time limit"
  std::optional<oh_kernel_status> kernel;  ///< of the kernel's modem, at the end
};

struct RunSummary : CallOutcome {
  std::string version, name, context;  ///< of the program, the scenario and the driver
  std::uint64_t seed = 0;
  /// For a device that is not a modem: it has blocks and buffers, and transfers no file.
  struct Device {
    std::uint32_t buffers = 0, buffer_samples = 0, lead_samples = 0;
  };
  std::optional<Device> device;
  struct Compression {
    std::string by;
    bool sent = false, received = false;
    std::uint64_t octets = 0;
  };
  std::optional<Compression> coding;  ///< if the scenario requests V.42bis or V.44
  /// The same call in INT.
  struct Reference {
    std::string context;
    bool complete = false, lost_samples = false;
    double transfer_s = 0;
  };
  std::optional<Reference> reference;
  std::string verdict, headline;  ///< empty: it is unknown whether the call completed
  std::vector<std::string> reasons;
  std::shared_ptr<const Figures> figures;  ///< not read back, because the log has them
};

/// With 95 % confidence if bursts were lost independently: the upper end of poisson_interval().
double miss_ratio_at_most(const hostsim::RadioDirection& direction);
/// A time in slots.
double of_slot(const hostsim::RadioStatus& radio, double ns);

extern const record::Table kDmtDirection, kDmtStatus, kRadioDirection, kRadioStatus, kPumpDirection, kPumpStatus,
    kFaxStatus, kRunSummary;

}  // namespace offhook
