// SPDX-License-Identifier: MIT
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "src/report/report.h"

namespace offhook {

/// Rows, tick and, where rows are reservations or a least extent in ticks is asked for, the map: what reservationMap()
/// of page/assets/map.js draws.
nlohmann::json reservation_map(const SweepReport& sweep, double x_max, double y_max);

}  // namespace offhook
