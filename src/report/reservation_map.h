// SPDX-License-Identifier: MIT
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "src/report/report.h"

namespace offhook {

/// Rows, tick and the map that reservationMap() of page/assets/map.js draws. There is a map if rows are reservations or
/// a minimum extent in ticks is given.
nlohmann::json reservation_map(const SweepReport& sweep, double x_max, double y_max);

}  // namespace offhook
