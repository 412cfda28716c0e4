// SPDX-License-Identifier: MIT
//
// What `offhook --version` prints: version, commit, the shared libraries of this process and the licence of the binary.
#pragma once

#include <string>
#include <vector>

namespace offhook::command {

/// The licence of an Offhook program linked with these libraries, and the reason. The sources are under the MIT
/// licence. FFTW is GPL-2.0-or-later; with OpenSSL (Apache-2.0) that leaves GPL-3.0-or-later.
/// @param libraries  file names, such as "libfftw3f.so.3"
std::string licence_of(const std::vector<std::string>& libraries);

/// File names of the shared libraries that this process has loaded, sorted, without the C and C++ runtime libraries.
std::vector<std::string> loaded_libraries();

/// All lines of `offhook --version`, without a newline at the end.
std::string version_text();

}  // namespace offhook::command
