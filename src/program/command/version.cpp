// SPDX-License-Identifier: MIT
#include "src/program/command/version.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <link.h>

#include <algorithm>
#include <filesystem>
#include <string_view>

namespace offhook::command {
namespace {

bool any_starts_with(const std::vector<std::string>& libraries, std::string_view prefix) {
  return std::ranges::any_of(libraries, [&](const std::string& name) { return name.starts_with(prefix); });
}

int add_library(dl_phdr_info* info, std::size_t, void* to) {
  const std::string name = std::filesystem::path(info->dlpi_name).filename();
  // The program itself has no name here. Every program has the other libraries.
  for (const char* every : {"linux-vdso", "linux-gate", "ld-linux", "libc.so", "libm.so", "libgcc_s", "libstdc++"})
    if (name.starts_with(every)) return 0;
  if (!name.empty()) static_cast<std::vector<std::string>*>(to)->push_back(name);
  return 0;
}

}  // namespace

std::string licence_of(const std::vector<std::string>& libraries) {
  if (!any_starts_with(libraries, "libfftw3")) return "MIT";
  if (any_starts_with(libraries, "libcrypto") || any_starts_with(libraries, "libssl"))
    return "GPL-3.0-or-later, because FFTW and OpenSSL are linked; the sources are MIT";
  return "GPL-2.0-or-later, because FFTW is linked; the sources are MIT";
}

std::vector<std::string> loaded_libraries() {
  std::vector<std::string> libraries;
  dl_iterate_phdr(add_library, &libraries);
  std::ranges::sort(libraries);
  return libraries;
}

std::string version_text() {
  const std::vector<std::string> libraries = loaded_libraries();
  return fmt::format("offhook {}\ncommit: {}\nlicence of this binary: {}\nlibraries: {}", OFFHOOK_VERSION,
                     OFFHOOK_COMMIT, licence_of(libraries), fmt::join(libraries, " "));
}

}  // namespace offhook::command
