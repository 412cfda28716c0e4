// SPDX-License-Identifier: MIT
//
// Where the program's data files are: hosts/, profiles/ and published/ of the folder traces/.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace offhook::config {

/// $OFFHOOK_DATA_DIR when set; else ../share/offhook beside the installed program; else the source tree it was built
/// from.
std::filesystem::path data_dir();
/// data_dir()/room/name.toml; a name that ends in .toml is the file itself. @throws Error naming the ones that exist
/// when it does not, and what else is at that path
std::filesystem::path data_file(std::string_view room, std::string_view name);
/// A file that another file names by a relative path: the one beside that file, where there is one; else as from the
/// program's folder, as a name on the command line.
std::string file_named_in(std::string_view file, std::string name);
/// Names of the files in data_dir()/room, sorted, without ".toml".
std::vector<std::string> data_names(std::string_view room);

}  // namespace offhook::config
