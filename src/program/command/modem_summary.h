// SPDX-License-Identifier: MIT
//
// The result of one modem of `offhook modem`, with its table (offhook help keys json modem).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "driver/base/histogram.h"
#include "driver/base/record.h"
#include "driver/live/live_card.h"
#include "src/measure/host_description.h"

namespace offhook::command {

/// Whether the driver is in this process or in the kernel.
struct ModemSummary {
  std::string context;
  std::uint64_t interrupts = 0, blocks_served = 0, blocks_late = 0, samples_late = 0, samples_filled_in = 0,
                pending_max = 0, overrun_samples = 0, underrun_samples = 0;
  LogLinearHistogram dispatch, service;  ///< ns
  /// Of a thread in this process.
  struct Thread {
    std::uint64_t yields = 0, throttles = 0;
    bool demoted = false;
  };
  std::optional<Thread> thread;
  /// Bytes of the user, and octets of V.42 that carried them. The kernel's driver counts only the former.
  struct Way {
    std::uint64_t bytes = 0;
    std::optional<std::uint64_t> octets;
  };
  Way sent, received;
  std::optional<std::vector<std::string>> without;  ///< missing privileges
  measure::HostDescription host = measure::describe_host();
  std::vector<CardFigure> network;  ///< counted by the card itself
  std::string card;                 ///< its address, for a modem of a bank
};

extern const record::Table kModemSummary;

/// As a table for people.
void print_summary(const ModemSummary& summary);

}  // namespace offhook::command
