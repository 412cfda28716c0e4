// SPDX-License-Identifier: MIT
//
// A template of a configuration file: every key of a table with its default, its description and its accepted values.
#pragma once

#include <string>

#include "traces/scenario/key.h"

namespace offhook::config {

enum class Keys { kSet, kCommentedOut };

/// TOML. A line "# ..." explains; a line "#key = value" is a key that is commented out: without the # it sets the
/// default. @param subject the defaults
std::string write_template(const KeyTable& keys, const void* subject, Keys how);

}  // namespace offhook::config
