// SPDX-License-Identifier: MIT
//
// Plug-ins (offhook/plugin.h): shared libraries that register pumps, policies and contexts.
#pragma once

#include <string>
#include <vector>

namespace offhook::command {

/// Loads the plug-ins that the first words name, as `--plugin FILE` or `--plugin=FILE`, and removes these words. The
/// libraries remain loaded. @throws std::runtime_error with one line for a file that is not a plug-in of this version,
/// or whose registration fails
void load_plugins(std::vector<std::string>& words);

}  // namespace offhook::command
