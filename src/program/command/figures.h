// SPDX-License-Identifier: MIT
//
// `--figures DIR`: the figures of a page as files for a paper: SVG, PNG, and the data of each as CSV. The page itself
// draws them, in a headless Chromium. No browser is needed to write a page.
#pragma once

#include <filesystem>
#include <string>

#include "driver/base/output.h"
#include "src/program/command/command_line.h"

namespace offhook::command {

/// The option `--figures DIR` of a command that writes a page.
void add_figures(App& app, std::string& folder);

/// Writes the figures of a page into a folder. Without a folder, it does nothing.
/// @param page  file that the program wrote  @param folder  empty: --figures was not given
/// @throws std::runtime_error if no Chromium is installed, or it cannot draw the page
void write_figures(const std::filesystem::path& page, const std::string& folder, Privacy privacy = Privacy::kShared);

/// Writes a page, and its figures if a folder is given. If
/// the page has no file name, it is page.html in that folder.
void write_page(const std::string& page, const std::string& file, const std::string& folder,
                Privacy privacy = Privacy::kShared);

}  // namespace offhook::command
