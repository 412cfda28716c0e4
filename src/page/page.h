// SPDX-License-Identifier: MIT
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace offhook {

/// The common members of every page. Each kind adds its own; `warnings` and `settings` are empty lists.
nlohmann::json page_head(std::string_view kind, std::string_view title, std::string_view verdict,
                         std::string_view headline, const std::vector<std::string>& reasons = {});

/// The source of a page: a file requests nothing; a live page requests the events of its own server.
enum class Served { kFile, kLive };
/// The HTML file around `data`, which the page's code draws. Unless `data` has made_by, the page names this version.
/// It also names the command of this process (src/page/provenance.h), in a line of its own: pages of equal data that
/// other options wrote differ in that line alone.
std::string page_around(std::string_view title, nlohmann::json data, Served served = Served::kFile);

/// A plain HTML page with the version, the command and the file's date in a footer. @pre it has <title> and </body>
std::string with_footer(std::string plain_page);

/// For text between tags and in quoted attributes.
std::string html_escape(std::string_view text);

}  // namespace offhook
