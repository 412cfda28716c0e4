// SPDX-License-Identifier: MIT
//
// Soft devices from traces/data/devices/*.toml, or from a user's file.
#pragma once

#include <string>
#include <string_view>

#include "hostsim/call/soft_device.h"
#include "traces/scenario/document.h"
#include "traces/scenario/key.h"

namespace offhook::config {

const KeyTable& device_keys();

/// A device from a document; its required keys must be present. @throws Error
hostsim::SoftDevice parse_device(const Document& document);
/// @param name_or_file a file of traces/data/devices by its name, or any file NAME.toml. @throws Error
hostsim::SoftDevice load_device(std::string_view name_or_file);
std::string to_toml(const hostsim::SoftDevice& device);

}  // namespace offhook::config
