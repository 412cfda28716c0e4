// SPDX-License-Identifier: MIT
//
// Devices that steal time, as TOML. A kind is a file of traces/import; the other keys override that file's:
//
//     [[load.device]]
//     kind = "network"
//     window = 48
//
// or, as short as in `--set load.device="network usb"` and in the axes of a sweep, the kinds alone.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "hostsim/call/scenario.h"
#include "hostsim/host/device.h"
#include "traces/scenario/document.h"
#include "traces/scenario/key.h"

namespace offhook::config {

/// Names of hostsim::DpcImportance.
inline constexpr std::array<std::string_view, 3> kDpcImportances = {"low", "medium", "high"};

/// traces/import/KIND.toml, named after its kind. @throws Error with the list of kinds
hostsim::LoadDevice load_preset(std::string_view kind);
/// Takes `load.device` out of a scenario, in either form. @throws Error with the position
/// @pre document.has("load.device")
std::vector<hostsim::LoadDevice> take_load_devices(Document& document);
/// As tables [[load.device]] with every key; empty if there are none. Reading it gives the same devices.
std::string to_toml(const std::vector<hostsim::LoadDevice>& devices);
/// The reason why they cannot all exist: two with one name, or more CPU time than there is; empty if they can.
std::string device_problem(const std::vector<hostsim::LoadDevice>& devices);
/// Takes the tables [[load.reservation]] out: threads that never block, each with X ticks of every Y.
/// @throws Error with the position
std::vector<hostsim::ReservedThread> take_reserved_threads(Document& document);
/// And [[load.thread]]: those without a reservation.
std::vector<hostsim::LoadThread> take_load_threads(Document& document);
/// And [[load.soft_device]]: soft devices by their cost, each with a device of traces/data/devices, or a file, and a
/// context.
std::vector<hostsim::CompetingDevice> take_soft_devices(Document& document);
std::string to_toml(const std::vector<hostsim::ReservedThread>& threads);
std::string to_toml(const std::vector<hostsim::CompetingDevice>& devices);
std::string to_toml(const std::vector<hostsim::LoadThread>& threads);
/// The kinds, and the keys of a device, for --help.
std::string describe_load_devices();

}  // namespace offhook::config
