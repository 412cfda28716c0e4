// SPDX-License-Identifier: MIT
//
// The one description of the CSV columns and JSON keys that commands write: `offhook help keys csv` and `help keys
// json` print it, docs/formats.md repeats it, and tests/cli/text_keys.py compares both with the output of the commands.
//
// A document is a line "NAME: the commands that write it" and a line for each column or key, "  PATH? (UNIT):
// description". "?" marks one that may be absent. In the path of a key [] is any element of a list, {a,b} one of
// several names, * any name and ** anything below.
#pragma once

#include <string>
#include <string_view>

namespace offhook::command {

std::string csv_keys_text();
std::string json_keys_text();

/// The documents whose name contains `part`.
std::string documents_with(std::string_view text, std::string_view part);

}  // namespace offhook::command
