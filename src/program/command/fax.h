// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "src/program/command/program.h"

namespace offhook::command {

/// `offhook fax send`, `receive` and `gateway`.
void add_fax(App& app, Action& action);
/// `offhook fax gateway`.
void add_fax_gateway(App& fax, Action& action);
/// A control frame with address and control octets; empty for a frame of a page.
std::string fax_frame_in_words(std::span<const std::uint8_t> frame);

}  // namespace offhook::command
