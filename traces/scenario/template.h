// SPDX-License-Identifier: MIT
//
// A configuration file to begin with: every key of a table with its default, what it is and what it accepts.
#pragma once

#include <string>

#include "traces/scenario/key.h"

namespace offhook::config {

enum class Keys { kSet, kCommentedOut };

/// TOML. A line "# ..." explains, a line "#key = value" is a key that is commented out: without the # it says what
/// holds anyway. @param subject the defaults
std::string write_template(const KeyTable& keys, const void* subject, Keys how);

}  // namespace offhook::config
