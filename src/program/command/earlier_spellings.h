// SPDX-License-Identifier: MIT
//
// Scripts that were written before all commands had one set of option names go on working.
#pragma once

#include <string>
#include <vector>

namespace offhook::command {

/// A command line with today's names: `--repetitions` is `--repeats`, and where `--out FILE` named the text of
/// schedule, export, report and measure it is `--csv=FILE` or what else it is called there.
std::vector<std::string> with_todays_names(std::vector<std::string> words);

}  // namespace offhook::command
