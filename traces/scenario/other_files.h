// SPDX-License-Identifier: MIT
//
// The kind of file to which a table or a key belongs, for errors about a file of another kind.
#pragma once

#include <string_view>

namespace offhook::config {

/// @param name  a table or a key at the top of a file
/// @return "a grid, for offhook sweep"; empty if the name belongs to no kind, or to several
std::string_view file_that_begins(std::string_view name);

}  // namespace offhook::config
