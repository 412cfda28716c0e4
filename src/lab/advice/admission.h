// SPDX-License-Identifier: MIT
//
// Several soft devices on one host: whether they are admitted together, and which of them fails first as their work
// grows. Admission is arithmetic, before anything runs: the devices' demands against the CPU's capacity, the slots of
// the reservations, and the law for each reservation by itself. The first failure is simulated: the cost of every
// device's blocks increases, as on a slower CPU.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "hostsim/call/scenario.h"

namespace offhook::law {

struct DeviceShare {
  std::string name, context;
  double demand = 0;                  ///< share of a CPU: the mean of its blocks, and its interrupt routine
  double reserved = 0;                ///< X / Y; 0 without a reservation
  std::optional<double> margin_ms{};  ///< margin of a reservation that is alone on the host, by the full law; negative:
                                      ///< insufficient; none if overloaded
  bool overloaded = false;            ///< by the full law, the share is too small
};

struct Admission {
  std::vector<DeviceShare> devices;  ///< the scenario's device first
  double demand = 0, reserved = 0;   ///< sums for one CPU
  int cpus = 1;                      ///< upper limit of the demand
  double reserved_most = 1;          ///< upper limit of reservations: below the CPUs on Linux (linux_admission.h)
  /// Whether the sums are within the limits, and the law grants each reservation.
  bool admitted() const;
};
/// @pre scenario.pump is kDevice, and the slots of its reservations fit together, as in a scenario that was read
Admission admission_of(const hostsim::Scenario& scenario);

/// One device in one run.
struct DeviceOutcome {
  std::uint64_t blocks = 0, blocks_late = 0, samples_lost = 0;
  double first_loss_s = -1;  ///< negative: nothing was lost
  double share = 0;          ///< share of a CPU that its context used
};
/// Runs all devices, in the order of Admission::devices. @throws std::invalid_argument as make_device_call()
std::vector<DeviceOutcome> run_devices(const hostsim::Scenario& scenario);

/// The scenario with the work of every device multiplied by `growth`.
hostsim::Scenario grown(const hostsim::Scenario& scenario, double growth);

struct Growth {
  double factor = 1;
  std::vector<DeviceOutcome> devices;
};
struct GrowthOptions {
  double step = 0.05, most = 3;  ///< of the factor
  std::function<bool()> stop{};
  std::function<void(double factor)> progress{};
};
/// Increases the factor from 1 on, until every device has lost samples or the largest factor is reached.
std::vector<Growth> grow(const hostsim::Scenario& scenario, const GrowthOptions& options);

/// The index of the device that loses samples at the least factor; of several, the one that loses first. None if no
/// device loses.
std::optional<std::size_t> breaks_first(const std::vector<Growth>& growths);
/// The least factor at which a device loses. None if it does not.
std::optional<double> breaks_at(const std::vector<Growth>& growths, std::size_t device);

}  // namespace offhook::law
