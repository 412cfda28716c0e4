// SPDX-License-Identifier: MIT
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "src/report/report.h"

namespace offhook {

/// The HTML file around `data`, which the page's code draws.
std::string page_around(std::string_view title, const nlohmann::json& data);

/// Rows, tick and, where rows are reservations or a least extent in ticks is asked for, the map: what reservationMap()
/// of page/map.js draws.
nlohmann::json reservation_map(const SweepReport& sweep, double x_max, double y_max);

/// For text between tags and in quoted attributes.
std::string html_escape(std::string_view text);

}  // namespace offhook
