// SPDX-License-Identifier: MIT
//
// The location of the program's data files: hosts/, profiles/ and published/ of the folder traces/.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace offhook::config {

/// $OFFHOOK_DATA_DIR when set; else ../share/offhook next to the installed program; else the source tree it was built
/// from.
std::filesystem::path data_dir();
/// data_dir()/module/name.toml; a name that ends in .toml is the file itself. @throws Error naming the existing ones
/// when it does not exist, and any other kind of file at that path
std::filesystem::path data_file(std::string_view room, std::string_view name);
/// A file that another file names by a relative path: the one next to that file, if it exists; else as from the
/// program's folder, as a name on the command line.
std::string file_named_in(std::string_view file, std::string name);
/// Names of the files in data_dir()/room, sorted, without ".toml".
std::vector<std::string> data_names(std::string_view room);

}  // namespace offhook::config
