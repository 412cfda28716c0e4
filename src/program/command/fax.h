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
/// The options --context and --max-bit-rate of a command whose modem signals run on a card.
void add_fax_modems(App& sub, std::string& context, std::uint32_t& max_bit_rate);
/// A control frame with address and control octets; empty for a frame of a page.
std::string fax_frame_in_words(std::span<const std::uint8_t> frame);

}  // namespace offhook::command
