// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <string>

#include "src/live_page/live_page.h"
#include "src/program/command/command_line.h"

namespace offhook::command {

/// `--page [ADDRESS:]PORT` of commands that run in real time.
Option* add_page(App& app, std::string& page);

/// Starts the page and prints its address. Call it before the command has threads, cards or terminals.
/// @param page  as given; empty: no page, returns null  @param quiet  standard output is reserved for JSON
/// @throws std::runtime_error as LivePage
std::unique_ptr<live_page::LivePage> open_page(const std::string& page, const std::string& title, std::size_t lines,
                                               bool quiet);

/// Prints why the page ended, if it did.
void tell_page_failure(live_page::LivePage* page);

}  // namespace offhook::command
