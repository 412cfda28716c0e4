// SPDX-License-Identifier: MIT
//
// The location of the program's data files: hosts/, profiles/ and published/ of the folder traces/.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace offhook::config {

/// $OFFHOOK_DATA_DIR if set; else ../share/offhook next to
/// the installed program; else the source tree of the build.
std::filesystem::path data_dir();
/// data_dir()/module/name.toml; a name that ends in .toml is the file itself. @throws Error with the list of existing
/// ones if it does not exist, and for a path that is not a file
std::filesystem::path data_file(std::string_view room, std::string_view name);
/// A file that another file names by a relative path: next to that file, if it exists; else relative to the program's
/// folder, like a name on the command line.
std::string file_named_in(std::string_view file, std::string name);
/// Names of the files in data_dir()/room, sorted, without ".toml".
std::vector<std::string> data_names(std::string_view room);

}  // namespace offhook::config
